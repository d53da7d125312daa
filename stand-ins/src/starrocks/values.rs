//! Values: what a backend makes of JSON, what a job makes of old values, which defaults a frontend takes.

use super::types::Ty;
use super::world::{Column, Value};
use crate::scalar;
use chrono::{NaiveDate, NaiveDateTime};
use serde_json::Value as Json;

/// What rows that are there get when a column is added.
pub fn default_of(column: &Column) -> Value {
    match &column.default {
        Some(_) if column.default_is_expression => Some("2026-01-01 00:00:00".to_owned()),
        Some(text) => from_text(text, &column.ty).ok(),
        None => None,
    }
}

/// Whether a frontend takes a default; its words where it does not.
pub fn check_default(text: &str, ty: &Ty) -> Result<(), String> {
    let integer = |low: i128, high: i128, wide: bool| {
        let n: i128 = text.parse().map_err(|_| format!("Invalid number format: {text}"))?;
        if wide && (n < low || n > high) {
            return Err(format!("Invalid number format: {text}"));
        }
        if n < low || n > high {
            return Err(format!("Number out of range[{text}]. type: {}", ty.upper()));
        }
        Ok(())
    };
    match ty {
        Ty::Boolean => match text.to_lowercase().as_str() {
            "0" | "1" | "true" | "false" => Ok(()),
            _ => Err(format!("Invalid BOOLEAN literal: {text}")),
        },
        Ty::TinyInt => integer(i8::MIN.into(), i8::MAX.into(), false),
        Ty::SmallInt => integer(i16::MIN.into(), i16::MAX.into(), false),
        Ty::Int => integer(i32::MIN.into(), i32::MAX.into(), false),
        Ty::BigInt => integer(i64::MIN.into(), i64::MAX.into(), true),
        // Not even the range is looked at: recorded.
        Ty::LargeInt => Ok(()),
        Ty::Float | Ty::Double => match text.parse::<f64>() {
            Err(_) => Err(format!("Invalid floating-point literal: {text}")),
            Ok(v) if v.is_infinite() => Err("Invalid literal:Infinity".to_owned()),
            Ok(_) => Ok(()),
        },
        Ty::Decimal(p, s) => {
            let digits = text.trim_start_matches('-');
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
                return Err(format!("Invalid floating-point literal: {text}"));
            }
            let significant = whole.trim_start_matches('0');
            if fraction.len() as u32 > *s || significant.len() as u32 > p - s {
                let precision = (significant.len() + fraction.len()).max(1);
                return Err(format!(
                    "Type {} is too narrow to hold the DecimalLiteral '{text}' (precision={precision}, scale={})",
                    ty.upper(),
                    fraction.len()
                ));
            }
            Ok(())
        }
        Ty::Char(n) | Ty::Varchar(n) => {
            if text.chars().count() as u32 > *n {
                Err(format!("Default value is too long: {text}"))
            } else {
                Ok(())
            }
        }
        Ty::Date | Ty::DateTime => {
            let ok = NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
                || NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").is_ok();
            if ok { Ok(()) } else { Err(format!("date literal [{text}] is invalid")) }
        }
        Ty::Varbinary(_) => Err("Cannot add default value for type 'VARBINARY'".to_owned()),
        Ty::Json => Err("Cannot add default value for type 'JSON'".to_owned()),
        Ty::Other(t) => Err(format!("Cannot add default value for type '{}'", t.to_uppercase())),
    }
}

/// A value of a JSON row in a column's type: an error says that it can't be converted.
pub fn from_json(json: &Json, ty: &Ty) -> Result<Value, String> {
    let text = match json {
        Json::Null => return Ok(None),
        Json::Bool(b) => match ty {
            Ty::Boolean => return Ok(Some(u8::from(*b).to_string())),
            Ty::Char(_) | Ty::Varchar(_) => b.to_string(),
            _ => u8::from(*b).to_string(),
        },
        Json::Number(n) => scalar::number(n, matches!(ty, Ty::Decimal(..))),
        Json::String(s) => {
            if matches!(ty, Ty::Varbinary(_)) {
                return Err("JSON holds no binary values".to_owned());
            }
            s.clone()
        }
        Json::Array(_) | Json::Object(_) => json.to_string(),
    };
    if matches!(ty, Ty::Varbinary(_)) {
        return Err("JSON holds no binary values".to_owned());
    }
    from_text(&text, ty).map(Some)
}

/// Bytes as they are stored: for the result of `to_binary`.
pub fn from_bytes(bytes: &[u8], ty: &Ty) -> Result<String, String> {
    let Ty::Varbinary(n) = ty else { return Err("not a binary column".to_owned()) };
    if bytes.len() > n.unwrap_or(1_048_576) as usize {
        return Err("the value is too long".to_owned());
    }
    Ok(bytes.iter().map(|b| format!("{b:02X}")).collect())
}

/// A text in a column's type, in the form in which a query shows it.
pub fn from_text(text: &str, ty: &Ty) -> Result<String, String> {
    let bad = || format!("can't cast '{text}' to {}", ty.upper());
    match ty {
        Ty::Boolean => scalar::boolean(text).ok_or_else(bad),
        Ty::TinyInt => scalar::integer(text, i8::MIN, i8::MAX).ok_or_else(bad),
        Ty::SmallInt => scalar::integer(text, i16::MIN, i16::MAX).ok_or_else(bad),
        Ty::Int => scalar::integer(text, i32::MIN, i32::MAX).ok_or_else(bad),
        Ty::BigInt => scalar::integer(text, i64::MIN, i64::MAX).ok_or_else(bad),
        Ty::LargeInt => scalar::integer(text, i128::MIN, i128::MAX).ok_or_else(bad),
        Ty::Float => scalar::float(text).ok_or_else(bad),
        Ty::Double => scalar::double(text).ok_or_else(bad),
        Ty::Decimal(p, s) => scalar::decimal(text, *p, *s).ok_or_else(bad),
        Ty::Char(n) | Ty::Varchar(n) => {
            if text.len() > *n as usize {
                return Err(format!("String '{text}' is too long: {} bytes for {}", text.len(), ty.upper()));
            }
            // A CHAR is padded with zero bytes, so that it can't end with one.
            Ok(if matches!(ty, Ty::Char(_)) { text.trim_end_matches('\0').to_owned() } else { text.to_owned() })
        }
        Ty::Date => scalar::date(text).ok_or_else(bad),
        Ty::DateTime => {
            let (clock, fraction) = scalar::stamp(text).ok_or_else(bad)?;
            Ok(if fraction.bytes().all(|b| b == b'0') { clock } else { format!("{clock}.{fraction:0<6}") })
        }
        Ty::Json => scalar::json(text).ok_or_else(bad),
        Ty::Varbinary(_) | Ty::Other(_) => Err(bad()),
    }
}
