//! Values: what a backend makes of JSON, what a job makes of old values, which defaults a frontend takes.

use super::sql::DefaultDef;
use super::types::Ty;
use super::world::{Column, Value};
use crate::scalar;
use chrono::{NaiveDate, NaiveDateTime};
use serde_json::Value as Json;

/// What backends let a STRING have: `string_type_length_soft_limit_bytes`.
const MAX_STRING: usize = 1_048_576;

/// Properties that the recorded frontend knows.
pub const OTHER_PROPERTIES: [&str; 26] = [
    "replication_allocation",
    "enable_mow_light_delete",
    "function_column.sequence_col",
    "function_column.sequence_type",
    "store_row_column",
    "enable_single_replica_compaction",
    "compression",
    "compaction_policy",
    "binlog.enable",
    "storage_policy",
    "storage_format",
    "bloom_filter_columns",
    "colocate_with",
    "skip_write_index_on_load",
    "group_commit_interval_ms",
    "group_commit_data_bytes",
    "min_load_replica_num",
    "version_info",
    "estimate_partition_size",
    "_auto_bucket",
    "tablet_type",
    "inverted_index_storage_format",
    "file_cache_ttl_seconds",
    "dynamic_partition.enable",
    "enable_unique_key_skip_bitmap_column",
    "data_sort.sort_type",
];

/// What rows that are there get when a column is added.
pub fn default_of(column: &Column) -> Value {
    match &column.default {
        Some(_) if column.default_is_function => Some("2026-01-01 00:00:00".to_owned()),
        Some(text) => from_text(text, &column.ty).ok(),
        None => None,
    }
}

/// Whether a frontend takes a default; its words where it does not.
pub fn check_default(default: &DefaultDef, ty: &Ty) -> Result<(), String> {
    let text = match default {
        DefaultDef::Null => return Ok(()),
        DefaultDef::Today if *ty == Ty::Date => return Ok(()),
        DefaultDef::Today => {
            return Err("Types other than DATE and DATEV2 cannot use current_date as the default value".to_owned());
        }
        DefaultDef::Now(digits) => {
            let Ty::DateTime(scale) = ty else {
                return Err(
                    "Types other than DATETIME and DATETIMEV2 cannot use current_timestamp as the default value"
                        .to_owned(),
                );
            };
            let digits = digits.unwrap_or(0);
            if digits > 6 {
                return Err("column's default value current_timestamp precision must be between 0 and 6".to_owned());
            }
            if digits > *scale {
                return Err(format!(
                    "default value precision: CURRENT_TIMESTAMP({digits}) can not be greater than type precision: \
                     datetimev2({scale})"
                ));
            }
            return Ok(());
        }
        DefaultDef::Text(text) => text,
    };
    let integer = |low: i128, high: i128| {
        let n: i128 = text.parse().map_err(|_| format!("Invalid number format: {text}"))?;
        if n < low || n > high { Err(format!("Number out of range[{text}]. type: {ty}")) } else { Ok(()) }
    };
    match ty {
        Ty::Boolean => match text.to_lowercase().as_str() {
            "0" | "1" | "true" | "false" => Ok(()),
            _ => Err(format!("Invalid BOOLEAN literal: {text}")),
        },
        Ty::TinyInt => integer(i8::MIN.into(), i8::MAX.into()),
        Ty::SmallInt => integer(i16::MIN.into(), i16::MAX.into()),
        Ty::Int => integer(i32::MIN.into(), i32::MAX.into()),
        Ty::BigInt => match text.parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("Invalid number format: {text}")),
        },
        Ty::LargeInt => match text.parse::<i128>() {
            Ok(_) => Ok(()),
            Err(e) if *e.kind() == std::num::IntErrorKind::InvalidDigit => {
                Err(format!("Invalid number format: {text}"))
            }
            Err(_) => Err("Large int literal is out of range".to_owned()),
        },
        Ty::Float | Ty::Double => {
            if text == "NaN" {
                return Err(format!("Default value will loose precision: {text}"));
            }
            text.parse::<f64>().map(|_| ()).map_err(|_| format!("Invalid floating-point literal: {text}"))
        }
        Ty::Decimal(p, s) => {
            let digits = text.trim_start_matches('-');
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
                return Err(format!("Invalid floating-point literal: {text}"));
            }
            // The digits before the point have all of the precision: recorded.
            let significant = whole.trim_start_matches('0').len() + fraction.len();
            if fraction.len() as u32 > *s || significant as u32 > *p {
                let precision = whole.trim_start_matches('0').len() + fraction.len();
                return Err(format!(
                    "Invalid precision and scale - expect ({p}, {s}), but ({precision}, {})",
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
        Ty::String => Ok(()),
        Ty::Date => {
            let ok = NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
                || NaiveDate::parse_from_str(text, "%Y%m%d").is_ok();
            if ok { Ok(()) } else { Err(format!("date literal [{text}] is invalid")) }
        }
        Ty::DateTime(_) => {
            let bare = text.split('+').next().unwrap();
            let (clock, fraction) = bare.split_once('.').unwrap_or((bare, ""));
            let ok = NaiveDateTime::parse_from_str(clock, "%Y-%m-%d %H:%M:%S").is_ok() && fraction.len() <= 6;
            let named = if text == "CURRENT_TIMESTAMP" { "CURRENT_" } else { text };
            if ok { Ok(()) } else { Err(format!("date literal [{named}] is invalid")) }
        }
        Ty::Json => Err("Json or Variant type column default value just support null".to_owned()),
    }
}

/// A value of a JSON row in a column's type: an error says that it can't be converted.
pub fn from_json(json: &Json, ty: &Ty) -> Result<Value, String> {
    let text = match json {
        Json::Null => return Ok(None),
        Json::Bool(b) => u8::from(*b).to_string(),
        Json::Number(n) => scalar::number(n, matches!(ty, Ty::Decimal(..))),
        Json::String(s) => s.clone(),
        Json::Array(_) | Json::Object(_) => json.to_string(),
    };
    from_text(&text, ty).map(Some)
}

/// A text in a column's type, in the form in which a query shows it.
pub fn from_text(text: &str, ty: &Ty) -> Result<String, String> {
    let bad = || format!("can't cast '{text}' to {ty}");
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
                return Err(format!(
                    "the length of input is too long than schema. first 32 bytes of input str: [{}] schema length: {n}; actual length: {}",
                    text.chars().take(32).collect::<String>(),
                    text.len()
                ));
            }
            Ok(if matches!(ty, Ty::Char(_)) { text.trim_end_matches('\0').to_owned() } else { text.to_owned() })
        }
        Ty::String => {
            if text.len() > MAX_STRING {
                return Err(format!(
                    "the length of input string is too long than config limit. limit length: {MAX_STRING}"
                ));
            }
            Ok(text.to_owned())
        }
        Ty::Date => scalar::date(text).ok_or_else(bad),
        Ty::DateTime(scale) => {
            let (clock, fraction) = scalar::stamp(text).ok_or_else(bad)?;
            let scale = *scale as usize;
            let padded = format!("{fraction:0<6}");
            // Digits beyond the scale are rounded by the server; the sink never sends them.
            if padded[scale..].bytes().any(|b| b != b'0') {
                return Err(format!("'{text}' has more digits than {ty}"));
            }
            Ok(if scale == 0 { clock } else { format!("{clock}.{}", &padded[..scale]) })
        }
        Ty::Json => scalar::json(text).ok_or_else(bad),
    }
}
