//! `+ - * / %`. NULL in, NULL out; a division by zero is NULL and counted; a result that does not fit is counted, or an
//! error where the rules are strict: a decimal becomes NULL, an integer wraps around as Java's does.

use super::decimal;
use crate::column::{Col, build};
use crate::node::{Context, Failure, Kernel};
use crate::types::{Arithmetic, Type};
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_schema::{ArrowError, DataType as ArrowType};
use rowferry_model::DataType;
use std::sync::Arc;

/// The kernel for operands of the types `a` and `b` (for integers and floating point: both are `result` already).
pub(crate) fn arithmetic_kernel(op: Arithmetic, a: &Type, b: &Type, result: &Type) -> Option<Kernel> {
    Some(match result {
        Type::Plain(DataType::Int) => {
            Arc::new(move |args: &[Col], rows: usize, context: &Context| integers(op, args, rows, context, true))
        }
        Type::Plain(DataType::BigInt) => {
            Arc::new(move |args: &[Col], rows: usize, context: &Context| integers(op, args, rows, context, false))
        }
        Type::Plain(DataType::Float | DataType::Double) => {
            Arc::new(move |args: &[Col], rows: usize, context: &Context| floats(op, args, rows, context))
        }
        Type::Plain(DataType::Decimal { precision, scale }) => {
            let (_, sa) = a.exact()?;
            let (_, sb) = b.exact()?;
            let (precision, scale) = (*precision, *scale);
            Arc::new(move |args: &[Col], rows: usize, context: &Context| {
                decimals(op, args, rows, context, Scales { sa, sb, precision, scale })
            })
        }
        _ => return None,
    })
}

fn pair(args: &[Col]) -> Result<(&Col, &Col), Failure> {
    match args {
        [a, b] => Ok((a, b)),
        _ => Err(Failure::new("an operator has two operands")),
    }
}

fn integers(op: Arithmetic, args: &[Col], rows: usize, context: &Context, narrow: bool) -> Result<ArrayRef, Failure> {
    let (a, b) = pair(args)?;
    // Arrow's kernels check for overflow at full speed; only a batch that has one is computed row by row.
    let checked = match op {
        Arithmetic::Add => Some(arrow_arith::numeric::add(a, b)),
        Arithmetic::Subtract => Some(arrow_arith::numeric::sub(a, b)),
        Arithmetic::Multiply => Some(arrow_arith::numeric::mul(a, b)),
        Arithmetic::Divide | Arithmetic::Modulo => None,
    };
    match checked {
        Some(Ok(array)) if a.scalar && b.scalar || array.len() == rows => return Ok(array),
        Some(Err(error)) if !matches!(error, ArrowError::ArithmeticOverflow(_)) => return Err(error.into()),
        _ => {}
    }
    let long = |col: &Col| -> Result<Col, Failure> {
        Ok(Col { array: arrow_cast::cast(&col.array, &ArrowType::Int64)?, scalar: col.scalar })
    };
    let (a, b) = (long(a)?, long(b)?);
    let (a, b) = (a.longs()?, b.longs()?);
    let mut failed = None;
    let mut value = |row: usize| -> Option<i64> {
        let (x, y) = (a.get(row)?, b.get(row)?);
        let wide = match op {
            Arithmetic::Add => i128::from(x) + i128::from(y),
            Arithmetic::Subtract => i128::from(x) - i128::from(y),
            Arithmetic::Multiply => i128::from(x) * i128::from(y),
            _ if y == 0 => {
                context.zero_division();
                return None;
            }
            Arithmetic::Divide => i128::from(x) / i128::from(y),
            Arithmetic::Modulo => i128::from(x) % i128::from(y),
        };
        let wrapped = if narrow { i64::from(wide as i32) } else { wide as i64 };
        if i128::from(wrapped) != wide
            && let Err(failure) = context.misfit(row, || format!("{wide} does not fit the result's type"))
        {
            failed.get_or_insert(failure);
        }
        Some(wrapped)
    };
    let array = if narrow {
        build::<Int32Type>(rows, |row| value(row).map(|v| v as i32))
    } else {
        build::<Int64Type>(rows, &mut value)
    };
    failed.map_or(Ok(array), Err)
}

fn floats(op: Arithmetic, args: &[Col], rows: usize, context: &Context) -> Result<ArrayRef, Failure> {
    let (a, b) = pair(args)?;
    match op {
        Arithmetic::Add => return Ok(arrow_arith::numeric::add_wrapping(a, b)?),
        Arithmetic::Subtract => return Ok(arrow_arith::numeric::sub_wrapping(a, b)?),
        Arithmetic::Multiply => return Ok(arrow_arith::numeric::mul_wrapping(a, b)?),
        Arithmetic::Divide | Arithmetic::Modulo => {}
    }
    let at = |col: &Col, row: usize| if col.scalar { 0 } else { row };
    if let (Some(x), Some(y)) = (a.array.as_primitive_opt::<Float32Type>(), b.array.as_primitive_opt::<Float32Type>()) {
        return Ok(build::<Float32Type>(rows, |row| {
            let (i, j) = (at(a, row), at(b, row));
            if a.is_null(row) || b.is_null(row) {
                return None;
            }
            if y.value(j) == 0.0 {
                context.zero_division();
                return None;
            }
            Some(if op == Arithmetic::Divide { x.value(i) / y.value(j) } else { x.value(i) % y.value(j) })
        }));
    }
    let (x, y) = (a.doubles()?, b.doubles()?);
    Ok(build::<Float64Type>(rows, |row| {
        let (x, y) = (x.get(row)?, y.get(row)?);
        if y == 0.0 {
            context.zero_division();
            return None;
        }
        Some(if op == Arithmetic::Divide { x / y } else { x % y })
    }))
}

#[derive(Clone, Copy)]
struct Scales {
    sa: u8,
    sb: u8,
    precision: u8,
    scale: u8,
}

fn decimals(op: Arithmetic, args: &[Col], rows: usize, context: &Context, s: Scales) -> Result<ArrayRef, Failure> {
    let (a, b) = pair(args)?;
    let wide = |col: &Col| -> Result<Col, Failure> {
        let array = match col.array.data_type() {
            ArrowType::Decimal128(..) => Arc::clone(&col.array),
            _ => arrow_cast::cast(&col.array, &ArrowType::Decimal128(38, 0))?,
        };
        Ok(Col { array, scalar: col.scalar })
    };
    let (a, b) = (wide(a)?, wide(b)?);
    let (a, b) = (a.decimals()?, b.decimals()?);
    let common = s.sa.max(s.sb);
    let (fa, fb) = (decimal::power(common - s.sa), decimal::power(common - s.sb));
    let mut failed = None;
    let array = build::<Decimal128Type>(rows, |row| {
        let (x, y) = (a.get(row)?, b.get(row)?);
        if y == 0 && matches!(op, Arithmetic::Divide | Arithmetic::Modulo) {
            context.zero_division();
            return None;
        }
        let aligned = || x.checked_mul(fa).zip(y.checked_mul(fb));
        let value = match op {
            Arithmetic::Add => {
                aligned().and_then(|(x, y)| x.checked_add(y)).and_then(|v| decimal::rescale(v, common, s.scale))
            }
            Arithmetic::Subtract => {
                aligned().and_then(|(x, y)| x.checked_sub(y)).and_then(|v| decimal::rescale(v, common, s.scale))
            }
            Arithmetic::Modulo => {
                aligned().and_then(|(x, y)| x.checked_rem(y)).and_then(|v| decimal::rescale(v, common, s.scale))
            }
            Arithmetic::Multiply => decimal::multiply(x, y, s.sa + s.sb, s.scale),
            Arithmetic::Divide => decimal::divide(x, s.sa, y, s.sb, s.scale),
        };
        let value = value.filter(|value| decimal::fits(*value, s.precision));
        if value.is_none()
            && let Err(failure) =
                context.misfit(row, || format!("the result does not fit DECIMAL({}, {})", s.precision, s.scale))
        {
            failed.get_or_insert(failure);
        }
        value
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    tag_decimal(&array, s.precision, s.scale)
}

/// The same values under a precision and a scale.
pub(super) fn tag_decimal(array: &ArrayRef, precision: u8, scale: u8) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<Decimal128Type>().ok_or_else(|| Failure::new("not a decimal"))?;
    let scale = i8::try_from(scale).map_err(|_| Failure::new("the scale is too large"))?;
    Ok(Arc::new(array.clone().with_precision_and_scale(precision, scale)?))
}

/// `-x`.
pub(crate) fn negate_kernel() -> Kernel {
    Arc::new(|args: &[Col], _: usize, _: &Context| {
        let [a] = args else { return Err(Failure::new("minus has one operand")) };
        Ok(arrow_arith::numeric::neg_wrapping(a.array.as_ref())?)
    })
}
