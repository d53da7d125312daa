#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::{CharSet, Key};

fn charset() -> CharSet {
    CharSet { name: "utf8mb4".into(), collation: "utf8mb4_bin".into() }
}

fn mapped(text: &str) -> String {
    let column_type = ColumnType::parse(text, Some(&charset())).unwrap();
    column_type.data_type(&MappingOptions::default()).map_or("-".to_owned(), |t| t.to_string())
}

/// Expected: what Flink CDC printed for these columns, or its documentation where it failed.
#[test]
fn types() {
    for (mysql, stream) in [
        ("tinyint", "TINYINT"),
        ("tinyint unsigned", "SMALLINT"),
        ("tinyint(1) unsigned", "SMALLINT"),
        ("tinyint(1)", "BOOLEAN"),
        ("smallint unsigned", "INT"),
        ("mediumint unsigned", "INT"),
        ("int unsigned", "BIGINT"),
        ("int(10) unsigned zerofill", "BIGINT"),
        ("bigint", "BIGINT"),
        ("bigint unsigned", "DECIMAL(20, 0)"),
        ("float unsigned", "FLOAT"),
        ("float(7,3)", "DOUBLE"),
        ("double(10,5)", "DOUBLE"),
        ("decimal(38,10)", "DECIMAL(38, 10)"),
        ("decimal(65,30)", "STRING"),
        ("bit(1)", "BOOLEAN"),
        ("bit(8)", "BINARY(1)"),
        ("bit(9)", "BINARY(2)"),
        ("bit(64)", "BINARY(8)"),
        ("year", "INT"),
        ("time(6)", "TIME(6)"),
        ("datetime", "TIMESTAMP(0)"),
        ("timestamp(3)", "TIMESTAMP_LTZ(3)"),
        ("char(10)", "CHAR(10)"),
        ("varchar(255)", "VARCHAR(255)"),
        ("varchar(0)", "STRING"),
        ("tinytext", "STRING"),
        ("binary(4)", "BINARY(4)"),
        ("varbinary(16)", "VARBINARY(16)"),
        ("longblob", "BYTES"),
        ("enum('a')", "STRING"),
        ("set('a')", "STRING"),
        ("json", "STRING"),
        ("point", "STRING"),
        ("vector(3)", "-"),
    ] {
        assert_eq!(mapped(mysql), stream, "{mysql}");
    }
    // MariaDB's own, of which Flink CDC says nothing: their text.
    assert_eq!(["uuid", "inet4", "inet6"].map(mapped), ["STRING"; 3]);
    let plain = MappingOptions { tinyint1_as_boolean: false, ..Default::default() };
    assert_eq!(ColumnType::parse("tinyint(1)", None).unwrap().data_type(&plain), Some(DataType::TinyInt));
}

fn column(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef {
        name: name.into(),
        column_type: ColumnType::Date,
        nullable,
        default: None,
        on_update: false,
        auto_increment: false,
        comment: String::new(),
        generated: None,
        invisible: false,
    }
}

#[test]
fn a_unique_key_serves_when_it_identifies_rows() {
    let key = |name: &str, unique, column: &str, prefix| Key {
        name: name.into(),
        unique,
        parts: vec![(Some(column.into()), prefix)],
    };
    let mut table = TableDef {
        columns: vec![column("a", true), column("b", false), column("c", false)],
        primary_key: vec![],
        keys: vec![key("k1", false, "c", None), key("k2", true, "a", None), key("k3", true, "c", Some(3))],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    };
    assert_eq!(table.row_key(), Vec::<String>::new());
    table.keys.push(key("k4", true, "B", None));
    assert_eq!(table.row_key(), ["b"]);
    table.primary_key = vec!["c".into()];
    assert_eq!(table.row_key(), ["c"]);
}
