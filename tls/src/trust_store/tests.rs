#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{TRUST_STORE_TYPE, TrustStoreError, trust_store};
use std::path::Path;

#[test]
fn a_trust_store_is_a_file_with_certificates_as_pem() {
    for (url, kind, wanted) in [
        ("file:///etc/ca.pem", "PEM", "/etc/ca.pem"),
        ("file:/etc/ca.pem", "pem", "/etc/ca.pem"),
        ("file:///etc/my%20ca.pem", "PEM", "/etc/my ca.pem"),
        ("/etc/ca.pem", "PEM", "/etc/ca.pem"),
        ("ca.pem", "PEM", "ca.pem"),
    ] {
        assert_eq!(trust_store(url, Some(kind)).unwrap(), Path::new(wanted), "{url}");
    }
    for (url, kind, wanted) in [
        ("file:/etc/trust.jks", None, "JKS"),
        ("file:/etc/trust.p12", Some("PKCS12"), "PKCS12"),
        ("file:/etc/ca.pem", Some("X"), "X"),
    ] {
        let error = trust_store(url, kind).unwrap_err();
        assert_eq!(error, TrustStoreError::OfJava { kind: wanted.to_owned() }, "{url}");
        assert!(error.to_string().contains(&format!("a key store of Java ({wanted})")), "{error}");
        assert!(error.hint().unwrap().contains(&format!("{TRUST_STORE_TYPE}=PEM")));
    }
    for url in ["https://lb/ca.pem", "classpath:ca.pem", "file://elsewhere/etc/ca.pem"] {
        let error = trust_store(url, Some("PEM")).unwrap_err();
        assert_eq!(error, TrustStoreError::NotAFile { url: url.to_owned() });
        assert_eq!(error.hint(), None);
    }
}
