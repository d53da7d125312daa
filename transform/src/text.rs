//! Values as text and back, as Java writes and reads them.

use std::fmt::Write;

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// Appends a floating-point number as `Double.toString` does: `1.0`, `1.0E10`, `NaN`.
pub(crate) fn append_double(out: &mut String, value: f64) {
    append_float_digits(out, value, || format!("{value:e}"));
}

/// The same of 32 bits.
pub(crate) fn append_float(out: &mut String, value: f32) {
    append_float_digits(out, f64::from(value), || format!("{value:e}"));
}

fn append_float_digits(out: &mut String, value: f64, shortest: impl Fn() -> String) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    if value == 0.0 {
        return out.push_str(if value.is_sign_negative() { "-0.0" } else { "0.0" });
    }
    let text = shortest();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    out.push_str(sign);
    if (-3..7).contains(&exponent) {
        if exponent < 0 {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', (-exponent - 1).unsigned_abs() as usize));
            out.push_str(&digits);
        } else {
            let whole = exponent.unsigned_abs() as usize + 1;
            for i in 0..whole {
                out.push(char::from(digits.as_bytes().get(i).copied().unwrap_or(b'0')));
            }
            out.push('.');
            out.push_str(digits.get(whole..).filter(|rest| !rest.is_empty()).unwrap_or("0"));
        }
    } else {
        out.push_str(digits.get(..1).unwrap_or("0"));
        out.push('.');
        out.push_str(digits.get(1..).filter(|rest| !rest.is_empty()).unwrap_or("0"));
        let _ = write!(out, "E{exponent}");
    }
}

/// Appends a decimal in plain digits.
pub(crate) fn append_decimal(out: &mut String, value: i128, scale: u8) {
    if scale == 0 {
        let _ = write!(out, "{value}");
        return;
    }
    let unit = 10_u128.pow(u32::from(scale.min(38)));
    let magnitude = value.unsigned_abs();
    if value < 0 {
        out.push('-');
    }
    let _ = write!(out, "{}.{:0width$}", magnitude / unit, magnitude % unit, width = usize::from(scale));
}

/// Year, month and day of a day since 1970-01-01.
pub(crate) fn civil(days: i64) -> (i64, u32, u32) {
    // Years are counted from March, so that the leap day is a year's last; 146,097 days are 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// The day since 1970-01-01 of a date that exists.
pub(crate) fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month)
        || day == 0
        || day > month_length(year, month)
        || !(-200_000..=200_000).contains(&year)
    {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// How many days a month has.
pub(crate) fn month_length(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Appends a day, `2024-02-29`.
pub(crate) fn append_date(out: &mut String, days: i64) {
    let (year, month, day) = civil(days);
    let _ = match year {
        0..=9999 => write!(out, "{year:04}-{month:02}-{day:02}"),
        10_000.. => write!(out, "+{year}-{month:02}-{day:02}"),
        _ => write!(out, "-{:04}-{month:02}-{day:02}", year.unsigned_abs()),
    };
}

/// Appends a wall time as `LocalDateTime.toString`: seconds and fraction only where they are not zero.
pub(crate) fn append_timestamp(out: &mut String, micros: i64) {
    append_date(out, micros.div_euclid(DAY));
    out.push('T');
    append_clock(out, micros.rem_euclid(DAY));
}

/// Appends a time of day as `LocalTime.toString`, or MySQL's longer interval in full.
pub(crate) fn append_time(out: &mut String, micros: i64) {
    if (0..DAY).contains(&micros) {
        return append_clock(out, micros);
    }
    if micros < 0 {
        out.push('-');
    }
    let all = micros.unsigned_abs();
    let seconds = all / SECOND as u64;
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    append_fraction(out, (all % SECOND as u64) as i64);
}

fn append_clock(out: &mut String, micros: i64) {
    let (seconds, fraction) = (micros / SECOND, micros % SECOND);
    let _ = write!(out, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 || fraction != 0 {
        let _ = write!(out, ":{:02}", seconds % 60);
        append_fraction(out, fraction);
    }
}

fn append_fraction(out: &mut String, micros: i64) {
    let _ = match micros {
        0 => Ok(()),
        m if m % 1000 == 0 => write!(out, ".{:03}", m / 1000),
        m => write!(out, ".{m:06}"),
    };
}

/// Reads a day: `2024-02-29`, with anything from a `T` or a blank on left aside where `rest` allows it.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (date, rest) = split_date(text.trim())?;
    rest.is_empty().then_some(date)
}

fn split_date(text: &str) -> Option<(i64, &str)> {
    let (negative, body) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (year, rest) = body.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, rest) = rest.split_at_checked(end)?;
    let digits = |s: &str, max: usize| !s.is_empty() && s.len() <= max && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 6) || !digits(month, 2) || !digits(day, 2) {
        return None;
    }
    let year: i64 = year.parse().ok()?;
    Some((days_of(if negative { -year } else { year }, month.parse().ok()?, day.parse().ok()?)?, rest))
}

/// Reads a time of day, `23:59:59.123456`; the seconds may be missing.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let (time, rest) = split_time(text.trim())?;
    rest.is_empty().then_some(time)
}

fn split_time(text: &str) -> Option<(i64, &str)> {
    let number = |text: &str, most: i64| -> Option<i64> {
        let value: i64 = text.parse().ok()?;
        ((1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && value <= most).then_some(value)
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, rest) = text.split_at_checked(end)?;
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, fraction)| (clock, Some(fraction)));
    let mut parts = clock.split(':');
    let hours = number(parts.next()?, 23)?;
    let minutes = number(parts.next()?, 59)?;
    let seconds = parts.next().map_or(Some(0), |s| number(s, 59))?;
    if parts.next().is_some() {
        return None;
    }
    let micros = match fraction {
        None => 0,
        Some(digits) if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) => {
            return None;
        }
        Some(digits) => format!("{digits:0<6}").get(..6)?.parse::<i64>().ok()?,
    };
    Some(((hours * 3600 + minutes * 60 + seconds) * SECOND + micros, rest))
}

/// A wall time read from text, and the offset of its zone in seconds if the text has one.
pub(crate) struct ParsedTimestamp {
    pub(crate) wall: i64,
    pub(crate) offset: Option<i64>,
}

/// Reads a day or a day and a time of day, with `T` or a blank between, and `Z` or an offset behind.
pub(crate) fn parse_timestamp(text: &str) -> Option<ParsedTimestamp> {
    let (days, rest) = split_date(text.trim())?;
    let midnight = days.checked_mul(DAY)?;
    if rest.is_empty() {
        return Some(ParsedTimestamp { wall: midnight, offset: None });
    }
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let (time, rest) = split_time(clock)?;
    // A region in brackets behind an offset says nothing more.
    let rest = rest.split('[').next().unwrap_or_default();
    let offset = match rest {
        "" => None,
        "Z" | "z" => Some(0),
        other => match crate::Zone::parse(other.trim())? {
            crate::Zone::Fixed(offset) => Some(i64::from(offset.local_minus_utc())),
            crate::Zone::Region(_) => Some(0),
        },
    };
    Some(ParsedTimestamp { wall: midnight.checked_add(time)?, offset })
}

/// Reads a decimal number at a scale, rounding half up; `None`: no number, or too large for 128 bits.
pub(crate) fn parse_decimal(text: &str, scale: u8) -> Option<i128> {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.split_at_checked(1)? {
        ("-", rest) => (true, rest),
        ("+", rest) => (false, rest),
        _ => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if (whole.is_empty() && fraction.is_empty()) || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits that count: those left of the point once it is moved by scale and exponent.
    let wanted = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(scale);
    let mut value: i128 = 0;
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|b| i128::from(b - b'0'));
    if wanted < 0 || digits.clone().all(|digit| digit == 0) {
        return Some(0);
    }
    for _ in 0..wanted {
        let digit = digits.next().unwrap_or(0);
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    if digits.next().unwrap_or(0) >= 5 {
        value = value.checked_add(1)?;
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut out = String::new();
        append_double(&mut out, value);
        out
    }

    #[test]
    fn floating_point_is_written_as_java_does() {
        // What java.lang.Double's documentation says of magnitudes from 10^-3 up to 10^7.
        for (value, text) in [
            (1.0, "1.0"),
            (100.0, "100.0"),
            (-1.5, "-1.5"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1e10, "1.0E10"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1.25e-5, "1.25E-5"),
            (123_456.789, "123456.789"),
            (0.0, "0.0"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn days_and_dates_agree() {
        for days in [-719_528, -1, 0, 1, 59, 60, 19_782, 2_932_896] {
            let (year, month, day) = civil(days);
            assert_eq!(days_of(year, month, day), Some(days), "{year}-{month}-{day}");
        }
        assert_eq!(days_of(2023, 2, 29), None);
    }

    #[test]
    fn decimals_are_rounded_half_up() {
        assert_eq!(parse_decimal("12.345", 2), Some(1235));
        assert_eq!(parse_decimal("-12.345", 2), Some(-1235));
        assert_eq!(parse_decimal("1e3", 1), Some(10_000));
        assert_eq!(parse_decimal("5e-3", 2), Some(1));
        assert_eq!(parse_decimal("abc", 2), None);
        assert_eq!(parse_decimal("", 2), None);
    }
}
