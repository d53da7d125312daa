//! Dates and times: from MySQL's packed forms and from text, to days and microseconds.

use super::cursor::Cursor;
use super::decode_error::ValueError;

const MICROS: i64 = 1_000_000;

/// Days from 1970-01-01 to a day of the Gregorian calendar, also before its introduction, as MySQL counts; `None` if
/// there is no such day, as in `0000-00-00`, `2024-00-10` and `2023-02-29`.
#[inline]
pub(crate) fn days(year: u32, month: u32, day: u32) -> Option<i32> {
    const LENGTHS: [u8; 13] = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = u32::from(*LENGTHS.get(month as usize)?);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if day == 0 || day > length || (month == 2 && day == 29 && !leap) {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let (y, m) = if month > 2 { (year as i32, month as i32 - 3) } else { (year as i32 - 1, month as i32 + 9) };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * m + 2) / 5 + day as i32 - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Microseconds from the epoch to a wall-clock time taken as UTC; `None` if there is no such day.
#[inline]
fn micros(date: (u32, u32, u32), time: (u32, u32, u32), fraction: u32) -> Result<Option<i64>, ValueError> {
    let (hour, minute, second) = time;
    if hour > 23 || minute > 59 || second > 59 {
        return Err(ValueError::Malformed("a time of day is beyond 23:59:59"));
    }
    Ok(days(date.0, date.1, date.2).map(|days| {
        let seconds = i64::from(days) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
        seconds * MICROS + i64::from(fraction)
    }))
}

/// DATE: days, or `None` for a zero date.
#[inline]
pub(crate) fn date(c: &mut Cursor<'_>) -> Result<Option<i32>, ValueError> {
    let packed = c.uint_le(3)? as u32;
    Ok(days(packed >> 9, packed >> 5 & 15, packed & 31))
}

/// The fraction of a second, as `digits` rounded up to an even number lie in the row, in microseconds.
#[inline]
fn fraction(c: &mut Cursor<'_>, digits: u8) -> Result<u32, ValueError> {
    let n = c.uint_be(usize::from(digits.div_ceil(2)))? as u32;
    let micros = match digits {
        0 => 0,
        1 | 2 => n * 10_000,
        3 | 4 => n * 100,
        _ => n,
    };
    if i64::from(micros) < MICROS { Ok(micros) } else { Err(ValueError::Malformed("a fraction is a second or more")) }
}

/// DATETIME since 5.6: microseconds, or `None` for a zero date.
#[inline]
pub(crate) fn datetime(c: &mut Cursor<'_>, digits: u8) -> Result<Option<i64>, ValueError> {
    const OFFSET: u64 = 0x80_0000_0000;
    let packed = c.uint_be(5)?.checked_sub(OFFSET).ok_or(ValueError::Malformed("a DATETIME is negative"))?;
    let fraction = fraction(c, digits)?;
    let (date, time) = ((packed >> 17) as u32, (packed & 0x1_ffff) as u32);
    let year_month = date >> 5;
    micros((year_month / 13, year_month % 13, date & 31), (time >> 12, time >> 6 & 63, time & 63), fraction)
}

/// TIMESTAMP since 5.6: microseconds, or `None` for a zero date.
#[inline]
pub(crate) fn timestamp(c: &mut Cursor<'_>, digits: u8) -> Result<Option<i64>, ValueError> {
    let seconds = c.uint_be(4)? as i64;
    let fraction = fraction(c, digits)?;
    Ok(Some(seconds * MICROS + i64::from(fraction)).filter(|t| *t != 0))
}

/// TIME since 5.6: microseconds, signed, up to ±838:59:59.999999.
#[inline]
pub(crate) fn time(c: &mut Cursor<'_>, digits: u8) -> Result<i64, ValueError> {
    // Whole and fraction are one number, which is negated as such: with the fraction in 24 bits it can be read as one.
    let bytes = usize::from(digits.div_ceil(2));
    let packed = c.uint_be(3 + bytes)? as i64 - (0x80_0000 << (8 * bytes));
    let negative = packed < 0;
    let packed = packed.abs();
    let whole = packed >> (8 * bytes);
    let fraction = packed & ((1 << (8 * bytes)) - 1);
    let fraction = match bytes {
        0 => 0,
        1 => fraction * 10_000,
        2 => fraction * 100,
        _ => fraction,
    };
    let (hour, minute, second) = (whole >> 12 & 0x3ff, whole >> 6 & 63, whole & 63);
    if minute > 59 || second > 59 || fraction >= MICROS {
        return Err(ValueError::Malformed("a TIME has a minute, second or fraction beyond its range"));
    }
    let micros = (hour * 3600 + minute * 60 + second) * MICROS + fraction;
    Ok(if negative { -micros } else { micros })
}

/// TIME before 5.6: a decimal number `[-]hhmmss` in three bytes.
pub(crate) fn old_time(c: &mut Cursor<'_>) -> Result<i64, ValueError> {
    let packed = c.uint_le(3)? as i64;
    let signed = if packed >= 0x80_0000 { packed - 0x100_0000 } else { packed };
    let n = signed.abs();
    let (hour, minute, second) = (n / 10_000, n / 100 % 100, n % 100);
    if minute > 59 || second > 59 {
        return Err(ValueError::Malformed("a TIME has a minute or second beyond 59"));
    }
    Ok((hour * 3600 + minute * 60 + second) * MICROS * signed.signum())
}

/// DATETIME before 5.6: a decimal number `yyyymmddhhmmss` in eight bytes.
pub(crate) fn old_datetime(c: &mut Cursor<'_>) -> Result<Option<i64>, ValueError> {
    let n = c.u64()?;
    let (date, time) = (n / 1_000_000, (n % 1_000_000) as u32);
    let date = u32::try_from(date).map_err(|_| ValueError::Malformed("a DATETIME has a year beyond its range"))?;
    micros((date / 10_000, date / 100 % 100, date % 100), (time / 10_000, time / 100 % 100, time % 100), 0)
}

/// TIMESTAMP before 5.6: seconds in four bytes.
pub(crate) fn old_timestamp(c: &mut Cursor<'_>) -> Result<Option<i64>, ValueError> {
    Ok(Some(i64::from(c.u32()?) * MICROS).filter(|t| *t != 0))
}

/// Digits of a text, as a number.
#[inline]
fn digits(text: &[u8]) -> Result<u32, ValueError> {
    const BAD: ValueError = ValueError::Malformed("a date or time has something other than digits");
    if text.is_empty() || text.len() > 9 {
        return Err(BAD);
    }
    let mut n = 0;
    for c in text {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return Err(BAD);
        }
        n = n * 10 + u32::from(digit);
    }
    Ok(n)
}

/// `.123` as microseconds; nothing at all is none.
#[inline]
fn text_fraction(text: &[u8]) -> Result<u32, ValueError> {
    match text {
        [] => Ok(0),
        [b'.', rest @ ..] if (1..=6).contains(&rest.len()) => {
            Ok(digits(rest)? * [100_000, 10_000, 1_000, 100, 10, 1].get(rest.len() - 1).copied().unwrap_or(1))
        }
        _ => Err(ValueError::Malformed("a fraction has not 1 to 6 digits")),
    }
}

#[inline]
fn text_ymd(text: &[u8]) -> Result<(u32, u32, u32), ValueError> {
    match text {
        [y @ .., b'-', m1, m2, b'-', d1, d2] => Ok((digits(y)?, digits(&[*m1, *m2])?, digits(&[*d1, *d2])?)),
        _ => Err(ValueError::Malformed("a date is not year-month-day")),
    }
}

/// `2024-02-29`.
#[inline]
pub(crate) fn text_date(text: &[u8]) -> Result<Option<i32>, ValueError> {
    let (year, month, day) = text_ymd(text)?;
    Ok(days(year, month, day))
}

/// `2024-02-29 12:34:56.789`.
#[inline]
pub(crate) fn text_datetime(text: &[u8]) -> Result<Option<i64>, ValueError> {
    const BAD: ValueError = ValueError::Malformed("a date and time are not `year-month-day hour:minute:second`");
    let (date, time) = text.split_at_checked(10).ok_or(BAD)?;
    match time {
        [b' ', h1, h2, b':', m1, m2, b':', s1, s2, fraction @ ..] => micros(
            text_ymd(date)?,
            (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?),
            text_fraction(fraction)?,
        ),
        _ => Err(BAD),
    }
}

/// `-838:59:59.000000`.
#[inline]
pub(crate) fn text_time(text: &[u8]) -> Result<i64, ValueError> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let point = text.iter().position(|c| *c == b'.').unwrap_or(text.len());
    let (whole, fraction) = text.split_at(point);
    match whole {
        [h @ .., b':', m1, m2, b':', s1, s2] => {
            let (hour, minute, second) = (digits(h)?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?);
            if hour > 838 || minute > 59 || second > 59 {
                return Err(ValueError::Malformed("a TIME is beyond 838:59:59"));
            }
            let seconds = i64::from(hour * 3600 + minute * 60 + second);
            let micros = seconds * MICROS + i64::from(text_fraction(fraction)?);
            Ok(if negative { -micros } else { micros })
        }
        _ => Err(ValueError::Malformed("a TIME is not `hour:minute:second`")),
    }
}

#[cfg(test)]
mod tests;
