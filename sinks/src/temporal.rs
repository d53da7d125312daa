//! Days and times as text.

use std::io::Write;

/// Microseconds of a second.
pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds of a day.
pub(crate) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// How the fraction of a second is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fraction {
    /// As Java does: none, three or six digits, whichever show all; seconds are left out where both are zero.
    Java,
    /// This many digits, or six where they would not show all.
    Digits(u8),
}

/// Appends a day, `2024-02-29`.
#[cfg(feature = "values")]
pub(crate) fn append_date(out: &mut Vec<u8>, days_since_epoch: i64) {
    let (year, month, day) = civil(days_since_epoch);
    let _ = match year {
        0..=9999 => write!(out, "{year:04}-{month:02}-{day:02}"),
        10_000.. => write!(out, "+{year}-{month:02}-{day:02}"),
        _ => write!(out, "-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
    };
}

/// Appends a wall time, `2024-02-29T12:34:56.789`.
#[cfg(feature = "values")]
pub(crate) fn append_timestamp(out: &mut Vec<u8>, micros_since_epoch: i64, fraction: Fraction) {
    append_date(out, micros_since_epoch.div_euclid(MICROS_PER_DAY));
    out.push(b'T');
    append_clock(out, micros_since_epoch.rem_euclid(MICROS_PER_DAY) as u64, fraction);
}

/// Appends a MySQL TIME: a time of day, or a signed interval such as `-838:59:59`.
pub(crate) fn append_time(out: &mut Vec<u8>, micros: i64, fraction: Fraction) {
    if (0..MICROS_PER_DAY).contains(&micros) {
        append_clock(out, micros as u64, fraction);
        return;
    }
    if micros < 0 {
        out.push(b'-');
    }
    // What no clock shows is spelled in full, so that `25:00:00` isn't taken for minutes and seconds.
    let fraction = match fraction {
        Fraction::Java if micros % MICROS_PER_SECOND == 0 => Fraction::Digits(0),
        Fraction::Java if micros % 1000 == 0 => Fraction::Digits(3),
        other => other,
    };
    append_clock(out, micros.unsigned_abs(), if fraction == Fraction::Java { Fraction::Digits(6) } else { fraction });
}

fn append_clock(out: &mut Vec<u8>, micros: u64, fraction: Fraction) {
    let (seconds, micros) = (micros / MICROS_PER_SECOND as u64, micros % MICROS_PER_SECOND as u64);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{hours:02}:{minutes:02}");
    let digits = match fraction {
        Fraction::Java => match micros {
            0 if seconds == 0 => return,
            0 => 0,
            m if m % 1000 == 0 => 3,
            _ => 6,
        },
        Fraction::Digits(n) => {
            let n = usize::from(n.min(6));
            if micros % 10_u64.pow(6 - n as u32) == 0 { n } else { 6 }
        }
    };
    let _ = write!(out, ":{seconds:02}");
    if digits > 0 {
        let _ = write!(out, ".{:0digits$}", micros / 10_u64.pow(6 - digits as u32));
    }
}

/// Year, month and day of a day of the proleptic Gregorian calendar, for every day that 32 bits can count.
#[cfg(any(feature = "values", feature = "olap"))]
pub(crate) fn civil(days_since_epoch: i64) -> (i64, u32, u32) {
    // Years are counted from March, so that the leap day is a year's last; 146,097 days are 400 years.
    const DAYS_TO_MARCH_OF_YEAR_0: i64 = 719_468;
    let days = days_since_epoch + DAYS_TO_MARCH_OF_YEAR_0;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}
