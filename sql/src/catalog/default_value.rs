//! Defaults as `information_schema` shows them: the value that the column would get, not the text that was written.

use super::temporal;
use crate::ddl::{DdlContext, DefaultSpec, decode_statement};
use crate::{CharSet, ColumnType, DefaultValue};
use std::sync::Arc;

/// The default that the server makes of a written one; `None` for NULL.
pub(crate) fn resolve_default(
    spec: &DefaultSpec,
    column_type: &ColumnType,
    context: &DdlContext,
) -> Result<Option<DefaultValue>, String> {
    let value = match spec {
        DefaultSpec::Null => return Ok(None),
        DefaultSpec::Now(written) => {
            return Ok(Some(match (column_type, written) {
                (ColumnType::DateTime(p) | ColumnType::Timestamp(p), _) => DefaultValue::current_timestamp(*p),
                (_, 0) => DefaultValue::Expression("current_timestamp()".to_owned()),
                (_, p) => DefaultValue::Expression(format!("current_timestamp({p})")),
            }));
        }
        DefaultSpec::Expression(expression) => {
            return Ok(Some(DefaultValue::Expression(expression.shown(context))));
        }
        DefaultSpec::Text(text) => Value::Text(text),
        DefaultSpec::Number(number) => Value::Number(number),
        DefaultSpec::Hex(bytes) => Value::Bytes(bytes.clone()),
        DefaultSpec::Bits(digits) => Value::Bytes(bit_bytes(digits)),
    };
    if matches!(column_type, ColumnType::Text { .. } | ColumnType::Blob(_)) && !context.server.is_mariadb() {
        // MySQL takes an empty one without strict mode, and drops it.
        return Ok(None);
    }
    literal(&value, column_type, context)
        .map(|text| Some(DefaultValue::Literal(text)))
        .ok_or_else(|| format!("the default {spec:?} does not fit the type {column_type}"))
}

/// A literal by its kind: the kind decides how it becomes another type.
enum Value<'a> {
    Text(&'a str),
    Number(&'a str),
    /// A number to numeric columns, text or bytes to others.
    Bytes(Vec<u8>),
}

fn bit_bytes(digits: &str) -> Vec<u8> {
    let padded = format!("{:0>width$}", digits, width = digits.len().div_ceil(8) * 8);
    padded.as_bytes().chunks(8).map(|c| c.iter().fold(0, |n, d| n << 1 | (d & 1))).collect()
}

fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// The number at the front of a text: without strict mode the rest is cut off.
fn number_in(text: &str) -> &str {
    let text = text.trim();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let exponent = text[..at].ends_with(['e', 'E']);
        match c {
            '+' | '-' if at == 0 || exponent => {}
            '0'..='9' => end = at + 1,
            '.' | 'e' | 'E' if at > 0 || c == '.' => {}
            _ => break,
        }
    }
    if end == 0 { "0" } else { &text[..end] }
}

impl Value<'_> {
    /// The decimal text of the value, for numeric columns.
    fn numeric(&self) -> String {
        match self {
            Self::Text(text) => number_in(text).to_owned(),
            Self::Number(number) => (*number).to_owned(),
            Self::Bytes(bytes) => number_of(bytes).to_string(),
        }
    }

    /// The text of the value, for character and temporal columns.
    fn text(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Number(number) => (*number).to_owned(),
            // Bytes that are no text are shown as question marks.
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).replace('\u{fffd}', "?"),
        }
    }

    /// The text of the value in a column of that charset, which bytes are taken to be in.
    fn text_in(&self, charset: &CharSet) -> String {
        match self {
            Self::Bytes(bytes) => decode_statement(bytes, &charset.name),
            other => other.text(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Number(number) => number.as_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn literal(value: &Value<'_>, column_type: &ColumnType, context: &DdlContext) -> Option<String> {
    let is_text = matches!(value, Value::Text(_));
    Some(match column_type {
        ColumnType::TinyInt { zerofill, width, .. }
        | ColumnType::SmallInt { zerofill, width, .. }
        | ColumnType::MediumInt { zerofill, width, .. }
        | ColumnType::Int { zerofill, width, .. }
        | ColumnType::BigInt { zerofill, width, .. } => {
            zero_filled(Decimal::read(&value.numeric())?.show(0), *zerofill, width.unwrap_or(0))
        }
        ColumnType::Decimal { precision, scale, zerofill, .. } => {
            let width = u32::from(*precision) + u32::from(*scale > 0);
            zero_filled(Decimal::read(&value.numeric())?.show(usize::from(*scale)), *zerofill, width)
        }
        ColumnType::Float { size, zerofill, .. } => {
            let text = match size {
                Some((_, d)) => {
                    format!("{:.*}", (*d).min(30) as usize, f64::from(value.numeric().parse::<f32>().ok()?))
                }
                None => real(six_digits(value.numeric().parse().ok()?)),
            };
            zero_filled(text, *zerofill, size.map_or(12, |(m, _)| m))
        }
        ColumnType::Double { size, zerofill, .. } => {
            let text = match size {
                Some((_, d)) => format!("{:.*}", (*d).min(30) as usize, value.numeric().parse::<f64>().ok()?),
                None => real(value.numeric().parse().ok()?),
            };
            zero_filled(text, *zerofill, size.map_or(22, |(m, _)| m))
        }
        ColumnType::Bit(_) => {
            let number = match value {
                Value::Text(text) => number_of(text.as_bytes()),
                Value::Number(number) => number.parse::<f64>().ok()? as u64,
                Value::Bytes(bytes) => number_of(bytes),
            };
            format!("b'{number:b}'")
        }
        ColumnType::Year => temporal::year(&value.numeric(), is_text)?,
        ColumnType::Date => temporal::date(&value.text())?,
        ColumnType::Time(p) => temporal::time(&value.text(), *p, context)?,
        ColumnType::DateTime(p) | ColumnType::Timestamp(p) => temporal::datetime(&value.text(), *p, context)?,
        ColumnType::Char { charset, .. } => value.text_in(charset).trim_end_matches(' ').to_owned(),
        ColumnType::Varchar { charset, .. } => value.text_in(charset),
        ColumnType::Enum { labels, charset } => label_in(enum_label(value, labels)?, charset, context),
        ColumnType::Set { labels, charset } => label_in(set_labels(value, labels)?, charset, context),
        ColumnType::Varbinary(_) if context.server.mysql_since(80_000) && value.bytes().is_empty() => String::new(),
        ColumnType::Binary(_) | ColumnType::Varbinary(_) if context.server.mysql_since(80_000) => hex(&value.bytes()),
        ColumnType::Binary(length) => {
            let missing = (*length as usize).saturating_sub(value.bytes().len());
            value.text() + &"\0".repeat(missing.min(255))
        }
        _ => value.text(),
    })
}

/// MySQL 8 shows labels of bytes like bytes.
fn label_in(label: String, charset: &CharSet, context: &DdlContext) -> String {
    let bytes = &*charset.name == "binary" && context.server.mysql_since(80_000) && !label.is_empty();
    if bytes { hex(label.as_bytes()) } else { label }
}

/// MySQL 8 shows a default of bytes in hexadecimal digits, but only up to the first NUL.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::from("0x");
    for byte in bytes.iter().take_while(|b| **b != 0) {
        let _ = write!(text, "{byte:02X}");
    }
    text
}

fn zero_filled(text: String, zerofill: bool, width: u32) -> String {
    if zerofill { format!("{text:0>width$}", width = width as usize) } else { text }
}

/// The label as the type spells it; a number is a place in the list.
fn enum_label(value: &Value<'_>, labels: &[Arc<str>]) -> Option<String> {
    if let Value::Number(number) = value {
        let place: usize = number.parse().ok()?;
        return labels.get(place.checked_sub(1)?).map(|l| l.to_string());
    }
    let text = value.text();
    let text = text.trim_end_matches(' ');
    let same = |label: &&Arc<str>| &***label == text;
    let alike = |label: &&Arc<str>| label.to_lowercase() == text.to_lowercase();
    labels.iter().find(same).or_else(|| labels.iter().find(alike)).map(|l| l.to_string())
}

/// The labels in the order of the type; a number is a bit set.
fn set_labels(value: &Value<'_>, labels: &[Arc<str>]) -> Option<String> {
    let chosen: Vec<&str> = match value {
        Value::Number(number) => {
            let bits: u64 = number.parse().ok()?;
            labels.iter().enumerate().filter(|(i, _)| *i < 64 && bits >> i & 1 == 1).map(|(_, l)| &**l).collect()
        }
        _ => {
            let text = value.text();
            let wanted: Vec<String> = text.split(',').map(|l| l.trim_end_matches(' ').to_lowercase()).collect();
            if !text.is_empty() && !wanted.iter().all(|w| labels.iter().any(|l| l.to_lowercase() == *w)) {
                return None;
            }
            labels.iter().filter(|l| wanted.contains(&l.to_lowercase())).map(|l| &**l).collect()
        }
    };
    Some(chosen.join(","))
}

/// A FLOAT shows no more than six digits.
fn six_digits(number: f32) -> f64 {
    format!("{number:.5e}").parse().unwrap_or_default()
}

/// A floating-point number as the server shows it: plain, or with an exponent where it is very large or small.
fn real(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-15..1e15).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A decimal number as its digits.
struct Decimal {
    negative: bool,
    /// All digits, without point.
    digits: Vec<u8>,
    /// How many of them stand behind the point.
    scale: usize,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) || exponent.abs() > 400 {
            return None;
        }
        let scale = fraction.len() as i32 - exponent;
        if scale < 0 {
            digits.resize(digits.len() + scale.unsigned_abs() as usize, b'0');
        }
        let scale = scale.max(0) as usize;
        if digits.len() <= scale {
            let missing = scale + 1 - digits.len();
            digits.splice(0..0, std::iter::repeat_n(b'0', missing));
        }
        Some(Self { negative, digits, scale })
    }

    /// The number with that many digits behind the point, rounded half away from zero.
    fn show(mut self, scale: usize) -> String {
        if self.scale > scale {
            let cut = self.scale - scale;
            let keep = self.digits.len() - cut;
            let up = self.digits.get(keep).is_some_and(|d| *d >= b'5');
            self.digits.truncate(keep);
            if up {
                self.increment();
            }
        } else {
            self.digits.resize(self.digits.len() + scale - self.scale, b'0');
        }
        let point = self.digits.len() - scale;
        let whole = String::from_utf8_lossy(&self.digits[..point]);
        let whole = whole.trim_start_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        let zero = self.digits.iter().all(|d| *d == b'0');
        let sign = if self.negative && !zero { "-" } else { "" };
        if scale == 0 {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{}", String::from_utf8_lossy(&self.digits[point..]))
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        self.digits.insert(0, b'1');
    }
}
