//! Patterns of `java.text.SimpleDateFormat`, compiled once.

use crate::text::{DAY, SECOND, civil, days_of};
use std::fmt::Write;

/// A piece of a pattern. Numbers: the least digits.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    /// Two digits where `yy`.
    Year(usize),
    Month(usize),
    MonthName {
        short: bool,
    },
    Day(usize),
    DayOfYear(usize),
    /// 0 to 23.
    Hour(usize),
    /// 1 to 24.
    Hour24(usize),
    /// 1 to 12.
    Hour12(usize),
    /// 0 to 11.
    Hour11(usize),
    Minute(usize),
    Second(usize),
    /// Milliseconds, as SimpleDateFormat has it: with more letters than three, zeros come before them.
    Millis(usize),
    AmPm,
    Weekday {
        short: bool,
    },
    /// 1 (Monday) to 7.
    WeekdayNumber(usize),
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Format {
    pieces: Vec<Piece>,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Format {
    /// Reads a pattern.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut chars = pattern.chars().peekable();
        let literal = |pieces: &mut Vec<Piece>, c: char| match pieces.last_mut() {
            Some(Piece::Literal(text)) => text.push(c),
            _ => pieces.push(Piece::Literal(c.to_string())),
        };
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    literal(&mut pieces, '\'');
                    continue;
                }
                loop {
                    match chars.next() {
                        None => return Err("a quote is not closed".to_owned()),
                        Some('\'') if chars.next_if_eq(&'\'').is_some() => literal(&mut pieces, '\''),
                        Some('\'') => break,
                        Some(c) => literal(&mut pieces, c),
                    }
                }
                continue;
            }
            if !c.is_ascii_alphabetic() {
                literal(&mut pieces, c);
                continue;
            }
            let mut n = 1;
            while chars.next_if_eq(&c).is_some() {
                n += 1;
            }
            let n = n.min(20);
            pieces.push(match c {
                'y' => Piece::Year(n),
                'M' | 'L' if n >= 3 => Piece::MonthName { short: n == 3 },
                'M' | 'L' => Piece::Month(n),
                'd' => Piece::Day(n),
                'D' => Piece::DayOfYear(n),
                'H' => Piece::Hour(n),
                'k' => Piece::Hour24(n),
                'h' => Piece::Hour12(n),
                'K' => Piece::Hour11(n),
                'm' => Piece::Minute(n),
                's' => Piece::Second(n),
                'S' => Piece::Millis(n),
                'a' => Piece::AmPm,
                'E' => Piece::Weekday { short: n < 4 },
                'u' => Piece::WeekdayNumber(n),
                other => return Err(format!("the pattern letter `{other}` is unknown or not supported")),
            });
        }
        Ok(Self { pieces })
    }

    /// Appends a wall time.
    pub(super) fn append(&self, out: &mut String, wall: i64) {
        let days = wall.div_euclid(DAY);
        let clock = wall.rem_euclid(DAY);
        let (year, month, day) = civil(days);
        let seconds = clock / SECOND;
        let hour = seconds / 3600;
        for piece in &self.pieces {
            match piece {
                Piece::Year(2) => number(out, year.rem_euclid(100), 2),
                Piece::Year(n) => number(out, year, *n),
                Piece::Month(n) => number(out, i64::from(month), *n),
                Piece::Day(n) => number(out, i64::from(day), *n),
                Piece::DayOfYear(n) => number(out, days - days_of(year, 1, 1).unwrap_or(days) + 1, *n),
                Piece::Hour(n) => number(out, hour, *n),
                Piece::Hour24(n) => number(out, if hour == 0 { 24 } else { hour }, *n),
                Piece::Hour12(n) => number(out, if hour % 12 == 0 { 12 } else { hour % 12 }, *n),
                Piece::Hour11(n) => number(out, hour % 12, *n),
                Piece::Minute(n) => number(out, seconds / 60 % 60, *n),
                Piece::Second(n) => number(out, seconds % 60, *n),
                Piece::Millis(n) => number(out, clock % SECOND / 1000, *n),
                Piece::WeekdayNumber(n) => number(out, (days + 3).rem_euclid(7) + 1, *n),
                Piece::Literal(text) => out.push_str(text),
                Piece::AmPm => out.push_str(if hour < 12 { "AM" } else { "PM" }),
                Piece::MonthName { short } => out.push_str(cut(&MONTHS, i64::from(month) - 1, *short)),
                Piece::Weekday { short } => out.push_str(cut(&WEEKDAYS, (days + 3).rem_euclid(7), *short)),
            }
        }
    }

    /// Reads a wall time. Text behind the pattern is left aside, as SimpleDateFormat does; a field that does not exist
    /// (month 13) makes it unreadable, which SimpleDateFormat would carry over in silence.
    pub(super) fn read(&self, text: &str) -> Option<i64> {
        let mut rest = text;
        let (mut year, mut month, mut day, mut day_of_year) = (1970_i64, 1_u32, 1_u32, None);
        let (mut hour, mut minute, mut second, mut millis) = (0_i64, 0_i64, 0_i64, 0_i64);
        let mut pm = None;
        for (i, piece) in self.pieces.iter().enumerate() {
            // Digits that follow each other directly are told apart by their number.
            let next_is_number = self.pieces.get(i + 1).is_some_and(Piece::is_number);
            match piece {
                Piece::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Piece::Year(n) => {
                    let before = rest.trim_start_matches(' ').len();
                    year = digits(&mut rest, *n, next_is_number, 999_999)?;
                    // Two digits are the century that this year lies in, within 80 years back and 20 ahead of 2020.
                    if *n <= 2 && before - rest.len() == 2 {
                        year += if year > 40 { 1900 } else { 2000 };
                    }
                }
                Piece::Month(n) => month = u32::try_from(digits(&mut rest, *n, next_is_number, 12)?).ok()?,
                Piece::Day(n) => day = u32::try_from(digits(&mut rest, *n, next_is_number, 31)?).ok()?,
                Piece::DayOfYear(n) => day_of_year = Some(digits(&mut rest, *n, next_is_number, 366)?),
                Piece::Hour(n) => hour = digits(&mut rest, *n, next_is_number, 23)?,
                Piece::Hour24(n) => hour = digits(&mut rest, *n, next_is_number, 24)? % 24,
                Piece::Hour12(n) => hour = digits(&mut rest, *n, next_is_number, 12)? % 12,
                Piece::Hour11(n) => hour = digits(&mut rest, *n, next_is_number, 11)?,
                Piece::Minute(n) => minute = digits(&mut rest, *n, next_is_number, 59)?,
                Piece::Second(n) => second = digits(&mut rest, *n, next_is_number, 59)?,
                Piece::Millis(n) => millis = digits(&mut rest, *n, next_is_number, 999)?,
                Piece::WeekdayNumber(n) => drop(digits(&mut rest, *n, next_is_number, 7)?),
                Piece::AmPm => {
                    let mark = rest.get(..2)?;
                    pm = Some(mark.eq_ignore_ascii_case("PM"));
                    if !mark.eq_ignore_ascii_case("AM") && pm == Some(false) {
                        return None;
                    }
                    rest = rest.get(2..)?;
                }
                Piece::MonthName { .. } => month = u32::try_from(name(&MONTHS, &mut rest)? + 1).ok()?,
                Piece::Weekday { .. } => drop(name(&WEEKDAYS, &mut rest)?),
            }
        }
        if pm == Some(true) {
            hour += 12;
        }
        let days = match day_of_year {
            None => days_of(year, month, day)?,
            Some(n) => days_of(year, 1, 1)? + n - 1,
        };
        days.checked_mul(DAY)?.checked_add(((hour * 60 + minute) * 60 + second) * SECOND + millis * 1000)
    }
}

impl Piece {
    fn is_number(&self) -> bool {
        !matches!(self, Self::Literal(_) | Self::AmPm | Self::MonthName { .. } | Self::Weekday { .. })
    }
}

/// Appends a number with at least `width` digits.
fn number(out: &mut String, value: i64, width: usize) {
    // Two and four digits are nearly all there is; formatting them in general takes several times as long.
    match (width, value) {
        (2, 0..=99) => push_digits(out, value, 10),
        (4, 0..=9999) => push_digits(out, value, 1000),
        _ => {
            let _ = write!(out, "{value:0width$}");
        }
    }
}

/// Appends the digits of a small number, from the one that counts `unit` on.
fn push_digits(out: &mut String, value: i64, mut unit: i64) {
    while unit > 0 {
        out.push(char::from(b'0' + (value / unit % 10) as u8));
        unit /= 10;
    }
}

/// Reads a number; at most `width` digits of it where another number follows directly.
fn digits(rest: &mut &str, width: usize, next_is_number: bool, most: i64) -> Option<i64> {
    let text = rest.trim_start_matches(' ');
    let limit = if next_is_number { width } else { 9 };
    let end = text.bytes().take(limit).take_while(u8::is_ascii_digit).count();
    let (digits, tail) = text.split_at_checked(end)?;
    *rest = tail;
    digits.parse().ok().filter(|value| *value <= most)
}

fn cut<'n>(names: &[&'n str], index: i64, short: bool) -> &'n str {
    let name = usize::try_from(index).ok().and_then(|i| names.get(i)).copied().unwrap_or_default();
    if short { name.get(..3).unwrap_or(name) } else { name }
}

/// Reads a name, whole or its first three letters, in any case; gives its place.
fn name(names: &[&str], rest: &mut &str) -> Option<usize> {
    for length in [usize::MAX, 3] {
        for (i, name) in names.iter().enumerate() {
            let wanted = name.get(..length.min(name.len()))?;
            if rest.get(..wanted.len()).is_some_and(|text| text.eq_ignore_ascii_case(wanted)) {
                *rest = rest.get(wanted.len()..)?;
                return Some(i);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str, wall: i64) -> String {
        let mut out = String::new();
        Format::parse(pattern).unwrap_or_else(|reason| unreachable!("{reason}")).append(&mut out, wall);
        out
    }

    #[test]
    fn patterns_of_the_javadoc() {
        // The examples of java.text.SimpleDateFormat's documentation, for 2001-07-04 12:08:56.235.
        let wall = days_of(2001, 7, 4).map_or(0, |d| d * DAY + (12 * 3600 + 8 * 60 + 56) * SECOND + 235_000);
        assert_eq!(shown("EEE, MMM d, ''yy", wall), "Wed, Jul 4, '01");
        assert_eq!(shown("h:mm a", wall), "12:08 PM");
        assert_eq!(shown("hh 'o''clock' a", wall), "12 o'clock PM");
        assert_eq!(shown("K:mm a", wall), "0:08 PM");
        assert_eq!(shown("yyMMddHHmmss", wall), "010704120856");
        assert_eq!(shown("yyyy-MM-dd'T'HH:mm:ss.SSS", wall), "2001-07-04T12:08:56.235");
        let read = |pattern: &str, text: &str| Format::parse(pattern).ok().and_then(|format| format.read(text));
        assert_eq!(read("yyyy-MM-dd'T'HH:mm:ss.SSS", "2001-07-04T12:08:56.235"), Some(wall));
        assert_eq!(read("yyyyMMddHHmmss", "20010704120856"), Some(wall - 235_000));
        assert_eq!(read("yyyy-MM-dd", "2001-13-04"), None);
        assert_eq!(read("yyyy-MM-dd", "nonsense"), None);
        assert!(Format::parse("yyyy-QQ").is_err());
    }
}
