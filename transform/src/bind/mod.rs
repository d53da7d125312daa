//! From the syntax tree to the compiled expression: names are resolved, types derived, functions bound.
//!
//! Without a table (while a file is checked offline) columns have the type [`Type::Unknown`]. What depends on them is
//! not bound then, but names and numbers of arguments are looked at all the same.

mod call;
mod literal;
mod operator;
mod sql_type;

pub(crate) use operator::{arithmetic_node, comparison_node};

use crate::error::Fault;
use crate::functions::{self, call_node};
use crate::kernel::{Mode, cast_kernel};
use crate::model::Models;
use crate::node::{Kind, Node};
use crate::rule::TransformOptions;
use crate::sql::Places;
use crate::types::{BIGINT, BOOL, TEXT, Type};
use crate::udf::Functions;
use arrow_schema::DataType as ArrowType;
use rowferry_model::{DataType, TableId, TableSchema};
use sqlparser::ast::{AccessExpr, Expr, Ident, Spanned, Subscript};
use std::sync::Arc;

/// What all rules share.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) options: TransformOptions,
    pub(crate) functions: Functions,
    pub(crate) models: Models,
}

/// Columns that every row has beside its own. The first three are the same for all rows of a table.
pub(crate) const METADATA: &[&str] = &["__namespace_name__", "__schema_name__", "__table_name__", EVENT_TYPE];
/// What happened to the row: `+I`, `-U`, `+U`, `-D`.
pub(crate) const EVENT_TYPE: &str = "__data_event_type__";
/// When it happened, where the source's `metadata.list` asks for it.
pub(crate) const OP_TS: &str = "op_ts";

/// The names that an expression may use.
pub(crate) struct Scope<'a> {
    /// `None`: the table is not known yet.
    pub(crate) table: Option<(&'a TableId, &'a TableSchema)>,
    /// Projected columns: in a filter they win over the table's.
    pub(crate) aliases: Vec<(String, Arc<Node>)>,
}

/// Deepest nesting of functions that are given as SQL.
const MAX_DEPTH: usize = 16;

/// Binds expressions of one text.
pub(crate) struct Binder<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) scope: &'a Scope<'a>,
    pub(crate) places: &'a Places,
    pub(crate) warnings: Vec<Fault>,
    /// The arguments of the function that is being bound.
    pub(crate) arguments: Option<Vec<Arc<Node>>>,
    pub(crate) depth: usize,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(environment: &'a Environment, scope: &'a Scope<'a>, places: &'a Places) -> Self {
        Self { environment, scope, places, warnings: Vec::new(), arguments: None, depth: 0 }
    }

    fn options(&self) -> &'a TransformOptions {
        &self.environment.options
    }

    /// Binds an expression; a fault has the place of the innermost expression that it is about.
    pub(crate) fn bind(&mut self, expr: &Expr) -> Result<Arc<Node>, Fault> {
        self.bind_plain(expr).map_err(|fault| fault.at(self.places.range(expr.span())))
    }

    fn bind_all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Result<Vec<Arc<Node>>, Fault> {
        exprs.into_iter().map(|expr| self.bind(expr)).collect()
    }

    fn bind_plain(&mut self, expr: &Expr) -> Result<Arc<Node>, Fault> {
        Ok(match expr {
            Expr::Identifier(name) => return self.name(name),
            Expr::CompoundIdentifier(names) => match names.last() {
                Some(name) => return self.name(name),
                None => return Err(Fault::new("an empty name")),
            },
            Expr::Nested(inner) => return self.bind(inner),
            Expr::Value(value) => Arc::new(self.literal(&value.value)?),
            Expr::TypedString(typed) => Arc::new(literal::typed(typed)?),
            Expr::Interval(interval) => Arc::new(literal::interval(interval)?),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr)?,
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right)?,
            Expr::IsNull(inner) => self.is_null(inner, false)?,
            Expr::IsNotNull(inner) => self.is_null(inner, true)?,
            Expr::IsTrue(inner) => self.is_truth(inner, Some(true), false)?,
            Expr::IsNotTrue(inner) => self.is_truth(inner, Some(true), true)?,
            Expr::IsFalse(inner) => self.is_truth(inner, Some(false), false)?,
            Expr::IsNotFalse(inner) => self.is_truth(inner, Some(false), true)?,
            Expr::IsUnknown(inner) => self.is_truth(inner, None, false)?,
            Expr::IsNotUnknown(inner) => self.is_truth(inner, None, true)?,
            Expr::IsDistinctFrom(a, b) => self.is_distinct(a, b, false)?,
            Expr::IsNotDistinctFrom(a, b) => self.is_distinct(a, b, true)?,
            Expr::Between { expr, negated, low, high } => self.between(expr, *negated, low, high)?,
            Expr::In { expr, target, negated, .. } => self.in_list(expr, target, *negated)?,
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), *negated)?
            }
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                self.similar(expr, pattern, escape_char.as_deref(), *negated)?
            }
            Expr::Cast { expr, data_type, kind, .. } => self.cast(expr, data_type, kind)?,
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())?
            }
            Expr::Array(array) => {
                let values = self.bind_all(&array.elem)?;
                self.known(&values, |options| functions::array_node(&values, options))?
            }
            Expr::Tuple(values) => {
                let values = self.bind_all(values)?;
                self.known(&values, |options| functions::row_node(&values, options))?
            }
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain)?,
            other => return self.form(other),
        })
    }

    /// The result of binding, or an unknown one where an operand is unknown.
    fn known(
        &self,
        operands: &[Arc<Node>],
        bind: impl FnOnce(&TransformOptions) -> Result<Node, Fault>,
    ) -> Result<Arc<Node>, Fault> {
        if operands.iter().any(|operand| operand.ty == Type::Unknown) {
            return Ok(Arc::new(Node::unknown()));
        }
        bind(self.options()).map(Arc::new)
    }

    fn name(&mut self, name: &Ident) -> Result<Arc<Node>, Fault> {
        if let Some((_, node)) = self.scope.aliases.iter().rev().find(|(alias, _)| *alias == name.value) {
            return Ok(Arc::clone(node));
        }
        let range = self.places.range(name.span);
        if let Some(arguments) = &self.arguments {
            let number = name.value.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
            if let Some(node) = number.and_then(|number| arguments.get(number.checked_sub(1)?)) {
                return Ok(Arc::clone(node));
            }
            let fault = Fault::new(format!("`{}` is no argument of the function", name.value));
            return Err(fault.hint("write $1, $2 for its arguments").at(range));
        }
        if let Some(node) = self.column(&name.value) {
            return Ok(node);
        }
        let Some((_, schema)) = self.scope.table else { return Ok(Arc::new(Node::unknown())) };
        let fault = Fault::new(format!("the table has no column `{}`", name.value)).at(range);
        if ["op_ts", "table_name", "database_name"].contains(&name.value.as_str()) {
            let hint = format!("as metadata, {} must stand in the source's metadata.list", name.value);
            return Err(fault.hint(hint));
        }
        let known = schema.columns.iter().map(|column| column.name.as_str()).chain(METADATA.iter().copied());
        Err(fault.maybe_hint(functions::nearest(&name.value, known)))
    }

    /// A column of the table, or metadata.
    fn column(&self, name: &str) -> Option<Arc<Node>> {
        let (table, schema) = self.scope.table?;
        let node = |index: usize, ty: Type, nullable: bool| {
            Arc::new(Node { ty, nullable, kind: Kind::Column(index), volatile: false, careful: false })
        };
        if let Some(index) = schema.columns.iter().position(|column| column.name == name) {
            let column = schema.columns.get(index)?;
            return Some(node(index, Type::Plain(column.data_type), column.nullable));
        }
        let text = |text: &str| Some(Arc::new(Node::literal(TEXT, crate::node::constant_text(text))));
        match name {
            "__namespace_name__" => text(""),
            "__schema_name__" => text(table.database()),
            "__table_name__" => text(table.table()),
            "table_name" if self.options().table_name => text(table.table()),
            "database_name" if self.options().database_name => text(table.database()),
            EVENT_TYPE => Some(node(schema.columns.len(), TEXT, false)),
            OP_TS if self.options().op_ts => Some(node(schema.columns.len() + 1, BIGINT, false)),
            _ => None,
        }
    }

    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) -> Result<Arc<Node>, Fault> {
        let mut value = self.bind(root)?;
        for access in chain {
            let key = match access {
                AccessExpr::Subscript(Subscript::Index { index }) => self.bind(index)?,
                AccessExpr::Subscript(Subscript::Slice { .. }) => return Err(Fault::new("a slice can't be taken")),
                AccessExpr::Dot(inner) => {
                    // `t.col[1]`: the table's name says nothing.
                    if matches!(root, Expr::Identifier(_)) && value.ty == Type::Unknown {
                        value = self.bind(inner)?;
                        continue;
                    }
                    return Err(Fault::new("fields of a row can't be taken by name"));
                }
            };
            let operands = [Arc::clone(&value), Arc::clone(&key)];
            value = self.known(&operands, |options| functions::subscript_node(value, key, options))?;
        }
        Ok(value)
    }

    /// A condition: a boolean, or NULL.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Result<Arc<Node>, Fault> {
        let node = self.bind(expr)?;
        match node.ty {
            Type::Unknown => Ok(node),
            Type::Null => Ok(Arc::new(Node::null(BOOL))),
            ref ty if *ty == BOOL => Ok(node),
            ref other => Err(Fault::new(format!("a condition must be BOOLEAN, but this is {other}"))
                .hint("compare it, for example with `<> 0`")
                .at(self.places.range(expr.span()))),
        }
    }
}

/// The node as another type, where no value can be lost by it; `None`: the types don't fit.
pub(crate) fn coerce(node: &Arc<Node>, to: &Type, options: &TransformOptions) -> Option<Arc<Node>> {
    if node.ty == *to || node.ty == Type::Unknown || *to == Type::Unknown {
        return Some(Arc::clone(node));
    }
    if node.is_null_literal() {
        return Some(Arc::new(Node::null(to.clone())));
    }
    let same_arrow = node.ty.arrow() == to.arrow();
    let relabelled = same_arrow
        && ((node.ty.is_text() || node.ty == Type::Variant) && (to.is_text())
            || node.ty.is_bytes() && to.is_bytes()
            || node.ty.is_timestamp() && to.is_timestamp()
            || matches!((&node.ty, to), (Type::Plain(DataType::Time(_)), Type::Plain(DataType::Time(_)))));
    if relabelled {
        return Some(Arc::new(Node { ty: to.clone(), ..node.as_ref().clone() }));
    }
    let kernel = match (&node.ty, to) {
        (Type::Array(_), Type::Array(_)) | (Type::Map(..), Type::Map(..)) => {
            let arrow: ArrowType = to.arrow();
            Arc::new(move |args: &[crate::column::Col], _: usize, _: &crate::node::Context| {
                let [a] = args else { return Err(crate::node::Failure::new("a cast has one operand")) };
                Ok(arrow_cast::cast(&a.array, &arrow)?)
            }) as crate::node::Kernel
        }
        (from, to) => cast_kernel(from, to, Mode::Cast)?,
    };
    Some(Arc::new(call_node(to.clone(), vec![Arc::clone(node)], kernel, options)))
}
