//! Wall times and instants, in microseconds, as Java's `ZoneId` relates them.

use crate::config::Zone;
use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The wall time that an instant is in a zone; `None` outside of the calendar.
pub(super) fn instant_to_wall(micros: i64, zone: &Zone) -> Option<i64> {
    let utc = DateTime::from_timestamp_micros(micros)?.naive_utc();
    let seconds = match zone {
        Zone::Region(tz) => tz.offset_from_utc_datetime(&utc).fix().local_minus_utc(),
        Zone::Fixed(offset) => offset.local_minus_utc(),
    };
    micros.checked_add(i64::from(seconds) * MICROS_PER_SECOND)
}

/// The instant that a wall time is in a zone; `None` outside of the calendar. A time that comes twice, as clocks are set
/// back, is the first one; one that never comes, as they are set forward, is as much later as they are.
pub(super) fn wall_to_instant(micros: i64, zone: &Zone) -> Option<i64> {
    let wall = DateTime::from_timestamp_micros(micros)?.naive_utc();
    let seconds = match zone {
        Zone::Region(tz) => offset_at(tz, wall)?,
        Zone::Fixed(offset) => offset.local_minus_utc(),
    };
    micros.checked_sub(i64::from(seconds) * MICROS_PER_SECOND)
}

/// The longest time that clocks were ever set forward by is a day: Samoa left one out.
const LONGEST_GAP_HOURS: i64 = 26;

fn offset_at(tz: &impl TimeZone, wall: NaiveDateTime) -> Option<i32> {
    (0..=LONGEST_GAP_HOURS).find_map(|hours| {
        let before = wall.checked_sub_signed(TimeDelta::hours(hours))?;
        match tz.offset_from_local_datetime(&before) {
            LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => Some(offset.fix().local_minus_utc()),
            LocalResult::None => None,
        }
    })
}
