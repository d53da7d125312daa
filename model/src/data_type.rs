//! The types of the stream: Flink CDC's, each with exactly one Arrow representation.

use arrow_schema::{DataType as ArrowType, TimeUnit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A logical type. Nullability is a property of the [`Column`](crate::Column), not of the type.
///
/// Lengths are in characters for character types and in bytes for binary types; precisions of temporal types are
/// digits of a second's fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DataType {
    /// True or false.
    Boolean,
    /// 8-bit signed.
    TinyInt,
    /// 16-bit signed.
    SmallInt,
    /// 32-bit signed.
    Int,
    /// 64-bit signed.
    BigInt,
    /// 32-bit IEEE 754.
    Float,
    /// 64-bit IEEE 754.
    Double,
    /// Exact decimal, precision at most 38.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the point, 0 to `precision`.
        scale: u8,
    },
    /// Text of a fixed number of characters, as MySQL delivers it: without the padding.
    Char(u32),
    /// Text of at most so many characters.
    Varchar(u32),
    /// Text of any length.
    String,
    /// Bytes of a fixed length, padded with zero bytes to that length.
    Binary(u32),
    /// At most so many bytes.
    Varbinary(u32),
    /// Bytes of any length.
    Bytes,
    /// A day.
    Date,
    /// A time of day, or (MySQL's TIME is an interval) any duration within ±838:59:59.999999.
    Time(u8),
    /// A wall-clock time without a zone.
    Timestamp(u8),
    /// An instant.
    TimestampLtz(u8),
}

impl DataType {
    /// The Arrow type that columns of this type have in a [`ChangeBatch`](crate::ChangeBatch).
    ///
    /// | type | Arrow |
    /// |---|---|
    /// | text | `Utf8` |
    /// | bytes | `Binary` |
    /// | DECIMAL | `Decimal128(precision, scale)` |
    /// | TIME | `Duration(Microsecond)`: signed, may exceed a day |
    /// | TIMESTAMP | `Timestamp(Microsecond, None)` |
    /// | TIMESTAMP_LTZ | `Timestamp(Microsecond, "UTC")` |
    pub fn arrow(&self) -> ArrowType {
        match self {
            Self::Boolean => ArrowType::Boolean,
            Self::TinyInt => ArrowType::Int8,
            Self::SmallInt => ArrowType::Int16,
            Self::Int => ArrowType::Int32,
            Self::BigInt => ArrowType::Int64,
            Self::Float => ArrowType::Float32,
            Self::Double => ArrowType::Float64,
            Self::Decimal { precision, scale } => ArrowType::Decimal128(*precision, *scale as i8),
            Self::Char(_) | Self::Varchar(_) | Self::String => ArrowType::Utf8,
            Self::Binary(_) | Self::Varbinary(_) | Self::Bytes => ArrowType::Binary,
            Self::Date => ArrowType::Date32,
            Self::Time(_) => ArrowType::Duration(TimeUnit::Microsecond),
            Self::Timestamp(_) => ArrowType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampLtz(_) => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

impl fmt::Display for DataType {
    /// Flink CDC's spelling, for example `DECIMAL(20, 0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::String => f.write_str("STRING"),
            Self::Binary(n) => write!(f, "BINARY({n})"),
            Self::Varbinary(n) => write!(f, "VARBINARY({n})"),
            Self::Bytes => f.write_str("BYTES"),
            Self::Date => f.write_str("DATE"),
            Self::Time(p) => write!(f, "TIME({p})"),
            Self::Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            Self::TimestampLtz(p) => write!(f, "TIMESTAMP_LTZ({p})"),
        }
    }
}
