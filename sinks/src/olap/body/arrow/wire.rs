//! What a column's values are sent as.

use super::super::plan::Form;
use super::BACKEND_ZONE;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use rowferry_model::DataType;

/// What a column's values are sent as: what a backend reads in the table's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Boolean,
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer(u8),
    /// The digits of an integer of 16 bytes.
    LargeInteger,
    Float,
    Double,
    /// 16 bytes, whatever the digits in all and behind the point.
    Decimal(u8, u8),
    /// Text of so many bytes; `None`: of any length.
    Text(Option<u32>),
    Date,
    /// Microseconds; the column has so many digits of the second's fraction.
    DateTime(u8),
}

impl Wire {
    /// The Arrow type.
    pub(super) fn arrow(self) -> ArrowType {
        match self {
            Self::Boolean => ArrowType::Boolean,
            Self::Integer(..=1) => ArrowType::Int8,
            Self::Integer(2) => ArrowType::Int16,
            Self::Integer(3..=4) => ArrowType::Int32,
            Self::Integer(_) => ArrowType::Int64,
            Self::LargeInteger | Self::Text(_) => ArrowType::Utf8,
            Self::Float => ArrowType::Float32,
            Self::Double => ArrowType::Float64,
            Self::Decimal(precision, scale) => ArrowType::Decimal128(precision, scale as i8),
            Self::Date => ArrowType::Date32,
            Self::DateTime(_) => ArrowType::Timestamp(TimeUnit::Microsecond, Some(BACKEND_ZONE.into())),
        }
    }

    /// How many bytes a value has, where all have as many.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Integer(bytes) => bytes.into(),
            Self::Float | Self::Date => 4,
            Self::Double | Self::DateTime(_) => 8,
            Self::Decimal(..) | Self::LargeInteger | Self::Text(_) => 16,
        }
    }

    /// What must be the same when a backend reads the values: how long a text may be is no part of it, because backends
    /// look at that.
    pub(crate) fn layout(self) -> Self {
        match self {
            Self::Text(_) => Self::Text(None),
            other => other,
        }
    }

    /// Whether all values of a type, as JSON would have them in this form, become what the target makes of the JSON; but
    /// for single values, which are refused.
    pub(crate) fn holds(self, data_type: DataType, form: Form) -> bool {
        let integer = match data_type {
            DataType::TinyInt => Some((1, 3)),
            DataType::SmallInt => Some((2, 5)),
            DataType::Int => Some((4, 10)),
            DataType::BigInt => Some((8, 19)),
            _ => None,
        };
        match (self, data_type, integer) {
            (Self::Integer(bytes), _, Some((width, _))) => bytes >= width,
            (Self::LargeInteger, _, Some(_)) | (Self::LargeInteger, DataType::Decimal { scale: 0, .. }, _) => true,
            (Self::Float, _, Some((width, _))) => width <= 2,
            (Self::Double, _, Some((width, _))) => width <= 4,
            (Self::Decimal(p, s), _, Some((_, digits))) => p <= 38 && p.saturating_sub(s) >= digits,
            (Self::Decimal(p, s), DataType::Decimal { precision, scale }, _) => {
                p <= 38 && s >= scale && p.saturating_sub(s) >= precision.saturating_sub(scale)
            }
            (Self::Boolean, DataType::Boolean, _)
            | (Self::Float, DataType::Float, _)
            | (Self::Double, DataType::Double | DataType::Float, _)
            | (Self::Date, DataType::Date, _) => true,
            (Self::DateTime(digits), DataType::Timestamp(p) | DataType::TimestampLtz(p), _) => digits >= p.min(6),
            // What a server makes of a bare number or boolean where text is wanted is its own matter, but for integers.
            (Self::Text(_), DataType::Float | DataType::Double, _) => form == Form::Quoted,
            (Self::Text(_), data_type, _) => data_type != DataType::Boolean,
            _ => false,
        }
    }
}
