//! What texts are as values: the part in which the two servers agree. `None`: it can't be converted.

use chrono::{NaiveDate, NaiveDateTime};

pub(crate) fn boolean(text: &str) -> Option<String> {
    match text.to_lowercase().as_str() {
        "1" | "true" => Some("1".to_owned()),
        "0" | "false" => Some("0".to_owned()),
        _ => None,
    }
}

pub(crate) fn integer(text: &str, low: impl Into<i128>, high: impl Into<i128>) -> Option<String> {
    let n: i128 = text.parse().ok()?;
    (low.into()..=high.into()).contains(&n).then(|| n.to_string())
}

pub(crate) fn float(text: &str) -> Option<String> {
    text.parse::<f32>().ok().filter(|v| v.is_finite()).map(|v| v.to_string())
}

pub(crate) fn double(text: &str) -> Option<String> {
    text.parse::<f64>().ok().filter(|v| v.is_finite()).map(|v| v.to_string())
}

/// With exactly `scale` digits; more are none that a sink may send.
pub(crate) fn decimal(text: &str, precision: u32, scale: u32) -> Option<String> {
    let (precision, scale) = (precision as usize, scale as usize);
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |d| ("-", d));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    if fraction.len() > scale || whole.len() > precision - scale {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let zero = whole == "0" && fraction.bytes().all(|b| b == b'0');
    let sign = if zero { "" } else { sign };
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction:0<scale$}") })
}

pub(crate) fn date(text: &str) -> Option<String> {
    let day = text.split(' ').next()?;
    NaiveDate::parse_from_str(day, "%Y-%m-%d").ok().map(|_| day.to_owned())
}

/// The point in time up to the second, and the digits behind it, at most six.
pub(crate) fn stamp(text: &str) -> Option<(String, String)> {
    let full = if text.contains(' ') { text.to_owned() } else { format!("{text} 00:00:00") };
    let (clock, fraction) = full.split_once('.').unwrap_or((&full, ""));
    NaiveDateTime::parse_from_str(clock, "%Y-%m-%d %H:%M:%S").ok()?;
    let digits = fraction.len() <= 6 && fraction.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| (clock.to_owned(), fraction.to_owned()))
}

pub(crate) fn json(text: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Value>(text).ok().map(|_| text.to_owned())
}

/// What a backend sees of a JSON number: a parser that meets a bare decimal takes the way through a double.
pub(crate) fn number(n: &serde_json::Number, is_decimal: bool) -> String {
    if is_decimal && !n.is_i64() && !n.is_u64() { format!("{}", n.as_f64().unwrap()) } else { n.to_string() }
}
