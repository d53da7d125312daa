//! Dates and times in defaults: servers read many spellings and show one.

use crate::ddl::DdlContext;

/// A point in time or a time span in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    negative: bool,
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
}

/// `0000-00-00 00:00:00`
pub(crate) fn zero_datetime(precision: u8) -> String {
    Parts::default().datetime(precision)
}

fn fraction(micros: u32, precision: u8) -> String {
    match precision {
        0 => String::new(),
        p => format!(".{:0width$}", micros / 10u32.pow(6 - u32::from(p.min(6))), width = usize::from(p.min(6))),
    }
}

impl Parts {
    fn datetime(self, precision: u8) -> String {
        format!("{} {}", self.date(), self.clock(precision))
    }

    fn date(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn clock(self, precision: u8) -> String {
        let sign = if self.negative { "-" } else { "" };
        let Self { hour, minute, second, micros, .. } = self;
        format!("{sign}{hour:02}:{minute:02}:{second:02}{}", fraction(micros, precision))
    }

    /// Cuts the fraction to a precision: MySQL rounds, MariaDB doesn't. A carry beyond the second is left out.
    fn cut(mut self, precision: u8, context: &DdlContext) -> Self {
        if context.server.is_mariadb() {
            return self;
        }
        let unit = 10u32.pow(6 - u32::from(precision.min(6)));
        let rounded = (self.micros + unit / 2) / unit * unit;
        if rounded < 1_000_000 {
            self.micros = rounded;
        } else if self.second < 59 {
            self.micros = 0;
            self.second += 1;
        }
        self
    }
}

/// Two-digit years belong to 1970 to 2069.
fn full_year(year: u32) -> u32 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}

fn micros(digits: &str) -> Option<u32> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{:0<6}", digits.get(..6).unwrap_or(digits)).parse().ok()
}

/// Reads a DATE, DATETIME or TIMESTAMP, with any punctuation or none.
fn read_datetime(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (whole, micros) = match text.rsplit_once('.') {
        // A point may part the fields as well as the fraction.
        Some((whole, digits)) if whole.contains(':') || whole.bytes().all(|b| b.is_ascii_digit()) => {
            (whole, micros(digits)?)
        }
        _ => (text, 0),
    };
    let fields: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).filter(|f| !f.is_empty()).collect();
    let number = |i: usize| fields.get(i).map_or(Some(0), |f| f.parse::<u32>().ok());
    if let [digits] = fields[..] {
        let (year, rest) = match digits.len() {
            8 | 14 => digits.split_at(4),
            6 | 12 => digits.split_at(2),
            _ if digits.bytes().all(|b| b == b'0') => return Some(Parts::default()),
            _ => return None,
        };
        let part = |i: usize| rest.get(i * 2..i * 2 + 2).map_or(Some(0), |f| f.parse::<u32>().ok());
        let year = if year.len() == 2 { full_year(year.parse().ok()?) } else { year.parse().ok()? };
        return Some(Parts {
            negative: false,
            year,
            month: part(0)?,
            day: part(1)?,
            hour: part(2)?,
            minute: part(3)?,
            second: part(4)?,
            micros,
        });
    }
    if fields.len() < 3 {
        return None;
    }
    let year = if fields[0].len() <= 2 && fields[0] != "00" { full_year(number(0)?) } else { number(0)? };
    Some(Parts {
        negative: false,
        year,
        month: number(1)?,
        day: number(2)?,
        hour: number(3)?,
        minute: number(4)?,
        second: number(5)?,
        micros,
    })
}

/// Reads a TIME: `h:m:s`, `h:m`, `d h:m:s`, `hhmmss`.
fn read_time(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, micros) = match text.split_once('.') {
        Some((whole, digits)) => (whole, micros(digits)?),
        None => (text, 0),
    };
    let (days, clock) = match whole.split_once(' ') {
        Some((days, clock)) if !days.contains('-') => (days.parse::<u32>().ok()?, clock),
        Some((_, clock)) => (0, clock),
        None => (0, whole),
    };
    let mut parts = Parts { negative, micros, ..Parts::default() };
    // A number ends where its digits end: a date is taken for its year.
    let clock = if clock.contains(':') { clock } else { clock.split('-').next().unwrap_or(clock) };
    let fields: Option<Vec<u32>> = clock.split(':').map(|f| f.parse().ok()).collect();
    match fields?[..] {
        [h, m, s] => (parts.hour, parts.minute, parts.second) = (h, m, s),
        [h, m] => (parts.hour, parts.minute) = (h, m),
        [h] if days > 0 => parts.hour = h,
        [n] => (parts.hour, parts.minute, parts.second) = (n / 10_000, n / 100 % 100, n % 100),
        _ => return None,
    }
    parts.hour += days * 24;
    Some(parts)
}

/// A DATE as the server shows it.
pub(crate) fn date(text: &str) -> Option<String> {
    read_datetime(text).map(Parts::date)
}

/// A DATETIME or TIMESTAMP as the server shows it.
pub(crate) fn datetime(text: &str, precision: u8, context: &DdlContext) -> Option<String> {
    read_datetime(text).map(|p| p.cut(precision, context).datetime(precision))
}

/// A TIME as the server shows it.
pub(crate) fn time(text: &str, precision: u8, context: &DdlContext) -> Option<String> {
    read_time(text).map(|p| p.cut(precision, context).clock(precision))
}

/// A YEAR as the server shows it. As a number 0 is the zero year, as text it is 2000.
pub(crate) fn year(text: &str, is_text: bool) -> Option<String> {
    let year: u32 = text.trim().parse().ok()?;
    let zero = year == 0 && (!is_text || text.trim().len() == 4);
    Some(format!("{:04}", if zero { 0 } else { full_year(year) }))
}
