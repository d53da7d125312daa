//! Values as Flink CDC prints them, and as JSON.

use super::numbers::{append_decimal, append_f32, append_f64, append_int};
use crate::cells::Cells;
use crate::temporal::{Fraction, append_date, append_time, append_timestamp};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Appends a value as Flink CDC prints it.
pub(crate) fn append_text(cells: &Cells<'_>, out: &mut Vec<u8>, row: usize) {
    if cells.is_null(row) {
        out.extend_from_slice(b"null");
        return;
    }
    match cells {
        Cells::Boolean(a) => append_bool(out, a.value(row)),
        Cells::Int8(a) => append_int(out, a.value(row).into()),
        Cells::Int16(a) => append_int(out, a.value(row).into()),
        Cells::Int32(a) => append_int(out, a.value(row).into()),
        Cells::Int64(a) => append_int(out, a.value(row)),
        Cells::Float32(a) => append_f32(out, a.value(row)),
        Cells::Float64(a) => append_f64(out, a.value(row)),
        Cells::Decimal(a, scale) => append_decimal(out, a.value(row), *scale),
        Cells::Text(a) => out.extend_from_slice(a.value(row).as_bytes()),
        Cells::Bytes(a) => append_base64(out, a.value(row)),
        Cells::Date(a) => append_date(out, a.value(row).into()),
        Cells::Time(a, _) => append_time(out, a.value(row), Fraction::Java),
        Cells::Timestamp(a, _) | Cells::Instant(a, _) => append_timestamp(out, a.value(row), Fraction::Java),
    }
}

/// Appends a value as JSON, so that nothing of it is lost.
pub(super) fn append_json(cells: &Cells<'_>, out: &mut Vec<u8>, row: usize) {
    if cells.is_null(row) {
        out.extend_from_slice(b"null");
        return;
    }
    match cells {
        Cells::Boolean(_) | Cells::Int8(_) | Cells::Int16(_) | Cells::Int32(_) | Cells::Int64(_) => {
            append_text(cells, out, row);
        }
        // JSON has no word for what is not finite.
        Cells::Float32(a) if a.value(row).is_finite() => append_f32(out, a.value(row)),
        Cells::Float64(a) if a.value(row).is_finite() => append_f64(out, a.value(row)),
        Cells::Text(a) => append_json_string(out, a.value(row)),
        Cells::Float32(_) | Cells::Float64(_) | Cells::Decimal(..) | Cells::Bytes(_) | Cells::Date(_) => {
            out.push(b'"');
            append_text(cells, out, row);
            out.push(b'"');
        }
        Cells::Time(a, p) => quoted(out, |out| append_time(out, a.value(row), Fraction::Digits(*p))),
        Cells::Timestamp(a, p) => quoted(out, |out| append_timestamp(out, a.value(row), Fraction::Digits(*p))),
        Cells::Instant(a, p) => quoted(out, |out| {
            append_timestamp(out, a.value(row), Fraction::Digits(*p));
            out.push(b'Z');
        }),
    }
}

fn quoted(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    append(out);
    out.push(b'"');
}

fn append_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true".as_slice() } else { b"false" });
}

fn append_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // The place made above is what the encoding needs.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

/// Appends text as a JSON string.
pub(super) fn append_json_string(out: &mut Vec<u8>, text: &str) {
    // Writing a str to a Vec can't fail.
    let _ = serde_json::to_writer(out, text);
}
