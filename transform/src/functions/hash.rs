//! Digests, HEX, Base64 and UUID.

use super::Call;
use crate::column::{Col, build_bytes, build_text};
use crate::error::Fault;
use crate::node::{Context, Failure, Kernel, Kind, Node};
use crate::types::{TEXT, Type};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use rowferry_model::DataType;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::fmt::Write;
use std::sync::Arc;

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

/// The bytes of a text or of bytes.
fn bytes_or_text(call: &Call<'_>, i: usize) -> Result<Arc<Node>, Fault> {
    let arg = call.arg(i)?;
    if arg.ty.is_bytes() { Ok(Arc::clone(arg)) } else { call.text(i) }
}

/// A text made of the bytes of the argument.
fn of_bytes(call: &Call<'_>, f: fn(&[u8], &mut String)) -> Result<Node, Fault> {
    let args = vec![bytes_or_text(call, 0)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        if let Ok(texts) = a.texts() {
            return build_text(rows, |row, out| {
                f(texts.get(row)?.as_bytes(), out);
                Some(())
            })
            .map_err(Failure::from);
        }
        let blobs = a.blobs()?;
        build_text(rows, |row, out| {
            f(blobs.get(row)?, out);
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

fn append_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

pub(super) fn md5(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| append_hex(&Md5::digest(bytes), out))
}

pub(super) fn sha224(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| append_hex(&Sha224::digest(bytes), out))
}

pub(super) fn sha256(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| append_hex(&Sha256::digest(bytes), out))
}

pub(super) fn sha384(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| append_hex(&Sha384::digest(bytes), out))
}

pub(super) fn sha512(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| append_hex(&Sha512::digest(bytes), out))
}

/// `HEX(x)`: a number in hexadecimal digits, or each byte of a text; capitals, as Flink SQL and MySQL have it.
pub(super) fn hex(call: Call<'_>) -> Result<Node, Fault> {
    if call.arg(0)?.ty.is_integer() {
        let args = vec![call.long(0)?];
        let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, _: &Context| {
            let [a] = args else { return Err(wrong_call()) };
            let a = a.longs()?;
            build_text(rows, |row, out| write!(out, "{:X}", a.get(row)?).ok()).map_err(Failure::from)
        });
        return Ok(call.node(TEXT, args, kernel));
    }
    of_bytes(&call, |bytes, out| {
        for byte in bytes {
            let _ = write!(out, "{byte:02X}");
        }
    })
}

pub(super) fn to_base64(call: Call<'_>) -> Result<Node, Fault> {
    of_bytes(&call, |bytes, out| STANDARD.encode_string(bytes, out))
}

pub(super) fn from_base64(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        build_text(rows, |row, out| {
            let Ok(bytes) = STANDARD.decode(a.get(row)?) else {
                context.lost();
                return None;
            };
            out.push_str(&String::from_utf8_lossy(&bytes));
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

pub(super) fn from_base64_binary(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        build_bytes(rows, |row, out| {
            if STANDARD.decode_vec(a.get(row)?, out).is_err() {
                context.lost();
                return None;
            }
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(Type::Plain(DataType::Bytes), args, kernel))
}

/// A new random UUID for each row.
pub(super) fn uuid(_: Call<'_>) -> Result<Node, Fault> {
    let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, _: &Context| {
        build_text(rows, |_, out| write!(out, "{}", uuid::Uuid::new_v4()).ok()).map_err(Failure::from)
    });
    // Flink CDC's type is CHAR(36).
    let ty = Type::Plain(DataType::Char(36));
    Ok(Node { ty, nullable: true, kind: Kind::Call { args: Vec::new(), kernel }, volatile: true, careful: true })
}
