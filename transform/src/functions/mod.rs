//! The functions that transforms can call.
//!
//! What each gives is Flink CDC's answer where its recordings or documentation show one, with NULL in, NULL out where it
//! crashes; those that Flink CDC lacks are Flink SQL's or MySQL's function of that name.

mod condition;
mod format;
mod hash;
mod json;
mod json_scan;
mod like;
mod nested;
mod number;
mod pattern;
mod registry;
mod strings;
mod temporal;
mod text_forms;

pub(crate) use condition::case_node;
pub(crate) use like::{like_node, similar_node};
pub(crate) use nested::{array_node, row_node, subscript_node};
pub(crate) use number::round_to_whole;
pub(crate) use registry::{find, nearest, unknown};
pub(crate) use temporal::{extract_node, literal_wall};
pub(crate) use text_forms::{Ends, concat_node, trim_node};

use crate::bind::coerce;
use crate::error::Fault;
use crate::node::{Context, Kernel, Kind, Node, evaluate};
use crate::rule::TransformOptions;
use crate::types::{BIGINT, DOUBLE, TEXT, Type};
use rowferry_model::DataType;
use std::cell::Cell;
use std::sync::Arc;

/// A call that is being bound: the function's name and its typed arguments, of which none is unknown.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: Vec<Arc<Node>>,
    pub(crate) options: &'a TransformOptions,
}

impl Call<'_> {
    pub(crate) fn arg(&self, i: usize) -> Result<&Arc<Node>, Fault> {
        self.args.get(i).ok_or_else(|| Fault::new(format!("the function {} lacks its argument {}", self.name, i + 1)))
    }

    pub(crate) fn has(&self, i: usize) -> bool {
        self.args.len() > i
    }

    fn refuse(&self, i: usize, wanted: &str) -> Fault {
        let found = self.args.get(i).map_or(Type::Unknown, |arg| arg.ty.clone());
        let fault = Fault::new(format!("the function {} wants {wanted} as argument {}, not {found}", self.name, i + 1));
        if wanted == "a text" { fault.hint("write CAST(… AS VARCHAR)") } else { fault }
    }

    /// An argument that must be a text.
    pub(crate) fn text(&self, i: usize) -> Result<Arc<Node>, Fault> {
        let arg = self.arg(i)?;
        let ok = arg.ty.is_text() || matches!(arg.ty, Type::Null | Type::Variant);
        ok.then(|| coerce(arg, &TEXT, self.options)).flatten().ok_or_else(|| self.refuse(i, "a text"))
    }

    /// An argument that must be an integer; as BIGINT.
    pub(crate) fn long(&self, i: usize) -> Result<Arc<Node>, Fault> {
        let arg = self.arg(i)?;
        let ok = arg.ty.is_integer() || arg.ty == Type::Null;
        ok.then(|| coerce(arg, &BIGINT, self.options)).flatten().ok_or_else(|| self.refuse(i, "an integer"))
    }

    /// An argument that must be a number.
    pub(crate) fn number(&self, i: usize) -> Result<Arc<Node>, Fault> {
        let arg = self.arg(i)?;
        match arg.ty {
            Type::Null => Ok(Arc::new(Node::null(DOUBLE))),
            ref ty if ty.is_numeric() => Ok(Arc::clone(arg)),
            _ => Err(self.refuse(i, "a number")),
        }
    }

    /// An argument that must be a time, a day or a text that holds one; as a wall time in the pipeline's zone.
    pub(crate) fn wall(&self, i: usize) -> Result<Arc<Node>, Fault> {
        let arg = self.arg(i)?;
        let ok =
            arg.ty.is_timestamp() || arg.ty.is_text() || matches!(arg.ty, Type::Null | Type::Plain(DataType::Date));
        let precision = match arg.ty {
            Type::Plain(DataType::Timestamp(p) | DataType::TimestampLtz(p)) => p,
            _ => 6,
        };
        let target = Type::Plain(DataType::Timestamp(precision));
        ok.then(|| coerce(arg, &target, self.options)).flatten().ok_or_else(|| self.refuse(i, "a date or timestamp"))
    }

    /// A literal text, which the function needs to be one.
    pub(crate) fn literal(&self, i: usize, what: &str) -> Result<String, Fault> {
        self.arg(i)?.constant_text().ok_or_else(|| {
            Fault::new(format!("the function {} wants {what} as argument {} in single quotes", self.name, i + 1))
        })
    }

    /// The bound call.
    pub(crate) fn node(&self, ty: Type, args: Vec<Arc<Node>>, kernel: Kernel) -> Node {
        call_node(ty, args, kernel, self.options)
    }
}

/// A call; computed at once where all arguments are constants.
pub(crate) fn call_node(ty: Type, args: Vec<Arc<Node>>, kernel: Kernel, options: &TransformOptions) -> Node {
    let volatile = args.iter().any(|arg| arg.volatile);
    // Where the rules are strict, any cast or computation may be the one that fails.
    let careful = options.strict || args.iter().any(|arg| arg.careful);
    let foldable = !args.is_empty() && !volatile && args.iter().all(|arg| arg.constant().is_some());
    let node = Node { ty, nullable: true, kind: Kind::Call { args, kernel }, volatile, careful };
    if !foldable {
        return node;
    }
    let input = crate::node::Input { columns: Vec::new(), rows: 1, shared: Default::default() };
    let context = compile_context(options);
    match evaluate(&node, &input, &context) {
        // What was lost is counted for each row, so it is computed for each batch.
        Ok(column) if context.lost_values.get() == 0 && context.zero_divisions.get() == 0 => {
            Node { careful: false, ..Node::literal(node.ty, column.array) }
        }
        _ => node,
    }
}

/// A call whose value changes while nothing of its arguments does: the time of the batch.
pub(crate) fn moving_node(ty: Type, kernel: Kernel) -> Node {
    Node { ty, nullable: true, kind: Kind::Call { args: Vec::new(), kernel }, volatile: false, careful: false }
}

pub(crate) fn compile_context(options: &TransformOptions) -> Context {
    Context {
        now: 0,
        zone: options.zone,
        strict: options.strict,
        zero_divisions: Cell::new(0),
        lost_values: Cell::new(0),
    }
}
