//! A column whose Arrow type has been looked at once, so that printing a value costs no dynamic cast.

use super::numbers::{append_decimal, append_f32, append_f64, append_int};
use super::temporal::{Fraction, append_date, append_time, append_timestamp};
use crate::SinkError;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rowferry_model::{ChangeBatch, DataType};

/// The values of a column.
pub(super) enum Cells<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<DurationMicrosecondType>, u8),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>, u8),
    Instant(&'a PrimitiveArray<TimestampMicrosecondType>, u8),
}

impl<'a> Cells<'a> {
    /// All columns of a batch.
    pub(super) fn of(batch: &'a ChangeBatch) -> Result<Vec<Self>, SinkError> {
        let columns = batch.schema().columns.iter().zip(batch.columns().columns());
        columns
            .map(|(column, array)| {
                Self::new(&column.data_type, array.as_ref()).ok_or_else(|| {
                    SinkError::permanent(format!(
                        "values sink: column `{}` of {} has Arrow type {} where {} was expected",
                        column.name,
                        batch.table(),
                        array.data_type(),
                        column.data_type.arrow()
                    ))
                })
            })
            .collect()
    }

    fn new(data_type: &DataType, array: &'a dyn Array) -> Option<Self> {
        Some(match *data_type {
            DataType::Boolean => Self::Boolean(array.as_boolean_opt()?),
            DataType::TinyInt => Self::Int8(array.as_primitive_opt()?),
            DataType::SmallInt => Self::Int16(array.as_primitive_opt()?),
            DataType::Int => Self::Int32(array.as_primitive_opt()?),
            DataType::BigInt => Self::Int64(array.as_primitive_opt()?),
            DataType::Float => Self::Float32(array.as_primitive_opt()?),
            DataType::Double => Self::Float64(array.as_primitive_opt()?),
            DataType::Decimal { scale, .. } => Self::Decimal(array.as_primitive_opt()?, scale),
            DataType::Char(_) | DataType::Varchar(_) | DataType::String => Self::Text(array.as_string_opt()?),
            DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => Self::Bytes(array.as_binary_opt()?),
            DataType::Date => Self::Date(array.as_primitive_opt()?),
            DataType::Time(p) => Self::Time(array.as_primitive_opt()?, p),
            DataType::Timestamp(p) => Self::Timestamp(array.as_primitive_opt()?, p),
            DataType::TimestampLtz(p) => Self::Instant(array.as_primitive_opt()?, p),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Boolean(a) => *a,
            Self::Int8(a) => *a,
            Self::Int16(a) => *a,
            Self::Int32(a) => *a,
            Self::Int64(a) => *a,
            Self::Float32(a) => *a,
            Self::Float64(a) => *a,
            Self::Decimal(a, _) => *a,
            Self::Text(a) => *a,
            Self::Bytes(a) => *a,
            Self::Date(a) => *a,
            Self::Time(a, _) => *a,
            Self::Timestamp(a, _) | Self::Instant(a, _) => *a,
        }
    }

    /// Whether a value is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Whether two rows hold the same value.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        if self.is_null(a) || self.is_null(b) {
            return self.is_null(a) == self.is_null(b);
        }
        match self {
            Self::Boolean(v) => v.value(a) == v.value(b),
            Self::Int8(v) => v.value(a) == v.value(b),
            Self::Int16(v) => v.value(a) == v.value(b),
            Self::Int32(v) => v.value(a) == v.value(b),
            Self::Int64(v) => v.value(a) == v.value(b),
            Self::Float32(v) => v.value(a).to_bits() == v.value(b).to_bits(),
            Self::Float64(v) => v.value(a).to_bits() == v.value(b).to_bits(),
            Self::Decimal(v, _) => v.value(a) == v.value(b),
            Self::Text(v) => v.value(a) == v.value(b),
            Self::Bytes(v) => v.value(a) == v.value(b),
            Self::Date(v) => v.value(a) == v.value(b),
            Self::Time(v, _) => v.value(a) == v.value(b),
            Self::Timestamp(v, _) | Self::Instant(v, _) => v.value(a) == v.value(b),
        }
    }

    /// Appends a value as Flink CDC prints it.
    pub(super) fn append_text(&self, out: &mut Vec<u8>, row: usize) {
        if self.is_null(row) {
            out.extend_from_slice(b"null");
            return;
        }
        match self {
            Self::Boolean(a) => append_bool(out, a.value(row)),
            Self::Int8(a) => append_int(out, a.value(row).into()),
            Self::Int16(a) => append_int(out, a.value(row).into()),
            Self::Int32(a) => append_int(out, a.value(row).into()),
            Self::Int64(a) => append_int(out, a.value(row)),
            Self::Float32(a) => append_f32(out, a.value(row)),
            Self::Float64(a) => append_f64(out, a.value(row)),
            Self::Decimal(a, scale) => append_decimal(out, a.value(row), *scale),
            Self::Text(a) => out.extend_from_slice(a.value(row).as_bytes()),
            Self::Bytes(a) => append_base64(out, a.value(row)),
            Self::Date(a) => append_date(out, a.value(row).into()),
            Self::Time(a, _) => append_time(out, a.value(row), Fraction::Java),
            Self::Timestamp(a, _) | Self::Instant(a, _) => append_timestamp(out, a.value(row), Fraction::Java),
        }
    }

    /// Appends a value as JSON, so that nothing of it is lost.
    pub(super) fn append_json(&self, out: &mut Vec<u8>, row: usize) {
        if self.is_null(row) {
            out.extend_from_slice(b"null");
            return;
        }
        match self {
            Self::Boolean(_) | Self::Int8(_) | Self::Int16(_) | Self::Int32(_) | Self::Int64(_) => {
                self.append_text(out, row);
            }
            // JSON has no word for what is not finite.
            Self::Float32(a) if a.value(row).is_finite() => append_f32(out, a.value(row)),
            Self::Float64(a) if a.value(row).is_finite() => append_f64(out, a.value(row)),
            Self::Text(a) => append_json_string(out, a.value(row)),
            Self::Float32(_) | Self::Float64(_) | Self::Decimal(..) | Self::Bytes(_) | Self::Date(_) => {
                out.push(b'"');
                self.append_text(out, row);
                out.push(b'"');
            }
            Self::Time(a, p) => quoted(out, |out| append_time(out, a.value(row), Fraction::Digits(*p))),
            Self::Timestamp(a, p) => quoted(out, |out| append_timestamp(out, a.value(row), Fraction::Digits(*p))),
            Self::Instant(a, p) => quoted(out, |out| {
                append_timestamp(out, a.value(row), Fraction::Digits(*p));
                out.push(b'Z');
            }),
        }
    }
}

fn quoted(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    append(out);
    out.push(b'"');
}

fn append_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true".as_slice() } else { b"false" });
}

fn append_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // The place made above is what the encoding needs.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

/// Appends text as a JSON string.
pub(super) fn append_json_string(out: &mut Vec<u8>, text: &str) {
    // Writing a str to a Vec can't fail.
    let _ = serde_json::to_writer(out, text);
}
