#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use proptest::prelude::*;

/// Before 5.6 a TIME is the decimal number `hhmmss`, signed, in three bytes.
#[test]
fn times_from_before_5_6_keep_hours_and_sign() {
    let read = |n: i32| old_time(&mut Cursor::new(&n.to_le_bytes()[..3]));
    let largest = (838 * 3600 + 59 * 60 + 59) * MICROS;
    assert_eq!(read(8_385_959), Ok(largest));
    assert_eq!(read(-8_385_959), Ok(-largest));
    assert_eq!(read(-1), Ok(-MICROS));
    assert_eq!(read(0), Ok(0));
    assert!(read(60).is_err());
}

#[test]
fn datetimes_from_before_5_6_are_decimal_numbers() {
    let read = |n: u64| old_datetime(&mut Cursor::new(&n.to_le_bytes()));
    assert_eq!(read(19_700_102_000_001), Ok(Some(86_401 * MICROS)));
    assert_eq!(read(0), Ok(None));
    assert_eq!(read(20_240_010_101_112), Ok(None));
    assert!(read(20_240_101_240_000).is_err());
    assert!(read(u64::MAX).is_err());
    assert_eq!(old_timestamp(&mut Cursor::new(&[1, 0, 0, 0])), Ok(Some(MICROS)));
    assert_eq!(old_timestamp(&mut Cursor::new(&[0; 4])), Ok(None));
}

#[test]
fn text_that_is_no_date_or_time_is_refused() {
    for text in ["", "2024-1-01", "2024-01-0x", "20240101", "2024-01-01 "] {
        assert!(text_date(text.as_bytes()).is_err(), "{text}");
    }
    for text in ["2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:60", "2024-01-01 00:00:00.1234567"] {
        assert!(text_datetime(text.as_bytes()).is_err(), "{text}");
    }
    for text in ["", "12:00", "839:00:00", "00:60:00", "00:00:00.", "--00:00:00"] {
        assert!(text_time(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    /// The calendar is that of chrono.
    #[test]
    fn days_are_those_of_the_calendar(year in 0..10_000_u32, month in 0..14_u32, day in 0..33_u32) {
        let date = chrono::NaiveDate::from_ymd_opt(year as i32, month, day);
        let expected = date.map(|d| (d - chrono::NaiveDate::default()).num_days() as i32);
        prop_assert_eq!(days(year, month, day), expected);
    }
}
