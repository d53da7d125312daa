//! Operators and casts over columns.

mod arithmetic;
mod cast;
mod compare;
mod decimal;
mod interval;
mod json_text;
mod logic;
mod to_text;

pub(crate) use arithmetic::{arithmetic_kernel, negate_kernel};
pub(crate) use cast::{Mode, cast_kernel};
pub(crate) use compare::{Comparison, compare_kernel, distinct_kernel, in_kernel};
pub(crate) use decimal::{fits, power, rescale};
pub(crate) use interval::shift_kernel;
pub(crate) use json_text::append_json;
pub(crate) use logic::{fill_nulls, is_null_kernel, is_truth_kernel, not_kernel};
pub(crate) use to_text::{append_value, text_kernel};
