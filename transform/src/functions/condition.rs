//! Functions that choose between their arguments.

use super::{Call, call_node};
use crate::bind::{coerce, comparison_node};
use crate::error::Fault;
use crate::kernel::{Comparison, is_null_kernel};
use crate::node::{Kind, Node};
use crate::rule::{NullComparisons, TransformOptions};
use crate::types::{BOOL, TEXT, Type, common};
use std::sync::Arc;

/// The type that all values have in common; text where they are texts of any length.
fn common_of<'n>(
    what: &str,
    values: impl Iterator<Item = &'n Arc<Node>>,
    options: &TransformOptions,
) -> Result<Type, Fault> {
    let mut result = Type::Null;
    for value in values {
        result = common(&result, &value.ty, options.decimal_precision).ok_or_else(|| {
            Fault::new(format!("the values of {what} have types that don't fit: {result} and {}", value.ty))
                .hint("write CAST(… AS …) around one of them")
        })?;
    }
    Ok(if result.is_text() { TEXT } else { result })
}

fn coerced(value: &Arc<Node>, ty: &Type, options: &TransformOptions) -> Result<Arc<Node>, Fault> {
    coerce(value, ty, options).ok_or_else(|| Fault::new(format!("{} can't be made {ty}", value.ty)))
}

/// CASE over conditions that are bound already. The first that is TRUE decides.
pub(crate) fn case_node(
    whens: Vec<(Arc<Node>, Arc<Node>)>,
    otherwise: Option<Arc<Node>>,
    options: &TransformOptions,
) -> Result<Node, Fault> {
    let otherwise = otherwise.unwrap_or_else(|| Arc::new(Node::null(Type::Null)));
    let values = whens.iter().map(|(_, value)| value).chain(std::iter::once(&otherwise));
    let ty = common_of("CASE", values, options)?;
    let careful = otherwise.careful || whens.iter().any(|(condition, value)| condition.careful || value.careful);
    let volatile = otherwise.volatile || whens.iter().any(|(condition, value)| condition.volatile || value.volatile);
    let whens = whens
        .into_iter()
        .map(|(condition, value)| Ok((coerced(&condition, &BOOL, options)?, coerced(&value, &ty, options)?)))
        .collect::<Result<Vec<_>, Fault>>()?;
    let otherwise = coerced(&otherwise, &ty, options)?;
    Ok(Node { ty, nullable: true, kind: Kind::Case { whens, otherwise }, volatile, careful })
}

pub(super) fn if_call(call: Call<'_>) -> Result<Node, Fault> {
    let condition = call.arg(0)?;
    if !matches!(condition.ty, Type::Null) && condition.ty != BOOL {
        return Err(Fault::new(format!("the first argument of IF must be a condition, not {}", condition.ty)));
    }
    case_node(vec![(Arc::clone(condition), Arc::clone(call.arg(1)?))], Some(Arc::clone(call.arg(2)?)), call.options)
}

/// The first that is not NULL.
pub(crate) fn coalesce(values: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    let Some((last, first)) = values.split_last() else { return Err(Fault::new("COALESCE needs arguments")) };
    let whens = first
        .iter()
        .map(|value| {
            let condition = call_node(BOOL, vec![Arc::clone(value)], is_null_kernel(true), options);
            (Arc::new(condition), Arc::clone(value))
        })
        .collect();
    case_node(whens, Some(Arc::clone(last)), options)
}

pub(super) fn coalesce_call(call: Call<'_>) -> Result<Node, Fault> {
    coalesce(&call.args, call.options)
}

/// `IFNULL(a, b)`: NOT NULL where one of them is (recording `IFNULL(name, 'nn')`).
pub(super) fn ifnull(call: Call<'_>) -> Result<Node, Fault> {
    let nullable = call.args.iter().all(|arg| arg.nullable);
    Ok(Node { nullable, ..coalesce(&call.args, call.options)? })
}

/// `NULLIF(a, b)`: NULL where they are equal, else the first.
pub(super) fn nullif(call: Call<'_>) -> Result<Node, Fault> {
    let (a, b) = (call.arg(0)?, call.arg(1)?);
    let equal = comparison_node(Comparison::Equal, a, b, call.options)?;
    let null = Arc::new(Node::null(Type::Null));
    case_node(vec![(Arc::new(equal), null)], Some(Arc::clone(a)), call.options)
}

fn extreme(call: &Call<'_>, op: Comparison) -> Result<Node, Fault> {
    let ty = common_of(call.name, call.args.iter(), call.options)?;
    let args = call.args.iter().map(|arg| coerced(arg, &ty, call.options)).collect::<Result<Vec<_>, _>>()?;
    let sql = TransformOptions { null_comparisons: NullComparisons::Sql, ..call.options.clone() };
    let mut args = args.into_iter();
    let Some(mut best) = args.next() else { return Err(Fault::new("needs arguments")) };
    for arg in args {
        // A NULL on either side makes the result NULL, as in MySQL and Flink SQL.
        let null =
            |node: &Arc<Node>| Arc::new(call_node(BOOL, vec![Arc::clone(node)], is_null_kernel(false), call.options));
        let wins = comparison_node(op, &best, &arg, &sql)?;
        let whens = vec![
            (null(&best), Arc::new(Node::null(ty.clone()))),
            (null(&arg), Arc::new(Node::null(ty.clone()))),
            (Arc::new(wins), Arc::clone(&best)),
        ];
        best = Arc::new(case_node(whens, Some(arg), call.options)?);
    }
    Ok(best.as_ref().clone())
}

pub(super) fn greatest(call: Call<'_>) -> Result<Node, Fault> {
    extreme(&call, Comparison::GreaterOrEqual)
}

pub(super) fn least(call: Call<'_>) -> Result<Node, Fault> {
    extreme(&call, Comparison::LessOrEqual)
}
