//! Column types as text: what `information_schema.COLUMNS.COLUMN_TYPE` shows.

use crate::{BlobSize, CharSet, ColumnType, GeometryKind, ParseTypeError};
use std::fmt;
use std::sync::Arc;

/// A type's text in parts: `decimal(10,2) unsigned` is the name, two numbers and one attribute.
struct Parts {
    name: String,
    numbers: Vec<u32>,
    labels: Vec<Arc<str>>,
    unsigned: bool,
    zerofill: bool,
}

/// Takes a quoted label off the front of `text`. Servers double the quote and put a backslash before the backslash,
/// NUL, line feed and carriage return; all else stands for itself.
fn label(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('\'')?.char_indices();
    let rest = &text[1..];
    let mut out = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if rest[at + 1..].starts_with('\'') => {
                chars.next();
                out.push('\'');
            }
            '\'' => return Some((out, &rest[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                '0' => out.push('\0'),
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
    None
}

impl Parts {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let mut parts = Self {
            name: text[..end].to_ascii_lowercase(),
            numbers: vec![],
            labels: vec![],
            unsigned: false,
            zerofill: false,
        };
        let mut rest = text[end..].trim_start();
        if let Some(mut inner) = rest.strip_prefix('(') {
            loop {
                inner = inner.trim_start();
                if inner.starts_with('\'') {
                    let (label, behind) = label(inner).ok_or("a label does not end")?;
                    parts.labels.push(label.into());
                    inner = behind.trim_start();
                } else {
                    let end = inner.find(|c: char| !c.is_ascii_digit()).ok_or("the parenthesis does not end")?;
                    parts.numbers.push(inner[..end].parse().map_err(|_| "a number is expected in parentheses")?);
                    inner = inner[end..].trim_start();
                }
                if let Some(behind) = inner.strip_prefix(',') {
                    inner = behind;
                } else if let Some(behind) = inner.strip_prefix(')') {
                    rest = behind.trim_start();
                    break;
                } else {
                    return Err("the parenthesis does not end");
                }
            }
        }
        while !rest.is_empty() {
            // `datetime /* mariadb-5.3 */`, `varchar(9)/*M!100301 COMPRESSED*/`: how it is stored, not what it is.
            if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or("a comment does not end")?;
                rest = comment[end + 2..].trim_start();
                continue;
            }
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            match rest[..end].to_ascii_lowercase().as_str() {
                "unsigned" => parts.unsigned = true,
                "signed" => {}
                "zerofill" => {
                    parts.zerofill = true;
                    parts.unsigned = true;
                }
                _ => return Err("an attribute is not known"),
            }
            rest = rest[end..].trim_start();
        }
        Ok(parts)
    }

    fn length(&self) -> Result<u32, &'static str> {
        self.numbers.first().copied().ok_or("a length is missing")
    }

    /// Digits of a fraction; none written: none.
    fn precision(&self) -> Result<u8, &'static str> {
        match self.numbers.first() {
            None => Ok(0),
            Some(p @ 0..=6) => Ok(*p as u8),
            Some(_) => Err("there are at most six digits of a fraction"),
        }
    }

    fn size(&self) -> Option<(u32, u32)> {
        match self.numbers[..] {
            [m, d] => Some((m, d)),
            _ => None,
        }
    }

    fn labels(&mut self) -> Result<Arc<[Arc<str>]>, &'static str> {
        if self.labels.is_empty() { Err("labels are missing") } else { Ok(std::mem::take(&mut self.labels).into()) }
    }
}

/// The geometry type of a name; `geomcollection` is how MySQL 8 spells `geometrycollection`.
pub(crate) fn geometry(name: &str) -> Option<GeometryKind> {
    Some(match name {
        "geometry" => GeometryKind::Geometry,
        "point" => GeometryKind::Point,
        "linestring" => GeometryKind::LineString,
        "polygon" => GeometryKind::Polygon,
        "multipoint" => GeometryKind::MultiPoint,
        "multilinestring" => GeometryKind::MultiLineString,
        "multipolygon" => GeometryKind::MultiPolygon,
        "geometrycollection" | "geomcollection" => GeometryKind::GeometryCollection,
        _ => return None,
    })
}

impl ColumnType {
    /// Reads a type as `information_schema.COLUMNS.COLUMN_TYPE` shows it, of MySQL 5.6 to 9.7 and MariaDB. `charset` is
    /// the column's CHARACTER_SET_NAME and COLLATION_NAME: character types need it, the others ignore it.
    ///
    /// # Errors
    /// The type is not known, or is a character type and no charset is given.
    pub fn parse(column_type: &str, charset: Option<&CharSet>) -> Result<Self, ParseTypeError> {
        parse(column_type, charset).map_err(|reason| ParseTypeError { text: column_type.to_owned(), reason })
    }
}

fn parse(text: &str, charset: Option<&CharSet>) -> Result<ColumnType, &'static str> {
    let mut parts = Parts::parse(text)?;
    let Parts { unsigned, zerofill, .. } = parts;
    let width = parts.numbers.first().copied();
    let charset = || charset.cloned().ok_or("a character type needs a charset");
    let name = std::mem::take(&mut parts.name);
    Ok(match name.as_str() {
        "tinyint" => ColumnType::TinyInt { unsigned, zerofill, width },
        "smallint" => ColumnType::SmallInt { unsigned, zerofill, width },
        "mediumint" => ColumnType::MediumInt { unsigned, zerofill, width },
        "int" | "integer" => ColumnType::Int { unsigned, zerofill, width },
        "bigint" => ColumnType::BigInt { unsigned, zerofill, width },
        "float" => ColumnType::Float { unsigned, zerofill, size: parts.size() },
        "double" => ColumnType::Double { unsigned, zerofill, size: parts.size() },
        "decimal" => {
            let (precision, scale) = match parts.numbers[..] {
                [] => (10, 0),
                [p] => (p, 0),
                [p, s, ..] => (p, s),
            };
            if precision > 65 || scale > precision {
                return Err("a DECIMAL has at most 65 digits, and not more behind the point than in all");
            }
            ColumnType::Decimal { precision: precision as u8, scale: scale as u8, unsigned, zerofill }
        }
        "bit" => match width {
            None => ColumnType::Bit(1),
            Some(n @ 1..=64) => ColumnType::Bit(n as u8),
            Some(_) => return Err("a BIT has 1 to 64 bits"),
        },
        "year" => ColumnType::Year,
        "date" => ColumnType::Date,
        "time" => ColumnType::Time(parts.precision()?),
        "datetime" => ColumnType::DateTime(parts.precision()?),
        "timestamp" => ColumnType::Timestamp(parts.precision()?),
        "char" => ColumnType::Char { length: width.unwrap_or(1), charset: charset()? },
        "varchar" => ColumnType::Varchar { length: parts.length()?, charset: charset()? },
        "tinytext" => ColumnType::Text { size: BlobSize::Tiny, charset: charset()? },
        "text" => ColumnType::Text { size: BlobSize::Regular, charset: charset()? },
        "mediumtext" => ColumnType::Text { size: BlobSize::Medium, charset: charset()? },
        "longtext" => ColumnType::Text { size: BlobSize::Long, charset: charset()? },
        "binary" => ColumnType::Binary(width.unwrap_or(1)),
        "varbinary" => ColumnType::Varbinary(parts.length()?),
        "tinyblob" => ColumnType::Blob(BlobSize::Tiny),
        "blob" => ColumnType::Blob(BlobSize::Regular),
        "mediumblob" => ColumnType::Blob(BlobSize::Medium),
        "longblob" => ColumnType::Blob(BlobSize::Long),
        "enum" => ColumnType::Enum { labels: parts.labels()?, charset: charset()? },
        "set" => ColumnType::Set { labels: parts.labels()?, charset: charset()? },
        "json" => ColumnType::Json,
        "vector" => ColumnType::Vector(width.unwrap_or(2048)),
        "uuid" => ColumnType::Uuid,
        "inet4" => ColumnType::Inet4,
        "inet6" => ColumnType::Inet6,
        other => ColumnType::Geometry(geometry(other).ok_or("the name is not known")?),
    })
}

impl BlobSize {
    /// The prefix of TEXT or BLOB in the type's name.
    fn prefix(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Regular => "",
            Self::Medium => "medium",
            Self::Long => "long",
        }
    }

    /// The most bytes that a value has.
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Tiny => 0xFF,
            Self::Regular => 0xFFFF,
            Self::Medium => 0xFF_FFFF,
            Self::Long => 0xFFFF_FFFF,
        }
    }
}

fn write_labels(f: &mut fmt::Formatter<'_>, name: &str, labels: &[Arc<str>]) -> fmt::Result {
    use fmt::Write;
    write!(f, "{name}(")?;
    for (i, label) in labels.iter().enumerate() {
        f.write_str(if i == 0 { "'" } else { ",'" })?;
        for c in label.chars() {
            match c {
                '\'' => f.write_str("''")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\0' => f.write_str("\\0")?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('\'')?;
    }
    f.write_char(')')
}

impl fmt::Display for ColumnType {
    /// As `information_schema` shows it, with MySQL 8's spelling where versions differ (`year`, `geomcollection`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let integer = |f: &mut fmt::Formatter<'_>, name: &str, width: &Option<u32>| match width {
            Some(width) => write!(f, "{name}({width})"),
            None => f.write_str(name),
        };
        let real = |f: &mut fmt::Formatter<'_>, name: &str, size: &Option<(u32, u32)>| match size {
            Some((m, d)) => write!(f, "{name}({m},{d})"),
            None => f.write_str(name),
        };
        let fraction = |f: &mut fmt::Formatter<'_>, name: &str, p: u8| match p {
            0 => f.write_str(name),
            p => write!(f, "{name}({p})"),
        };
        match self {
            Self::TinyInt { width, .. } => integer(f, "tinyint", width)?,
            Self::SmallInt { width, .. } => integer(f, "smallint", width)?,
            Self::MediumInt { width, .. } => integer(f, "mediumint", width)?,
            Self::Int { width, .. } => integer(f, "int", width)?,
            Self::BigInt { width, .. } => integer(f, "bigint", width)?,
            Self::Float { size, .. } => real(f, "float", size)?,
            Self::Double { size, .. } => real(f, "double", size)?,
            Self::Decimal { precision, scale, .. } => write!(f, "decimal({precision},{scale})")?,
            Self::Bit(n) => write!(f, "bit({n})")?,
            Self::Year => f.write_str("year")?,
            Self::Date => f.write_str("date")?,
            Self::Time(p) => fraction(f, "time", *p)?,
            Self::DateTime(p) => fraction(f, "datetime", *p)?,
            Self::Timestamp(p) => fraction(f, "timestamp", *p)?,
            Self::Char { length, .. } => write!(f, "char({length})")?,
            Self::Varchar { length, .. } => write!(f, "varchar({length})")?,
            Self::Text { size, .. } => write!(f, "{}text", size.prefix())?,
            Self::Binary(n) => write!(f, "binary({n})")?,
            Self::Varbinary(n) => write!(f, "varbinary({n})")?,
            Self::Blob(size) => write!(f, "{}blob", size.prefix())?,
            Self::Enum { labels, .. } => write_labels(f, "enum", labels)?,
            Self::Set { labels, .. } => write_labels(f, "set", labels)?,
            Self::Json => f.write_str("json")?,
            Self::Geometry(kind) => f.write_str(match kind {
                GeometryKind::Geometry => "geometry",
                GeometryKind::Point => "point",
                GeometryKind::LineString => "linestring",
                GeometryKind::Polygon => "polygon",
                GeometryKind::MultiPoint => "multipoint",
                GeometryKind::MultiLineString => "multilinestring",
                GeometryKind::MultiPolygon => "multipolygon",
                GeometryKind::GeometryCollection => "geomcollection",
            })?,
            Self::Vector(n) => write!(f, "vector({n})")?,
            Self::Uuid => f.write_str("uuid")?,
            Self::Inet4 => f.write_str("inet4")?,
            Self::Inet6 => f.write_str("inet6")?,
        }
        let (unsigned, zerofill) = self.sign();
        if unsigned {
            f.write_str(" unsigned")?;
        }
        if zerofill {
            f.write_str(" zerofill")?;
        }
        Ok(())
    }
}

impl ColumnType {
    /// UNSIGNED and ZEROFILL; false for types that have no such attributes.
    pub(crate) fn sign(&self) -> (bool, bool) {
        match self {
            Self::TinyInt { unsigned, zerofill, .. }
            | Self::SmallInt { unsigned, zerofill, .. }
            | Self::MediumInt { unsigned, zerofill, .. }
            | Self::Int { unsigned, zerofill, .. }
            | Self::BigInt { unsigned, zerofill, .. }
            | Self::Float { unsigned, zerofill, .. }
            | Self::Double { unsigned, zerofill, .. }
            | Self::Decimal { unsigned, zerofill, .. } => (*unsigned, *zerofill),
            _ => (false, false),
        }
    }

    /// The character set of a character type.
    pub fn charset(&self) -> Option<&CharSet> {
        match self {
            Self::Char { charset, .. }
            | Self::Varchar { charset, .. }
            | Self::Text { charset, .. }
            | Self::Enum { charset, .. }
            | Self::Set { charset, .. } => Some(charset),
            _ => None,
        }
    }

    /// The most bytes that a value of a character type takes in its character set; `None` for other types, and where
    /// the character set is not known.
    pub fn max_bytes(&self) -> Option<u64> {
        let bytes = |chars: u64, charset: &CharSet| Some(chars * u64::from(charset.max_bytes()?));
        match self {
            Self::Char { length, charset } | Self::Varchar { length, charset } => bytes(u64::from(*length), charset),
            Self::Text { size, .. } => Some(size.max_bytes()),
            Self::Enum { labels, charset } => {
                bytes(labels.iter().map(|l| l.chars().count() as u64).max().unwrap_or(0), charset)
            }
            Self::Set { labels, charset } => {
                let chars: usize = labels.iter().map(|l| l.chars().count() + 1).sum();
                bytes(chars.saturating_sub(1) as u64, charset)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
