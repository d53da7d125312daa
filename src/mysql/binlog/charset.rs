//! Text in the server's charsets, turned into UTF-8 the way the server itself does it.

use super::charset_tables::SINGLE_BYTE;
use super::multi_byte::MultiByte;
use std::sync::Arc;

/// A charset of a column or of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charset {
    /// utf8mb4 and utf8mb3: the bytes are UTF-8 as they are.
    Utf8,
    /// Bytes, not text.
    Binary,
    /// One byte a character.
    SingleByte(Arc<[char; 256]>),
    /// One to four bytes a character.
    MultiByte(MultiByte),
    /// Two bytes, big-endian.
    Ucs2,
    /// UTF-16, big-endian.
    Utf16,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-32, big-endian.
    Utf32,
}

/// What the server writes for bytes that stand for no character.
pub(super) const UNKNOWN: u8 = b'?';

impl Charset {
    /// The charset of that name, for example `latin1`; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "utf8mb4" | "utf8mb3" | "utf8" => Self::Utf8,
            "binary" => Self::Binary,
            "ucs2" => Self::Ucs2,
            "utf16" => Self::Utf16,
            "utf16le" => Self::Utf16Le,
            "utf32" => Self::Utf32,
            _ => {
                if let Some(multi) = MultiByte::named(name) {
                    return Some(Self::MultiByte(multi));
                }
                // Older servers let any byte into ascii columns.
                const ASCII: (&str, u8, &str) = ("ascii", 0x80, "");
                let (_, first, chars) = SINGLE_BYTE.iter().chain([&ASCII]).find(|(n, ..)| *n == name)?;
                let mut table = ['\0'; 256];
                for (byte, c) in (0..=u8::MAX).zip(&mut table) {
                    *c = char::from(byte);
                }
                let chars = chars.chars().chain(std::iter::repeat(char::from(UNKNOWN)));
                for (c, value) in table.iter_mut().skip(usize::from(*first)).zip(chars) {
                    *c = value;
                }
                Self::SingleByte(Arc::new(table))
            }
        })
    }

    /// The charset of a collation's number, as status variables and TABLE_MAP events have it.
    pub fn of_collation(id: u16) -> Option<Self> {
        Self::named(charset_of_collation(u32::from(id))?)
    }

    /// Appends text in this charset to `to` as UTF-8. Bytes that stand for no character become `?`, as when the server
    /// converts; bytes that are UTF-8 already are taken over unchecked.
    pub fn decode(&self, text: &[u8], to: &mut Vec<u8>) {
        let mut utf8 = [0; 4];
        let mut push = |c: Option<char>, to: &mut Vec<u8>| match c {
            Some(c) => to.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes()),
            None => to.push(UNKNOWN),
        };
        match self {
            Self::Utf8 | Self::Binary => to.extend_from_slice(text),
            Self::SingleByte(table) => {
                if text.is_ascii() && table[0x5b] == '[' {
                    return to.extend_from_slice(text);
                }
                text.iter().for_each(|byte| push(Some(table[usize::from(*byte)]), to));
            }
            Self::MultiByte(multi) => multi.decode(text, to),
            Self::Ucs2 => {
                units(text, u16::from_be_bytes).for_each(|u| push(u.and_then(|u| char::from_u32(u.into())), to))
            }
            Self::Utf16 | Self::Utf16Le => {
                let read = if *self == Self::Utf16 { u16::from_be_bytes } else { u16::from_le_bytes };
                let whole = text.len() / 2 * 2;
                let units = units(text.get(..whole).unwrap_or_default(), read).flatten();
                char::decode_utf16(units).for_each(|c| push(c.ok(), to));
                if whole < text.len() {
                    push(None, to);
                }
            }
            Self::Utf32 => {
                text.chunks(4).for_each(|c| {
                    let unit = c.first_chunk::<4>().map(|b| u32::from_be_bytes(*b));
                    push(unit.and_then(char::from_u32), to);
                });
            }
        }
    }
}

/// The 16-bit units of a text; `None` for an odd byte at the end.
fn units(text: &[u8], read: fn([u8; 2]) -> u16) -> impl Iterator<Item = Option<u16>> {
    text.chunks(2).map(move |c| c.first_chunk::<2>().map(|b| read(*b)))
}

/// The charset's name of a collation's number, as `information_schema.collations` of MySQL 5.6 and 9.7 and MariaDB 10.11
/// have them.
pub fn charset_of_collation(id: u32) -> Option<&'static str> {
    // MariaDB's collations without padding have the numbers of the padding ones, 1024 higher.
    let id = if (1024..2048).contains(&id) { id - 1024 } else { id };
    Some(match id {
        1 | 84 => "big5",
        2 | 9 | 21 | 27 | 77 => "latin2",
        3 | 69 => "dec8",
        4 | 80 => "cp850",
        5 | 8 | 15 | 31 | 47..=49 | 94 => "latin1",
        6 | 72 => "hp8",
        7 | 74 => "koi8r",
        10 | 82 => "swe7",
        11 | 65 => "ascii",
        12 | 91 => "ujis",
        13 | 88 => "sjis",
        14 | 23 | 50..=52 => "cp1251",
        16 | 71 => "hebrew",
        18 | 89 => "tis620",
        19 | 85 => "euckr",
        20 | 41 | 42 | 79 => "latin7",
        22 | 75 => "koi8u",
        24 | 86 => "gb2312",
        25 | 70 => "greek",
        26 | 34 | 44 | 66 | 99 => "cp1250",
        28 | 87 => "gbk",
        29 | 58 | 59 => "cp1257",
        30 | 78 => "latin5",
        32 | 64 => "armscii8",
        33 | 76 | 83 | 192..=223 | 576..=578 | 2048..=2303 => "utf8mb3",
        35 | 90 | 128..=159 | 640..=642 | 2560..=2815 => "ucs2",
        36 | 68 => "cp866",
        37 | 73 => "keybcs2",
        38 | 43 => "macce",
        39 | 53 => "macroman",
        40 | 81 => "cp852",
        45 | 46 | 224..=247 | 255..=323 | 608..=610 | 2304..=2559 => "utf8mb4",
        54 | 55 | 101..=124 | 672..=674 | 2816..=3071 => "utf16",
        56 | 62 => "utf16le",
        57 | 67 => "cp1256",
        60 | 61 | 160..=183 | 736..=738 | 3072..=3327 => "utf32",
        63 => "binary",
        92 | 93 => "geostd8",
        95 | 96 => "cp932",
        97 | 98 => "eucjpms",
        248..=250 => "gb18030",
        _ => return None,
    })
}
