//! Text into values, by the rules of Flink's configuration.

use super::{OptionKind, OptionValue, parse_per_table};
use std::time::Duration;

/// Text that is no value of its type. Neither part repeats the text: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// What is wrong, as the end of a sentence that begins with the value: `is not a boolean`.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

impl ValueError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Reads a value of any type. Words of an enum come out as the table spells them.
///
/// # Errors
/// The text is no value of that type or is outside its limits.
pub fn parse_value(kind: &OptionKind, text: &str) -> Result<OptionValue, ValueError> {
    match kind {
        OptionKind::Text | OptionKind::TablePattern => Ok(OptionValue::Text(text.to_owned())),
        OptionKind::Bool => parse_bool(text).map(OptionValue::Bool),
        OptionKind::Int { min, max } => parse_int(text, *min, *max).map(OptionValue::Int),
        OptionKind::Double { min, max } => parse_double(text, *min, *max).map(OptionValue::Double),
        OptionKind::Duration { min_millis } => {
            let duration = parse_duration(text)?;
            if duration < Duration::from_millis(*min_millis) {
                let least = Duration::from_millis(*min_millis);
                return Err(ValueError::new(format!("is too short: it must be at least {least:?}")));
            }
            Ok(OptionValue::Duration(duration))
        }
        OptionKind::MemorySize => parse_memory_size(text).map(OptionValue::Size),
        OptionKind::Enum(words) => parse_enum(words, text).map(|word| OptionValue::Text(word.to_owned())),
        OptionKind::List => parse_list(text).map(OptionValue::List),
        OptionKind::PerTable(form) => parse_per_table(*form, text).map(OptionValue::PerTable),
        OptionKind::Word(extra) => {
            if text.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c)) {
                Ok(OptionValue::Text(text.to_owned()))
            } else {
                Err(ValueError::new(format!("may only hold letters, digits and `{extra}`")))
            }
        }
    }
}

/// `true` or `false` in any case.
///
/// # Errors
/// Anything else.
pub fn parse_bool(text: &str) -> Result<bool, ValueError> {
    if text.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if text.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(ValueError::new("is not a boolean").hint("write true or false"))
    }
}

fn parse_int(text: &str, min: i64, max: i64) -> Result<i64, ValueError> {
    let number: i64 = text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            ValueError::new(format!("is out of range: it must be between {min} and {max}"))
        } else {
            ValueError::new("is not a whole number").hint("write digits only, without a unit")
        }
    })?;
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    let open_end = max >= i64::from(i32::MAX);
    let message = match min {
        _ if !open_end || number > max => format!("must be between {min} and {max}"),
        2 => "must be larger than 1".to_owned(),
        _ => format!("must be >= {min}"),
    };
    Err(ValueError::new(message))
}

fn parse_double(text: &str, min: f64, max: f64) -> Result<f64, ValueError> {
    let number: f64 = text.trim().parse().map_err(|_| ValueError::new("is not a number"))?;
    if number >= min && number <= max {
        Ok(number)
    } else if max == f64::MAX {
        Err(ValueError::new(format!("must be >= {min}")))
    } else {
        Err(ValueError::new(format!("must be between {min} and {max}")))
    }
}

fn parse_enum(words: &'static [&'static str], text: &str) -> Result<&'static str, ValueError> {
    if let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(word);
    }
    let squash =
        |s: &str| -> String { s.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect() };
    let error = ValueError::new(format!("is not one of {}", words.join(", ")));
    let near = words.iter().find(|word| squash(word) == squash(text));
    Err(match near {
        Some(word) => error.hint(format!("write {word}")),
        None => error,
    })
}

/// A number and its unit, in lower case; `None`: there is no number.
fn number_and_unit(text: &str) -> Option<(&str, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (!number.is_empty()).then(|| (number, unit.trim().to_lowercase()))
}

/// A whole number with an optional unit: `d`, `h`, `min` or `m`, `s`, `ms`, `µs`, `ns` and their long forms, in any
/// case, with or without a space. Without a unit it is in milliseconds.
///
/// # Errors
/// No number, an unknown unit, or longer than can be held.
pub fn parse_duration(text: &str) -> Result<Duration, ValueError> {
    const FORM: &str = "write a whole number and a unit, for example `30 s`, `5 min` or `500 ms`";
    let (number, unit) = number_and_unit(text).ok_or_else(|| ValueError::new("is not a duration").hint(FORM))?;
    let nanos: u128 = match unit.as_str() {
        "d" | "day" | "days" => 86_400_000_000_000,
        "h" | "hour" | "hours" => 3_600_000_000_000,
        "m" | "min" | "minute" | "minutes" => 60_000_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "µs" | "μs" | "micro" | "micros" | "microsecond" | "microseconds" => 1_000,
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1,
        _ => return Err(ValueError::new("has an unknown unit of time").hint(FORM)),
    };
    let too_long = || ValueError::new("is too long a duration");
    let number: u64 = number.parse().map_err(|_| too_long())?;
    let nanos = u128::from(number) * nanos;
    let seconds = u64::try_from(nanos / 1_000_000_000).map_err(|_| too_long())?;
    // The limit of Flink, which keeps milliseconds in a signed 64-bit number.
    if seconds > i64::MAX as u64 / 1000 {
        return Err(too_long());
    }
    let rest = u32::try_from(nanos % 1_000_000_000).map_err(|_| too_long())?;
    Ok(Duration::new(seconds, rest))
}

/// A whole number with an optional unit: `b`, `kb`, `mb`, `gb`, `tb`, their first letters and long forms, in any case,
/// with or without a space; each is 1024 of the one before. Without a unit it is in bytes.
///
/// # Errors
/// No number, an unknown unit, or more than can be counted.
pub fn parse_memory_size(text: &str) -> Result<u64, ValueError> {
    const FORM: &str = "write a whole number and a unit, for example `64 mb`";
    let (number, unit) = number_and_unit(text).ok_or_else(|| ValueError::new("is not a memory size").hint(FORM))?;
    let shift = match unit.as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" | "kibibytes" => 10,
        "m" | "mb" | "mebibytes" => 20,
        "g" | "gb" | "gibibytes" => 30,
        "t" | "tb" | "tebibytes" => 40,
        _ => return Err(ValueError::new("has an unknown unit of memory").hint(FORM)),
    };
    let number: Option<u64> = number.parse().ok();
    number
        .and_then(|n| n.checked_mul(1 << shift))
        .filter(|bytes| i64::try_from(*bytes).is_ok())
        .ok_or_else(|| ValueError::new("is too large a memory size"))
}

/// Items between semicolons. An item in single or double quotes may hold semicolons; a quote inside is doubled. Items
/// are trimmed, empty ones dropped.
///
/// # Errors
/// A quote that is not closed, or text behind a closing one.
pub fn parse_list(text: &str) -> Result<Vec<String>, ValueError> {
    let mut items = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (item, after) = match rest.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            Some(quote) => quoted_item(rest, quote)?,
            None => {
                let end = rest.find(';').unwrap_or(rest.len());
                let (item, after) = rest.split_at(end);
                (item.trim().to_owned(), after)
            }
        };
        if !item.is_empty() {
            items.push(item);
        }
        rest = after.strip_prefix(';').unwrap_or(after).trim_start();
    }
    Ok(items)
}

/// An item in quotes, and what comes behind it: nothing or a semicolon.
fn quoted_item(text: &str, quote: char) -> Result<(String, &str), ValueError> {
    let mut item = String::new();
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        let Some((before, after)) = rest.split_once(quote) else {
            return Err(ValueError::new("has a quote that is not closed"));
        };
        item.push_str(before);
        if let Some(more) = after.strip_prefix(quote) {
            item.push(quote);
            rest = more;
            continue;
        }
        let after = after.trim_start();
        if after.is_empty() || after.starts_with(';') {
            return Ok((item, after));
        }
        return Err(ValueError::new("has text behind a closing quote").hint("separate items with `;`"));
    }
}
