//! The text of projections and filters, up to the syntax tree.

mod dialect;
mod parse;
mod place;

pub(crate) use parse::{Item, parse_condition, parse_expression, parse_projection};
pub(crate) use place::Places;
