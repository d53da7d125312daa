//! The column types of Doris.

use crate::olap::column_type::{ColumnType, Kind, Words};
use std::fmt;

/// The greatest length of a VARCHAR, in bytes.
pub(super) const MAX_VARCHAR: u32 = 65_533;
/// The greatest length of a CHAR, in bytes.
pub(super) const MAX_CHAR: u32 = 255;

/// A column's type.
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
    /// Text without a length.
    String,
    Date,
    /// Digits of the second's fraction.
    DateTime(u8),
    /// A type that the sink never makes.
    Other(String),
}

impl TargetType {
    /// Whether it can be a key's.
    pub(super) fn may_be_key(&self) -> bool {
        !matches!(self, Self::Float | Self::Double | Self::String | Self::Other(_))
    }
}

impl ColumnType for TargetType {
    /// In the spellings of all versions.
    fn parse(text: &str) -> Self {
        let words = Words::of(text);
        match (words.name(), words.first) {
            ("boolean", _) => Self::Boolean,
            ("tinyint", Some(1)) => Self::Boolean,
            ("tinyint", _) => Self::TinyInt,
            ("smallint", _) => Self::SmallInt,
            ("int", _) => Self::Int,
            ("bigint", _) => Self::BigInt,
            ("largeint" | "bigint unsigned", _) => Self::LargeInt,
            ("float", _) => Self::Float,
            ("double", _) => Self::Double,
            ("decimal" | "decimalv3" | "decimalv2", _) => {
                words.decimal().map_or_else(|| Self::Other(words.all.clone()), |(p, s)| Self::Decimal(p, s))
            }
            ("char" | "character", Some(n)) => Self::Char(n),
            ("varchar", Some(n)) => Self::Varchar(n),
            ("text" | "string", _) => Self::String,
            ("date" | "datev2", _) => Self::Date,
            ("datetime" | "datetimev2", n) => {
                u8::try_from(n.unwrap_or(0)).map_or_else(|_| Self::Other(words.all.clone()), Self::DateTime)
            }
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
            Self::String => Kind::Text(None),
            Self::Date => Kind::Date,
            Self::DateTime(p) => Kind::DateTime(*p),
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
    /// As it is written in a statement. The names with a version are those that mean the same in all of them.
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
            Self::Decimal(p, s) => write!(f, "DECIMALV3({p}, {s})"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::String => f.write_str("STRING"),
            Self::Date => f.write_str("DATEV2"),
            Self::DateTime(p) => write!(f, "DATETIMEV2({p})"),
            Self::Other(text) => f.write_str(text),
        }
    }
}
