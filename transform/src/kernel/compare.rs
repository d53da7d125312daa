//! Comparisons by value.

use super::logic::fill_nulls;
use super::power;
use crate::column::{Col, build_bool};
use crate::node::{Context, Failure, Kernel};
use crate::types::Type;
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_ord::cmp;
use arrow_schema::DataType as ArrowType;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn holds(self, ordering: Option<Ordering>) -> bool {
        match (self, ordering) {
            (Self::NotEqual, ordering) => ordering != Some(Ordering::Equal),
            (_, None) => false,
            (Self::Equal, Some(o)) => o == Ordering::Equal,
            (Self::Less, Some(o)) => o == Ordering::Less,
            (Self::LessOrEqual, Some(o)) => o != Ordering::Greater,
            (Self::Greater, Some(o)) => o == Ordering::Greater,
            (Self::GreaterOrEqual, Some(o)) => o != Ordering::Less,
        }
    }
}

/// Compares two columns of one type; decimals may differ in scale. `null_as`: what a comparison with NULL gives instead
/// of NULL.
pub(crate) fn compare_kernel(op: Comparison, a: &Type, b: &Type, null_as: Option<bool>) -> Kernel {
    let scales = (a.exact().map_or(0, |(_, s)| s), b.exact().map_or(0, |(_, s)| s));
    Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a, b] = args else { return Err(Failure::new("a comparison has two operands")) };
        let result = compare(op, a, b, rows, scales)?;
        Ok(Arc::new(match null_as {
            Some(value) => fill_nulls(&result, value),
            None => result,
        }))
    })
}

fn compare(op: Comparison, a: &Col, b: &Col, rows: usize, (sa, sb): (u8, u8)) -> Result<BooleanArray, Failure> {
    match a.array.data_type() {
        // Arrow's total order tells -0.0 from 0.0 and takes NaN for equal to itself.
        ArrowType::Float64 => {
            let (x, y) = (a.doubles()?, b.doubles()?);
            bools(build_bool(rows, |row| Some(op.holds(x.get(row)?.partial_cmp(&y.get(row)?)))))
        }
        ArrowType::Float32 => {
            let (Some(x), Some(y)) =
                (a.array.as_primitive_opt::<Float32Type>(), b.array.as_primitive_opt::<Float32Type>())
            else {
                return Err(Failure::new("different types are compared"));
            };
            let at = |col: &Col, row: usize| if col.scalar { 0 } else { row };
            bools(build_bool(rows, |row| {
                (!a.is_null(row) && !b.is_null(row))
                    .then(|| op.holds(x.value(at(a, row)).partial_cmp(&y.value(at(b, row)))))
            }))
        }
        ArrowType::Decimal128(..) if sa != sb || a.array.data_type() != b.array.data_type() => {
            let scale = sa.max(sb);
            let (fa, fb) = (power(scale - sa), power(scale - sb));
            // What is too large for 128 bits at this scale is larger than anything that is not.
            let aligned = |v: i128, f: i128| v.checked_mul(f).unwrap_or(if v < 0 { i128::MIN } else { i128::MAX });
            let (x, y) = (a.decimals()?, b.decimals()?);
            bools(build_bool(rows, |row| Some(op.holds(Some(aligned(x.get(row)?, fa).cmp(&aligned(y.get(row)?, fb)))))))
        }
        _ => Ok(match op {
            Comparison::Equal => cmp::eq(a, b)?,
            Comparison::NotEqual => cmp::neq(a, b)?,
            Comparison::Less => cmp::lt(a, b)?,
            Comparison::LessOrEqual => cmp::lt_eq(a, b)?,
            Comparison::Greater => cmp::gt(a, b)?,
            Comparison::GreaterOrEqual => cmp::gt_eq(a, b)?,
        }),
    }
}

fn bools(array: ArrayRef) -> Result<BooleanArray, Failure> {
    Ok(crate::column::as_bools(&array)?.clone())
}

/// `IS [NOT] DISTINCT FROM`: two NULLs are the same.
pub(crate) fn distinct_kernel(a: &Type, b: &Type, negated: bool) -> Kernel {
    let scales = (a.exact().map_or(0, |(_, s)| s), b.exact().map_or(0, |(_, s)| s));
    Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a, b] = args else { return Err(Failure::new("a comparison has two operands")) };
        let equal = compare(Comparison::Equal, a, b, rows, scales)?;
        Ok(build_bool(rows, |row| {
            let same = match (a.is_null(row), b.is_null(row)) {
                (true, true) => true,
                (false, false) => equal.value(row),
                _ => false,
            };
            Some(same == negated)
        }))
    })
}

/// What a list of constants is looked up in.
enum Set {
    Texts(HashSet<String>),
    Numbers(HashSet<i64>),
}

/// `x IN (…)` over constants of a text or integer type. `has_null`: NULL is in the list. `two_valued`: as in Flink CDC, a
/// NULL is found where the list has one, and nothing is unknown. `None`: these constants can't be looked up so.
pub(crate) fn in_kernel(values: &[ArrayRef], has_null: bool, two_valued: bool) -> Option<Kernel> {
    let first = values.first()?;
    let set = match first.data_type() {
        ArrowType::Utf8 => {
            let text = |array: &ArrayRef| Some(array.as_string_opt::<i32>()?.value(0).to_owned());
            Set::Texts(values.iter().map(text).collect::<Option<_>>()?)
        }
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => {
            let number = |array: &ArrayRef| {
                let long = arrow_cast::cast(array, &ArrowType::Int64).ok()?;
                Some(long.as_primitive_opt::<arrow_array::types::Int64Type>()?.value(0))
            };
            Set::Numbers(values.iter().map(number).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    let on_null = two_valued.then_some(has_null);
    let on_miss = if has_null && !two_valued { None } else { Some(false) };
    Some(Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(Failure::new("IN has one operand")) };
        Ok(match &set {
            Set::Texts(set) => {
                let values = a.texts()?;
                build_bool(rows, |row| match values.get(row) {
                    None => on_null,
                    Some(value) if set.contains(value) => Some(true),
                    Some(_) => on_miss,
                })
            }
            Set::Numbers(set) => {
                let long = Col { array: arrow_cast::cast(&a.array, &ArrowType::Int64)?, scalar: a.scalar };
                let values = long.longs()?;
                build_bool(rows, |row| match values.get(row) {
                    None => on_null,
                    Some(value) if set.contains(&value) => Some(true),
                    Some(_) => on_miss,
                })
            }
        })
    }))
}
