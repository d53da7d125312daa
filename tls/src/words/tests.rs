#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{Problem, WORDS, Wish, WordError};
use crate::mode::{TlsMode, UnknownMode};

/// `a=b&c=d`.
fn read(properties: &str) -> (Wish, Vec<WordError>) {
    let pairs: Vec<(&str, &str)> = properties.split('&').filter_map(|pair| pair.split_once('=')).collect();
    for (property, _) in &pairs {
        assert!(WORDS.contains(property), "{property}");
    }
    Wish::read(|name| pairs.iter().find(|(property, _)| *property == name).map(|(_, text)| *text))
}

/// By Connector/J's manual: `sslMode` replaces the older switches; without `useSSL` these count by themselves, for it is
/// on by default, and who asks for TLS must not go without it.
#[test]
fn the_words_of_the_driver_and_the_mode_that_they_ask_for() {
    use TlsMode::{Disabled, Preferred, Required, VerifyCa, VerifyIdentity};
    for (properties, wanted) in [
        ("", Preferred),
        ("useSSL=true", Preferred),
        ("useSSL=TRUE", Preferred),
        ("useSSL=false", Disabled),
        ("requireSSL=true", Required),
        ("requireSSL=false", Preferred),
        ("verifyServerCertificate=true", VerifyCa),
        ("verifyServerCertificate=false", Preferred),
        ("useSSL=true&requireSSL=true", Required),
        ("useSSL=true&requireSSL=true&verifyServerCertificate=false", Required),
        ("useSSL=true&requireSSL=false&verifyServerCertificate=true", VerifyCa),
        ("useSSL=true&requireSSL=true&verifyServerCertificate=true", VerifyCa),
        ("useSSL=false&requireSSL=true", Disabled),
        ("useSSL=false&requireSSL=true&verifyServerCertificate=true", Disabled),
        ("sslMode=DISABLED", Disabled),
        ("sslMode=PREFERRED", Preferred),
        ("sslMode=REQUIRED", Required),
        ("sslMode=VERIFY_CA", VerifyCa),
        ("sslMode=VERIFY_IDENTITY", VerifyIdentity),
        ("sslMode=verify_identity", VerifyIdentity),
        ("sslMode=Verify-Ca", VerifyCa),
        ("useSSL=false&sslMode=VERIFY_IDENTITY", VerifyIdentity),
        ("requireSSL=true&sslMode=DISABLED", Disabled),
        ("requireSSL=true&sslMode=preferred", Preferred),
        ("verifyServerCertificate=true&sslMode=REQUIRED", Required),
    ] {
        let (wish, errors) = read(properties);
        assert_eq!(errors, [], "{properties}");
        assert_eq!(wish.mode(), wanted, "{properties}");
        assert_eq!(wish.ssl_mode.is_some(), properties.contains("sslMode"), "{properties}");
    }
}

#[test]
fn words_that_are_none_are_all_told_and_count_as_not_given() {
    let not_boolean =
        |property, text: &str| WordError { property, text: text.to_owned(), problem: Problem::NotBoolean };
    let no_mode = |text: &str| WordError {
        property: "sslMode",
        text: text.to_owned(),
        problem: Problem::UnknownMode(UnknownMode),
    };
    for (properties, wanted, mode) in [
        ("useSSL=maybe", vec![not_boolean("useSSL", "maybe")], TlsMode::Preferred),
        ("useSSL=", vec![not_boolean("useSSL", "")], TlsMode::Preferred),
        ("requireSSL=1&useSSL=false", vec![not_boolean("requireSSL", "1")], TlsMode::Disabled),
        ("sslMode=STRICT&requireSSL=true", vec![no_mode("STRICT")], TlsMode::Required),
        ("sslMode=VERIFY CA", vec![no_mode("VERIFY CA")], TlsMode::Preferred),
        (
            "sslMode=&verifyServerCertificate=no&requireSSL=no&useSSL=no",
            vec![
                not_boolean("useSSL", "no"),
                not_boolean("requireSSL", "no"),
                not_boolean("verifyServerCertificate", "no"),
                no_mode(""),
            ],
            TlsMode::Preferred,
        ),
    ] {
        let (wish, errors) = read(properties);
        assert_eq!(errors, wanted, "{properties}");
        assert_eq!(wish.mode(), mode, "{properties}");
    }
    assert_eq!(not_boolean("useSSL", "maybe").to_string(), "`useSSL=maybe` is not a boolean");
    assert_eq!(
        no_mode("STRICT").to_string(),
        "`sslMode=STRICT` is not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY"
    );
}
