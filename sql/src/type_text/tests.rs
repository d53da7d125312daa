#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;

fn charset() -> CharSet {
    CharSet { name: "utf8mb4".into(), collation: "utf8mb4_bin".into() }
}

/// Texts as MySQL 9.7, MySQL 5.6 and MariaDB 10.11 showed them.
#[test]
fn text_survives() {
    for text in [
        "tinyint(1)",
        "tinyint unsigned",
        "bigint(20) unsigned zerofill",
        "int(10) unsigned zerofill",
        "float unsigned zerofill",
        "float(7,3)",
        "double(10,5) unsigned",
        "decimal(65,30) unsigned",
        "bit(64)",
        "year",
        "time(3)",
        "datetime(6)",
        "timestamp",
        "char(0)",
        "varchar(21844)",
        "mediumtext",
        "binary(16)",
        "varbinary(10)",
        "longblob",
        r"enum('a\\b','c\nd','x\0y','q''r','r\rs',',)','')",
        "enum('t\tz','\u{1a}')",
        "set('x','y')",
        "json",
        "geometry",
        "geomcollection",
        "vector(3)",
        "uuid",
        "inet6",
    ] {
        assert_eq!(ColumnType::parse(text, Some(&charset())).unwrap().to_string(), text);
    }
}

#[test]
fn other_spellings() {
    for (text, same) in [
        ("year(4)", "year"),
        ("geometrycollection", "geomcollection"),
        ("datetime(3) /* mariadb-5.3 */", "datetime(3)"),
        ("varchar(20)/*M!100301 COMPRESSED*/", "varchar(20)"),
    ] {
        assert_eq!(ColumnType::parse(text, Some(&charset())).unwrap().to_string(), same);
    }
}

#[test]
fn labels_lose_their_quotes() {
    let ColumnType::Enum { labels, .. } = ColumnType::parse(r"enum('a','b''c','d\\e')", Some(&charset())).unwrap()
    else {
        panic!("not an enum")
    };
    assert_eq!(labels.iter().map(|l| &**l).collect::<Vec<_>>(), ["a", "b'c", r"d\e"]);
}

#[test]
fn refusals() {
    for text in ["", "enum", "enum('a", "varchar", "bit(65)", "money", "int(x)", "int(3", "int cold", "decimal(66,0)"] {
        let error = ColumnType::parse(text, Some(&charset())).unwrap_err();
        assert_eq!(error.text, text);
    }
    assert!(ColumnType::parse("char(3)", None).is_err());
}

#[test]
fn bytes_follow_the_charset() {
    let latin1 = CharSet { name: "latin1".into(), collation: "latin1_swedish_ci".into() };
    let bytes = |text: &str, charset: &CharSet| ColumnType::parse(text, Some(charset)).unwrap().max_bytes();
    assert_eq!(bytes("varchar(10)", &latin1), Some(10));
    assert_eq!(bytes("varchar(10)", &charset()), Some(40));
    assert_eq!(bytes("text", &charset()), Some(65_535));
    assert_eq!(bytes("set('a','bc')", &latin1), Some(4));
    assert_eq!(bytes("int", &latin1), None);
}
