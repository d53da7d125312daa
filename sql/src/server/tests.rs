#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;

#[test]
fn versions() {
    assert_eq!(ServerVersion::parse("8.0.36-log"), Some(ServerVersion::mysql(80_036)));
    assert_eq!(ServerVersion::parse("9.7.4-2"), Some(ServerVersion::mysql(90_704)));
    assert_eq!(ServerVersion::parse("5.5.5-10.11.18-MariaDB-0+deb12u1-log"), Some(ServerVersion::mariadb(101_118)));
    assert_eq!(ServerVersion::parse("10.11.18-MariaDB"), Some(ServerVersion::mariadb(101_118)));
    assert_eq!(ServerVersion::parse("unknown"), None);
    assert_eq!(ServerVersion::parse("8"), None);
    assert_eq!(ServerVersion::mariadb(101_118).to_string(), "MariaDB 10.11.18");
}
