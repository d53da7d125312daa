//! Rows as CSV records, as backends split them without `enclose`: into records at each row separator, then into values at
//! each column separator, whatever stands around them.
//!
//! Nothing is escaped: what `escape` and `enclose` do to `\N` differs by server and version. A value that would be taken
//! for something else is refused instead.

use super::cells::Unfit;
use super::plan::{ColumnPlan, Constant};
use super::syntax::{Op, Syntax};
use crate::SinkError;
use crate::settings::Settings;

/// What NULL is, to StarRocks and Doris.
const NULL: &[u8] = b"\\N";
/// The greatest length of a separator in bytes, to StarRocks: recorded from a frontend.
const MAX_SEPARATOR: usize = 50;

/// What stands between values and behind records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separators {
    /// Between values.
    column: Vec<u8>,
    /// Behind records.
    row: Vec<u8>,
}

impl Separators {
    /// From `sink.properties.column_separator` and the option that `row_key` names. Without them `\x01` and `\x02`: text
    /// often has the tabs and line feeds that the servers take for separators by default.
    ///
    /// # Errors
    /// One can't be understood, or one has what the other begins with.
    pub(crate) fn parse(settings: &Settings<'_>, row_key: &str) -> Result<Self, SinkError> {
        let column_key = "sink.properties.column_separator";
        let row_key = format!("sink.properties.{row_key}");
        let column = separator(settings, column_key)?.unwrap_or_else(|| vec![1]);
        let row = separator(settings, &row_key)?.unwrap_or_else(|| vec![2]);
        let begins = |separator: &[u8], other: &[u8]| separator.first().is_some_and(|byte| other.contains(byte));
        if begins(&column, &row) || begins(&row, &column) {
            let wanted = "a separator that shares no first character with the column separator";
            return Err(settings.bad(&row_key, &header(&row), wanted));
        }
        Ok(Self { column, row })
    }

    /// The two as values of headers, in the one spelling that both servers read alike.
    pub(crate) fn headers(&self) -> (String, String) {
        (header(&self.column), header(&self.row))
    }
}

/// `\x01`, `\t`, `\n`, or characters that stand for themselves. What values are written in by ourselves is none, and
/// neither is what is not ASCII: frontends make something else of it.
fn separator(settings: &Settings<'_>, key: &str) -> Result<Option<Vec<u8>>, SinkError> {
    let Some(text) = settings.raw(key) else { return Ok(None) };
    let hex = text.strip_prefix("\\x").or_else(|| text.strip_prefix("\\X"));
    let bytes = match (text, hex) {
        ("\\t", _) => Some(vec![b'\t']),
        ("\\n", _) => Some(vec![b'\n']),
        (_, Some(digits)) => unhex(digits),
        _ if text.contains('\\') => None,
        _ => Some(text.as_bytes().to_vec()),
    };
    bytes
        .filter(|b| (1..=MAX_SEPARATOR).contains(&b.len()) && b.iter().all(|byte| may_separate(*byte)))
        .map(Some)
        .ok_or_else(|| {
            let wanted = "1 to 50 control or punctuation characters of ASCII other than \\ - : . and blanks, as such, as \
                          `\\t`, `\\n` or by hexadecimal digits as `\\x01`";
            settings.bad(key, text, wanted)
        })
}

/// Not what numbers, days and times are written in: those need no look at.
pub(super) fn may_separate(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\\-:. ".contains(&byte)
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()).collect()
}

fn header(separator: &[u8]) -> String {
    use std::fmt::Write;
    separator.iter().fold("\\x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Rows as CSV records, whose first value tells an upsert (0) from a deletion (1). It comes first so that no record is
/// empty, and none begins with what a server takes for a byte order mark.
#[derive(Clone, Debug)]
pub(crate) struct Csv {
    separators: Separators,
}

impl Csv {
    /// With these separators.
    pub(crate) fn new(separators: Separators) -> Self {
        Self { separators }
    }
}

impl Syntax for Csv {
    fn open(&self, out: &mut Vec<u8>, op: Op) {
        out.push(if op == Op::Upsert { b'0' } else { b'1' });
    }

    fn field(&self, out: &mut Vec<u8>, _column: &ColumnPlan) {
        out.extend_from_slice(&self.separators.column);
    }

    fn end_field(&self, _out: &mut Vec<u8>) {}

    fn close(&self, out: &mut Vec<u8>, _op: Op) {
        out.extend_from_slice(&self.separators.row);
    }

    fn quote(&self, _out: &mut Vec<u8>) {}

    fn text(&self, out: &mut Vec<u8>, text: &str) {
        out.extend_from_slice(text.as_bytes());
    }

    fn constant(&self, out: &mut Vec<u8>, constant: Constant) {
        match constant {
            Constant::Null => out.extend_from_slice(NULL),
            Constant::Bare(text) | Constant::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    /// The first byte alone is looked for: a value that ends with a part of a separator would be split as well.
    fn check(&self, value: &[u8]) -> Result<(), Unfit> {
        let first = |separator: &[u8]| separator.first().is_some_and(|byte| value.contains(byte));
        // Doris takes a carriage return before a line feed for a part of it.
        let feed = self.separators.row == b"\n" && value.contains(&b'\r');
        if first(&self.separators.column) || first(&self.separators.row) || feed {
            return Err(Unfit::Separator);
        }
        if value == NULL { Err(Unfit::NullMark) } else { Ok(()) }
    }
}
