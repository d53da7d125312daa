//! Functions over numbers.

use super::Call;
use crate::bind::arithmetic_node;
use crate::column::{Col, build};
use crate::error::Fault;
use crate::kernel::{fits, power, rescale};
use crate::node::{Context, Failure, Kernel, Node};
use crate::text;
use crate::types::{Arithmetic, Type, decimal};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use rowferry_model::DataType;
use std::sync::Arc;

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

/// A function that keeps integers as they are and has one form for decimals and one for floating point.
fn of_number(call: &Call<'_>, on_double: fn(f64) -> f64, on_decimal: fn(i128, i128) -> i128) -> Result<Node, Fault> {
    let arg = call.number(0)?;
    if arg.ty.is_integer() {
        return Ok(arg.as_ref().clone());
    }
    if let Type::Plain(DataType::Decimal { precision, scale }) = arg.ty {
        let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
            let [a] = args else { return Err(wrong_call()) };
            let a = a.decimals()?;
            let unit = power(scale);
            let array = build::<Decimal128Type>(rows, |row| a.get(row).map(|v| on_decimal(v, unit)));
            tag(&array, precision, 0)
        });
        return Ok(call.node(decimal(precision, 0), vec![arg], kernel));
    }
    let ty = arg.ty.clone();
    Ok(call.node(ty, vec![arg], float_kernel(on_double)))
}

fn float_kernel(f: fn(f64) -> f64) -> Kernel {
    Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        if let Some(values) = a.array.as_primitive_opt::<Float32Type>() {
            return Ok(Arc::new(values.unary::<_, Float32Type>(|v| f(f64::from(v)) as f32)));
        }
        let a = a.doubles()?;
        Ok(build::<Float64Type>(rows, |row| a.get(row).map(f)))
    })
}

fn tag(array: &ArrayRef, precision: u8, scale: u8) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong_call)?;
    Ok(Arc::new(array.clone().with_precision_and_scale(precision, i8::try_from(scale).map_err(|_| wrong_call())?)?))
}

pub(super) fn ceil(call: Call<'_>) -> Result<Node, Fault> {
    of_number(&call, f64::ceil, |v, unit| v.div_euclid(unit) + i128::from(v.rem_euclid(unit) != 0))
}

pub(super) fn floor(call: Call<'_>) -> Result<Node, Fault> {
    of_number(&call, f64::floor, i128::div_euclid)
}

/// `CEIL(x)` and `FLOOR(x)`, which the grammar reads as forms of their own.
pub(crate) fn round_to_whole(call: Call<'_>, up: bool) -> Result<Node, Fault> {
    if up { ceil(call) } else { floor(call) }
}

pub(super) fn abs(call: Call<'_>) -> Result<Node, Fault> {
    let arg = call.number(0)?;
    let ty = arg.ty.clone();
    if ty.is_float() {
        return Ok(call.node(ty, vec![arg], float_kernel(f64::abs)));
    }
    // The least integer has no counterpart: it stays itself, as in Java.
    let kernel: Kernel = Arc::new(|args: &[Col], _: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        Ok(match a.array.data_type() {
            ArrowType::Int8 => {
                Arc::new(a.array.as_primitive::<Int8Type>().unary::<_, Int8Type>(i8::wrapping_abs)) as ArrayRef
            }
            ArrowType::Int16 => Arc::new(a.array.as_primitive::<Int16Type>().unary::<_, Int16Type>(i16::wrapping_abs)),
            ArrowType::Int32 => Arc::new(a.array.as_primitive::<Int32Type>().unary::<_, Int32Type>(i32::wrapping_abs)),
            ArrowType::Int64 => Arc::new(a.array.as_primitive::<Int64Type>().unary::<_, Int64Type>(i64::wrapping_abs)),
            ArrowType::Decimal128(precision, scale) => Arc::new(
                a.array
                    .as_primitive::<Decimal128Type>()
                    .unary::<_, Decimal128Type>(i128::wrapping_abs)
                    .with_precision_and_scale(*precision, *scale)?,
            ),
            other => return Err(Failure::new(format!("ABS of {other}"))),
        })
    });
    Ok(call.node(ty, vec![arg], kernel))
}

/// `ROUND(x[, digits])`: half away from zero. A decimal has as many digits behind the point as a literal `digits` says.
pub(super) fn round(call: Call<'_>) -> Result<Node, Fault> {
    let arg = call.number(0)?;
    let digits = if call.has(1) { Some(call.long(1)?) } else { None };
    let literal = match &digits {
        None => Some(0),
        Some(node) => node.constant().and_then(|array| {
            let array = array.as_primitive_opt::<Int64Type>()?;
            array.is_valid(0).then(|| array.value(0))
        }),
    };
    let (ty, precision, scale) = match arg.ty {
        Type::Plain(DataType::Decimal { precision, scale }) => {
            // The type can only follow digits that are known now.
            let kept = literal.map_or(scale, |digits| scale.min(u8::try_from(digits.max(0)).unwrap_or(scale)));
            (decimal(precision, kept), precision, scale)
        }
        ref other => (other.clone(), 0, 0),
    };
    let kept = ty.exact().map_or(0, |(_, scale)| scale);
    let integer = arg.ty.is_integer();
    let arrow = ty.arrow();
    let args = std::iter::once(arg).chain(digits).collect();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let (a, digits) = match args {
            [a] => (a, None),
            [a, digits] => (a, Some(digits.longs()?)),
            _ => return Err(wrong_call()),
        };
        let digits = |row: usize| match &digits {
            None => Some(0),
            Some(digits) => digits.get(row),
        };
        let exact = |value: i128, from: u8, row: usize| -> Option<i128> {
            let digits = digits(row)?.clamp(-40, 40);
            if digits >= i64::from(from) {
                return Some(value);
            }
            let cut = u8::try_from(i64::from(from) - digits).ok()?;
            if cut > 38 {
                return Some(0);
            }
            rescale(value, cut, 0)?.checked_mul(power(cut))
        };
        if integer {
            let long = Col { array: arrow_cast::cast(&a.array, &ArrowType::Int64)?, scalar: a.scalar };
            let values = long.longs()?;
            let rounded =
                build::<Int64Type>(rows, |row| i64::try_from(exact(i128::from(values.get(row)?), 0, row)?).ok());
            return Ok(arrow_cast::cast(&rounded, &arrow)?);
        }
        if let ArrowType::Decimal128(..) = a.array.data_type() {
            let values = a.decimals()?;
            let array = build::<Decimal128Type>(rows, |row| {
                let value = rescale(exact(values.get(row)?, scale, row)?, scale, kept).filter(|v| fits(*v, precision));
                if value.is_none() {
                    context.lost();
                }
                value
            });
            return tag(&array, precision, kept);
        }
        let rounded = |value: f64, row: usize| -> Option<f64> {
            let digits = digits(row)?;
            // By way of the decimal text, as BigDecimal.valueOf does: 1.005 rounds to 1.01.
            if !value.is_finite() || digits > 20 {
                return Some(value);
            }
            let mut shown = String::new();
            text::append_double(&mut shown, value);
            let scale = u8::try_from(digits.max(0)).ok()?;
            let Some(unscaled) = text::parse_decimal(&shown, scale) else { return Some(value) };
            let unscaled = exact(unscaled, scale, row)?;
            shown.clear();
            text::append_decimal(&mut shown, unscaled, scale);
            shown.parse().ok()
        };
        if let Some(values) = a.array.as_primitive_opt::<Float32Type>() {
            return Ok(build::<Float32Type>(rows, |row| {
                let at = if a.scalar { 0 } else { row };
                values.is_valid(at).then(|| rounded(f64::from(values.value(at)), row)).flatten().map(|v| v as f32)
            }));
        }
        let values = a.doubles()?;
        Ok(build::<Float64Type>(rows, |row| rounded(values.get(row)?, row)))
    });
    Ok(call.node(ty, args, kernel))
}

pub(super) fn modulo(call: Call<'_>) -> Result<Node, Fault> {
    arithmetic_node(Arithmetic::Modulo, call.arg(0)?, call.arg(1)?, call.options)
}
