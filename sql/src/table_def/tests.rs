#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;

/// Expected: the servers' `information_schema.columns` for the same definitions.
#[test]
fn defaults() {
    let mysql = ServerVersion::mysql(90_704);
    let mariadb = ServerVersion::mariadb(101_118);
    let time = ColumnType::DateTime(3);
    let read =
        |text, extra, server| DefaultValue::from_information_schema(Some(text), extra, &ColumnType::Date, server);
    let literal = |text: &str| Some(DefaultValue::Literal(text.into()));
    assert_eq!(read("it's", "", mysql), literal("it's"));
    assert_eq!(read("'it''s'", "", mariadb), literal("it's"));
    assert_eq!(read(r"'a\\b'", "", mariadb), literal(r"a\b"));
    assert_eq!(read("''", "", mariadb), literal(""));
    assert_eq!(read("NULL", "", mariadb), None);
    assert_eq!(read("NULL", "", mysql), literal("NULL"));
    assert_eq!(read("-1.50", "", mariadb), literal("-1.50"));
    assert_eq!(read("uuid()", "DEFAULT_GENERATED", mysql), Some(DefaultValue::Expression("uuid()".into())));
    assert_eq!(read("uuid()", "", mariadb), Some(DefaultValue::Expression("uuid()".into())));
    assert_eq!(read("concat('a','b')", "", mariadb), Some(DefaultValue::Expression("concat('a','b')".into())));
    let now = Some(DefaultValue::Expression("CURRENT_TIMESTAMP(3)".into()));
    let extra = "DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)";
    assert_eq!(DefaultValue::from_information_schema(Some("CURRENT_TIMESTAMP(3)"), extra, &time, mysql), now);
    assert_eq!(DefaultValue::from_information_schema(Some("current_timestamp(3)"), "", &time, mariadb), now);
    assert_eq!(DefaultValue::from_information_schema(None, "", &time, mysql), None);
}
