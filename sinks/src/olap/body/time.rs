//! Days and times as text.

use super::numbers::{append_padded, append_u64, pair};
use crate::temporal::{MICROS_PER_DAY, MICROS_PER_SECOND, civil};

/// 0000-01-01 as days since the epoch.
pub(super) const FIRST_DAY: i64 = -719_528;
/// 9999-12-31.
pub(super) const LAST_DAY: i64 = 2_932_896;

/// Appends `2024-02-29`; `None` for a day outside the years 0 to 9999.
pub(super) fn append_date(out: &mut Vec<u8>, days: i64) -> Option<()> {
    if !(FIRST_DAY..=LAST_DAY).contains(&days) {
        return None;
    }
    let (year, month, day) = civil(days);
    let year = year as u32;
    let ([y1, y2], [y3, y4]) = (pair(year / 100), pair(year));
    let ([m1, m2], [d1, d2]) = (pair(month), pair(day));
    out.extend_from_slice(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2]);
    Some(())
}

/// Appends `2024-02-29 12:34:56`, with six more digits where there is a fraction.
pub(super) fn append_timestamp(out: &mut Vec<u8>, micros: i64) -> Option<()> {
    append_date(out, micros.div_euclid(MICROS_PER_DAY))?;
    out.push(b' ');
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    append_clock(out, of_day as u64);
    append_fraction(out, (of_day % MICROS_PER_SECOND) as u64, 6, false);
    Some(())
}

/// Appends a MySQL TIME: a time of day or a signed interval, with exactly `precision` digits of a fraction, or six
/// where fewer would not show all.
pub(super) fn append_time(out: &mut Vec<u8>, micros: i64, precision: u8) {
    if micros < 0 {
        out.push(b'-');
    }
    let magnitude = micros.unsigned_abs();
    append_clock(out, magnitude);
    append_fraction(out, magnitude % MICROS_PER_SECOND as u64, precision, true);
}

fn append_clock(out: &mut Vec<u8>, micros: u64) {
    let seconds = micros / MICROS_PER_SECOND as u64;
    let (hours, of_hour) = (seconds / 3600, (seconds % 3600) as u32);
    let ([m1, m2], [s1, s2]) = (pair(of_hour / 60), pair(of_hour % 60));
    let behind = [b':', m1, m2, b':', s1, s2];
    if hours < 100 {
        out.extend_from_slice(&pair(hours as u32));
    } else {
        append_u64(out, hours);
    }
    out.extend_from_slice(&behind);
}

fn append_fraction(out: &mut Vec<u8>, micros: u64, precision: u8, even_zero: bool) {
    let digits = usize::from(precision.min(6));
    let unit = 10_u64.pow(6 - digits as u32);
    let (value, digits) = if micros.is_multiple_of(unit) { (micros / unit, digits) } else { (micros, 6) };
    if digits == 0 || (value == 0 && !even_zero) {
        return;
    }
    out.push(b'.');
    append_padded(out, value, digits);
}
