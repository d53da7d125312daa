#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::csv::may_separate;
use super::escape::{append_base64, append_hex, append_string};
use super::numbers::{append_decimal, append_f32, append_f64, append_i64, append_padded};
use super::time::{append_date, append_time, append_timestamp};
use super::zone::{LastOffset, Zone};
use chrono::{DateTime, NaiveDate, TimeZone};
use proptest::prelude::*;

fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"x".to_vec();
    append(&mut out);
    String::from_utf8(out).unwrap().split_off(1)
}

#[test]
fn decimals_have_their_scale() {
    for (unscaled, scale, wanted) in [
        (0, 0, "0"),
        (5, 2, "0.05"),
        (-5, 2, "-0.05"),
        (123_456, 3, "123.456"),
        (1, 38, "0.00000000000000000000000000000000000001"),
        (i128::MAX, 0, "170141183460469231731687303715884105727"),
        (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
        (10_i128.pow(19), 0, "10000000000000000000"),
        (10_i128.pow(38), 19, "10000000000000000000.0000000000000000000"),
    ] {
        assert_eq!(text(|o| append_decimal(o, unscaled, scale)), wanted);
    }
}

#[test]
fn every_day_is_chronos() {
    let mut day = NaiveDate::from_ymd_opt(0, 1, 1).unwrap();
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    let last = NaiveDate::from_ymd_opt(9999, 12, 31).unwrap();
    while day <= last {
        let days = (day - epoch).num_days();
        assert_eq!(text(|o| append_date(o, days).unwrap()), day.format("%Y-%m-%d").to_string());
        day += chrono::Duration::days(13);
    }
    assert!(append_date(&mut Vec::new(), (last - epoch).num_days() + 1).is_none());
}

#[test]
fn times_show_all_there_is() {
    for (micros, precision, wanted) in [
        (0, 0, "00:00:00"),
        (0, 3, "00:00:00.000"),
        (-3_020_399_999_999, 6, "-838:59:59.999999"),
        (500_000, 1, "00:00:00.5"),
        (500_001, 1, "00:00:00.500001"),
    ] {
        assert_eq!(text(|o| append_time(o, micros, precision)), wanted);
    }
    assert_eq!(text(|o| append_timestamp(o, -1).unwrap()), "1969-12-31 23:59:59.999999");
    assert_eq!(text(|o| append_timestamp(o, 86_400_000_000).unwrap()), "1970-01-02 00:00:00");
}

#[test]
fn zones_follow_summer_time() {
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let last = LastOffset::default();
    // The hour from 01:00 UTC on 2024-10-27 is the one behind the change.
    for (utc, hours) in [("2024-10-27T00:59:59Z", 2), ("2024-10-27T01:00:00Z", 1), ("2024-07-01T00:00:00Z", 2)] {
        let micros = DateTime::parse_from_rfc3339(utc).unwrap().timestamp_micros();
        assert_eq!(zone.wall(micros, &last) - micros, hours * 3_600_000_000, "{utc}");
    }
    assert!(Zone::parse("Nowhere/Land").is_none());
    let offset = Zone::parse("-03:30").unwrap();
    assert_eq!(offset.wall(0, &last), -12_600_000_000);
}

/// Blocks of text are looked at as a whole: what must be escaped is found wherever it stands in one or between two.
#[test]
fn each_place_of_a_text_is_looked_at() {
    for length in 1..100 {
        for at in 0..length {
            for special in ['"', '\\', '\n', '\u{1f}', '\0', '\u{7f}', 'é'] {
                let value: String = (0..length).map(|i| if i == at { special } else { 'x' }).collect();
                let json = text(|out| append_string(out, &value));
                assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value, "{json}");
            }
        }
    }
}

/// As they have always been written: whole numbers without a fraction, an exponent where digits alone would be long.
#[test]
fn floats_have_no_digit_too_many() {
    let cases = [
        (0.0, "0"),
        (-1.0, "-1"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (1e16, "1e16"),
        (-2.5e-7, "-2.5e-7"),
        (1e-5, "0.00001"),
        (9.9e-6, "9.9e-6"),
        (123_456_789.125, "123456789.125"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
    ];
    for (value, digits) in cases {
        assert_eq!(text(|out| append_f64(out, value)), digits);
    }
    assert_eq!(text(|out| append_f32(out, f32::MAX)), "3.4028235e38");
    assert_eq!(text(|out| append_f32(out, 1.1)), "1.1");
    for exponent in -45..=37 {
        for digits in ["1", "1.5", "9.999999", "-2.25"] {
            let value: f32 = format!("{digits}e{exponent}").parse().unwrap();
            let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
            let wanted = if plain { format!("{value}") } else { format!("{value:e}") };
            assert_eq!(text(|out| append_f32(out, value)), wanted);
            let value = f64::from(value);
            let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
            let wanted = if plain { format!("{value}") } else { format!("{value:e}") };
            assert_eq!(text(|out| append_f64(out, value)), wanted);
        }
    }
}

#[test]
fn bytes_as_text() {
    assert_eq!(text(|o| append_hex(o, b"\x00\xff\x1a")), "00FF1A");
    // RFC 4648, section 10.
    for (bytes, wanted) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
        assert_eq!(text(|o| append_base64(o, bytes.as_bytes())), wanted);
    }
}

proptest! {
    #[test]
    fn strings_are_read_back(value: String) {
        let json = text(|o| append_string(o, &value));
        prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
    }

    #[test]
    fn integers_are_read_back(value: i64, width in 0_usize..20) {
        prop_assert_eq!(text(|o| append_i64(o, value)), value.to_string());
        let n = value.unsigned_abs();
        prop_assert_eq!(text(|o| append_padded(o, n, width)), format!("{n:0width$}"));
    }

    #[test]
    fn floats_are_read_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL, single in proptest::num::f32::NORMAL) {
        let double = text(|o| append_f64(o, value));
        prop_assert_eq!(double.parse::<f64>().unwrap(), value);
        prop_assert!(serde_json::from_str::<serde_json::Number>(&double).is_ok());
        prop_assert_eq!(text(|o| append_f32(o, single)).parse::<f32>().unwrap(), single);
    }

    /// In CSV nobody looks for separators in these.
    #[test]
    fn what_is_no_text_has_no_separator(
        double in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        single in proptest::num::f32::NORMAL,
        integer: i64,
        decimal: i128,
        days in -719_528..2_932_896_i64,
        micros in -3_020_399_999_999..3_020_399_999_999_i64,
    ) {
        let all = text(|o| {
            append_f64(o, double);
            append_f32(o, single);
            append_i64(o, integer);
            append_decimal(o, decimal, 18);
            append_date(o, days).unwrap();
            append_timestamp(o, micros).unwrap();
            append_time(o, micros, 6);
        });
        prop_assert!(!all.bytes().any(may_separate), "{}", all);
    }

    #[test]
    fn walls_are_chronos(seconds in -2_000_000_000_i64..4_000_000_000) {
        let zone = Zone::parse("America/New_York").unwrap();
        let tz: arrow_array::timezone::Tz = "America/New_York".parse().unwrap();
        let wanted = tz.timestamp_opt(seconds, 0).unwrap().naive_local().and_utc().timestamp_micros();
        prop_assert_eq!(zone.wall(seconds * 1_000_000, &LastOffset::default()), wanted);
    }
}
