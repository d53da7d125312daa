//! What the column types of different servers have in common.

use rowferry_model::Column;
use std::fmt;

/// A column type without a server's spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// True or false.
    Boolean,
    /// An integer of so many bytes.
    Integer(u8),
    /// Four bytes.
    Float,
    /// Eight bytes.
    Double,
    /// Digits in all, and digits behind the point.
    Decimal(u8, u8),
    /// Text of so many bytes that loses the blanks at its end.
    Char(u32),
    /// Text of so many bytes; `None`: without a length.
    Text(Option<u32>),
    /// So many bytes.
    #[cfg_attr(not(feature = "starrocks"), expect(dead_code, reason = "only StarRocks has it"))]
    Bytes(u32),
    /// A day.
    Date,
    /// A day and a time, with so many digits of the second's fraction.
    DateTime(u8),
    /// A type that the sinks never make.
    Other,
}

impl Kind {
    /// Whether it is one of the integer types.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Integer(_))
    }

    /// Whether every value of `other` is also one of this type, so that a column need not change.
    fn holds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(bytes), Self::Integer(other)) => bytes >= other,
            (Self::Integer(16), Self::Decimal(precision, 0)) => precision <= 38,
            (Self::Decimal(p, s), Self::Decimal(op, os)) => s >= os && p.saturating_sub(s) >= op.saturating_sub(os),
            // An integer type has values of one digit more than it holds of all.
            (Self::Decimal(p, s), Self::Integer(bytes)) => p.saturating_sub(s) > whole_digits(bytes),
            (Self::Double, Self::Float | Self::Integer(..=4)) | (Self::Float, Self::Integer(..=2)) => true,
            (Self::Char(n), Self::Char(o)) => n >= o,
            (Self::Text(None), Self::Char(_) | Self::Text(_)) => true,
            (Self::Text(Some(n)), Self::Char(o) | Self::Text(Some(o))) => n >= o,
            (Self::Bytes(n), Self::Bytes(o)) => n >= o,
            (Self::DateTime(p), Self::DateTime(o)) => p >= o,
            _ => false,
        }
    }
}

/// How many decimal digits an integer of so many bytes certainly holds.
fn whole_digits(bytes: u8) -> u8 {
    match bytes {
        0..=1 => 2,
        2 => 4,
        3..=4 => 9,
        5..=8 => 18,
        _ => 38,
    }
}

/// A server's column type. It is shown as it is written in a statement.
pub(crate) trait ColumnType: Clone + PartialEq + fmt::Debug + fmt::Display + Send + Sync {
    /// Reads a type as `SHOW FULL COLUMNS` gives it.
    fn parse(text: &str) -> Self;

    /// What it is without the server's spelling.
    fn kind(&self) -> Kind;

    /// An integer of 16 bytes.
    fn large_integer() -> Self;

    /// Digits in all, and digits behind the point.
    fn decimal(precision: u8, scale: u8) -> Self;

    /// Text of so many bytes.
    fn text(bytes: u32) -> Self;

    /// Whether every value of `other` is also one of this type, so that a column need not change.
    fn holds(&self, other: &Self) -> bool {
        self == other || self.kind().holds(other.kind())
    }

    /// The type that a column of this type gets so that it holds another's values, and those that are there.
    fn widened(&self, to: Self) -> Self {
        if self.holds(&to) {
            return self.clone();
        }
        match (self.kind(), to.kind()) {
            // No server makes a decimal of an integer, but a wider integer.
            (from, Kind::Decimal(_, 0)) if from.is_integer() && Self::large_integer().holds(&to) => {
                Self::large_integer()
            }
            // More digits behind the point must not cost digits before it. Where there is no room for both, the server
            // decides, which looks at the values.
            (Kind::Decimal(p, s), Kind::Decimal(wp, ws)) => {
                let scale = s.max(ws);
                let whole = p.saturating_sub(s).max(wp.saturating_sub(ws));
                if whole.saturating_add(scale) <= 38 { Self::decimal(whole.saturating_add(scale), scale) } else { to }
            }
            // Text is never shortened, and a VARCHAR can't become a CHAR.
            (Kind::Text(Some(n)), Kind::Char(o)) | (Kind::Char(n), Kind::Text(Some(o))) => Self::text(n.max(o)),
            _ => to,
        }
    }
}

/// The words of a type as servers show it: `decimal(10, 2)`.
pub(crate) struct Words {
    /// All of it, in lower case.
    pub(crate) all: String,
    /// The first number in parentheses.
    pub(crate) first: Option<u32>,
    /// The second.
    pub(crate) second: Option<u32>,
    name: usize,
}

impl Words {
    /// Takes a type apart.
    pub(crate) fn of(text: &str) -> Self {
        let all = text.trim().to_ascii_lowercase();
        let (name, arguments) = all.split_once('(').unwrap_or((&all, ""));
        let mut numbers = arguments.trim_end_matches(')').split(',').map(|n| n.trim().parse().ok());
        let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
        let name = name.trim_end().len();
        Self { all, first, second, name }
    }

    /// What stands before the parentheses.
    pub(crate) fn name(&self) -> &str {
        self.all.get(..self.name).unwrap_or_default()
    }

    /// Precision and scale of a decimal.
    pub(crate) fn decimal(&self) -> Option<(u8, u8)> {
        Some((u8::try_from(self.first?).ok()?, u8::try_from(self.second.unwrap_or(0)).ok()?))
    }
}

/// How many bytes of UTF-8 a character may take. The source's own charset says how many it takes *there*: one of four
/// bytes there needs four here, every other one at most three.
pub(crate) fn bytes_per_char(column: &Column, chars: u32) -> u32 {
    match column.max_bytes {
        Some(bytes) if bytes < 4 * u64::from(chars.max(1)) => 3,
        _ => 4,
    }
}
