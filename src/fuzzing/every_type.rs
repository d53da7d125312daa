//! A table that no parser of values gets around.

use crate::mysql::binlog::{TableMap, WireColumn, WireType};
use rowferry_model::TableSchema;
use rowferry_sql::{CharSet, ColumnDef, ColumnType, MappingOptions, TableDef};
use std::sync::Arc;

/// A table with a column of every type, as the binlog and as the server describe it.
pub(super) fn every_type() -> Option<(TableMap, TableDef, Arc<TableSchema>)> {
    let types = [
        ("tinyint", WireType::Tiny),
        ("tinyint(1)", WireType::Tiny),
        ("smallint unsigned", WireType::Short),
        ("mediumint", WireType::Int24),
        ("int", WireType::Long),
        ("bigint unsigned", WireType::LongLong),
        ("float", WireType::Float),
        ("double(10,3)", WireType::Double),
        ("decimal(20,5)", WireType::Decimal { precision: 20, scale: 5 }),
        ("decimal(65,30)", WireType::Decimal { precision: 65, scale: 30 }),
        ("bit(11)", WireType::Bit(11)),
        ("year", WireType::Year),
        ("date", WireType::Date),
        ("time", WireType::OldTime),
        ("datetime", WireType::OldDateTime),
        ("timestamp", WireType::OldTimestamp),
        ("time(6)", WireType::Time(6)),
        ("datetime(3)", WireType::DateTime(3)),
        ("timestamp(1)", WireType::Timestamp(1)),
        ("varchar(10)", WireType::Varchar(40)),
        ("char(100)", WireType::Char(400)),
        ("longtext", WireType::Blob(4)),
        ("binary(5)", WireType::Char(5)),
        ("blob", WireType::Blob(2)),
        ("enum('a','b')", WireType::Enum(1)),
        ("set('a','b')", WireType::Set(1)),
        ("json", WireType::Json(4)),
        ("geometry", WireType::Geometry(4)),
    ];
    let charsets = ["utf8mb4", "gb18030", "ujis", "latin1", "utf16le"];
    let mut map =
        TableMap { table_id: 1, database: "d".into(), table: "t".into(), columns: Vec::new(), primary_key: None };
    let mut columns = Vec::new();
    for (i, (text, wire_type)) in types.into_iter().enumerate() {
        let name = charsets.get(i % charsets.len())?;
        let charset = CharSet { name: (*name).into(), collation: (*name).into() };
        columns.push(ColumnDef {
            name: format!("c{i}"),
            column_type: ColumnType::parse(text, Some(&charset)).ok()?,
            nullable: i % 2 == 0,
            default: None,
            on_update: false,
            auto_increment: false,
            comment: String::new(),
            generated: None,
            invisible: false,
        });
        map.columns.push(WireColumn {
            wire_type,
            nullable: true,
            unsigned: None,
            collation: None,
            name: None,
            labels: None,
            visible: None,
            geometry_type: None,
            dimensions: None,
        });
    }
    let table = TableDef {
        columns,
        primary_key: vec!["c4".into()],
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    };
    let schema = Arc::new(table.to_schema(&MappingOptions::default()).ok()?);
    Some((map, table, schema))
}
