//! The column types of StarRocks.

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

impl TargetType {
    /// Reads a type as `SHOW FULL COLUMNS` gives it.
    pub(super) fn parse(text: &str) -> Self {
        let lower = text.trim().to_ascii_lowercase();
        let (name, arguments) = match lower.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end_matches(')')),
            None => (lower.as_str(), ""),
        };
        let mut numbers = arguments.split(',').map(|n| n.trim().parse::<u32>().ok());
        let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
        match (name, first) {
            ("boolean", _) => Self::Boolean,
            ("tinyint", Some(1)) if arguments == "1" => Self::Boolean,
            ("tinyint", _) => Self::TinyInt,
            ("smallint", _) => Self::SmallInt,
            ("int", _) => Self::Int,
            ("bigint unsigned" | "largeint", _) => Self::LargeInt,
            ("bigint", _) => Self::BigInt,
            ("float", _) => Self::Float,
            ("double", _) => Self::Double,
            ("decimal" | "decimal32" | "decimal64" | "decimal128", Some(p)) => {
                match (u8::try_from(p), u8::try_from(second.unwrap_or(0))) {
                    (Ok(p), Ok(s)) => Self::Decimal(p, s),
                    _ => Self::Other(lower),
                }
            }
            ("char", Some(n)) => Self::Char(n),
            ("varchar", Some(n)) => Self::Varchar(n),
            ("varbinary" | "binary", n) => Self::Varbinary(n),
            ("date", _) => Self::Date,
            ("datetime", _) => Self::DateTime,
            _ => Self::Other(lower),
        }
    }

    /// How many decimal digits an integer type certainly holds, and its rank among them.
    fn integer(&self) -> Option<(u8, u8)> {
        Some(match self {
            Self::TinyInt => (2, 0),
            Self::SmallInt => (4, 1),
            Self::Int => (9, 2),
            Self::BigInt => (18, 3),
            Self::LargeInt => (38, 4),
            _ => return None,
        })
    }

    /// Whether it is one of the integer types.
    pub(super) fn is_integer(&self) -> bool {
        self.integer().is_some()
    }

    /// Whether every value of `other` is also one of this type, so that a column need not change. StarRocks never
    /// narrows a column.
    pub(super) fn holds(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Decimal(p, s), Self::Decimal(op, os)) => s >= os && p - s >= op - os,
            (Self::LargeInt, Self::Decimal(op, 0)) => *op <= 38,
            (Self::Decimal(p, s), _) if other.is_integer() => {
                // An integer type has values of one digit more than it holds of all.
                other.integer().is_some_and(|(digits, _)| p - s > digits)
            }
            (Self::Double, Self::Float | Self::TinyInt | Self::SmallInt | Self::Int) => true,
            (Self::Float, Self::TinyInt | Self::SmallInt) => true,
            (Self::Char(n), Self::Char(o)) => n >= o,
            (Self::Varchar(n), Self::Char(o) | Self::Varchar(o)) => n >= o,
            (Self::Varbinary(n), Self::Varbinary(o)) => n.unwrap_or(MAX_BYTES) >= o.unwrap_or(MAX_BYTES),
            _ => match (self.integer(), other.integer()) {
                (Some((_, a)), Some((_, b))) => a >= b,
                _ => false,
            },
        }
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
