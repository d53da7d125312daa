//! Columns of a batch as Paimon's writer wants them. Most are passed on as they are.

use crate::temporal::{Fraction, append_time};
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use rowferry_model::DataType;
use std::sync::Arc;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Why a column can't be converted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The value of this row is not one of the target's type.
    Value {
        /// The row.
        row: usize,
        /// The value as text.
        text: String,
    },
    /// There is no conversion between these types at all.
    Type,
}

/// A column of type `from` as an array of type `to`.
pub(super) fn convert(array: &ArrayRef, from: DataType, to: &ArrowType) -> Result<ArrayRef, Failure> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    let array = array.as_ref();
    match (array.data_type(), to) {
        (ArrowType::Int8, ArrowType::Int16) => map::<Int8Type, Int16Type>(array, i16::from),
        (ArrowType::Int8, ArrowType::Int32) => map::<Int8Type, Int32Type>(array, i32::from),
        (ArrowType::Int8, ArrowType::Int64) => map::<Int8Type, Int64Type>(array, i64::from),
        (ArrowType::Int16, ArrowType::Int32) => map::<Int16Type, Int32Type>(array, i32::from),
        (ArrowType::Int16, ArrowType::Int64) => map::<Int16Type, Int64Type>(array, i64::from),
        (ArrowType::Int32, ArrowType::Int64) => map::<Int32Type, Int64Type>(array, i64::from),
        (ArrowType::Float32, ArrowType::Float64) => map::<Float32Type, Float64Type>(array, f64::from),
        (ArrowType::Decimal128(p, s), ArrowType::Decimal128(precision, scale)) if s == scale && p <= precision => {
            let array = array.as_primitive_opt::<Decimal128Type>().ok_or(Failure::Type)?;
            let wider = array.clone().with_precision_and_scale(*precision, *scale).map_err(|_| Failure::Type)?;
            Ok(Arc::new(wider))
        }
        (ArrowType::Timestamp(TimeUnit::Microsecond, _), ArrowType::Timestamp(unit, zone)) => match unit {
            TimeUnit::Second => timestamps::<TimestampSecondType>(array, 1_000_000, zone.clone()),
            TimeUnit::Millisecond => timestamps::<TimestampMillisecondType>(array, 1000, zone.clone()),
            _ => Err(Failure::Type),
        },
        (ArrowType::Duration(TimeUnit::Microsecond), ArrowType::Time32(TimeUnit::Millisecond)) => times_of_day(array),
        (ArrowType::Duration(TimeUnit::Microsecond), ArrowType::Utf8) => times_as_text(array, from),
        _ => Err(Failure::Type),
    }
}

fn map<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    array: &dyn Array,
    f: impl Fn(F::Native) -> T::Native,
) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<F>().ok_or(Failure::Type)?;
    Ok(Arc::new(array.unary::<_, T>(f)))
}

fn timestamps<T: ArrowTimestampType>(
    array: &dyn Array,
    micros: i64,
    zone: Option<Arc<str>>,
) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<TimestampMicrosecondType>().ok_or(Failure::Type)?;
    let array: PrimitiveArray<T> = array.unary(|v| v.div_euclid(micros));
    Ok(Arc::new(array.with_timezone_opt(zone)))
}

fn times_of_day(array: &dyn Array) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<DurationMicrosecondType>().ok_or(Failure::Type)?;
    let bad = |v: &i64| !(0..MICROS_PER_DAY).contains(v) || v % 1000 != 0;
    if let Some(row) = (0..array.len()).find(|row| array.is_valid(*row) && bad(&array.value(*row))) {
        let mut text = Vec::new();
        append_time(&mut text, array.value(row), Fraction::Java);
        return Err(Failure::Value { row, text: String::from_utf8_lossy(&text).into_owned() });
    }
    // A value below 86,400,000 fits; what lies under a NULL does not matter.
    Ok(Arc::new(array.unary::<_, Time32MillisecondType>(|v| (v / 1000) as i32)))
}

fn times_as_text(array: &dyn Array, from: DataType) -> Result<ArrayRef, Failure> {
    let DataType::Time(precision) = from else { return Err(Failure::Type) };
    let array = array.as_primitive_opt::<DurationMicrosecondType>().ok_or(Failure::Type)?;
    let mut texts = StringBuilder::with_capacity(array.len(), array.len() * 16);
    let mut text = Vec::with_capacity(24);
    for value in array {
        match value {
            None => texts.append_null(),
            Some(value) => {
                text.clear();
                append_time(&mut text, value, Fraction::Digits(precision));
                texts.append_value(std::str::from_utf8(&text).unwrap_or_default());
            }
        }
    }
    Ok(Arc::new(texts.finish()))
}
