//! A table definition made up from a TABLE_MAP event alone, for files whose tables are not known.

use rowferry::mysql::binlog::{TableMap, WireType, charset_of_collation};
use rowferry_sql::{BlobSize, CharSet, ColumnDef, ColumnType, GeometryKind, TableDef};
use std::sync::Arc;

/// The charset of a collation; UTF-8 where the server says nothing of it.
fn charset(collation: Option<u32>) -> CharSet {
    let name = collation.and_then(charset_of_collation).unwrap_or("utf8mb4");
    CharSet { name: name.into(), collation: name.into() }
}

/// Labels `1`, `2`, … : what a value says is its number.
fn labels(n: usize) -> Arc<[Arc<str>]> {
    (1..=n).map(|i| i.to_string().into()).collect()
}

/// The definition.
pub(super) fn table_of_map(map: &TableMap) -> TableDef {
    let columns = map.columns.iter().enumerate().map(|(i, column)| {
        let unsigned = column.unsigned.unwrap_or(false);
        let (zerofill, width) = (false, None);
        let binary = column.collation == Some(63);
        let column_type = match column.wire_type {
            WireType::Tiny => ColumnType::TinyInt { unsigned, zerofill, width },
            WireType::Short => ColumnType::SmallInt { unsigned, zerofill, width },
            WireType::Int24 => ColumnType::MediumInt { unsigned, zerofill, width },
            WireType::Long => ColumnType::Int { unsigned, zerofill, width },
            WireType::LongLong => ColumnType::BigInt { unsigned, zerofill, width },
            WireType::Float => ColumnType::Float { unsigned, zerofill, size: None },
            WireType::Double => ColumnType::Double { unsigned, zerofill, size: None },
            WireType::Decimal { precision, scale } => ColumnType::Decimal { precision, scale, unsigned, zerofill },
            WireType::Bit(n) => ColumnType::Bit(n),
            WireType::Year => ColumnType::Year,
            WireType::Date => ColumnType::Date,
            WireType::OldTime => ColumnType::Time(0),
            WireType::OldDateTime => ColumnType::DateTime(0),
            WireType::OldTimestamp => ColumnType::Timestamp(0),
            WireType::Time(p) => ColumnType::Time(p),
            WireType::DateTime(p) => ColumnType::DateTime(p),
            WireType::Timestamp(p) => ColumnType::Timestamp(p),
            WireType::Varchar(n) if binary => ColumnType::Varbinary(n.into()),
            WireType::Char(n) if binary => ColumnType::Binary(n.into()),
            WireType::Blob(_) if binary => ColumnType::Blob(BlobSize::Long),
            WireType::Varchar(n) => ColumnType::Varchar { length: n.into(), charset: charset(column.collation) },
            WireType::Char(n) => ColumnType::Char { length: n.into(), charset: charset(column.collation) },
            WireType::Blob(_) => ColumnType::Text { size: BlobSize::Long, charset: charset(column.collation) },
            WireType::Json(_) => ColumnType::Json,
            WireType::Geometry(_) => ColumnType::Geometry(GeometryKind::Geometry),
            WireType::Vector(_) => ColumnType::Vector(column.dimensions.unwrap_or(2048)),
            WireType::Enum(n) => {
                ColumnType::Enum { labels: labels(if n == 1 { 255 } else { 1000 }), charset: charset(column.collation) }
            }
            WireType::Set(n) => {
                ColumnType::Set { labels: labels(usize::from(n) * 8), charset: charset(column.collation) }
            }
        };
        ColumnDef {
            name: column.name.clone().unwrap_or_else(|| format!("c{i}")),
            column_type,
            nullable: column.nullable,
            default: None,
            on_update: false,
            auto_increment: false,
            comment: String::new(),
            generated: None,
            invisible: column.visible == Some(false),
        }
    });
    TableDef {
        columns: columns.collect(),
        primary_key: vec![],
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    }
}
