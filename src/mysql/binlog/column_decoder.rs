//! One column's decoder: compiled once, called for each value.

use super::builders::{ColumnBuilder, DecodeStats};
use super::charset::Charset;
use super::cursor::Cursor;
use super::decimal::DecimalLayout;
use super::decode_error::ValueError;
use super::jsonb::{self, JsonStyle};
use super::mariadb_types;
use super::table_map::WireType;
use super::{geometry, temporal};
use std::io::Write;
use std::sync::Arc;

/// How values of one column get from a row image into their builder.
#[derive(Clone, Debug)]
pub(crate) enum Decoder {
    TinyAsBool,
    I8,
    U8,
    I16,
    U16,
    I24,
    U24,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    /// A 32-bit float with a fixed number of decimals.
    F32Fixed(u8),
    /// A 64-bit float with a fixed number of decimals.
    F64Fixed(u8),
    Decimal(DecimalLayout),
    /// A decimal that is too long for 128 bits.
    DecimalText(DecimalLayout, u8),
    BitAsBool,
    /// Bytes, given in the other order.
    Bit(u8),
    Year,
    Date,
    DateTime(u8),
    Timestamp(u8),
    Time(u8),
    OldDateTime,
    OldTimestamp,
    OldTime,
    /// UTF-8 text behind a length of so many bytes.
    Utf8(u8),
    /// Text in another charset.
    Text(u8, Charset),
    Bytes(u8),
    /// Bytes without their trailing zeros, and their full length.
    PaddedBytes(u8, usize),
    Enum(u8, Arc<[Arc<str>]>),
    Set(u8, Arc<[Arc<str>]>),
    Json(u8, JsonStyle),
    Geometry(u8),
    Uuid(u8),
    Inet4(u8),
    Inet6(u8),
}

/// Bytes of the length in front of a value; `None` for types of a fixed size.
pub(super) fn length_bytes(wire: WireType) -> Option<u8> {
    match wire {
        WireType::Varchar(max) | WireType::Char(max) => Some(if max < 256 { 1 } else { 2 }),
        WireType::Blob(n) | WireType::Json(n) | WireType::Geometry(n) | WireType::Vector(n) => Some(n),
        _ => None,
    }
}

/// Passes over a value.
#[inline]
pub(super) fn skip(wire: WireType, c: &mut Cursor<'_>) -> Result<(), ValueError> {
    if let Some(n) = length_bytes(wire) {
        counted(c, n)?;
        return Ok(());
    }
    let fraction = |digits: u8| usize::from(digits.div_ceil(2));
    let size = match wire {
        WireType::Tiny | WireType::Year => 1,
        WireType::Short => 2,
        WireType::Int24 | WireType::Date | WireType::OldTime => 3,
        WireType::Long | WireType::Float | WireType::OldTimestamp => 4,
        WireType::LongLong | WireType::Double | WireType::OldDateTime => 8,
        WireType::Decimal { precision, scale } => DecimalLayout::new(precision, scale).len(),
        WireType::Bit(bits) => usize::from(bits.div_ceil(8)),
        WireType::Time(p) => 3 + fraction(p),
        WireType::DateTime(p) => 5 + fraction(p),
        WireType::Timestamp(p) => 4 + fraction(p),
        WireType::Enum(n) | WireType::Set(n) => n.into(),
        WireType::Varchar(_)
        | WireType::Char(_)
        | WireType::Blob(_)
        | WireType::Json(_)
        | WireType::Geometry(_)
        | WireType::Vector(_) => 0,
    };
    c.take(size)?;
    Ok(())
}

/// Bytes behind their length, which has `n` bytes.
#[inline]
fn counted<'a>(c: &mut Cursor<'a>, n: u8) -> Result<&'a [u8], ValueError> {
    let length = match n {
        1 => usize::from(c.u8()?),
        2 => usize::from(c.u16()?),
        _ => c.uint_le(n.into())? as usize,
    };
    Ok(c.take(length)?)
}

impl Decoder {
    /// Decodes one value.
    #[inline]
    pub(super) fn decode(
        &self,
        c: &mut Cursor<'_>,
        to: &mut ColumnBuilder,
        nullable: bool,
        stats: &mut DecodeStats,
    ) -> Result<(), ValueError> {
        match self {
            Self::TinyAsBool => to.push_bool(c.u8()? != 0),
            Self::I8 => to.push_i8(c.u8()? as i8),
            Self::U8 => to.push_i16(c.u8()?.into()),
            Self::I16 => to.push_i16(c.u16()? as i16),
            Self::U16 => to.push_i32(c.u16()?.into()),
            Self::I24 => to.push_i32((c.uint_le(3)? as i32) << 8 >> 8),
            Self::U24 => to.push_i32(c.uint_le(3)? as i32),
            Self::I32 => to.push_i32(c.u32()? as i32),
            Self::U32 => to.push_i64(c.u32()?.into()),
            Self::I64 => to.push_i64(c.u64()? as i64),
            Self::U64 => to.push_i128(c.u64()?.into()),
            Self::F32 => to.push_f32(c.f32()?),
            Self::F64 => to.push_f64(c.f64()?),
            Self::F32Fixed(decimals) => to.push_f64(fixed(c.f32()?.into(), *decimals)?),
            Self::F64Fixed(decimals) => to.push_f64(fixed(c.f64()?, *decimals)?),
            Self::Decimal(layout) => to.push_i128(layout.unscaled(c)?),
            Self::DecimalText(layout, scale) => to.write_bytes(|data| layout.write(c, *scale, data)),
            Self::BitAsBool => to.push_bool(c.u8()? & 1 != 0),
            Self::Bit(n) => {
                let bytes = c.take((*n).into())?;
                to.write_bytes(|data| {
                    data.extend(bytes.iter().rev());
                    Ok(())
                })
            }
            Self::Year => {
                let years = i32::from(c.u8()?);
                to.push_i32(if years == 0 { 0 } else { 1900 + years })
            }
            Self::Date => {
                let date = temporal::date(c)?;
                push_date(date, to, nullable, stats)
            }
            Self::DateTime(digits) => push_instant(temporal::datetime(c, *digits)?, to, nullable, stats),
            Self::Timestamp(digits) => push_instant(temporal::timestamp(c, *digits)?, to, nullable, stats),
            Self::Time(digits) => to.push_i64(temporal::time(c, *digits)?),
            Self::OldDateTime => push_instant(temporal::old_datetime(c)?, to, nullable, stats),
            Self::OldTimestamp => push_instant(temporal::old_timestamp(c)?, to, nullable, stats),
            Self::OldTime => to.push_i64(temporal::old_time(c)?),
            Self::Utf8(n) | Self::Bytes(n) => to.push_bytes(counted(c, *n)?),
            Self::Text(n, charset) => {
                let text = counted(c, *n)?;
                to.write_bytes(|data| {
                    charset.decode(text, data);
                    Ok(())
                })
            }
            Self::PaddedBytes(n, length) => {
                let bytes = counted(c, *n)?;
                to.write_bytes(|data| {
                    data.extend_from_slice(bytes);
                    data.resize(data.len() + length.saturating_sub(bytes.len()), 0);
                    Ok(())
                })
            }
            Self::Enum(n, labels) => match c.uint_le((*n).into())? as usize {
                // What the server keeps for a value that is no label.
                0 => to.push_bytes(b""),
                index => match labels.get(index - 1) {
                    Some(label) => to.push_bytes(label.as_bytes()),
                    None => Err(ValueError::Malformed("an ENUM has a number beyond its labels")),
                },
            },
            Self::Set(n, labels) => {
                let bits = c.uint_le((*n).into())?;
                to.write_bytes(|data| write_set(bits, labels, data))
            }
            Self::Json(n, style) => {
                let document = counted(c, *n)?;
                to.write_bytes(|data| jsonb::write(document, *style, data))
            }
            Self::Geometry(n) => {
                let bytes = counted(c, *n)?;
                to.write_bytes(|data| geometry::write(bytes, data))
            }
            Self::Uuid(n) => {
                let bytes = counted(c, *n)?;
                to.write_bytes(|data| mariadb_types::write_uuid(bytes, data))
            }
            Self::Inet4(n) => {
                let bytes = counted(c, *n)?;
                to.write_bytes(|data| mariadb_types::write_inet4(bytes, data))
            }
            Self::Inet6(n) => {
                let bytes = counted(c, *n)?;
                to.write_bytes(|data| mariadb_types::write_inet6(bytes, data))
            }
        }
    }
}

/// A day, or what stands for a zero date.
#[inline]
pub(super) fn push_date(
    date: Option<i32>,
    to: &mut ColumnBuilder,
    nullable: bool,
    stats: &mut DecodeStats,
) -> Result<(), ValueError> {
    match date {
        Some(days) => to.push_i32(days),
        None if nullable => {
            stats.zero_dates += 1;
            to.push_null();
            Ok(())
        }
        None => {
            stats.zero_dates += 1;
            to.push_i32(0)
        }
    }
}

/// Microseconds, or what stands for a zero date.
#[inline]
pub(super) fn push_instant(
    instant: Option<i64>,
    to: &mut ColumnBuilder,
    nullable: bool,
    stats: &mut DecodeStats,
) -> Result<(), ValueError> {
    match instant {
        Some(micros) => to.push_i64(micros),
        None if nullable => {
            stats.zero_dates += 1;
            to.push_null();
            Ok(())
        }
        None => {
            stats.zero_dates += 1;
            to.push_i64(0)
        }
    }
}

/// The number that the server prints for a float with a fixed number of decimals: the value is kept in binary, and
/// rounded when it is printed.
fn fixed(value: f64, decimals: u8) -> Result<f64, ValueError> {
    // 309 digits, the point, 30 decimals and a sign are the most there can be.
    let mut text = [0_u8; 352];
    let mut rest = text.as_mut_slice();
    write!(rest, "{value:.0$}", usize::from(decimals))
        .map_err(|_| ValueError::Malformed("a float has too many decimals"))?;
    let written = 352 - rest.len();
    text.get(..written)
        .and_then(|text| std::str::from_utf8(text).ok())
        .and_then(|text| text.parse().ok())
        .ok_or(ValueError::Malformed("a float is not a number"))
}

fn write_set(bits: u64, labels: &[Arc<str>], to: &mut Vec<u8>) -> Result<(), ValueError> {
    let mut left = bits;
    let mut first = true;
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        let label = labels.get(i).ok_or(ValueError::Malformed("a SET has a bit beyond its labels"))?;
        if !first {
            to.push(b',');
        }
        first = false;
        to.extend_from_slice(label.as_bytes());
    }
    Ok(())
}
