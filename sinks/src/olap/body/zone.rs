//! Instants as wall times.

use arrow_array::timezone::Tz;
use chrono::{DateTime, Offset, TimeZone};
use std::cell::Cell;
use std::str::FromStr;

/// Offsets change at quarters of an hour only.
const QUARTER: i64 = 900 * 1_000_000;

/// A time zone.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    tz: Tz,
}

/// The offset of the last quarter of an hour that was asked for: neighbours mostly share it.
#[derive(Debug)]
pub(super) struct LastOffset(Cell<(i64, i64)>);

impl Default for LastOffset {
    fn default() -> Self {
        Self(Cell::new((i64::MIN, 0)))
    }
}

impl Zone {
    /// A zone by its IANA name or an offset such as `+08:00`; `None` where there is no such zone.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Tz::from_str(name).ok().map(|tz| Self { tz })
    }

    /// The wall time, in microseconds since 1970-01-01 00:00:00 on that wall.
    pub(super) fn wall(&self, micros: i64, last: &LastOffset) -> i64 {
        let quarter = micros.div_euclid(QUARTER);
        let (known, offset) = last.0.get();
        if known == quarter {
            return micros.saturating_add(offset);
        }
        let offset = DateTime::from_timestamp_micros(quarter * QUARTER).map_or(0, |utc| {
            i64::from(self.tz.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc()) * 1_000_000
        });
        last.0.set((quarter, offset));
        micros.saturating_add(offset)
    }
}
