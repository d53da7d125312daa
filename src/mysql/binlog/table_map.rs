//! TABLE_MAP events: which table a number stands for, and how its columns lie in row images.

use super::column_metadata;
use super::cursor::{Cursor, bit};
use super::error::BinlogErrorKind;
use super::event::FormatDescription;
use super::event_type::EventType;

/// A TABLE_MAP event whose columns have not been looked at. Servers repeat it with every statement, with the same
/// bytes: keep what was compiled from it together with [`body`](Self::body), and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawTableMap<'a> {
    /// The number that stands for the table until the end of the statement. `0xff_ffff` closes a statement and means
    /// no table.
    pub table_id: u64,
    /// The database's name in UTF-8.
    pub database: &'a [u8],
    /// The table's name in UTF-8.
    pub table: &'a [u8],
    /// Everything behind the table's number.
    pub body: &'a [u8],
    columns: &'a [u8],
}

impl<'a> RawTableMap<'a> {
    pub(crate) fn parse(bytes: &'a [u8], format: &FormatDescription) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(bytes);
        let short_id = format.post_header_len(EventType::TABLE_MAP) == Some(6);
        let table_id = c.uint_le(if short_id { 4 } else { 6 })?;
        let body = c.rest();
        let _flags = c.u16()?;
        let mut name = || {
            let n = usize::from(c.u8()?);
            let name = c.take(n)?;
            c.u8()?;
            Ok::<_, BinlogErrorKind>(name)
        };
        let (database, table) = (name()?, name()?);
        Ok(Self { table_id, database, table, body, columns: c.rest() })
    }

    /// Reads the columns.
    ///
    /// # Errors
    /// They are cut off, or a type is unknown.
    pub fn columns(&self) -> Result<TableMap, BinlogErrorKind> {
        TableMap::parse(self)
    }
}

/// How a column's values lie in a row image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// One byte.
    Tiny,
    /// Two bytes.
    Short,
    /// Three bytes.
    Int24,
    /// Four bytes.
    Long,
    /// Eight bytes.
    LongLong,
    /// IEEE 754, four bytes.
    Float,
    /// IEEE 754, eight bytes.
    Double,
    /// MySQL's packed decimal.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Big-endian, as many bytes as the bits need.
    Bit(u8),
    /// One byte, years since 1900; 0 is the year 0000.
    Year,
    /// Three bytes.
    Date,
    /// The form before MySQL 5.6: three bytes.
    OldTime,
    /// The form before MySQL 5.6: eight bytes.
    OldDateTime,
    /// The form before MySQL 5.6: four bytes.
    OldTimestamp,
    /// With so many digits of fraction.
    Time(u8),
    /// With so many digits of fraction.
    DateTime(u8),
    /// With so many digits of fraction.
    Timestamp(u8),
    /// VARCHAR or VARBINARY of at most so many bytes.
    Varchar(u16),
    /// CHAR or BINARY of at most so many bytes; MariaDB's UUID, INET4, INET6 too.
    Char(u16),
    /// TEXT or BLOB whose length takes so many bytes.
    Blob(u8),
    /// Binary JSON whose length takes so many bytes.
    Json(u8),
    /// SRID and WKB, whose length takes so many bytes.
    Geometry(u8),
    /// 32-bit floats, whose length takes so many bytes.
    Vector(u8),
    /// The label's number in so many bytes.
    Enum(u8),
    /// A bit a label, in so many bytes, little-endian.
    Set(u8),
}

impl WireType {
    /// Whether the server counts it among numeric columns, which have a bit for their sign.
    pub(crate) fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Tiny
                | Self::Short
                | Self::Int24
                | Self::Long
                | Self::LongLong
                | Self::Float
                | Self::Double
                | Self::Decimal { .. }
                | Self::Year
        )
    }

    /// Whether the server counts it among character columns, which have a collation (`binary` for bytes). MySQL 9
    /// counts vectors too.
    pub(crate) fn is_character(self) -> bool {
        matches!(self, Self::Varchar(_) | Self::Char(_) | Self::Blob(_) | Self::Vector(_))
    }
}

/// A column as a TABLE_MAP event describes it. What is `None` the server did not say: before 8.0 it says nothing of
/// it, and under `binlog_row_metadata=MINIMAL` only signs, collations and geometry types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireColumn {
    /// How its values lie.
    pub wire_type: WireType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Whether a number is unsigned.
    pub unsigned: Option<bool>,
    /// The collation's id; 63 is `binary`.
    pub collation: Option<u32>,
    /// The name.
    pub name: Option<String>,
    /// The labels of an ENUM or SET, in the column's charset.
    pub labels: Option<Vec<Box<[u8]>>>,
    /// Whether `SELECT *` shows it.
    pub visible: Option<bool>,
    /// 0: geometry of any kind, 1: point, and so on as in WKB.
    pub geometry_type: Option<u32>,
    /// The number of a vector's dimensions.
    pub dimensions: Option<u32>,
}

/// A table as a TABLE_MAP event describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMap {
    /// The number that stands for the table.
    pub table_id: u64,
    /// The database's name.
    pub database: String,
    /// The table's name.
    pub table: String,
    /// The columns in the order of row images, invisible ones included.
    pub columns: Vec<WireColumn>,
    /// Indices of the primary key's columns with the length of a prefix in characters (0: the whole value), where the
    /// server says it.
    pub primary_key: Option<Vec<(usize, u32)>>,
}

impl TableMap {
    fn parse(raw: &RawTableMap<'_>) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(raw.columns);
        let count = c.lenenc_len()?;
        let types = c.take(count)?;
        let mut metadata = Cursor::new(c.lenenc_bytes()?);
        let nullable = c.take(count.div_ceil(8))?;
        let mut columns = Vec::with_capacity(count);
        for (i, code) in types.iter().enumerate() {
            columns.push(WireColumn {
                wire_type: wire_type(*code, &mut metadata)?,
                nullable: bit(nullable, i),
                unsigned: None,
                collation: None,
                name: None,
                labels: None,
                visible: None,
                geometry_type: None,
                dimensions: None,
            });
        }
        let mut map = Self {
            table_id: raw.table_id,
            database: name(raw.database)?,
            table: name(raw.table)?,
            columns,
            primary_key: None,
        };
        column_metadata::read(c, &mut map)?;
        Ok(map)
    }
}

/// A name: always UTF-8 in the binlog.
pub(crate) fn name(bytes: &[u8]) -> Result<String, BinlogErrorKind> {
    match std::str::from_utf8(bytes) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(BinlogErrorKind::Malformed("a name is not UTF-8")),
    }
}

/// MySQL's numbers of column types.
mod code {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONG_LONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const NEW_DATE: u8 = 14;
    pub(super) const VARCHAR: u8 = 15;
    pub(super) const BIT: u8 = 16;
    pub(super) const TIMESTAMP2: u8 = 17;
    pub(super) const DATETIME2: u8 = 18;
    pub(super) const TIME2: u8 = 19;
    pub(super) const MARIADB_BLOB_COMPRESSED: u8 = 140;
    pub(super) const MARIADB_VARCHAR_COMPRESSED: u8 = 141;
    pub(super) const VECTOR: u8 = 242;
    pub(super) const JSON: u8 = 245;
    pub(super) const NEW_DECIMAL: u8 = 246;
    pub(super) const ENUM: u8 = 247;
    pub(super) const SET: u8 = 248;
    pub(super) const TINY_BLOB: u8 = 249;
    pub(super) const BLOB: u8 = 252;
    pub(super) const VAR_STRING: u8 = 253;
    pub(super) const STRING: u8 = 254;
    pub(super) const GEOMETRY: u8 = 255;
}

fn wire_type(type_code: u8, metadata: &mut Cursor<'_>) -> Result<WireType, BinlogErrorKind> {
    let mut fraction = || match metadata.u8()? {
        n @ 0..=6 => Ok(n),
        _ => Err(BinlogErrorKind::Malformed("a time has more than 6 digits of fraction")),
    };
    Ok(match type_code {
        code::TINY => WireType::Tiny,
        code::SHORT => WireType::Short,
        code::LONG => WireType::Long,
        code::LONG_LONG => WireType::LongLong,
        code::INT24 => WireType::Int24,
        code::FLOAT | code::DOUBLE => match (type_code, metadata.u8()?) {
            (code::FLOAT, 4) => WireType::Float,
            (code::DOUBLE, 8) => WireType::Double,
            _ => return Err(BinlogErrorKind::Malformed("a floating-point column has not 4 or 8 bytes")),
        },
        code::NEW_DECIMAL => {
            let (precision, scale) = (metadata.u8()?, metadata.u8()?);
            if precision == 0 || precision > 65 || scale > precision {
                return Err(BinlogErrorKind::Malformed("a DECIMAL has an impossible precision or scale"));
            }
            WireType::Decimal { precision, scale }
        }
        code::BIT => {
            let (bits, bytes) = (metadata.u8()?, metadata.u8()?);
            match u32::from(bytes) * 8 + u32::from(bits) {
                n @ 1..=64 if bits < 8 => WireType::Bit(n as u8),
                _ => return Err(BinlogErrorKind::Malformed("a BIT column has not 1 to 64 bits")),
            }
        }
        code::YEAR => WireType::Year,
        code::DATE | code::NEW_DATE => WireType::Date,
        code::TIME => WireType::OldTime,
        code::DATETIME => WireType::OldDateTime,
        code::TIMESTAMP => WireType::OldTimestamp,
        code::TIME2 => WireType::Time(fraction()?),
        code::DATETIME2 => WireType::DateTime(fraction()?),
        code::TIMESTAMP2 => WireType::Timestamp(fraction()?),
        code::VARCHAR | code::VAR_STRING => WireType::Varchar(metadata.u16()?),
        code::TINY_BLOB..=code::BLOB => WireType::Blob(length_bytes(metadata)?),
        code::JSON => WireType::Json(length_bytes(metadata)?),
        code::GEOMETRY => WireType::Geometry(length_bytes(metadata)?),
        code::VECTOR => WireType::Vector(length_bytes(metadata)?),
        code::STRING | code::ENUM | code::SET => string_type(metadata.u8()?, metadata.u8()?)?,
        code::MARIADB_BLOB_COMPRESSED | code::MARIADB_VARCHAR_COMPRESSED => {
            return Err(BinlogErrorKind::Unsupported("COMPRESSED columns of MariaDB are not supported"));
        }
        0 => return Err(BinlogErrorKind::Unsupported("DECIMAL columns from before MySQL 5.0 are not supported")),
        _ => return Err(BinlogErrorKind::Unsupported("it has a column of an unknown type")),
    })
}

fn length_bytes(metadata: &mut Cursor<'_>) -> Result<u8, BinlogErrorKind> {
    match metadata.u8()? {
        n @ 1..=4 => Ok(n),
        _ => Err(BinlogErrorKind::Malformed("a length has not 1 to 4 bytes")),
    }
}

/// CHAR, ENUM and SET share a type code. The first byte has the real type, whose bits 4 and 5 are always set; they
/// hold, inverted, bits 8 and 9 of a CHAR's length.
fn string_type(first: u8, second: u8) -> Result<WireType, BinlogErrorKind> {
    let (real, length) = (first | 0x30, u16::from(second) | u16::from(!first & 0x30) << 4);
    Ok(match (real, second) {
        (code::ENUM, 1 | 2) => WireType::Enum(second),
        (code::SET, 1..=4 | 8) => WireType::Set(second),
        (code::STRING | code::VAR_STRING, _) => WireType::Char(length),
        _ => return Err(BinlogErrorKind::Malformed("an ENUM or SET has an impossible size")),
    })
}
