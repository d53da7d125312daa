//! A column of a batch whose type has been looked at.

use super::escape::{append_base64, append_hex, append_string};
use super::numbers::{append_decimal, append_f32, append_f64, append_i64};
use super::plan::{ColumnPlan, Form};
use super::time::{append_date, append_time, append_timestamp};
use super::zone::{LastOffset, Zone};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use rowferry_model::DataType;

/// A value that the target can't hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It is too long.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The greatest length.
        limit: usize,
    },
    /// The year is not one of 0 to 9999.
    Year,
    /// It is no number.
    NotANumber,
}

/// The values of a column.
pub(super) enum Cells<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Float32(&'a PrimitiveArray<Float32Type>, bool),
    Float64(&'a PrimitiveArray<Float64Type>, bool),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Text(&'a StringArray, usize),
    Base64(&'a BinaryArray, usize),
    Hex(&'a BinaryArray, usize),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<DurationMicrosecondType>, u8),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    Instant(&'a PrimitiveArray<TimestampMicrosecondType>, &'a Zone, LastOffset),
}

impl<'a> Cells<'a> {
    /// A column; `None` where the array is not of the type that the stream promises.
    pub(super) fn new(plan: &ColumnPlan, array: &'a dyn Array, zone: &'a Zone) -> Option<Self> {
        let limit = plan.limit.unwrap_or(usize::MAX);
        let quoted = plan.form == Form::Quoted;
        Some(match plan.data_type {
            DataType::Boolean => Self::Boolean(array.as_boolean_opt()?),
            DataType::TinyInt => Self::Int8(array.as_primitive_opt()?),
            DataType::SmallInt => Self::Int16(array.as_primitive_opt()?),
            DataType::Int => Self::Int32(array.as_primitive_opt()?),
            DataType::BigInt => Self::Int64(array.as_primitive_opt()?),
            DataType::Float => Self::Float32(array.as_primitive_opt()?, quoted),
            DataType::Double => Self::Float64(array.as_primitive_opt()?, quoted),
            DataType::Decimal { scale, .. } => Self::Decimal(array.as_primitive_opt()?, scale),
            DataType::Char(_) | DataType::Varchar(_) | DataType::String => Self::Text(array.as_string_opt()?, limit),
            DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes if plan.form == Form::Hex => {
                Self::Hex(array.as_binary_opt()?, limit)
            }
            DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => {
                Self::Base64(array.as_binary_opt()?, limit)
            }
            DataType::Date => Self::Date(array.as_primitive_opt()?),
            DataType::Time(p) => Self::Time(array.as_primitive_opt()?, p),
            DataType::Timestamp(_) => Self::Timestamp(array.as_primitive_opt()?),
            DataType::TimestampLtz(_) => Self::Instant(array.as_primitive_opt()?, zone, LastOffset::default()),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Boolean(a) => *a,
            Self::Int8(a) => *a,
            Self::Int16(a) => *a,
            Self::Int32(a) => *a,
            Self::Int64(a) => *a,
            Self::Float32(a, _) => *a,
            Self::Float64(a, _) => *a,
            Self::Decimal(a, _) => *a,
            Self::Text(a, _) => *a,
            Self::Base64(a, _) | Self::Hex(a, _) => *a,
            Self::Date(a) => *a,
            Self::Time(a, _) => *a,
            Self::Timestamp(a) | Self::Instant(a, _, _) => *a,
        }
    }

    /// Whether a value is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Whether the values of two rows are the same to the target.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        match self {
            Self::Boolean(v) => v.value(a) == v.value(b),
            Self::Int8(v) => v.value(a) == v.value(b),
            Self::Int16(v) => v.value(a) == v.value(b),
            Self::Int32(v) => v.value(a) == v.value(b),
            Self::Int64(v) => v.value(a) == v.value(b),
            // -0 equals 0, and is written like it.
            Self::Float32(v, _) => v.value(a) == v.value(b),
            Self::Float64(v, _) => v.value(a) == v.value(b),
            Self::Decimal(v, _) => v.value(a) == v.value(b),
            Self::Text(v, _) => v.value(a) == v.value(b),
            Self::Base64(v, _) | Self::Hex(v, _) => v.value(a) == v.value(b),
            Self::Date(v) => v.value(a) == v.value(b),
            Self::Time(v, _) => v.value(a) == v.value(b),
            Self::Timestamp(v) | Self::Instant(v, _, _) => v.value(a) == v.value(b),
        }
    }

    /// Appends a value that is not NULL.
    #[inline]
    pub(super) fn append(&self, out: &mut Vec<u8>, row: usize) -> Result<(), Unfit> {
        match self {
            Self::Boolean(a) => out.extend_from_slice(if a.value(row) { b"true" } else { b"false" }),
            Self::Int8(a) => append_i64(out, a.value(row).into()),
            Self::Int16(a) => append_i64(out, a.value(row).into()),
            Self::Int32(a) => append_i64(out, a.value(row).into()),
            Self::Int64(a) => append_i64(out, a.value(row)),
            Self::Float32(a, quoted) => {
                let value = a.value(row) + 0.0;
                if !value.is_finite() {
                    return Err(Unfit::NotANumber);
                }
                in_quotes(out, *quoted, |out| append_f32(out, value));
            }
            Self::Float64(a, quoted) => {
                let value = a.value(row) + 0.0;
                if !value.is_finite() {
                    return Err(Unfit::NotANumber);
                }
                in_quotes(out, *quoted, |out| append_f64(out, value));
            }
            // In quotes, so that no parser takes the way through a double.
            Self::Decimal(a, scale) => in_quotes(out, true, |out| append_decimal(out, a.value(row), *scale)),
            Self::Text(a, limit) => {
                let text = a.value(row);
                fits(text.len(), *limit)?;
                append_string(out, text);
            }
            Self::Base64(a, limit) => {
                let bytes = a.value(row);
                fits(bytes.len(), *limit)?;
                append_base64(out, bytes);
            }
            Self::Hex(a, limit) => {
                let bytes = a.value(row);
                fits(bytes.len() * 2, *limit)?;
                append_hex(out, bytes);
            }
            Self::Date(a) => quoted_if(out, |out| append_date(out, a.value(row).into()))?,
            Self::Time(a, precision) => in_quotes(out, true, |out| append_time(out, a.value(row), *precision)),
            Self::Timestamp(a) => quoted_if(out, |out| append_timestamp(out, a.value(row)))?,
            Self::Instant(a, zone, last) => quoted_if(out, |out| append_timestamp(out, zone.wall(a.value(row), last)))?,
        }
        Ok(())
    }
}

fn in_quotes(out: &mut Vec<u8>, quoted: bool, append: impl FnOnce(&mut Vec<u8>)) {
    if quoted {
        out.push(b'"');
    }
    append(out);
    if quoted {
        out.push(b'"');
    }
}

fn quoted_if(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Result<(), Unfit> {
    out.push(b'"');
    append(out).ok_or(Unfit::Year)?;
    out.push(b'"');
    Ok(())
}

fn fits(bytes: usize, limit: usize) -> Result<(), Unfit> {
    if bytes > limit { Err(Unfit::TooLong { bytes, limit }) } else { Ok(()) }
}
