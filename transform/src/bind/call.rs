//! Calls of functions, and the forms of the grammar that are calls in disguise.

use super::Binder;
use crate::error::Fault;
use crate::functions::{self, Call, Ends};
use crate::node::Node;
use crate::types::{TEXT, Type};
use crate::udf::Callable;
use sqlparser::ast::{
    CeilFloorKind, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned,
    TrimWhereField,
};
use std::sync::Arc;

impl Binder<'_> {
    /// Forms such as `SUBSTRING(x FROM 2)`.
    pub(super) fn form(&mut self, expr: &Expr) -> Result<Arc<Node>, Fault> {
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::Ceil { expr, field } => self.ceil_or_floor("CEIL", expr, field, true),
            Expr::Floor { expr, field } => self.ceil_or_floor("FLOOR", expr, field, false),
            Expr::Position { expr, r#in } => self.built_in("POSITION", &[expr, r#in]),
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let args: Vec<&Expr> = std::iter::once(expr.as_ref())
                    .chain(substring_from.as_deref())
                    .chain(substring_for.as_deref())
                    .collect();
                if substring_from.is_none() {
                    return Err(Fault::new("SUBSTRING needs a place to begin: SUBSTRING(x FROM 2)"));
                }
                self.built_in("SUBSTR", &args)
            }
            Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
                self.trim(*trim_where, trim_what.as_deref(), expr)
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let args: Vec<&Expr> =
                    [expr.as_ref(), overlay_what, overlay_from].into_iter().chain(overlay_for.as_deref()).collect();
                self.built_in("OVERLAY", &args)
            }
            Expr::Extract { field, expr, .. } => {
                let time = self.bind(expr)?;
                let name = field.to_string();
                self.known(&[Arc::clone(&time)], |options| functions::extract_node(&name, &time, options))
            }
            other => Err(Fault::new(format!("`{other}` is not supported in a transform"))),
        }
    }

    fn ceil_or_floor(&mut self, name: &str, x: &Expr, field: &CeilFloorKind, up: bool) -> Result<Arc<Node>, Fault> {
        if !matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime)) {
            return Err(Fault::new(format!("{name} takes one argument")));
        }
        let args = vec![self.bind(x)?];
        self.known(&args.clone(), |options| functions::round_to_whole(Call { name, args, options }, up))
    }

    fn trim(&mut self, ends: Option<TrimWhereField>, what: Option<&Expr>, text: &Expr) -> Result<Arc<Node>, Fault> {
        let what = what.map(|what| self.bind(what)).transpose()?;
        let text = self.bind(text)?;
        let mut args = vec![text];
        args.extend(what);
        let ends = match ends {
            None | Some(TrimWhereField::Both) => Ends::Both,
            Some(TrimWhereField::Leading) => Ends::Leading,
            Some(TrimWhereField::Trailing) => Ends::Trailing,
        };
        self.known(&args.clone(), |options| {
            let call = Call { name: "TRIM", args, options };
            let what = if call.has(1) { Some(call.text(1)?) } else { None };
            Ok(functions::trim_node(ends, what, call.text(0)?, options))
        })
    }

    fn built_in(&mut self, name: &str, args: &[&Expr]) -> Result<Arc<Node>, Fault> {
        let args = self.bind_all(args.iter().copied())?;
        self.call(name, args)
    }

    fn function(&mut self, function: &Function) -> Result<Arc<Node>, Fault> {
        let name = function.name.to_string();
        let name = name.trim_matches('`');
        let plain = function.over.is_none()
            && function.filter.is_none()
            && function.within_group.is_empty()
            && function.null_treatment.is_none()
            && matches!(function.parameters, FunctionArguments::None);
        if !plain {
            return Err(Fault::new(format!("this form of a call of {name} is not supported")));
        }
        let exprs = match &function.args {
            FunctionArguments::None => Vec::new(),
            FunctionArguments::Subquery(_) => return Err(Fault::new("queries can't be used in a transform")),
            FunctionArguments::List(list) => {
                if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
                    return Err(Fault::new(format!("this form of a call of {name} is not supported")));
                }
                let mut exprs = Vec::with_capacity(list.args.len());
                for arg in &list.args {
                    match arg {
                        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => exprs.push(expr),
                        other => {
                            let span = other.span();
                            let wrong = match functions::find(name) {
                                None => functions::unknown(name, self.environment.functions.names()),
                                Some(_) => Fault::new(format!("`{other}` can't be an argument of {name}")),
                            };
                            return Err(wrong.at(self.places.range(span)));
                        }
                    }
                }
                exprs
            }
        };
        // A unit is written as a bare word.
        let takes_unit = ["TIMESTAMPADD", "TIMESTAMPDIFF", "TIMESTAMP_DIFF"];
        let mut args = Vec::with_capacity(exprs.len());
        for (i, expr) in exprs.into_iter().enumerate() {
            let unit = match expr {
                Expr::Identifier(word) if i == 0 && takes_unit.iter().any(|f| f.eq_ignore_ascii_case(name)) => {
                    Some(word)
                }
                _ => None,
            };
            args.push(match unit {
                Some(word) => Arc::new(Node::literal(TEXT, crate::node::constant_text(&word.value))),
                None => self.bind(expr)?,
            });
        }
        self.call(name, args)
    }

    /// A call by name: the file's own functions and models win over the built-in ones.
    fn call(&mut self, name: &str, args: Vec<Arc<Node>>) -> Result<Arc<Node>, Fault> {
        let environment = self.environment;
        if let Some(callable) = environment.functions.find(name) {
            return self.user_function(name, callable, args);
        }
        if let Some(model) = environment.models.legacy(name) {
            return crate::model::call_node(model, None, &args, self.options()).map(Arc::new);
        }
        if let Some(embed) = crate::model::call_kind(name) {
            return self.ask_model(name, embed, &args);
        }
        let Some(function) = functions::find(name) else {
            let others = environment.functions.names().chain(environment.models.names());
            return Err(functions::unknown(name, others));
        };
        if !(function.min..=function.max).contains(&args.len()) {
            return Err(wrong_count(name, function.min, function.max, args.len()));
        }
        self.known(&args.clone(), |options| (function.bind)(Call { name: function.name, args, options }))
    }

    fn user_function(&mut self, name: &str, callable: &Callable, args: Vec<Arc<Node>>) -> Result<Arc<Node>, Fault> {
        let sql = match callable {
            Callable::Elsewhere { what } => {
                return Err(Fault::new(format!("the function {name} can't run here: it is {what}"))
                    .hint("give what it computes as `sql` beside its `name`, with $1, $2 for its arguments")
                    .unsupported());
            }
            Callable::Sql(sql) => sql,
        };
        if args.len() != sql.arguments {
            return Err(wrong_count(name, sql.arguments, sql.arguments, args.len()));
        }
        if self.depth >= MAX_FUNCTIONS {
            return Err(Fault::new(format!("the function {name} calls itself")));
        }
        let mut inner = Binder {
            environment: self.environment,
            scope: &super::Scope { table: None, aliases: Vec::new() },
            places: &sql.places,
            warnings: Vec::new(),
            arguments: Some(args.clone()),
            depth: self.depth + 1,
        };
        let node = inner.bind(&sql.expr);
        node.map_err(|fault| {
            // The place within the function's text is not one of the rule's text.
            let message = format!("in the function {name}: {}", fault.message);
            Fault { message, range: None, ..fault }
        })
    }

    fn ask_model(&mut self, name: &str, embed: bool, args: &[Arc<Node>]) -> Result<Arc<Node>, Fault> {
        let Some((model, inputs)) = args.split_first().filter(|(_, inputs)| !inputs.is_empty()) else {
            return Err(wrong_count(name, 2, usize::MAX, args.len()));
        };
        let Some(model) = model.constant_text() else {
            return Err(Fault::new(format!(
                "the first argument of {name} must be the name of a model in single quotes"
            )));
        };
        let Some(found) = self.environment.models.find(&model) else {
            let fault = Fault::new(format!("{name} refers to the undeclared model `{model}`"))
                .hint("declare it under pipeline.model");
            return Err(fault.maybe_hint(functions::nearest(&model, self.environment.models.names())));
        };
        if inputs.iter().any(|input| input.ty == Type::Unknown) {
            return Ok(Arc::new(Node::unknown()));
        }
        crate::model::call_node(found, Some(embed), inputs, self.options()).map(Arc::new)
    }
}

const MAX_FUNCTIONS: usize = super::MAX_DEPTH;

fn wrong_count(name: &str, min: usize, max: usize, count: usize) -> Fault {
    let takes = match (min, max) {
        (min, usize::MAX) => format!("at least {min}"),
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min} to {max}"),
    };
    let noun = if takes == "1" || takes == "at least 1" { "argument" } else { "arguments" };
    Fault::new(format!("the function {name} takes {takes} {noun}, not {count}"))
}
