//! Functions over days and times.

use super::format::Format;
use super::{Call, call_node, moving_node};
use crate::bind::coerce;
use crate::column::{Col, build, build_text};
use crate::error::Fault;
use crate::kernel::shift_kernel;
use crate::node::{Context, Failure, Kernel, Node};
use crate::rule::TransformOptions;
use crate::text::{DAY, SECOND, append_date, civil, days_of, parse_timestamp};
use crate::types::{BIGINT, INT, TEXT, Type};
use crate::zone::Zone;
use arrow_array::types::{Date32Type, DurationMicrosecondType, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, cast::AsArray};
use rowferry_model::DataType;
use std::collections::HashMap;
use std::sync::Arc;

const DATE: Type = Type::Plain(DataType::Date);
const DATE_TIME: &str = "yyyy-MM-dd HH:mm:ss";

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

/// A pattern that is a literal, or one that each row brings.
struct Formats<'a> {
    fixed: Option<&'a Format>,
    met: HashMap<String, Format>,
}

impl<'a> Formats<'a> {
    fn new(fixed: Option<&'a Format>) -> Self {
        Self { fixed, met: HashMap::new() }
    }

    fn get(&mut self, pattern: &str, row: usize) -> Result<&Format, Failure> {
        if let Some(fixed) = self.fixed {
            return Ok(fixed);
        }
        if !self.met.contains_key(pattern) {
            let wrong = |reason| Failure::at(row, format!("`{pattern}` is not a date pattern: {reason}"));
            self.met.insert(pattern.to_owned(), Format::parse(pattern).map_err(wrong)?);
        }
        self.met.get(pattern).ok_or_else(wrong_call)
    }
}

/// The format that a literal argument gives; `None`: it is no literal.
fn fixed(call: &Call<'_>, i: usize) -> Result<Option<Format>, Fault> {
    match call.arg(i)?.constant_text() {
        None => Ok(None),
        Some(pattern) => Format::parse(&pattern)
            .map(Some)
            .map_err(|reason| Fault::new(format!("`{pattern}` is not a date pattern: {reason}"))),
    }
}

/// The pattern argument, or a literal default.
fn pattern_or(call: &Call<'_>, i: usize, default: &str) -> Result<(Arc<Node>, Option<Format>), Fault> {
    if call.has(i) {
        return Ok((call.text(i)?, fixed(call, i)?));
    }
    let node = Node::literal(TEXT, crate::node::constant_text(default));
    Ok((Arc::new(node), Format::parse(default).ok()))
}

pub(super) fn localtime(_: Call<'_>) -> Result<Node, Fault> {
    let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, context: &Context| {
        let wall = context.zone.to_wall(context.now).rem_euclid(DAY);
        Ok(build::<DurationMicrosecondType>(rows, |_| Some(wall - wall % SECOND)))
    });
    Ok(moving_node(Type::Plain(DataType::Time(0)), kernel))
}

pub(super) fn localtimestamp(_: Call<'_>) -> Result<Node, Fault> {
    let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, context: &Context| {
        let wall = context.zone.to_wall(context.now);
        Ok(build::<TimestampMicrosecondType>(rows, |_| Some(wall - wall.rem_euclid(1000))))
    });
    Ok(moving_node(Type::Plain(DataType::Timestamp(3)), kernel))
}

pub(super) fn current_date(_: Call<'_>) -> Result<Node, Fault> {
    let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, context: &Context| {
        let day = context.zone.to_wall(context.now).div_euclid(DAY);
        Ok(build::<Date32Type>(rows, |_| i32::try_from(day).ok()))
    });
    Ok(moving_node(DATE, kernel))
}

pub(super) fn current_timestamp(_: Call<'_>) -> Result<Node, Fault> {
    let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, context: &Context| {
        let now = context.now - context.now.rem_euclid(1000);
        utc(build::<TimestampMicrosecondType>(rows, |_| Some(now)))
    });
    Ok(moving_node(Type::Plain(DataType::TimestampLtz(3)), kernel))
}

fn utc(array: ArrayRef) -> Result<ArrayRef, Failure> {
    let array = array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(wrong_call)?;
    Ok(Arc::new(array.clone().with_timezone("UTC")))
}

/// A text from a wall time and a pattern; `of`: the wall time to show.
fn formatted(
    call: &Call<'_>,
    time: Arc<Node>,
    pattern: (Arc<Node>, Option<Format>),
    of: fn(i64, &Context) -> i64,
) -> Node {
    let (pattern, format) = pattern;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [time, pattern] = args else { return Err(wrong_call()) };
        let pattern = pattern.texts()?;
        let mut formats = Formats::new(format.as_ref());
        let mut failed = None;
        let mut show = |row: usize, wall: Option<i64>, out: &mut String| {
            let (wall, pattern) = (wall?, pattern.get(row)?);
            match formats.get(pattern, row) {
                Ok(format) => format.append(out, of(wall, context)),
                Err(failure) => drop(failed.get_or_insert(failure)),
            }
            Some(())
        };
        let array = if let Ok(longs) = time.longs() {
            build_text(rows, |row, out| show(row, longs.get(row), out))?
        } else if let Ok(clocks) = time.durations() {
            build_text(rows, |row, out| show(row, clocks.get(row), out))?
        } else {
            let times = time.times()?;
            build_text(rows, |row, out| show(row, times.get(row), out))?
        };
        failed.map_or(Ok(array), Err)
    });
    call.node(TEXT, vec![time, pattern], kernel)
}

pub(super) fn date_format(call: Call<'_>) -> Result<Node, Fault> {
    let is_clock = matches!(call.arg(0)?.ty, Type::Plain(DataType::Time(_)));
    let time = if is_clock { Arc::clone(call.arg(0)?) } else { call.wall(0)? };
    let pattern = pattern_or(&call, 1, DATE_TIME)?;
    Ok(formatted(&call, time, pattern, |wall, _| wall))
}

/// A zone that a literal names.
fn zone(call: &Call<'_>, i: usize) -> Result<Zone, Fault> {
    let name = call.literal(i, "a time zone")?;
    Zone::parse(&name).ok_or_else(|| {
        Fault::new(format!("`{name}` is not a time zone")).hint("write a region such as Asia/Tokyo, or +08:00")
    })
}

/// `DATE_FORMAT_TZ(time[, pattern], zone)`: a wall time is taken for one of the pipeline's zone.
pub(super) fn date_format_tz(call: Call<'_>) -> Result<Node, Fault> {
    let zone_at = call.args.len() - 1;
    let zone = zone(&call, zone_at)?;
    let wall = call.wall(0)?;
    let pattern = if zone_at == 2 { pattern_or(&call, 1, DATE_TIME)? } else { pattern_or(&call, 9, DATE_TIME)? };
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [time] = args else { return Err(wrong_call()) };
        let times = time.times()?;
        Ok(build::<TimestampMicrosecondType>(rows, |row| Some(zone.to_wall(context.zone.to_instant(times.get(row)?)))))
    });
    let moved = call.node(Type::Plain(DataType::Timestamp(6)), vec![wall], kernel);
    Ok(formatted(&call, Arc::new(moved), pattern, |wall, _| wall))
}

/// `CONVERT_TZ(time, from, to)`: a text stays a text, as in Flink SQL, a timestamp a timestamp.
pub(super) fn convert_tz(call: Call<'_>) -> Result<Node, Fault> {
    let (from, to) = (zone(&call, 1)?, zone(&call, 2)?);
    let is_text = call.arg(0)?.ty.is_text();
    let wall = call.wall(0)?;
    let ty = wall.ty.clone();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [time] = args else { return Err(wrong_call()) };
        let times = time.times()?;
        Ok(build::<TimestampMicrosecondType>(rows, |row| Some(to.to_wall(from.to_instant(times.get(row)?)))))
    });
    let moved = call.node(ty, vec![wall], kernel);
    if !is_text {
        return Ok(moved);
    }
    let pattern = pattern_or(&call, 9, DATE_TIME)?;
    Ok(formatted(&call, Arc::new(moved), pattern, |wall, _| wall))
}

/// A unit of time: its length in months or in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Months(i64),
    Micros(i64),
}

fn unit(call: &Call<'_>) -> Result<Unit, Fault> {
    let name = call.literal(0, "a unit")?;
    let upper = name.to_ascii_uppercase();
    Ok(match upper.strip_prefix("SQL_TSI_").unwrap_or(&upper) {
        "YEAR" => Unit::Months(12),
        "QUARTER" => Unit::Months(3),
        "MONTH" => Unit::Months(1),
        "WEEK" => Unit::Micros(7 * DAY),
        "DAY" => Unit::Micros(DAY),
        "HOUR" => Unit::Micros(3600 * SECOND),
        "MINUTE" => Unit::Micros(60 * SECOND),
        "SECOND" => Unit::Micros(SECOND),
        _ => {
            return Err(Fault::new(format!("`{name}` is not a unit of time"))
                .hint("there are YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE and SECOND"));
        }
    })
}

/// `TIMESTAMPADD(unit, n, time)`.
pub(super) fn timestampadd(call: Call<'_>) -> Result<Node, Fault> {
    let unit = unit(&call)?;
    let count = call.long(1)?;
    let time = call.arg(2)?;
    let whole_days = match unit {
        Unit::Months(_) => true,
        Unit::Micros(length) => length % DAY == 0,
    };
    let keeps = time.ty.is_timestamp() || (time.ty == DATE && whole_days);
    let time = if keeps {
        Arc::clone(time)
    } else if time.ty == DATE {
        coerce(time, &Type::Plain(DataType::Timestamp(0)), call.options)
            .ok_or_else(|| Fault::new("a day is no time"))?
    } else {
        call.wall(2)?
    };
    let (months, length) = match unit {
        Unit::Months(n) => (true, n),
        Unit::Micros(n) => (false, n),
    };
    Ok(call.node(time.ty.clone(), vec![time, count], shift_kernel(months, length)))
}

/// Whole units from one wall time to another, negative where it lies before.
fn difference(unit: Unit, from: i64, to: i64) -> Option<i64> {
    match unit {
        Unit::Micros(length) => Some((to.checked_sub(from)?) / length),
        Unit::Months(length) => {
            // Whole months, and how far into its month each is.
            let parts = |wall: i64| {
                let (year, month, day) = civil(wall.div_euclid(DAY));
                (year * 12 + i64::from(month), (day, wall.rem_euclid(DAY)))
            };
            let ((from_month, from_rest), (to_month, to_rest)) = (parts(from), parts(to));
            let mut count = to_month - from_month;
            // The last month counts when it is complete, as in MySQL and java.time.
            if count > 0 && to_rest < from_rest {
                count -= 1;
            } else if count < 0 && to_rest > from_rest {
                count += 1;
            }
            Some(count / length)
        }
    }
}

fn difference_node(call: &Call<'_>, unit: Unit, from: Arc<Node>, to: Arc<Node>) -> Node {
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [from, to] = args else { return Err(wrong_call()) };
        let (from, to) = (from.times()?, to.times()?);
        Ok(build::<Int32Type>(rows, |row| {
            let count = difference(unit, from.get(row)?, to.get(row)?)?;
            let narrow = i32::try_from(count).ok();
            if narrow.is_none() {
                context.lost();
            }
            narrow
        }))
    });
    call.node(INT, vec![from, to], kernel)
}

/// `TIMESTAMPDIFF(unit, from, to)`.
pub(super) fn timestampdiff(call: Call<'_>) -> Result<Node, Fault> {
    let unit = unit(&call)?;
    Ok(difference_node(&call, unit, call.wall(1)?, call.wall(2)?))
}

/// MySQL's `DATEDIFF(to, from)`: days between the dates, whatever the time of day.
pub(super) fn datediff(call: Call<'_>) -> Result<Node, Fault> {
    let day = |i: usize| -> Result<Arc<Node>, Fault> {
        let day = coerce(&call.wall(i)?, &DATE, call.options).ok_or_else(|| Fault::new("not a day"))?;
        coerce(&day, &Type::Plain(DataType::Timestamp(0)), call.options).ok_or_else(|| Fault::new("not a time"))
    };
    Ok(difference_node(&call, Unit::Micros(DAY), day(1)?, day(0)?))
}

/// Wall times read from texts by a pattern; what can't be read is NULL and counted.
fn read(call: &Call<'_>, text: Arc<Node>, pattern: (Arc<Node>, Option<Format>)) -> Node {
    let (pattern, format) = pattern;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [text, pattern] = args else { return Err(wrong_call()) };
        let (text, pattern) = (text.texts()?, pattern.texts()?);
        let mut formats = Formats::new(format.as_ref());
        let mut failed = None;
        let array = build::<TimestampMicrosecondType>(rows, |row| {
            let (text, pattern) = (text.get(row)?, pattern.get(row)?);
            let wall = match formats.get(pattern, row) {
                Ok(format) => format.read(text),
                Err(failure) => {
                    failed.get_or_insert(failure);
                    return None;
                }
            };
            if wall.is_none() {
                context.lost();
            }
            wall
        });
        failed.map_or(Ok(array), Err)
    });
    call.node(Type::Plain(DataType::Timestamp(3)), vec![text, pattern], kernel)
}

pub(super) fn to_date(call: Call<'_>) -> Result<Node, Fault> {
    let arg = call.arg(0)?;
    let wall = if arg.ty.is_text() || arg.ty == Type::Null {
        read(&call, call.text(0)?, pattern_or(&call, 1, "yyyy-MM-dd")?)
    } else {
        call.wall(0)?.as_ref().clone()
    };
    let date = coerce(&Arc::new(wall), &DATE, call.options).ok_or_else(|| Fault::new("not a day"))?;
    Ok(date.as_ref().clone())
}

pub(super) fn to_timestamp(call: Call<'_>) -> Result<Node, Fault> {
    Ok(read(&call, call.text(0)?, pattern_or(&call, 1, DATE_TIME)?))
}

/// An instant from a wall time of a zone; `None`: the pipeline's.
fn instant(call: &Call<'_>, wall: Node, zone: Option<Zone>) -> Node {
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [wall] = args else { return Err(wrong_call()) };
        let wall = wall.times()?;
        let zone = zone.unwrap_or(context.zone);
        utc(build::<TimestampMicrosecondType>(rows, |row| wall.get(row).map(|wall| zone.to_instant(wall))))
    });
    call.node(Type::Plain(DataType::TimestampLtz(3)), vec![Arc::new(wall)], kernel)
}

/// `TO_TIMESTAMP_LTZ(number[, 0 | 3])` or `TO_TIMESTAMP_LTZ(text[, pattern[, zone]])`.
pub(super) fn to_timestamp_ltz(call: Call<'_>) -> Result<Node, Fault> {
    if call.arg(0)?.ty.is_text() {
        let zone = if call.has(2) { Some(zone(&call, 2)?) } else { None };
        let wall = read(&call, call.text(0)?, pattern_or(&call, 1, DATE_TIME)?);
        return Ok(instant(&call, wall, zone));
    }
    let number = call.long(0)?;
    let digits = if call.has(1) {
        let digits = call.long(1)?;
        let array = digits.constant().cloned();
        array.and_then(|a| a.as_primitive_opt::<Int64Type>().map(|a| a.value(0)))
    } else {
        Some(3)
    };
    let factor = match digits {
        Some(0) => SECOND,
        Some(3) => 1000,
        _ => return Err(Fault::new("the precision of TO_TIMESTAMP_LTZ must be 0 (seconds) or 3 (milliseconds)")),
    };
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [number] = args else { return Err(wrong_call()) };
        let number = number.longs()?;
        utc(build::<TimestampMicrosecondType>(rows, |row| {
            let value = number.get(row)?.checked_mul(factor);
            if value.is_none() {
                context.lost();
            }
            value
        }))
    });
    Ok(call.node(Type::Plain(DataType::TimestampLtz(3)), vec![number], kernel))
}

/// `FROM_UNIXTIME(seconds[, pattern])`: a text in the pipeline's zone.
pub(super) fn from_unixtime(call: Call<'_>) -> Result<Node, Fault> {
    let seconds = call.long(0)?;
    let pattern = pattern_or(&call, 1, DATE_TIME)?;
    Ok(formatted(&call, seconds, pattern, |seconds, context| context.zone.to_wall(seconds.saturating_mul(SECOND))))
}

/// `UNIX_TIMESTAMP([text[, pattern]])`: seconds; the text is of the pipeline's zone.
pub(super) fn unix_timestamp(call: Call<'_>) -> Result<Node, Fault> {
    if !call.has(0) {
        let kernel: Kernel = Arc::new(|_: &[Col], rows: usize, context: &Context| {
            let seconds = context.now.div_euclid(SECOND);
            Ok(build::<Int64Type>(rows, |_| Some(seconds)))
        });
        return Ok(moving_node(BIGINT, kernel));
    }
    let wall = if call.arg(0)?.ty.is_timestamp() || call.arg(0)?.ty == DATE {
        call.wall(0)?.as_ref().clone()
    } else {
        read(&call, call.text(0)?, pattern_or(&call, 1, DATE_TIME)?)
    };
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let [wall] = args else { return Err(wrong_call()) };
        let wall = wall.times()?;
        Ok(build::<Int64Type>(rows, |row| Some(context.zone.to_instant(wall.get(row)?).div_euclid(SECOND))))
    });
    Ok(call.node(BIGINT, vec![Arc::new(wall)], kernel))
}

/// `DATE_ADD(day, n)`: the day as a text.
pub(super) fn date_add(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.wall(0)?, call.long(1)?];
    let kernel: Kernel = Arc::new(|args: &[Col], rows: usize, context: &Context| {
        let [time, count] = args else { return Err(wrong_call()) };
        let (times, counts) = (time.times()?, count.longs()?);
        build_text(rows, |row, out| {
            let day = times.get(row)?.div_euclid(DAY).checked_add(counts.get(row)?);
            // Years that no date type has.
            let Some(day) = day.filter(|day| day.abs() < 300_000_000) else {
                context.lost();
                return None;
            };
            append_date(out, day);
            Some(())
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

/// A field of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    Quarter,
    Month,
    /// Of ISO 8601.
    Week,
    Day,
    DayOfYear,
    /// 1 is Sunday.
    DayOfWeek,
    /// 1 is Monday.
    IsoDayOfWeek,
    Hour,
    Minute,
    Second,
}

impl Field {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "YEAR" => Self::Year,
            "QUARTER" => Self::Quarter,
            "MONTH" => Self::Month,
            "WEEK" => Self::Week,
            "DAY" | "DAYOFMONTH" => Self::Day,
            "DOY" | "DAYOFYEAR" => Self::DayOfYear,
            "DOW" | "DAYOFWEEK" => Self::DayOfWeek,
            "ISODOW" => Self::IsoDayOfWeek,
            "HOUR" => Self::Hour,
            "MINUTE" => Self::Minute,
            "SECOND" => Self::Second,
            _ => return None,
        })
    }

    fn is_of_clock(self) -> bool {
        matches!(self, Self::Hour | Self::Minute | Self::Second)
    }

    fn of_wall(self, wall: i64) -> i64 {
        let days = wall.div_euclid(DAY);
        let (year, month, day) = civil(days);
        let clock = wall.rem_euclid(DAY) / SECOND;
        match self {
            Self::Year => year,
            Self::Quarter => (i64::from(month) + 2) / 3,
            Self::Month => i64::from(month),
            Self::Week => {
                // The week that has this week's Thursday in the year of that Thursday.
                let thursday = days - (days + 3).rem_euclid(7) + 3;
                let first = days_of(civil(thursday).0, 1, 1).unwrap_or(thursday);
                (thursday - first) / 7 + 1
            }
            Self::Day => i64::from(day),
            Self::DayOfYear => days - days_of(year, 1, 1).unwrap_or(days) + 1,
            Self::DayOfWeek => (days + 4).rem_euclid(7) + 1,
            Self::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
            Self::Hour => clock / 3600,
            Self::Minute => clock / 60 % 60,
            Self::Second => clock % 60,
        }
    }
}

/// `EXTRACT(unit FROM time)`.
pub(crate) fn extract_node(name: &str, time: &Arc<Node>, options: &TransformOptions) -> Result<Node, Fault> {
    let Some(field) = Field::of(name) else {
        return Err(Fault::new(format!("`{name}` can't be extracted"))
            .hint("there are YEAR, QUARTER, MONTH, WEEK, DAY, DOY, DOW, HOUR, MINUTE and SECOND"));
    };
    let call = Call { name: "EXTRACT", args: vec![Arc::clone(time)], options };
    let is_clock = matches!(time.ty, Type::Plain(DataType::Time(_)));
    if is_clock && !field.is_of_clock() {
        return Err(Fault::new(format!("a TIME has no {}", name.to_ascii_uppercase())));
    }
    let arg = if is_clock { Arc::clone(time) } else { call.wall(0)? };
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [time] = args else { return Err(wrong_call()) };
        if let Ok(clocks) = time.durations() {
            return Ok(build::<Int64Type>(rows, |row| clocks.get(row).map(|clock| field.of_wall(clock))));
        }
        let times = time.times()?;
        Ok(build::<Int64Type>(rows, |row| times.get(row).map(|wall| field.of_wall(wall))))
    });
    Ok(call_node(BIGINT, vec![arg], kernel, options))
}

/// `YEAR(time)` and its like.
pub(super) fn part(call: Call<'_>) -> Result<Node, Fault> {
    extract_node(call.name, call.arg(0)?, call.options)
}

/// A day or time written as a literal: `DATE '2024-05-06'`.
pub(crate) fn literal_wall(text: &str) -> Option<i64> {
    parse_timestamp(text).filter(|parsed| parsed.offset.is_none()).map(|parsed| parsed.wall)
}
