//! The column types of Doris.

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
    /// Reads a type as `SHOW FULL COLUMNS` gives it, in the spellings of all versions.
    pub(super) fn parse(text: &str) -> Self {
        let lower = text.trim().to_ascii_lowercase();
        let (name, arguments) = match lower.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end_matches(')')),
            None => (lower.as_str(), ""),
        };
        let mut numbers = arguments.split(',').map(|n| n.trim().parse::<u32>().ok());
        let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
        let small = |n: Option<u32>| n.map_or(Some(0), |n| u8::try_from(n).ok());
        match (name, first) {
            ("boolean", _) => Self::Boolean,
            ("tinyint", Some(1)) if arguments == "1" => Self::Boolean,
            ("tinyint", _) => Self::TinyInt,
            ("smallint", _) => Self::SmallInt,
            ("int", _) => Self::Int,
            ("bigint", _) => Self::BigInt,
            ("largeint" | "bigint unsigned", _) => Self::LargeInt,
            ("float", _) => Self::Float,
            ("double", _) => Self::Double,
            ("decimal" | "decimalv3" | "decimalv2", Some(p)) => match (small(Some(p)), small(second)) {
                (Some(p), Some(s)) => Self::Decimal(p, s),
                _ => Self::Other(lower),
            },
            ("char" | "character", Some(n)) => Self::Char(n),
            ("varchar", Some(n)) => Self::Varchar(n),
            ("text" | "string", _) => Self::String,
            ("date" | "datev2", _) => Self::Date,
            ("datetime" | "datetimev2", n) => match small(n) {
                Some(p) => Self::DateTime(p),
                None => Self::Other(lower),
            },
            _ => Self::Other(lower),
        }
    }

    /// Whether it can be a key's.
    pub(super) fn may_be_key(&self) -> bool {
        !matches!(self, Self::Float | Self::Double | Self::String | Self::Other(_))
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

    /// Whether every value of `other` is also one of this type, so that a column need not change. Doris would narrow
    /// a decimal, and lose digits; the sink never asks for it.
    pub(super) fn holds(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self, other) {
            (Self::Decimal(p, s), Self::Decimal(op, os)) => s >= os && p.saturating_sub(*s) >= op.saturating_sub(*os),
            (Self::LargeInt, Self::Decimal(op, 0)) => *op <= 38,
            (Self::Decimal(p, s), _) if other.is_integer() => {
                // An integer type has values of one digit more than it holds of all.
                other.integer().is_some_and(|(digits, _)| p.saturating_sub(*s) > digits)
            }
            (Self::Double, Self::Float | Self::TinyInt | Self::SmallInt | Self::Int) => true,
            (Self::Float, Self::TinyInt | Self::SmallInt) => true,
            (Self::Char(n), Self::Char(o)) => n >= o,
            (Self::Varchar(n), Self::Char(o) | Self::Varchar(o)) => n >= o,
            (Self::String, Self::Char(_) | Self::Varchar(_)) => true,
            (Self::DateTime(p), Self::DateTime(o)) => p >= o,
            _ => match (self.integer(), other.integer()) {
                (Some((_, a)), Some((_, b))) => a >= b,
                _ => false,
            },
        }
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
