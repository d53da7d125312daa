//! Literals.

use super::Binder;
use crate::error::Fault;
use crate::functions::literal_wall;
use crate::node::{Node, constant_text};
use crate::text::{DAY, SECOND, parse_date, parse_decimal, parse_time};
use crate::types::{BIGINT, BOOL, DOUBLE, INT, MAX_PRECISION, TEXT, Type, decimal};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float64Array,
    Int32Array, Int64Array, TimestampMicrosecondArray,
};
use rowferry_model::DataType;
use sqlparser::ast::{self, DateTimeField, Expr, Interval, TypedString, Value};
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn literal(&mut self, value: &Value) -> Result<Node, Fault> {
        match value {
            Value::Number(digits, _) => number(digits),
            Value::SingleQuotedString(text) => Ok(Node::literal(TEXT, constant_text(text))),
            Value::Boolean(value) => Ok(Node::literal(BOOL, Arc::new(BooleanArray::from(vec![*value])) as ArrayRef)),
            Value::Null => Ok(Node::null(Type::Null)),
            Value::HexStringLiteral(digits) => hex(digits),
            Value::DoubleQuotedString(text) => {
                Err(Fault::new(format!("`\"{text}\"`: double quotes have no meaning here"))
                    .hint("write texts in single quotes, names in backticks"))
            }
            other => Err(Fault::new(format!("the literal `{other}` is not supported"))),
        }
    }
}

/// A number: INT or BIGINT where it fits, with a point a DECIMAL, with an exponent a DOUBLE.
pub(super) fn number(digits: &str) -> Result<Node, Fault> {
    let too_large = || Fault::new(format!("the number {digits} is too large"));
    if digits.contains(['e', 'E']) {
        let value: f64 = digits.parse().map_err(|_| Fault::new(format!("`{digits}` is not a number")))?;
        return Ok(Node::literal(DOUBLE, Arc::new(Float64Array::from(vec![value]))));
    }
    if let Ok(value) = digits.parse::<i32>() {
        return Ok(Node::literal(INT, Arc::new(Int32Array::from(vec![value]))));
    }
    if let Ok(value) = digits.parse::<i64>() {
        return Ok(Node::literal(BIGINT, Arc::new(Int64Array::from(vec![value]))));
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches(['0', '-']).len();
    let scale = u8::try_from(fraction.len()).map_err(|_| too_large())?;
    let precision = u8::try_from(whole + fraction.len()).map_err(|_| too_large())?.max(1);
    if precision > MAX_PRECISION {
        return Err(too_large());
    }
    let value = parse_decimal(digits, scale).ok_or_else(|| Fault::new(format!("`{digits}` is not a number")))?;
    let array = Decimal128Array::from(vec![value])
        .with_precision_and_scale(precision, i8::try_from(scale).map_err(|_| too_large())?)
        .map_err(|_| too_large())?;
    Ok(Node::literal(decimal(precision, scale), Arc::new(array)))
}

fn hex(digits: &str) -> Result<Node, Fault> {
    let bytes = (0..digits.len())
        .step_by(2)
        .map(|at| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| Fault::new(format!("`X'{digits}'` needs pairs of hexadecimal digits")))?;
    Ok(Node::literal(Type::Plain(DataType::Bytes), Arc::new(BinaryArray::from(vec![bytes.as_slice()]))))
}

/// A text as a value of a type that is not a text: `d > '2024-01-01'`. `None`: it can't be read as one.
pub(super) fn from_text(text: &str, ty: &Type) -> Option<Node> {
    match ty {
        Type::Plain(DataType::Date) => day(text).or_else(|| wall(text, 6)),
        Type::Plain(DataType::Timestamp(p) | DataType::TimestampLtz(p)) => wall(text, *p),
        Type::Plain(DataType::Time(p)) => clock(text, *p),
        Type::Plain(DataType::Boolean) => {
            let value = match text.trim().to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                _ => return None,
            };
            Some(Node::literal(BOOL, Arc::new(BooleanArray::from(vec![value])) as ArrayRef))
        }
        ty if ty.is_numeric() => {
            let text = text.trim();
            let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
            unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| number(text).ok()).flatten()
        }
        _ => None,
    }
}

fn day(text: &str) -> Option<Node> {
    let days = i32::try_from(parse_date(text)?).ok()?;
    Some(Node::literal(Type::Plain(DataType::Date), Arc::new(Date32Array::from(vec![days]))))
}

fn wall(text: &str, precision: u8) -> Option<Node> {
    let array = TimestampMicrosecondArray::from(vec![literal_wall(text)?]);
    Some(Node::literal(Type::Plain(DataType::Timestamp(precision)), Arc::new(array)))
}

fn clock(text: &str, precision: u8) -> Option<Node> {
    let array = DurationMicrosecondArray::from(vec![parse_time(text)?]);
    Some(Node::literal(Type::Plain(DataType::Time(precision)), Arc::new(array)))
}

/// `DATE '…'`, `TIME '…'`, `TIMESTAMP '…'`.
pub(super) fn typed(typed: &TypedString) -> Result<Node, Fault> {
    let Value::SingleQuotedString(text) = &typed.value.value else {
        return Err(Fault::new("a typed literal needs a text in single quotes"));
    };
    let fraction = text.split_once('.').map_or(0, |(_, digits)| digits.trim_end().len().min(6) as u8);
    let node = match typed.data_type {
        ast::DataType::Date => day(text),
        ast::DataType::Time(..) => clock(text, fraction),
        ast::DataType::Timestamp(..) | ast::DataType::Datetime(_) => wall(text, fraction),
        _ => return Err(Fault::new(format!("literals of the type {} are not supported", typed.data_type))),
    };
    node.ok_or_else(|| Fault::new(format!("`{text}` is not a {}", typed.data_type)))
}

/// `INTERVAL '1' DAY`: months or microseconds.
pub(super) fn interval(interval: &Interval) -> Result<Node, Fault> {
    let wrong = || Fault::new(format!("`{interval}` is not an interval")).hint("write for example INTERVAL '1' DAY");
    let text = match interval.value.as_ref() {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => text.trim().to_owned(),
            Value::Number(digits, _) => digits.clone(),
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let sign = if negative { -1 } else { 1 };
    let field = interval.leading_field.as_ref().ok_or_else(wrong)?;
    let whole = |factor: i64| -> Result<i64, Fault> {
        let number: i64 = text.parse().map_err(|_| wrong())?;
        number.checked_mul(factor * sign).ok_or_else(wrong)
    };
    let node = |ty: Type, value: i64| Node::literal(ty, Arc::new(Int64Array::from(vec![value])));
    if let Some(last) = &interval.last_field {
        // `'1-6' YEAR TO MONTH`, `'1 02:03:04.5' DAY TO SECOND` and what lies between.
        if matches!((field, last), (DateTimeField::Year, DateTimeField::Month)) {
            let (years, months) = text.split_once('-').ok_or_else(wrong)?;
            let (years, months): (i64, i64) =
                (years.trim().parse().map_err(|_| wrong())?, months.trim().parse().map_err(|_| wrong())?);
            let total = years.checked_mul(12).and_then(|y| y.checked_add(months)).ok_or_else(wrong)?;
            return Ok(node(Type::Months, sign * total));
        }
        let units: [(DateTimeField, i64); 4] = [
            (DateTimeField::Day, DAY),
            (DateTimeField::Hour, 3600 * SECOND),
            (DateTimeField::Minute, 60 * SECOND),
            (DateTimeField::Second, SECOND),
        ];
        let at = |field: &DateTimeField| units.iter().position(|(unit, _)| unit == field);
        let (Some(from), Some(to)) = (at(field), at(last)) else { return Err(wrong()) };
        let parts: Vec<&str> = text.split([' ', ':']).collect();
        if to < from || parts.len() != to - from + 1 {
            return Err(wrong());
        }
        let mut total = 0_i64;
        for (part, (_, length)) in parts.iter().zip(units.iter().skip(from)) {
            total = total.checked_add(micros(part, *length).ok_or_else(wrong)?).ok_or_else(wrong)?;
        }
        return Ok(node(Type::Micros, sign * total));
    }
    Ok(match field {
        DateTimeField::Year | DateTimeField::Years => node(Type::Months, whole(12)?),
        DateTimeField::Quarter => node(Type::Months, whole(3)?),
        DateTimeField::Month | DateTimeField::Months => node(Type::Months, whole(1)?),
        DateTimeField::Week(None) | DateTimeField::Weeks => node(Type::Micros, whole(7 * DAY)?),
        DateTimeField::Day | DateTimeField::Days => node(Type::Micros, whole(DAY)?),
        DateTimeField::Hour | DateTimeField::Hours => node(Type::Micros, whole(3600 * SECOND)?),
        DateTimeField::Minute | DateTimeField::Minutes => node(Type::Micros, whole(60 * SECOND)?),
        DateTimeField::Second | DateTimeField::Seconds => {
            node(Type::Micros, sign * micros(text, SECOND).ok_or_else(wrong)?)
        }
        _ => return Err(wrong()),
    })
}

/// A number, perhaps with a fraction, of units of that many microseconds.
fn micros(text: &str, length: i64) -> Option<i64> {
    let value = parse_decimal(text, 6)?;
    i64::try_from(value.checked_mul(i128::from(length))? / 1_000_000).ok()
}
