//! The column types of StarRocks.

use crate::olap::column_type::{ColumnType, Kind, Words};
use std::fmt;

/// The greatest length of a VARCHAR or VARBINARY, in bytes.
pub(super) const MAX_BYTES: u32 = 1_048_576;
/// The greatest length of a CHAR, in bytes.
pub(super) const MAX_CHAR: u32 = 255;

/// A column's type, as StarRocks shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetType {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    LargeInt,
    Float,
    Double,
    Decimal(u8, u8),
    /// Bytes.
    Char(u32),
    /// Bytes.
    Varchar(u32),
    /// Bytes; `None`: the greatest length.
    Varbinary(Option<u32>),
    Date,
    DateTime,
    /// A type that the sink never makes.
    Other(String),
}

impl ColumnType for TargetType {
    fn parse(text: &str) -> Self {
        let words = Words::of(text);
        match (words.name(), words.first) {
            ("boolean", _) => Self::Boolean,
            ("tinyint", Some(1)) => Self::Boolean,
            ("tinyint", _) => Self::TinyInt,
            ("smallint", _) => Self::SmallInt,
            ("int", _) => Self::Int,
            ("bigint unsigned" | "largeint", _) => Self::LargeInt,
            ("bigint", _) => Self::BigInt,
            ("float", _) => Self::Float,
            ("double", _) => Self::Double,
            ("decimal" | "decimal32" | "decimal64" | "decimal128", _) => {
                words.decimal().map_or_else(|| Self::Other(words.all.clone()), |(p, s)| Self::Decimal(p, s))
            }
            ("char", Some(n)) => Self::Char(n),
            ("varchar", Some(n)) => Self::Varchar(n),
            ("varbinary" | "binary", n) => Self::Varbinary(n),
            ("date", _) => Self::Date,
            ("datetime", _) => Self::DateTime,
            _ => Self::Other(words.all),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Boolean => Kind::Boolean,
            Self::TinyInt => Kind::Integer(1),
            Self::SmallInt => Kind::Integer(2),
            Self::Int => Kind::Integer(4),
            Self::BigInt => Kind::Integer(8),
            Self::LargeInt => Kind::Integer(16),
            Self::Float => Kind::Float,
            Self::Double => Kind::Double,
            Self::Decimal(p, s) => Kind::Decimal(*p, *s),
            Self::Char(n) => Kind::Char(*n),
            Self::Varchar(n) => Kind::Text(Some(*n)),
            Self::Varbinary(n) => Kind::Bytes(n.unwrap_or(MAX_BYTES)),
            Self::Date => Kind::Date,
            Self::DateTime => Kind::DateTime(6),
            Self::Other(_) => Kind::Other,
        }
    }

    fn large_integer() -> Self {
        Self::LargeInt
    }

    fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal(precision, scale)
    }

    fn text(bytes: u32) -> Self {
        Self::Varchar(bytes)
    }
}

impl fmt::Display for TargetType {
    /// As it is written in a statement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::LargeInt => f.write_str("LARGEINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal(p, s) => write!(f, "DECIMAL({p}, {s})"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::Varbinary(None) => f.write_str("VARBINARY"),
            Self::Varbinary(Some(n)) => write!(f, "VARBINARY({n})"),
            Self::Date => f.write_str("DATE"),
            Self::DateTime => f.write_str("DATETIME"),
            Self::Other(text) => f.write_str(text),
        }
    }
}
