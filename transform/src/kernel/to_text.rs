//! Values as text: what CAST to a text and the recordings show.

use super::append_json;
use crate::column::{Col, build_text};
use crate::node::{Context, Failure, Kernel};
use crate::text;
use crate::types::Type;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use std::fmt::Write;
use std::sync::Arc;

/// Appends the text of a value that is not NULL, as Flink CDC's CAST to a text gives it. Instants are shown in UTC, bytes are
/// taken for UTF-8, and nested values are JSON. `None`: not a value of this type.
pub(crate) fn append_value(out: &mut String, array: &dyn Array, ty: &Type, row: usize) -> Option<()> {
    match array.data_type() {
        ArrowType::Boolean => out.push_str(if array.as_boolean_opt()?.value(row) { "true" } else { "false" }),
        ArrowType::Int8 => write!(out, "{}", array.as_primitive_opt::<Int8Type>()?.value(row)).ok()?,
        ArrowType::Int16 => write!(out, "{}", array.as_primitive_opt::<Int16Type>()?.value(row)).ok()?,
        ArrowType::Int32 => write!(out, "{}", array.as_primitive_opt::<Int32Type>()?.value(row)).ok()?,
        ArrowType::Int64 => write!(out, "{}", array.as_primitive_opt::<Int64Type>()?.value(row)).ok()?,
        ArrowType::Float32 => text::append_float(out, array.as_primitive_opt::<Float32Type>()?.value(row)),
        ArrowType::Float64 => text::append_double(out, array.as_primitive_opt::<Float64Type>()?.value(row)),
        ArrowType::Decimal128(_, scale) => {
            let value = array.as_primitive_opt::<Decimal128Type>()?.value(row);
            text::append_decimal(out, value, u8::try_from(*scale).ok()?);
        }
        ArrowType::Utf8 => out.push_str(array.as_string_opt::<i32>()?.value(row)),
        ArrowType::Binary => out.push_str(&String::from_utf8_lossy(array.as_binary_opt::<i32>()?.value(row))),
        ArrowType::Date32 => text::append_date(out, i64::from(array.as_primitive_opt::<Date32Type>()?.value(row))),
        ArrowType::Duration(TimeUnit::Microsecond) => {
            text::append_time(out, array.as_primitive_opt::<DurationMicrosecondType>()?.value(row));
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            text::append_timestamp(out, array.as_primitive_opt::<TimestampMicrosecondType>()?.value(row));
        }
        _ => append_json(out, array, ty, row)?,
    }
    Some(())
}

/// The kernel of a cast to a text.
pub(crate) fn text_kernel(from: &Type) -> Kernel {
    let from = from.clone();
    Arc::new(move |args: &[Col], rows: usize, _: &Context| -> Result<ArrayRef, Failure> {
        let [a] = args else { return Err(Failure::new("a cast has one operand")) };
        build_text(rows, |row, out| {
            if a.is_null(row) {
                return None;
            }
            append_value(out, a.array.as_ref(), &from, if a.scalar { 0 } else { row })
        })
        .map_err(Failure::from)
    })
}
