//! CAST and TRY_CAST, and the widening that operators do by themselves.
//!
//! What a value that does not fit becomes is what Flink CDC's casts give (recordings `expr-given`, its tests of casts):
//! integers wrap around, decimals and texts that can't be read become NULL. Each is counted; where the rules are strict, a
//! number that does not fit is an error.

use super::arithmetic::tag_decimal;
use super::interval::utc;
use super::{fits, power, rescale, text_kernel};
use crate::column::{Col, build, build_bool, build_bytes};
use crate::node::{Context, Failure, Kernel};
use crate::text::{self, DAY};
use crate::types::Type;
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_schema::DataType as ArrowType;
use rowferry_model::DataType;
use std::sync::Arc;

/// How a cast treats what it can't convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Cast,
    /// NULL for everything that does not fit.
    Try,
}

/// The kernel of a cast; `None`: there is no such cast.
pub(crate) fn cast_kernel(from: &Type, to: &Type, mode: Mode) -> Option<Kernel> {
    if to.is_text() {
        return Some(text_kernel(from));
    }
    let source = Source::of(from)?;
    let Type::Plain(target) = to else { return None };
    let target = *target;
    let allowed = match target {
        DataType::Boolean
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Float
        | DataType::Double
        | DataType::Decimal { .. } => {
            matches!(source, Source::Boolean | Source::Integer | Source::Decimal(_) | Source::Float | Source::Text)
        }
        DataType::Date | DataType::Timestamp(_) | DataType::TimestampLtz(_) => {
            matches!(source, Source::Date | Source::Wall | Source::Instant | Source::Text)
        }
        DataType::Time(_) => matches!(source, Source::Time | Source::Wall | Source::Instant | Source::Text),
        DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => {
            matches!(source, Source::Text | Source::Bytes)
        }
        DataType::Char(_) | DataType::Varchar(_) | DataType::String => false,
    };
    if !allowed {
        return None;
    }
    Some(Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [a] = args else { return Err(Failure::new("a cast has one operand")) };
        let cast = Cast { source, mode, a: source.widened(a)?, rows, context };
        match target {
            DataType::Boolean => cast.to_boolean(),
            DataType::TinyInt => cast.to_integer::<Int8Type>(i64::from(i8::MIN), i64::from(i8::MAX), |v| v as i8),
            DataType::SmallInt => cast.to_integer::<Int16Type>(i64::from(i16::MIN), i64::from(i16::MAX), |v| v as i16),
            DataType::Int => cast.to_integer::<Int32Type>(i64::from(i32::MIN), i64::from(i32::MAX), |v| v as i32),
            DataType::BigInt => cast.to_integer::<Int64Type>(i64::MIN, i64::MAX, |v| v),
            DataType::Float => {
                let doubles = Col { array: cast.to_double()?, scalar: false };
                let doubles = doubles.doubles()?;
                Ok(build::<Float32Type>(rows, |row| doubles.get(row).map(|v| v as f32)))
            }
            DataType::Double => cast.to_double(),
            DataType::Decimal { precision, scale } => cast.to_decimal(precision, scale),
            DataType::Date => cast.to_date(),
            DataType::Time(_) => cast.to_time(),
            DataType::Timestamp(_) => cast.to_wall(),
            DataType::TimestampLtz(_) => {
                let wall = Col { array: cast.to_wall()?, scalar: false };
                let wall = wall.times()?;
                utc(&build::<TimestampMicrosecondType>(rows, |row| wall.get(row).map(|w| context.zone.to_instant(w))))
            }
            DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => cast.to_bytes(),
            DataType::Char(_) | DataType::Varchar(_) | DataType::String => Err(Failure::new("not a cast to a text")),
        }
    }))
}

/// What is cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Boolean,
    Integer,
    /// With its scale.
    Decimal(u8),
    Float,
    Text,
    Bytes,
    Date,
    Time,
    Wall,
    Instant,
}

impl Source {
    fn of(ty: &Type) -> Option<Self> {
        let Type::Plain(plain) = ty else { return (*ty == Type::Variant).then_some(Self::Text) };
        Some(match plain {
            DataType::Boolean => Self::Boolean,
            DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => Self::Integer,
            DataType::Decimal { scale, .. } => Self::Decimal(*scale),
            DataType::Float | DataType::Double => Self::Float,
            DataType::Char(_) | DataType::Varchar(_) | DataType::String => Self::Text,
            DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => Self::Bytes,
            DataType::Date => Self::Date,
            DataType::Time(_) => Self::Time,
            DataType::Timestamp(_) => Self::Wall,
            DataType::TimestampLtz(_) => Self::Instant,
        })
    }

    /// All integers as 64 bits.
    fn widened(self, a: &Col) -> Result<Col, Failure> {
        if self != Self::Integer {
            return Ok(a.clone());
        }
        Ok(Col { array: arrow_cast::cast(&a.array, &ArrowType::Int64)?, scalar: a.scalar })
    }
}

struct Cast<'a> {
    source: Source,
    mode: Mode,
    a: Col,
    rows: usize,
    context: &'a Context,
}

impl Cast<'_> {
    /// A floating-point value of a row as 64 bits.
    fn float(&self, row: usize) -> Option<f64> {
        if self.a.is_null(row) {
            return None;
        }
        let row = if self.a.scalar { 0 } else { row };
        match self.a.array.data_type() {
            ArrowType::Float32 => Some(f64::from(self.a.array.as_primitive_opt::<Float32Type>()?.value(row))),
            _ => Some(self.a.array.as_primitive_opt::<Float64Type>()?.value(row)),
        }
    }

    fn to_boolean(&self) -> Result<ArrayRef, Failure> {
        Ok(match self.source {
            Source::Boolean => Arc::clone(&self.a.array),
            Source::Integer => {
                let values = self.a.longs()?;
                build_bool(self.rows, |row| values.get(row).map(|v| v != 0))
            }
            Source::Decimal(_) => {
                let values = self.a.decimals()?;
                build_bool(self.rows, |row| values.get(row).map(|v| v != 0))
            }
            Source::Float => build_bool(self.rows, |row| self.float(row).map(|v| v != 0.0)),
            _ => {
                let values = self.a.texts()?;
                build_bool(self.rows, |row| {
                    let text = values.get(row)?;
                    match self.mode {
                        Mode::Cast => Some(text.trim().eq_ignore_ascii_case("true")),
                        Mode::Try => match text.trim().to_ascii_lowercase().as_str() {
                            "t" | "true" | "y" | "yes" | "1" => Some(true),
                            "f" | "false" | "n" | "no" | "0" => Some(false),
                            _ => None,
                        },
                    }
                })
            }
        })
    }

    fn to_integer<T: arrow_array::ArrowPrimitiveType>(
        &self,
        least: i64,
        most: i64,
        narrow: impl Fn(i64) -> T::Native,
    ) -> Result<ArrayRef, Failure> {
        let mut failed: Option<Failure> = None;
        // What Java's `(int) d` gives: it saturates, and shorter types take the low bits of that.
        let of_double = |d: f64| if most == i64::MAX { d as i64 } else { i64::from(d as i32) };
        let double_fits = |d: f64| {
            let whole = d.trunc();
            whole >= least as f64 && (whole <= most as f64 && (most != i64::MAX || whole < most as f64))
        };
        let mut take = |row: usize, value: i64, fits: bool, shown: &dyn Fn() -> String| -> Option<T::Native> {
            if fits {
                return Some(narrow(value));
            }
            if self.mode == Mode::Try {
                self.context.lost();
                return None;
            }
            if let Err(failure) = self.context.misfit(row, || format!("{} does not fit the type of the cast", shown()))
            {
                failed.get_or_insert(failure);
            }
            Some(narrow(value))
        };
        let array = match self.source {
            Source::Boolean => {
                let values = self.a.bools()?;
                build::<T>(self.rows, |row| values.get(row).map(|v| narrow(i64::from(v))))
            }
            Source::Integer => {
                let values = self.a.longs()?;
                build::<T>(self.rows, |row| {
                    let v = values.get(row)?;
                    take(row, v, (least..=most).contains(&v), &|| v.to_string())
                })
            }
            Source::Decimal(scale) => {
                let values = self.a.decimals()?;
                let unit = power(scale);
                build::<T>(self.rows, |row| {
                    let whole = values.get(row)? / unit;
                    let fits = whole >= i128::from(least) && whole <= i128::from(most);
                    take(row, whole as i64, fits, &|| whole.to_string())
                })
            }
            Source::Float => build::<T>(self.rows, |row| {
                let d = self.float(row)?;
                take(row, of_double(d), double_fits(d), &|| d.to_string())
            }),
            _ => {
                let values = self.a.texts()?;
                build::<T>(self.rows, |row| {
                    let text = values.get(row)?.trim();
                    if let Some(v) = text.parse::<i64>().ok().filter(|v| (least..=most).contains(v)) {
                        return Some(narrow(v));
                    }
                    let double = (self.mode == Mode::Cast).then(|| parse_double(text)).flatten();
                    match double {
                        Some(d) => take(row, of_double(d), double_fits(d), &|| text.to_owned()),
                        None => {
                            self.context.lost();
                            None
                        }
                    }
                })
            }
        };
        failed.map_or(Ok(array), Err)
    }

    fn to_double(&self) -> Result<ArrayRef, Failure> {
        Ok(match self.source {
            Source::Boolean => {
                let values = self.a.bools()?;
                build::<Float64Type>(self.rows, |row| values.get(row).map(|v| f64::from(u8::from(v))))
            }
            Source::Integer => {
                let values = self.a.longs()?;
                build::<Float64Type>(self.rows, |row| values.get(row).map(|v| v as f64))
            }
            Source::Decimal(scale) => {
                let values = self.a.decimals()?;
                let unit = power(scale) as f64;
                build::<Float64Type>(self.rows, |row| {
                    let v = values.get(row)?;
                    // Both are exact up to 2^53, so that the quotient is rounded once; else by way of the text.
                    if v.unsigned_abs() < 1 << 53 && scale <= 22 {
                        return Some(v as f64 / unit);
                    }
                    let mut text = String::new();
                    text::append_decimal(&mut text, v, scale);
                    text.parse().ok()
                })
            }
            Source::Float => build::<Float64Type>(self.rows, |row| self.float(row)),
            _ => {
                let values = self.a.texts()?;
                build::<Float64Type>(self.rows, |row| {
                    let value = parse_double(values.get(row)?);
                    if value.is_none() {
                        self.context.lost();
                    }
                    value
                })
            }
        })
    }

    fn to_decimal(&self, precision: u8, scale: u8) -> Result<ArrayRef, Failure> {
        if self.source == Source::Decimal(scale)
            && matches!(self.a.array.data_type(), ArrowType::Decimal128(p, _) if *p <= precision)
        {
            return tag_decimal(&self.a.array, precision, scale);
        }
        let mut failed: Option<Failure> = None;
        let mut take = |row: usize, value: Option<i128>| {
            let value = value.filter(|v| fits(*v, precision));
            if value.is_none() {
                if self.mode == Mode::Try {
                    self.context.lost();
                } else if let Err(failure) =
                    self.context.misfit(row, || format!("the value does not fit DECIMAL({precision}, {scale})"))
                {
                    failed.get_or_insert(failure);
                }
            }
            value
        };
        let mut scratch = String::new();
        let array = match self.source {
            Source::Boolean => {
                let values = self.a.bools()?;
                build::<Decimal128Type>(self.rows, |row| take(row, rescale(i128::from(values.get(row)?), 0, scale)))
            }
            Source::Integer => {
                let values = self.a.longs()?;
                build::<Decimal128Type>(self.rows, |row| take(row, rescale(i128::from(values.get(row)?), 0, scale)))
            }
            Source::Decimal(from) => {
                let values = self.a.decimals()?;
                build::<Decimal128Type>(self.rows, |row| take(row, rescale(values.get(row)?, from, scale)))
            }
            Source::Float => build::<Decimal128Type>(self.rows, |row| {
                let value = self.float(row)?;
                scratch.clear();
                match self.a.array.data_type() {
                    ArrowType::Float32 => text::append_float(&mut scratch, value as f32),
                    _ => text::append_double(&mut scratch, value),
                }
                take(row, text::parse_decimal(&scratch, scale))
            }),
            _ => {
                let values = self.a.texts()?;
                build::<Decimal128Type>(self.rows, |row| {
                    let text = values.get(row)?;
                    if parse_double(text).is_none() {
                        self.context.lost();
                        return None;
                    }
                    take(row, text::parse_decimal(text, scale))
                })
            }
        };
        failed.map_or(Ok(()), Err)?;
        tag_decimal(&array, precision, scale)
    }

    /// The wall time of a row, in microseconds.
    fn to_wall(&self) -> Result<ArrayRef, Failure> {
        let zone = self.context.zone;
        Ok(match self.source {
            Source::Wall => self.a.spread(self.rows)?,
            Source::Instant => {
                let values = self.a.times()?;
                build::<TimestampMicrosecondType>(self.rows, |row| values.get(row).map(|v| zone.to_wall(v)))
            }
            Source::Date => {
                let values = self.a.dates()?;
                build::<TimestampMicrosecondType>(self.rows, |row| i64::from(values.get(row)?).checked_mul(DAY))
            }
            _ => {
                let values = self.a.texts()?;
                build::<TimestampMicrosecondType>(self.rows, |row| {
                    let Some(parsed) = text::parse_timestamp(values.get(row)?) else {
                        self.context.lost();
                        return None;
                    };
                    Some(match parsed.offset {
                        None => parsed.wall,
                        Some(offset) => zone.to_wall(parsed.wall.saturating_sub(offset * text::SECOND)),
                    })
                })
            }
        })
    }

    fn to_date(&self) -> Result<ArrayRef, Failure> {
        if self.source == Source::Date {
            return Ok(self.a.spread(self.rows)?);
        }
        let wall = Col { array: self.to_wall()?, scalar: false };
        let wall = wall.times()?;
        Ok(build::<Date32Type>(self.rows, |row| i32::try_from(wall.get(row)?.div_euclid(DAY)).ok()))
    }

    fn to_time(&self) -> Result<ArrayRef, Failure> {
        Ok(match self.source {
            Source::Time => self.a.spread(self.rows)?,
            Source::Text => {
                let values = self.a.texts()?;
                build::<DurationMicrosecondType>(self.rows, |row| {
                    let value = text::parse_time(values.get(row)?);
                    if value.is_none() {
                        self.context.lost();
                    }
                    value
                })
            }
            _ => {
                let wall = Col { array: self.to_wall()?, scalar: false };
                let wall = wall.times()?;
                build::<DurationMicrosecondType>(self.rows, |row| wall.get(row).map(|v| v.rem_euclid(DAY)))
            }
        })
    }

    fn to_bytes(&self) -> Result<ArrayRef, Failure> {
        if self.source == Source::Bytes {
            return Ok(self.a.spread(self.rows)?);
        }
        let values = self.a.texts()?;
        build_bytes(self.rows, |row, out| {
            out.extend_from_slice(values.get(row)?.as_bytes());
            Some(())
        })
        .map_err(Failure::from)
    }
}

/// A floating-point number as `Double.parseDouble` reads it.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    match number.trim_start_matches(['+', '-']) {
        "NaN" | "Infinity" => number.parse().ok(),
        digits if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => number.parse().ok(),
        _ => None,
    }
}
