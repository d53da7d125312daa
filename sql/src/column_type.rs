//! MySQL's and MariaDB's column types.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A character set and a collation by their MySQL names, for example `utf8mb4` and `utf8mb4_0900_ai_ci`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CharSet {
    /// The character set's name.
    pub name: Arc<str>,
    /// The collation's name.
    pub collation: Arc<str>,
}

/// The sizes of TEXT and BLOB types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlobSize {
    /// Up to 255 bytes.
    Tiny,
    /// Up to 65,535 bytes.
    Regular,
    /// Up to 16,777,215 bytes.
    Medium,
    /// Up to 4,294,967,295 bytes.
    Long,
}

/// The geometry types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are MySQL's")]
pub enum GeometryKind {
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

/// A column's type as the server defines it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are MySQL's")]
pub enum ColumnType {
    /// `width` is the display width where it is written: `TINYINT(1)` is MySQL's boolean.
    TinyInt {
        unsigned: bool,
        zerofill: bool,
        width: Option<u32>,
    },
    SmallInt {
        unsigned: bool,
        zerofill: bool,
        width: Option<u32>,
    },
    MediumInt {
        unsigned: bool,
        zerofill: bool,
        width: Option<u32>,
    },
    Int {
        unsigned: bool,
        zerofill: bool,
        width: Option<u32>,
    },
    BigInt {
        unsigned: bool,
        zerofill: bool,
        width: Option<u32>,
    },
    /// `size` is (M, D) where it is written.
    Float {
        unsigned: bool,
        zerofill: bool,
        size: Option<(u32, u32)>,
    },
    /// `size` is (M, D) where it is written.
    Double {
        unsigned: bool,
        zerofill: bool,
        size: Option<(u32, u32)>,
    },
    /// Up to DECIMAL(65,30) in MySQL, DECIMAL(65,38) in MariaDB.
    Decimal {
        precision: u8,
        scale: u8,
        unsigned: bool,
        zerofill: bool,
    },
    /// 1 to 64 bits.
    Bit(u8),
    Year,
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    /// `length` is in characters.
    Char {
        length: u32,
        charset: CharSet,
    },
    /// `length` is in characters.
    Varchar {
        length: u32,
        charset: CharSet,
    },
    Text {
        size: BlobSize,
        charset: CharSet,
    },
    /// `length` is in bytes.
    Binary(u32),
    /// `length` is in bytes.
    Varbinary(u32),
    Blob(BlobSize),
    Enum {
        labels: Arc<[Arc<str>]>,
        charset: CharSet,
    },
    Set {
        labels: Arc<[Arc<str>]>,
        charset: CharSet,
    },
    Json,
    Geometry(GeometryKind),
    /// MySQL 9's VECTOR with its number of dimensions.
    Vector(u32),
    /// MariaDB.
    Uuid,
    /// MariaDB.
    Inet4,
    /// MariaDB.
    Inet6,
}

/// The text is not a column type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a column type that rowferry knows: {reason}")]
pub struct ParseTypeError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for CharSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} COLLATE {}", self.name, self.collation)
    }
}
