//! MySQL's binary JSON, written as text without a tree in between.

use super::cursor::Cursor;
use super::decimal::DecimalLayout;
use super::decode_error::ValueError;
use super::json_number::write_double;
use base64::Engine as _;
use std::io::Write;

/// How JSON text is spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonStyle {
    /// As MySQL prints it: `{"a": 1, "b": [1, 2]}`.
    Server,
    /// Without spaces: `{"a":1,"b":[1,2]}`.
    Compact,
}

impl JsonStyle {
    pub(super) fn comma(self) -> &'static [u8] {
        match self {
            Self::Server => b", ",
            Self::Compact => b",",
        }
    }

    pub(super) fn colon(self) -> &'static [u8] {
        match self {
            Self::Server => b": ",
            Self::Compact => b":",
        }
    }
}

/// MySQL refuses documents that are nested deeper than 100.
pub(super) const MAX_DEPTH: usize = 100;

/// The numbers of the types of values.
pub(super) mod kind {
    pub(crate) const SMALL_OBJECT: u8 = 0x00;
    pub(crate) const LARGE_OBJECT: u8 = 0x01;
    pub(crate) const SMALL_ARRAY: u8 = 0x02;
    pub(crate) const LARGE_ARRAY: u8 = 0x03;
    pub(crate) const LITERAL: u8 = 0x04;
    pub(crate) const INT16: u8 = 0x05;
    pub(crate) const UINT16: u8 = 0x06;
    pub(crate) const INT32: u8 = 0x07;
    pub(crate) const UINT32: u8 = 0x08;
    pub(crate) const INT64: u8 = 0x09;
    pub(crate) const UINT64: u8 = 0x0a;
    pub(crate) const DOUBLE: u8 = 0x0b;
    pub(crate) const STRING: u8 = 0x0c;
    pub(crate) const OPAQUE: u8 = 0x0f;
}

/// A value within a document: its type and its bytes, of which there may be more than the value needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawValue<'a> {
    pub(super) kind: u8,
    pub(super) bytes: &'a [u8],
}

/// The head of an object or array.
pub(super) struct Container<'a> {
    /// The container's bytes; offsets count from its first one.
    bytes: &'a [u8],
    pub(super) count: usize,
    large: bool,
    object: bool,
}

impl<'a> RawValue<'a> {
    /// A whole document. The server stores no bytes at all for a document that it had to make up; it reads them as
    /// `null`.
    pub(super) fn document(bytes: &'a [u8]) -> Self {
        match bytes.split_first() {
            Some((kind, bytes)) => Self { kind: *kind, bytes },
            None => Self { kind: kind::LITERAL, bytes: &[0] },
        }
    }

    /// The container's head, if the value is one.
    pub(super) fn container(&self) -> Result<Option<Container<'a>>, ValueError> {
        let (large, object) = match self.kind {
            kind::SMALL_OBJECT => (false, true),
            kind::LARGE_OBJECT => (true, true),
            kind::SMALL_ARRAY => (false, false),
            kind::LARGE_ARRAY => (true, false),
            _ => return Ok(None),
        };
        let width = if large { 4 } else { 2 };
        let mut c = Cursor::new(self.bytes);
        let (count, size) = (c.uint_le(width)? as usize, c.uint_le(width)? as usize);
        let bytes = self.bytes.get(..size).ok_or(ValueError::Truncated)?;
        Ok(Some(Container { bytes, count, large, object }))
    }
}

impl<'a> Container<'a> {
    pub(super) fn is_object(&self) -> bool {
        self.object
    }

    fn width(&self) -> usize {
        if self.large { 4 } else { 2 }
    }

    fn at(&self, offset: usize) -> Result<Cursor<'a>, ValueError> {
        self.bytes.get(offset..).map(Cursor::new).ok_or(ValueError::Truncated)
    }

    /// The key of an object's member.
    pub(super) fn key(&self, i: usize) -> Result<&'a [u8], ValueError> {
        let width = self.width();
        let mut entry = self.at(2 * width + i * (width + 2))?;
        let (offset, length) = (entry.uint_le(width)? as usize, usize::from(entry.u16()?));
        Ok(self.at(offset)?.take(length)?)
    }

    /// The value of a member or element.
    pub(super) fn value(&self, i: usize) -> Result<RawValue<'a>, ValueError> {
        let width = self.width();
        let keys = if self.object { self.count * (width + 2) } else { 0 };
        let mut entry = self.at(2 * width + keys + i * (width + 1))?;
        let kind = entry.u8()?;
        let inline = match kind {
            kind::LITERAL | kind::INT16 | kind::UINT16 => true,
            kind::INT32 | kind::UINT32 => self.large,
            _ => false,
        };
        if inline {
            return Ok(RawValue { kind, bytes: entry.take(width)? });
        }
        let offset = entry.uint_le(width)? as usize;
        Ok(RawValue { kind, bytes: self.at(offset)?.rest() })
    }
}

/// A length of one to five bytes with seven bits each, the lowest first.
fn length(c: &mut Cursor<'_>) -> Result<usize, ValueError> {
    let mut n = 0_u64;
    for shift in [0, 7, 14, 21, 28] {
        let byte = c.u8()?;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(n).map_err(|_| ValueError::Truncated);
        }
    }
    Err(ValueError::Malformed("a length in JSON has more than five bytes"))
}

/// Appends a document as text.
pub(crate) fn write(document: &[u8], style: JsonStyle, to: &mut Vec<u8>) -> Result<(), ValueError> {
    let mut writer = JsonWriter { style, budget: document.len() + 1, to };
    writer.value(&RawValue::document(document), 0)
}

/// Writes values as text.
pub(super) struct JsonWriter<'t> {
    pub(super) style: JsonStyle,
    /// How many more bytes of the document may be visited. A document visits none of its bytes twice; one with
    /// entries that point at the same value could grow beyond all bounds.
    pub(super) budget: usize,
    pub(super) to: &'t mut Vec<u8>,
}

impl JsonWriter<'_> {
    fn spend(&mut self, bytes: usize) -> Result<(), ValueError> {
        self.budget =
            self.budget.checked_sub(bytes).ok_or(ValueError::Malformed("parts of a JSON document overlap"))?;
        Ok(())
    }

    fn value(&mut self, value: &RawValue<'_>, depth: usize) -> Result<(), ValueError> {
        let Some(container) = value.container()? else { return self.scalar(value) };
        if depth >= MAX_DEPTH {
            return Err(ValueError::Malformed("a JSON document is nested deeper than 100"));
        }
        self.spend(1)?;
        self.to.push(if container.is_object() { b'{' } else { b'[' });
        for i in 0..container.count {
            if i > 0 {
                self.to.extend_from_slice(self.style.comma());
            }
            if container.is_object() {
                self.string(container.key(i)?)?;
                self.to.extend_from_slice(self.style.colon());
            }
            self.value(&container.value(i)?, depth + 1)?;
        }
        self.to.push(if container.is_object() { b'}' } else { b']' });
        Ok(())
    }

    /// Appends a value that is not an object or array.
    pub(super) fn scalar(&mut self, value: &RawValue<'_>) -> Result<(), ValueError> {
        let mut c = Cursor::new(value.bytes);
        self.spend(1)?;
        let number = match value.kind {
            kind::LITERAL => {
                let text: &[u8] = match c.u8()? {
                    0 => b"null",
                    1 => b"true",
                    2 => b"false",
                    _ => return Err(ValueError::Malformed("an unknown literal in JSON")),
                };
                self.to.extend_from_slice(text);
                return Ok(());
            }
            kind::INT16 => i128::from(c.u16()? as i16),
            kind::UINT16 => c.u16()?.into(),
            kind::INT32 => i128::from(c.u32()? as i32),
            kind::UINT32 => c.u32()?.into(),
            kind::INT64 => i128::from(c.u64()? as i64),
            kind::UINT64 => c.u64()?.into(),
            kind::DOUBLE => {
                write_double(c.f64()?, self.to);
                return Ok(());
            }
            kind::STRING => {
                let n = length(&mut c)?;
                return self.string(c.take(n)?);
            }
            kind::OPAQUE => {
                let column_type = c.u8()?;
                let n = length(&mut c)?;
                let bytes = c.take(n)?;
                self.spend(n)?;
                return self.opaque(column_type, bytes);
            }
            _ => return Err(ValueError::Malformed("an unknown type in JSON")),
        };
        // Writing to a vector can't fail.
        let _ = write!(self.to, "{number}");
        Ok(())
    }

    /// Appends a string in quotes.
    pub(super) fn string(&mut self, text: &[u8]) -> Result<(), ValueError> {
        self.spend(text.len())?;
        write_string(text, self.to);
        Ok(())
    }

    /// Appends a value of an SQL type that JSON doesn't have.
    fn opaque(&mut self, column_type: u8, bytes: &[u8]) -> Result<(), ValueError> {
        const TIMESTAMP: u8 = 7;
        const DATE: u8 = 10;
        const TIME: u8 = 11;
        const DATETIME: u8 = 12;
        const NEW_DECIMAL: u8 = 246;
        let mut c = Cursor::new(bytes);
        match column_type {
            NEW_DECIMAL => {
                let (precision, scale) = (c.u8()?, c.u8()?);
                if precision > 65 || scale > precision {
                    return Err(ValueError::Malformed("a DECIMAL in JSON has an impossible precision or scale"));
                }
                DecimalLayout::new(precision, scale).write(&mut c, scale, self.to)
            }
            DATE | DATETIME | TIMESTAMP => {
                let packed = c.u64()? as i64;
                let (whole, fraction) = (packed.unsigned_abs() >> 24, packed.unsigned_abs() & 0xff_ffff);
                let (date, time) = (whole >> 17, whole & 0x1_ffff);
                let (year_month, day) = (date >> 5, date & 31);
                let _ = write!(self.to, "\"{:04}-{:02}-{day:02}", year_month / 13, year_month % 13);
                if column_type != DATE {
                    let (hour, minute, second) = (time >> 12, time >> 6 & 63, time & 63);
                    let _ = write!(self.to, " {hour:02}:{minute:02}:{second:02}.{fraction:06}");
                }
                self.to.push(b'"');
                Ok(())
            }
            TIME => {
                let packed = c.u64()? as i64;
                let (whole, fraction) = (packed.unsigned_abs() >> 24, packed.unsigned_abs() & 0xff_ffff);
                let sign = if packed < 0 { "-" } else { "" };
                let (hour, minute, second) = (whole >> 12 & 0x3ff, whole >> 6 & 63, whole & 63);
                let _ = write!(self.to, "\"{sign}{hour:02}:{minute:02}:{second:02}.{fraction:06}\"");
                Ok(())
            }
            _ => {
                let _ = write!(self.to, "\"base64:type{column_type}:");
                let start = self.to.len();
                let room = base64::encoded_len(bytes.len(), true).ok_or(ValueError::TooLarge)?;
                self.to.resize(start + room, 0);
                let place = self.to.get_mut(start..).unwrap_or_default();
                base64::engine::general_purpose::STANDARD
                    .encode_slice(bytes, place)
                    .map_err(|_| ValueError::TooLarge)?;
                self.to.push(b'"');
                Ok(())
            }
        }
    }
}

/// Appends text in quotes, with the escapes that MySQL uses.
pub(super) fn write_string(text: &[u8], to: &mut Vec<u8>) {
    to.push(b'"');
    let mut plain = 0;
    for (i, byte) in text.iter().enumerate() {
        let short = match byte {
            b'"' | b'\\' => *byte,
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            0x00..=0x1f => b'u',
            _ => continue,
        };
        to.extend_from_slice(text.get(plain..i).unwrap_or_default());
        plain = i + 1;
        to.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let _ = write!(to, "{byte:04x}");
        }
    }
    to.extend_from_slice(text.get(plain..).unwrap_or_default());
    to.push(b'"');
}

/// Appends JSON text that the server printed, without the spaces between its parts.
pub(crate) fn write_compact_text(text: &[u8], to: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b' ' if !in_string => continue,
            _ => {}
        }
        to.push(*byte);
    }
}
