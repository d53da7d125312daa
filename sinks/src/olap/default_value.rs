//! Default values: from MySQL's text to what the servers take.

use super::column_type::Kind;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{NaiveDate, NaiveDateTime};
use rowferry_model::{Column, DataType};

/// What a zero date becomes, as in Flink CDC.
const EPOCH_DAY: &str = "1970-01-01";
const EPOCH: &str = "1970-01-01 00:00:00";

/// A default value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// The time at which a row comes, with so many digits of the second's fraction.
    Now(u8),
    /// A value as text.
    Text(String),
}

/// The default of a column of the source in a column of some kind; `None`: it has none, or the kind can't have it.
pub(crate) fn default_value(column: &Column, kind: Kind) -> Option<DefaultValue> {
    let text = column.default.as_deref()?;
    if let Kind::DateTime(precision) = kind
        && let Some(digits) = now(text)
    {
        return Some(DefaultValue::Now(digits.min(precision)));
    }
    value(text, column.data_type, kind).map(DefaultValue::Text)
}

/// What MySQL gives the rows that are there when a NOT NULL column without a default is added: the type's zero, written
/// as the column's values are.
pub(crate) fn implied_value(column: &Column, kind: Kind) -> Option<DefaultValue> {
    let text = match (kind, column.data_type) {
        (Kind::Bytes(_) | Kind::Other, _) => return None,
        (Kind::Char(_) | Kind::Text(_), DataType::Time(0)) => "00:00:00".to_owned(),
        (Kind::Char(_) | Kind::Text(_), DataType::Time(p)) => format!("00:00:00.{:0>1$}", "", usize::from(p)),
        // As many zero bytes as the type has.
        (Kind::Text(_), DataType::Binary(n)) => STANDARD.encode(vec![0; n as usize]),
        (Kind::Char(_) | Kind::Text(_), _) => String::new(),
        // The zero date, which no server can have.
        (Kind::Date, _) => EPOCH_DAY.to_owned(),
        (Kind::DateTime(_), _) => EPOCH.to_owned(),
        _ => "0".to_owned(),
    };
    Some(DefaultValue::Text(text))
}

/// The digits of a `CURRENT_TIMESTAMP(n)`; `None`: it is none.
pub(crate) fn now(text: &str) -> Option<u8> {
    let lower = text.trim().to_ascii_lowercase();
    let (name, rest) = lower.split_once('(').unwrap_or((&lower, ")"));
    if !matches!(name.trim(), "current_timestamp" | "now" | "localtime" | "localtimestamp") {
        return None;
    }
    match rest.trim_end_matches(')').trim() {
        "" => Some(0),
        digits => digits.parse().ok(),
    }
}

fn value(text: &str, source: DataType, kind: Kind) -> Option<String> {
    let is_text = matches!(kind, Kind::Char(_) | Kind::Text(_));
    match kind {
        Kind::Boolean => match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "b'1'" | "\u{1}" => Some("1".to_owned()),
            "0" | "false" | "b'0'" | "\0" => Some("0".to_owned()),
            _ => None,
        },
        Kind::Integer(bytes) => {
            let high = i128::MAX >> (128 - 8 * u32::from(bytes.clamp(1, 16)));
            text.parse().ok().filter(|n: &i128| (-high - 1..=high).contains(n)).map(|n| n.to_string())
        }
        Kind::Float | Kind::Double => text.parse::<f64>().ok().filter(|v| v.is_finite()).map(|_| text.to_owned()),
        Kind::Decimal(precision, scale) => decimal(text, usize::from(precision), usize::from(scale)),
        // Times, bytes and numbers are text there, but their defaults are not the text that their values get.
        _ if is_text && is_written_otherwise(source) => None,
        // Where a server counts characters, a text whose bytes fit does too.
        Kind::Char(n) | Kind::Text(Some(n)) => (text.len() <= n as usize).then(|| text.to_owned()),
        Kind::Text(None) => Some(text.to_owned()),
        Kind::Date if text.starts_with("0000-00-00") => Some(EPOCH_DAY.to_owned()),
        Kind::Date => NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|_| text.to_owned()),
        Kind::DateTime(_) if text.starts_with("0000-00-00") => Some(EPOCH.to_owned()),
        Kind::DateTime(_) => NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok().map(|_| text.to_owned()),
        Kind::Bytes(_) | Kind::Other => None,
    }
}

/// Whether values of a source's type become another text than MySQL writes for their default.
fn is_written_otherwise(source: DataType) -> bool {
    matches!(
        source,
        DataType::Time(_)
            | DataType::Binary(_)
            | DataType::Varbinary(_)
            | DataType::Bytes
            | DataType::Float
            | DataType::Double
    )
}

/// Servers refuse digits that the type has no room for, even zeros.
fn decimal(text: &str, precision: usize, scale: usize) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let whole = whole.trim_start_matches('0');
    if fraction.len() > scale || whole.len() > precision.saturating_sub(scale) {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}
