#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use proptest::prelude::*;

/// A key of 1024 bits made by OpenSSL for this test.
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDNGMtdanWC10Y+0bc7dWfUXphN
n7sgbBfmZpUl/Yt1vT35xTOO11uGhoqbJfmxYVVl+vzJijgx8qOpZxsRZcltTiYr
Lu+XyUqcW0Wq6foCvk8w18tmUOLeDAxicsPwZgIV6V7qE5g3P9T8NuRav5qSj3pY
0A16vu9AqufhN98arQIDAQAB
-----END PUBLIC KEY-----
";

fn der() -> Vec<u8> {
    let body: String = KEY.lines().filter(|l| !l.starts_with('-')).collect();
    STANDARD.decode(body).unwrap()
}

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der))
}

#[test]
fn a_key_is_taken_and_the_library_can_use_it() {
    let (normal, len) = check_public_key(KEY.as_bytes()).unwrap();
    assert_eq!(len, 128);
    assert_eq!(mysql_common::crypto::encrypt(b"secret", normal.as_bytes()).len(), 128);
    // The longest that fits: 128 bytes less 42 of padding.
    assert_eq!(mysql_common::crypto::encrypt(&[1; 86], normal.as_bytes()).len(), 128);
}

proptest! {
    /// Whatever passes the check can be encrypted with.
    #[test]
    fn a_damaged_key(at in 0_usize..162, byte in any::<u8>(), cut in 0_usize..162) {
        let mut damaged = der();
        if let Some(b) = damaged.get_mut(at) {
            *b = byte;
        }
        if let Some((normal, len)) = check_public_key(pem(&damaged).as_bytes()) {
            prop_assert_eq!(mysql_common::crypto::encrypt(&[1; 86], normal.as_bytes()).len(), len);
        }
        prop_assert!(check_public_key(pem(&der()[..cut.min(der().len() - 1)]).as_bytes()).is_none());
    }
}
