//! Default values: from MySQL's text to what StarRocks takes.

use super::target_type::TargetType;
use crate::olap::quote;
use chrono::{NaiveDate, NaiveDateTime};
use rowferry_model::{Column, DataType};

/// What a zero date becomes, as in Flink CDC.
const EPOCH: &str = "1970-01-01 00:00:00";

/// The value behind `DEFAULT`, as it is written; `None`: the column gets no default, or StarRocks can't have this one.
pub(super) fn default_sql(column: &Column, target: &TargetType) -> Option<String> {
    let text = column.default.as_deref()?;
    if *target == TargetType::DateTime && is_now(text) {
        return Some("CURRENT_TIMESTAMP".to_owned());
    }
    value(text, column.data_type, target).map(|v| quote::string(&v))
}

/// A default as StarRocks shows it, as it is written.
pub(super) fn restated(text: &str, target: &TargetType) -> String {
    if *target == TargetType::DateTime && is_now(text) { "CURRENT_TIMESTAMP".to_owned() } else { quote::string(text) }
}

/// What MySQL gives the rows that are there when a NOT NULL column without a default is added.
pub(super) fn implied_sql(target: &TargetType) -> Option<String> {
    Some(match target {
        TargetType::Boolean
        | TargetType::TinyInt
        | TargetType::SmallInt
        | TargetType::Int
        | TargetType::BigInt
        | TargetType::LargeInt
        | TargetType::Float
        | TargetType::Double
        | TargetType::Decimal(..) => "\"0\"".to_owned(),
        TargetType::Char(_) | TargetType::Varchar(_) => "\"\"".to_owned(),
        // The zero date, which StarRocks can't have.
        TargetType::Date => "\"1970-01-01\"".to_owned(),
        TargetType::DateTime => quote::string(EPOCH),
        TargetType::Varbinary(_) | TargetType::Other(_) => return None,
    })
}

fn is_now(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let name = lower.split('(').next().unwrap_or_default().trim();
    matches!(name, "current_timestamp" | "now" | "localtime" | "localtimestamp")
}

fn value(text: &str, source: DataType, target: &TargetType) -> Option<String> {
    let in_range =
        |low: i128, high: i128| text.parse::<i128>().ok().filter(|n| (low..=high).contains(n)).map(|n| n.to_string());
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
        // A TIME is text there, but its default is not the text that its values get.
        TargetType::Varchar(_) if matches!(source, DataType::Time(_)) => None,
        TargetType::Char(n) | TargetType::Varchar(n) => (text.len() <= *n as usize).then(|| text.to_owned()),
        TargetType::Date if text.starts_with("0000-00-00") => Some("1970-01-01".to_owned()),
        TargetType::Date => NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|_| text.to_owned()),
        TargetType::DateTime if text.starts_with("0000-00-00") => Some(EPOCH.to_owned()),
        TargetType::DateTime => {
            NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok().map(|_| text.to_owned())
        }
        TargetType::Varbinary(_) | TargetType::Other(_) => None,
    }
}

/// StarRocks refuses digits that the type has no room for, even zeros.
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
    if fraction.len() > scale || whole.len() > precision - scale {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}
