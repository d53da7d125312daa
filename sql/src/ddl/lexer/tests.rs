#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::ServerVersion;
use proptest::prelude::*;

fn words(text: &str, context: &DdlContext) -> Vec<String> {
    let tokens = tokenize(text, context).unwrap();
    tokens
        .iter()
        .map(|t| match &t.kind {
            TokenKind::Quoted(name) => format!("`{name}`"),
            TokenKind::Text(value) => format!("'{value}'"),
            TokenKind::Hex(bytes) => format!("hex {bytes:?}"),
            TokenKind::Bits(digits) => format!("bits {digits}"),
            _ => text[t.start..t.end].to_owned(),
        })
        .collect()
}

fn mysql(text: &str) -> Vec<String> {
    words(text, &DdlContext::new(ServerVersion::mysql(80_036), "d"))
}

fn mariadb(text: &str) -> Vec<String> {
    words(text, &DdlContext::new(ServerVersion::mariadb(101_118), "d"))
}

#[test]
fn comments_are_skipped() {
    assert_eq!(mysql("/* gh-ost */ a -- b\n # c\n d--e"), ["a", "d", "-", "-", "e"]);
    assert_eq!(mysql("a --"), ["a"]);
    assert_eq!(mysql("a/**/b"), ["a", "b"]);
}

#[test]
fn version_comments_depend_on_the_server() {
    assert_eq!(mysql("a /*!80016 b */ c"), ["a", "b", "c"]);
    assert_eq!(mysql("a /*!80037 b */ c"), ["a", "c"]);
    assert_eq!(mysql("a /*!99999 b /* c */ d */ e"), ["a", "e"]);
    assert_eq!(mysql("/*!40101 a*//*! b */"), ["a", "b"]);
    assert_eq!(mysql("a /*M!100301 b*/ c"), ["a", "c"]);
    assert_eq!(mariadb("a /*M!100301 b*/ c"), ["a", "b", "c"]);
    assert_eq!(mariadb("a /*!50100 b*/ c"), ["a", "b", "c"]);
    // MariaDB leaves out what MySQL 5.7 and later added.
    assert_eq!(mariadb("a /*!80016 b*/ c"), ["a", "c"]);
    assert_eq!(mariadb("a /*!100301 b*/ c"), ["a", "b", "c"]);
}

#[test]
fn quotes_depend_on_the_mode() {
    let mut context = DdlContext::new(ServerVersion::mysql(80_036), "d");
    assert_eq!(words(r#"`a``b` "c""d" 'e\'f' 'g''h'"#, &context), ["`a`b`", "'c\"d'", "'e'f'", "'g'h'"]);
    assert_eq!(words(r"'\n\t\0\\\%\x'", &context), ["'\n\t\0\\\\%x'"]);
    context.sql_mode = SqlMode(SqlMode::ANSI_QUOTES | SqlMode::NO_BACKSLASH_ESCAPES);
    assert_eq!(words(r#""c""d" 'e\' f"#, &context), ["`c\"d`", r"'e\'", "f"]);
}

#[test]
fn numbers_and_names() {
    assert_eq!(
        mysql("1 1.5 .5 1e3 1e-3 1a t.1 t.5c 0x4 0xg 0b1 x'41' B'01' N'x'"),
        [
            "1", "1.5", ".5", "1e3", "1e-3", "1a", "t", ".", "1", "t", ".", "5c", "hex [4]", "0xg", "bits 1",
            "hex [65]", "bits 01", "'x'"
        ]
    );
    assert_eq!(mysql("表.é$_"), ["表", ".", "é$_"]);
}

#[test]
fn what_does_not_end_is_an_error() {
    let context = DdlContext::new(ServerVersion::mysql(80_036), "d");
    for text in ["'a", "\"a", "`a", "/* a", "/*!99999 a", "x'4", "x'4'", r"'a\'"] {
        assert!(tokenize(text, &context).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in any::<String>(), mode in any::<u64>()) {
        let context = DdlContext { sql_mode: SqlMode(mode), ..DdlContext::new(ServerVersion::mysql(90_704), "d") };
        if let Ok(tokens) = tokenize(&text, &context) {
            for token in tokens {
                prop_assert!(token.start < token.end && text.get(token.start..token.end).is_some());
            }
        }
    }

    #[test]
    fn sql_like_text_is_survived(text in "([a-z0-9`'\"\\\\/*!#.,;() \n\u{0}é-]|/\\*!|\\*/|0x|x'|-- ){0,40}") {
        for server in [ServerVersion::mysql(90_704), ServerVersion::mariadb(101_118)] {
            let _ = tokenize(&text, &DdlContext::new(server, "d"));
        }
    }
}
