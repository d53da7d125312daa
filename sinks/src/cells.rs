//! A column whose Arrow type has been looked at once, so that looking at a value costs no dynamic cast.

use crate::SinkError;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
#[cfg(feature = "olap")]
use arrow_buffer::NullBuffer;
use rowferry_model::{ChangeBatch, DataType};

/// The values of a column.
#[cfg_attr(not(feature = "values"), expect(dead_code, reason = "only printing looks at scales and precisions"))]
pub(crate) enum Cells<'a> {
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
    pub(crate) fn of(batch: &'a ChangeBatch) -> Result<Vec<Self>, SinkError> {
        let columns = batch.schema().columns.iter().zip(batch.columns().columns());
        columns
            .map(|(column, array)| {
                Self::new(&column.data_type, array.as_ref()).ok_or_else(|| {
                    SinkError::permanent(format!(
                        "column `{}` of {} has Arrow type {} where {} was expected",
                        column.name,
                        batch.table(),
                        array.data_type(),
                        column.data_type.arrow()
                    ))
                })
            })
            .collect()
    }

    /// One column; `None` where the array is not of the type's Arrow type.
    pub(crate) fn new(data_type: &DataType, array: &'a dyn Array) -> Option<Self> {
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

    /// Which values are NULL; `None` where none is.
    #[cfg(feature = "olap")]
    pub(crate) fn nulls(&self) -> Option<&'a NullBuffer> {
        match *self {
            Self::Boolean(a) => a.nulls(),
            Self::Int8(a) => a.nulls(),
            Self::Int16(a) => a.nulls(),
            Self::Int32(a) => a.nulls(),
            Self::Int64(a) => a.nulls(),
            Self::Float32(a) => a.nulls(),
            Self::Float64(a) => a.nulls(),
            Self::Decimal(a, _) => a.nulls(),
            Self::Text(a) => a.nulls(),
            Self::Bytes(a) => a.nulls(),
            Self::Date(a) => a.nulls(),
            Self::Time(a, _) => a.nulls(),
            Self::Timestamp(a, _) | Self::Instant(a, _) => a.nulls(),
        }
        .filter(|nulls| nulls.null_count() > 0)
    }

    /// Whether a value is NULL.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Whether two rows hold the same value, bit by bit.
    pub(crate) fn same(&self, a: usize, b: usize) -> bool {
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
}
