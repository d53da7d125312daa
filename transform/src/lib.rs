//! Transforms: which columns a table has at the target, which rows pass, and what is computed on the way.
//!
//! A [`Transforms`] holds the rules of a pipeline file. For each table and each version of its schema it makes a
//! [`TablePlan`]: names are resolved, types derived and functions bound once. [`TablePlan::apply`] then works on whole
//! columns of a batch; no expression is interpreted row by row.
//!
//! This crate knows neither MySQL nor any sink. It opens no connection, except to the models that a rule asks
//! ([`model`]).

mod types;
mod error;
mod column;
mod text;
mod zone;
mod sql;
mod node;
mod kernel;
mod bind;
mod functions;
mod udf;
pub mod model;
mod rule;
mod plan;
mod apply;
mod evolve;
pub mod java_regex;

pub use error::{EvalError, EvalFailure, RuleError, RuleErrors, RuleKey, Severity};
pub use evolve::Evolved;
pub use model::ModelSpec;
pub use plan::TablePlan;
pub use rule::{Counters, NullComparisons, RuleSpec, TableMatcher, TransformOptions, Transforms};
pub use types::Type;
pub use udf::{FunctionBody, UserFunction};
pub use zone::Zone;

/// The text of a value as the recordings and Flink CDC's CAST show it; `None`: NULL.
pub fn value_text(array: &dyn rowferry_model::arrow_array::Array, row: usize) -> Option<String> {
    let mut out = String::new();
    if row >= array.len() || array.is_null(row) {
        return None;
    }
    kernel::append_value(&mut out, array, &Type::Unknown, row).map(|()| out)
}
