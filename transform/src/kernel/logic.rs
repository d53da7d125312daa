//! NOT, IS TRUE, IS NULL.

use crate::column::{Col, as_bools, build_bool};
use crate::node::{Context, Failure, Kernel};
use arrow_array::{Array, BooleanArray};
use std::sync::Arc;

/// The same truth values with something else in the place of NULL.
pub(crate) fn fill_nulls(array: &BooleanArray, value: bool) -> BooleanArray {
    let Some(nulls) = array.nulls() else { return array.clone() };
    let valid = nulls.inner();
    let values = if value { array.values() | &!valid } else { array.values() & valid };
    BooleanArray::new(values, None)
}

pub(crate) fn not_kernel() -> Kernel {
    Arc::new(|args: &[Col], _: usize, _: &Context| {
        let [a] = args else { return Err(Failure::new("NOT has one operand")) };
        Ok(Arc::new(arrow_arith::boolean::not(as_bools(&a.array)?)?))
    })
}

/// `IS [NOT] NULL`.
pub(crate) fn is_null_kernel(negated: bool) -> Kernel {
    Arc::new(move |args: &[Col], _: usize, _: &Context| {
        let [a] = args else { return Err(Failure::new("IS NULL has one operand")) };
        let result = if negated {
            arrow_arith::boolean::is_not_null(a.array.as_ref())?
        } else {
            arrow_arith::boolean::is_null(a.array.as_ref())?
        };
        Ok(Arc::new(result))
    })
}

/// `IS [NOT] TRUE`, `FALSE` or `UNKNOWN` (`None`).
pub(crate) fn is_truth_kernel(truth: Option<bool>, negated: bool) -> Kernel {
    Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(Failure::new("IS has one operand")) };
        let values = a.bools()?;
        Ok(build_bool(rows, |row| Some((values.get(row) == truth) != negated)))
    })
}
