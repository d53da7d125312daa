//! The zone in which instants become wall times.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// A region with its rules.
    Region(Tz),
    /// A fixed distance from UTC.
    Fixed(FixedOffset),
}

const MICROS: i64 = 1_000_000;

impl Zone {
    /// UTC.
    pub const UTC: Self = Self::Region(Tz::UTC);

    /// A region such as `Asia/Tokyo`, or an offset such as `+08:00`, `GMT+8`, `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("Z") {
            return Some(Self::UTC);
        }
        if let Ok(region) = text.parse::<Tz>() {
            return Some(Self::Region(region));
        }
        let rest = ["UTC", "GMT", "UT"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        let (sign, digits) = match rest.split_at_checked(1)? {
            ("+", digits) => (1, digits),
            ("-", digits) => (-1, digits),
            _ => return None,
        };
        let (hours, minutes) = match digits.split_once(':') {
            Some((hours, minutes)) => (hours, minutes),
            None if digits.len() == 4 => digits.split_at_checked(2)?,
            None => (digits, "0"),
        };
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        if !(0..=18).contains(&hours) || !(0..60).contains(&minutes) {
            return None;
        }
        FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60)).map(Self::Fixed)
    }

    /// The wall time of an instant, both in microseconds since 1970-01-01.
    pub fn to_wall(&self, instant: i64) -> i64 {
        let offset = match self {
            Self::Region(Tz::UTC) => 0,
            Self::Fixed(offset) => offset.local_minus_utc(),
            Self::Region(tz) => DateTime::from_timestamp(instant.div_euclid(MICROS), 0)
                .map_or(0, |at| tz.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc()),
        };
        instant.saturating_add(i64::from(offset) * MICROS)
    }

    /// The instant of a wall time. A time that occurs twice is the first; one that a clock change skips is moved forward by
    /// the length of the gap, as `java.time` does.
    pub fn to_instant(&self, wall: i64) -> i64 {
        let offset = match self {
            Self::Region(Tz::UTC) => 0,
            Self::Fixed(offset) => offset.local_minus_utc(),
            Self::Region(tz) => {
                let Some(at) = DateTime::from_timestamp(wall.div_euclid(MICROS), 0) else { return wall };
                offset_at(tz, at.naive_utc())
            }
        };
        wall.saturating_sub(i64::from(offset) * MICROS)
    }
}

fn offset_at(tz: &Tz, wall: NaiveDateTime) -> i32 {
    match tz.offset_from_local_datetime(&wall) {
        LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset.fix().local_minus_utc(),
        LocalResult::None => {
            // Inside a gap the offset of before the gap leads to the time that java.time gives.
            let before = wall - chrono::TimeDelta::hours(3);
            match tz.offset_from_local_datetime(&before) {
                LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset.fix().local_minus_utc(),
                LocalResult::None => 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_and_instants() {
        let tokyo = Zone::parse("Asia/Tokyo");
        assert_eq!(tokyo.map(|z| z.to_wall(0)), Some(9 * 3600 * MICROS));
        assert_eq!(tokyo.map(|z| z.to_instant(9 * 3600 * MICROS)), Some(0));
        assert_eq!(Zone::parse("GMT+08:00").map(|z| z.to_wall(0)), Some(8 * 3600 * MICROS));
        assert_eq!(Zone::parse("+0530").map(|z| z.to_wall(0)), Some(19_800 * MICROS));
        assert_eq!(Zone::parse("Nowhere/Land"), None);
        // 2024-03-31 02:30 does not exist in Paris; java.time makes 03:30 +02:00 of it, which is 01:30 UTC.
        let gap = 1_711_852_200 * MICROS;
        assert_eq!(Zone::parse("Europe/Paris").map(|z| z.to_instant(gap)), Some(gap - 3600 * MICROS));
    }
}
