#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::mysql::wire::packet::{ColumnMeta, TextValues, parse_err, parse_ok};
use crate::mysql::wire::rsa_key::check_public_key;
use proptest::prelude::*;

#[test]
fn the_greeting_of_the_protocol_documentation() {
    // The example of a MySQL 5.5.2 in the MySQL internals manual.
    let packet =
        b"\x0a5.5.2-m2\0\x0b\0\0\0\x64\x76\x48\x40\x49\x2d\x43\x4a\0\xff\xf7\x08\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
                   \x2a\x34\x64\x7c\x63\x5a\x77\x6b\x34\x5e\x5d\x3a\0";
    let greeting = Greeting::parse(packet).unwrap();
    assert_eq!((greeting.version.as_str(), greeting.connection_id), ("5.5.2-m2", 11));
    assert_eq!(greeting.capabilities, 0xf7ff);
    assert_eq!(greeting.nonce, b"dvH@I-CJ*4d|cZwk4^]:");
    assert_eq!(greeting.auth_plugin, "");
}

#[test]
fn the_error_packet_of_the_protocol_documentation() {
    let error = parse_err(b"\xff\x48\x04\x23HY000No tables used");
    assert_eq!((error.code, error.sqlstate.as_str(), error.message.as_str()), (1096, "HY000", "No tables used"));
}

proptest! {
    /// No bytes from the wire make a parser panic.
    #[test]
    fn garbage(bytes in prop::collection::vec(any::<u8>(), 0..200), first in any::<u8>()) {
        let mut packet = bytes.clone();
        packet.insert(0, first);
        let _ = Greeting::parse(&packet);
        packet[0] = 10;
        let _ = Greeting::parse(&packet);
        let _ = AuthSwitch::parse(&packet);
        let _ = parse_err(&packet);
        let _ = parse_ok(&packet);
        let _ = ColumnMeta::parse(&bytes);
        let _ = check_public_key(&bytes);
        let total: usize = TextValues::new(&bytes).map(|v| v.map_or(0, <[u8]>::len)).sum();
        prop_assert!(total <= bytes.len());
    }

    #[test]
    fn a_cut_greeting(cut in 0_usize..78) {
        let packet = b"\x0a9.7.4\0\x0b\0\0\0dvH@I-CJ\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0\
                       *4d|cZwk4^]:\0caching_sha2_password\0";
        let _ = Greeting::parse(&packet[..cut.min(packet.len())]);
        let whole = Greeting::parse(packet).unwrap();
        prop_assert_eq!(whole.auth_plugin, "caching_sha2_password");
        prop_assert_eq!(whole.nonce.len(), 20);
    }
}
