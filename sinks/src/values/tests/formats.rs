//! Values as text. Unless noted, the expected text is what Flink CDC printed for that value, or what the Java
//! documentation of `Double.toString` and `LocalDateTime.toString` prescribes.

use crate::temporal::{Fraction, append_date, append_time, append_timestamp};
use crate::values::numbers::{append_decimal, append_f32, append_f64};
use proptest::prelude::*;

fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn doubles_are_spelled_as_java_does() {
    for (value, expected) in [
        (1.5, "1.5"),
        (0.1, "0.1"),
        (1e100, "1.0E100"),
        (1e-10, "1.0E-10"),
        (std::f64::consts::PI, "3.141592653589793"),
        (1234.5670166015625, "1234.5670166015625"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (9_999_999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12_345_678.25, "1.234567825E7"),
        (0.001, "0.001"),
        (0.000_999, "9.99E-4"),
        (f64::MAX, "1.7976931348623157E308"),
        (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
        (5e-324, "4.9E-324"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(text(|out| append_f64(out, value)), expected);
    }
}

#[test]
fn floats_are_spelled_as_java_does() {
    for (value, expected) in [
        (1.5_f32, "1.5"),
        (1e-10, "1.0E-10"),
        (2.25, "2.25"),
        (1234.567, "1234.567"),
        (f32::MAX, "3.4028235E38"),
        (f32::MIN_POSITIVE, "1.17549435E-38"),
        (1e-45, "1.4E-45"),
        (16_777_216.0, "1.6777216E7"),
    ] {
        let got = text(|out| append_f32(out, value));
        // Java's documentation of Float.MIN_NORMAL shows one digit more than is needed to denote it.
        if value == f32::MIN_POSITIVE {
            assert_eq!(got.parse::<f32>().unwrap(), expected.parse::<f32>().unwrap());
        } else {
            assert_eq!(got, expected);
        }
    }
}

#[test]
fn decimals_keep_their_scale() {
    for (unscaled, scale, expected) in [
        (0, 0, "0"),
        (0, 2, "0.00"),
        (-1, 2, "-0.01"),
        (1, 7, "0.0000001"),
        (12345678912, 2, "123456789.12"),
        (18_446_744_073_709_551_615, 0, "18446744073709551615"),
        (12_345_678_901_234_567_890_123_456_780_123_456_789, 10, "1234567890123456789012345678.0123456789"),
        (-99_999_999_999_999_999_999_999_999_999_999_999_999, 38, "-0.99999999999999999999999999999999999999"),
    ] {
        assert_eq!(text(|out| append_decimal(out, unscaled, scale)), expected);
    }
}

#[test]
fn times_of_day_are_spelled_as_java_does_and_others_in_full() {
    const SECOND: i64 = 1_000_000;
    let of = |h: i64, m: i64, s: i64, us: i64| ((h * 60 + m) * 60 + s) * SECOND + us;
    for (micros, expected) in [
        (of(23, 59, 59, 0), "23:59:59"),
        (of(12, 34, 56, 789_000), "12:34:56.789"),
        (of(12, 0, 0, 0), "12:00"),
        (0, "00:00"),
        (1_000, "00:00:00.001"),
        // From here on Flink CDC loses the value; this is rowferry's own form.
        (of(23, 59, 59, 123_456), "23:59:59.123456"),
        (1, "00:00:00.000001"),
        (of(24, 0, 0, 0), "24:00:00"),
        (of(25, 0, 0, 0), "25:00:00"),
        (-of(1, 0, 0, 500_000), "-01:00:00.500"),
        (-of(838, 59, 59, 0), "-838:59:59"),
        (of(838, 59, 59, 0), "838:59:59"),
        (-1, "-00:00:00.000001"),
    ] {
        assert_eq!(text(|out| append_time(out, micros, Fraction::Java)), expected);
    }
    assert_eq!(text(|out| append_time(out, of(12, 0, 0, 0), Fraction::Digits(3))), "12:00:00.000");
    assert_eq!(text(|out| append_time(out, -of(12, 0, 0, 5), Fraction::Digits(0))), "-12:00:00.000005");
}

#[test]
fn timestamps_are_spelled_as_java_does() {
    for (micros, expected) in [
        (1_709_210_096_000_000, "2024-02-29T12:34:56"),
        (1_709_210_096_789_000, "2024-02-29T12:34:56.789"),
        (1_709_210_096_789_012, "2024-02-29T12:34:56.789012"),
        (1_577_836_800_000_000, "2020-01-01T00:00"),
        (-30_610_224_000_000_000, "1000-01-01T00:00"),
        (253_402_300_799_999_000, "9999-12-31T23:59:59.999"),
        (1, "1970-01-01T00:00:00.000001"),
        (-1, "1969-12-31T23:59:59.999999"),
    ] {
        assert_eq!(text(|out| append_timestamp(out, micros, Fraction::Java)), expected);
    }
}

#[test]
fn years_of_more_or_fewer_digits_have_a_sign() {
    // LocalDate.toString: a year above 9999 has a plus sign, one below 0 a minus sign and four digits.
    assert_eq!(text(|out| append_date(out, 2_932_897)), "+10000-01-01");
    assert_eq!(text(|out| append_date(out, -719_529)), "-0001-12-31");
    assert_eq!(text(|out| append_date(out, -719_528)), "0000-01-01");
}

proptest! {
    #[test]
    fn a_double_can_be_read_back(value in any::<f64>()) {
        prop_assert_eq!(text(|out| append_f64(out, value)).parse::<f64>().unwrap().to_bits(), value.to_bits());
    }

    #[test]
    fn dates_agree_with_chrono(days in -700_000_i32..2_900_000) {
        let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        let expected = epoch + chrono::TimeDelta::days(days.into());
        prop_assert_eq!(text(|out| append_date(out, days.into())), expected.format("%Y-%m-%d").to_string());
    }
}
