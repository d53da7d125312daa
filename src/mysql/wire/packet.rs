//! The packets of the command phase: OK, error, end, column definitions, text rows.

use super::bytes::Reader;
use super::error::{ServerError, WireError};

/// What a statement without rows did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OkInfo {
    /// Rows that were changed.
    pub affected_rows: u64,
    /// The AUTO_INCREMENT value that was assigned, or 0.
    pub last_insert_id: u64,
    /// The server's status bits.
    pub status: u16,
    /// How many warnings there are.
    pub warnings: u16,
}

/// There is another result behind this one.
pub(super) const STATUS_MORE_RESULTS: u16 = 0x0008;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMeta {
    /// The name or alias.
    pub name: String,
    /// The protocol's type number (`MYSQL_TYPE_…`).
    pub column_type: u8,
    /// The collation's number; 63 is binary.
    pub charset: u16,
    /// The flags: 1 NOT NULL, 32 UNSIGNED, 128 BINARY, …
    pub flags: u16,
    /// The length of the longest value in bytes, as the server declares it.
    pub length: u32,
    /// Digits behind the point; 31 for floats without a fixed number.
    pub decimals: u8,
}

/// Reads an error packet, its 0xFF included. A malformed one gives what can be read of it.
pub fn parse_err(packet: &[u8]) -> ServerError {
    let mut reader = Reader(packet.get(1..).unwrap_or_default());
    let code = reader.u16().unwrap_or(0);
    let mut sqlstate = String::new();
    if reader.0.first() == Some(&b'#') && reader.0.len() >= 6 {
        let state = reader.take(6).and_then(|s| s.get(1..)).unwrap_or_default();
        sqlstate = String::from_utf8_lossy(state).into_owned();
    }
    ServerError { code, sqlstate, message: String::from_utf8_lossy(reader.0).into_owned(), statement: None }
}

/// Reads an OK packet, its header byte included (0x00, or 0xFE where it ends a result).
///
/// # Errors
/// The packet is cut short.
pub fn parse_ok(packet: &[u8]) -> Result<OkInfo, WireError> {
    let mut reader = Reader(packet.get(1..).unwrap_or_default());
    let mut read = || {
        Some(OkInfo {
            affected_rows: reader.lenenc()?,
            last_insert_id: reader.lenenc()?,
            status: reader.u16()?,
            warnings: reader.u16()?,
        })
    };
    read().ok_or_else(|| WireError::protocol("OK packet cut short"))
}

/// The status bits of an old-style end packet.
pub(super) fn eof_status(packet: &[u8]) -> u16 {
    let mut reader = Reader(packet.get(3..).unwrap_or_default());
    reader.u16().unwrap_or(0)
}

impl ColumnMeta {
    /// Reads a column definition packet.
    ///
    /// # Errors
    /// The packet is cut short.
    pub fn parse(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(packet);
        let mut read = || {
            for _catalog_schema_table_org_table in 0..4 {
                reader.lenenc_bytes()?;
            }
            let name = String::from_utf8_lossy(reader.lenenc_bytes()?).into_owned();
            let _org_name = reader.lenenc_bytes()?;
            let _length_of_fixed_fields = reader.lenenc()?;
            Some(Self {
                name,
                charset: reader.u16()?,
                length: reader.u32()?,
                column_type: reader.u8()?,
                flags: reader.u16()?,
                decimals: reader.u8()?,
            })
        };
        read().ok_or_else(|| WireError::protocol("column definition cut short"))
    }
}

/// The values of a text row, `None` for NULL. Ends early where the bytes are malformed: compare the number of values.
#[derive(Clone)]
pub struct TextValues<'a>(Reader<'a>);

impl<'a> TextValues<'a> {
    /// The values of a row's payload.
    pub fn new(row: &'a [u8]) -> Self {
        Self(Reader(row))
    }
}

impl<'a> Iterator for TextValues<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.0.first() == Some(&0xfb) {
            self.0.u8();
            return Some(None);
        }
        let value = self.0.lenenc_bytes();
        if value.is_none() {
            self.0.0 = &[];
        }
        value.map(Some)
    }
}
