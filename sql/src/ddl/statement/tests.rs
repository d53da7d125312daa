#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::{Catalog, ServerVersion};
use proptest::prelude::*;

fn outcome(text: &str) -> DdlOutcome {
    parse_ddl(text, &DdlContext::new(ServerVersion::mysql(90_704), "d"))
}

#[test]
fn three_outcomes() {
    assert!(matches!(outcome("ALTER TABLE t ADD c INT"), DdlOutcome::Changes(_)));
    assert!(matches!(outcome("CREATE VIEW v AS SELECT 1"), DdlOutcome::Ignored(_)));
    for text in [
        "CREATE TABLE t AS SELECT 1",
        "CREATE TABLE t (a INT) SELECT 1 AS b",
        "CREATE TABLE t (SELECT 1 AS b)",
        "ALTER TABLE t ADD c FROBNITZ",
        "ALTER TABLE t ADD c INT WITHOUT END",
        "ALTER TABLE t ADD c INT; DROP TABLE u",
    ] {
        let DdlOutcome::Unknown { touched, .. } = outcome(text) else { panic!("{text}: {:?}", outcome(text)) };
        assert_eq!(touched, Touched::Tables(vec![rowferry_model::TableId::new("d", "t")]), "{text}");
    }
}

#[test]
fn texts_are_decoded() {
    assert_eq!(decode_statement(b"ALTER TABLE \xe9", "latin1"), "ALTER TABLE \u{e9}");
    assert_eq!(decode_statement("DROP TABLE 表".as_bytes(), "utf8mb4"), "DROP TABLE 表");
    assert_eq!(decode_statement(b"\xb1\xed", "gbk"), "表");
}

/// What a fuzzer calls: any bytes, in any session, never panic.
fn fuzz_ddl(bytes: &[u8], mode: u64, mariadb: bool) {
    let server = if mariadb { ServerVersion::mariadb(101_118) } else { ServerVersion::mysql(90_704) };
    let context = DdlContext { sql_mode: crate::ddl::SqlMode(mode), ..DdlContext::new(server, "d") };
    let mut catalog = Catalog::default();
    catalog.insert_database("d", context.server_charset.clone());
    for text in ["CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9))", &decode_statement(bytes, "utf8mb4")] {
        if let DdlOutcome::Changes(statement) = parse_ddl(text, &context) {
            for effect in catalog.apply(&statement, &context).unwrap_or_default() {
                let _ = effect.schema_changes(&crate::MappingOptions::default());
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>(), mode in any::<u64>(), mariadb in any::<bool>()) {
        fuzz_ddl(&bytes, mode, mariadb);
    }

    /// Texts that get deep into the grammar.
    #[test]
    fn shuffled_ddl_is_survived(
        head in "(ALTER TABLE t|CREATE TABLE u|CREATE TABLE IF NOT EXISTS `t`|RENAME TABLE t TO|CREATE DATABASE|DROP) ",
        words in prop::collection::vec(
            "ADD|COLUMN|MODIFY|CHANGE|DROP|a|`b`|t|INT|VARCHAR|DECIMAL|ENUM|TEXT|TIMESTAMP|DEFAULT|NOT|NULL|KEY|PRIMARY|\
             UNIQUE|INDEX|FIRST|AFTER|RENAME|TO|CONVERT|CHARACTER|SET|latin1|AS|GENERATED|ALWAYS|COMMENT|CHECK|NOW|\
             REFERENCES|PARTITION|BY|'x'|'2020-13-41 99'|0x41|b'1'|-|[0-9]{1,20}|[0-9]\\.[0-9]e[0-9]{1,5}|\\(|\\)|,|=|\\.|;",
            0..25,
        ),
        mode in any::<u64>(),
        mariadb in any::<bool>(),
    ) {
        fuzz_ddl(format!("{head}{}", words.join(" ")).as_bytes(), mode, mariadb);
    }
}
