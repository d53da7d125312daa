#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::ServerVersion;
use crate::ddl::fuzz_ddl;
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

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>()) {
        fuzz_ddl(&bytes);
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
        flags in 0u8..16,
    ) {
        let mut bytes = vec![flags];
        bytes.extend(format!("{head}{}", words.join(" ")).bytes());
        fuzz_ddl(&bytes);
    }
}
