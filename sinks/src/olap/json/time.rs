//! Days and times as text.

use super::numbers::{append_padded, append_pair, append_u64};

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// 0000-01-01 as days since the epoch.
const FIRST_DAY: i64 = -719_528;
/// 9999-12-31.
const LAST_DAY: i64 = 2_932_896;

/// Appends `2024-02-29`; `None` for a day outside the years 0 to 9999.
pub(super) fn append_date(out: &mut Vec<u8>, days: i64) -> Option<()> {
    if !(FIRST_DAY..=LAST_DAY).contains(&days) {
        return None;
    }
    // Years are counted from March, so that the leap day is a year's last; 146,097 days are 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * march_month + 2) / 5 + 1) as u32;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u32;
    let year = (year_of_era + era * 400 + i64::from(month <= 2)) as u32;
    append_pair(out, year / 100);
    append_pair(out, year);
    out.push(b'-');
    append_pair(out, month);
    out.push(b'-');
    append_pair(out, day);
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
    let hours = seconds / 3600;
    if hours < 100 {
        append_pair(out, hours as u32);
    } else {
        append_u64(out, hours);
    }
    out.push(b':');
    append_pair(out, (seconds / 60 % 60) as u32);
    out.push(b':');
    append_pair(out, (seconds % 60) as u32);
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
