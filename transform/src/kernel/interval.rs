//! Times moved by an interval.

use crate::column::{Col, build};
use crate::node::{Context, Failure, Kernel};
use crate::text::{DAY, civil, days_of, month_length};
use arrow_array::types::{Date32Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, cast::AsArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use std::sync::Arc;

/// A wall time so many months later; the last day of a month where the day does not exist there.
fn add_months(wall: i64, months: i64) -> Option<i64> {
    let (year, month, day) = civil(wall.div_euclid(DAY));
    let total = year.checked_mul(12)?.checked_add(i64::from(month) - 1)?.checked_add(months)?;
    let (year, month) = (total.div_euclid(12), u32::try_from(total.rem_euclid(12)).ok()? + 1);
    let days = days_of(year, month, day.min(month_length(year, month)))?;
    days.checked_mul(DAY)?.checked_add(wall.rem_euclid(DAY))
}

/// `time + interval`: arguments are a time (a wall time, an instant or a day) and a BIGINT number of months or microseconds.
/// A day keeps being a day only for whole days, which the caller sees to.
pub(crate) fn shift_kernel(months: bool, sign: i64) -> Kernel {
    Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [time, amount] = args else { return Err(Failure::new("an interval is added to one time")) };
        let amounts = amount.longs()?;
        let moved = |wall: i64, row: usize| -> Option<i64> {
            let amount = amounts.get(row)?.checked_mul(sign)?;
            if months { add_months(wall, amount) } else { wall.checked_add(amount) }
        };
        Ok(match time.array.data_type() {
            ArrowType::Date32 => {
                let days = time.dates()?;
                build::<Date32Type>(rows, |row| {
                    let moved = moved(i64::from(days.get(row)?).checked_mul(DAY)?, row)?;
                    i32::try_from(moved.div_euclid(DAY)).ok()
                })
            }
            ArrowType::Duration(TimeUnit::Microsecond) => {
                let times = time.durations()?;
                build::<arrow_array::types::DurationMicrosecondType>(rows, |row| {
                    Some(moved(times.get(row)?, row)?.rem_euclid(DAY))
                })
            }
            ArrowType::Timestamp(_, Some(_)) => {
                let times = time.times()?;
                let zone = context.zone;
                utc(&build::<TimestampMicrosecondType>(rows, |row| {
                    let instant = times.get(row)?;
                    // Months are counted on the calendar of the zone, hours on the time line.
                    if months { Some(zone.to_instant(moved(zone.to_wall(instant), row)?)) } else { moved(instant, row) }
                }))?
            }
            _ => {
                let times = time.times()?;
                build::<TimestampMicrosecondType>(rows, |row| moved(times.get(row)?, row))
            }
        })
    })
}

/// Tags wall times as instants.
pub(crate) fn utc(array: &ArrayRef) -> Result<ArrayRef, Failure> {
    let array = array
        .as_primitive_opt::<TimestampMicrosecondType>()
        .ok_or_else(|| Failure::new("an instant has another type than it was compiled for"))?;
    Ok(Arc::new(array.clone().with_timezone("UTC")))
}
