//! Default values: from MySQL's text to what Doris takes.

use super::literal;
use super::target_type::TargetType;
use chrono::{NaiveDate, NaiveDateTime};
use rowferry_model::{Column, DataType};

/// What a zero date becomes, as in Flink CDC.
const EPOCH: &str = "1970-01-01 00:00:00";

/// The value behind `DEFAULT`, as it is written; `None`: the column gets no default, or Doris can't have this one.
pub(super) fn default_sql(column: &Column, target: &TargetType) -> Option<String> {
    let text = column.default.as_deref()?;
    if let TargetType::DateTime(precision) = target
        && let Some(digits) = now(text)
    {
        return Some(match digits.min(*precision) {
            0 => "CURRENT_TIMESTAMP".to_owned(),
            n => format!("CURRENT_TIMESTAMP({n})"),
        });
    }
    value(text, column.data_type, target).and_then(|v| literal::raw(&v))
}

/// A default as Doris shows it, as it is written; `None`: it can't be written again.
pub(super) fn restated(text: &str, target: &TargetType) -> Option<String> {
    let is_function = matches!(target, TargetType::DateTime(_)) && now(text).is_some()
        || *target == TargetType::Date && text.eq_ignore_ascii_case("CURRENT_DATE");
    if is_function { Some(text.to_owned()) } else { literal::raw(text) }
}

/// What MySQL gives the rows that are there when a NOT NULL column without a default is added.
pub(super) fn implied_sql(target: &TargetType) -> Option<String> {
    let text = match target {
        TargetType::Char(_) | TargetType::Varchar(_) | TargetType::String => "",
        // The zero date, which Doris can't have.
        TargetType::Date => "1970-01-01",
        TargetType::DateTime(_) => EPOCH,
        TargetType::Other(_) => return None,
        _ => "0",
    };
    literal::raw(text)
}

/// The digits of a `CURRENT_TIMESTAMP(n)`; `None`: it is none.
fn now(text: &str) -> Option<u8> {
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

fn value(text: &str, source: DataType, target: &TargetType) -> Option<String> {
    let in_range =
        |low: i128, high: i128| text.parse::<i128>().ok().filter(|n| (low..=high).contains(n)).map(|n| n.to_string());
    let is_bytes = matches!(source, DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes);
    match target {
        TargetType::Boolean => match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "b'1'" | "\u{1}" => Some("1".to_owned()),
            "0" | "false" | "b'0'" | "\0" => Some("0".to_owned()),
            _ => None,
        },
        TargetType::TinyInt => in_range(i8::MIN.into(), i8::MAX.into()),
        TargetType::SmallInt => in_range(i16::MIN.into(), i16::MAX.into()),
        TargetType::Int => in_range(i32::MIN.into(), i32::MAX.into()),
        TargetType::BigInt => in_range(i64::MIN.into(), i64::MAX.into()),
        TargetType::LargeInt => in_range(i128::MIN, i128::MAX),
        TargetType::Float | TargetType::Double => {
            text.parse::<f64>().ok().filter(|v| v.is_finite()).map(|_| text.to_owned())
        }
        TargetType::Decimal(precision, scale) => decimal(text, usize::from(*precision), usize::from(*scale)),
        // Times, bytes and numbers are text there, but their defaults are not the text that their values get.
        TargetType::Varchar(_) | TargetType::String if is_bytes || matches!(source, DataType::Time(_)) => None,
        TargetType::Varchar(_) if matches!(source, DataType::Float | DataType::Double) => None,
        // Characters are counted, so a text whose bytes fit does too.
        TargetType::Char(n) | TargetType::Varchar(n) => (text.len() <= *n as usize).then(|| text.to_owned()),
        TargetType::String => Some(text.to_owned()),
        TargetType::Date if text.starts_with("0000-00-00") => Some("1970-01-01".to_owned()),
        TargetType::Date => NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|_| text.to_owned()),
        TargetType::DateTime(_) if text.starts_with("0000-00-00") => Some(EPOCH.to_owned()),
        TargetType::DateTime(_) => {
            NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok().map(|_| text.to_owned())
        }
        TargetType::Other(_) => None,
    }
}

/// Doris refuses digits that the type has no room for, even zeros.
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
