//! One column of a record batch.

use super::super::cells::{Cells, Unfit, fits};
use super::super::numbers::append_f32;
use super::super::plan::{ColumnPlan, Constant};
use super::super::time::{FIRST_DAY, LAST_DAY};
use super::BACKEND_OFFSET;
use super::run::Run;
use super::text::Bare;
use super::wire::Wire;
use crate::cells::Cells as Values;
use crate::temporal::MICROS_PER_DAY;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, OffsetBuffer};
use std::cell::RefCell;
use std::sync::Arc;

/// 0001-01-01 as days since the epoch. Backends count the days before it wrongly.
const FIRST_READ_DAY: i64 = FIRST_DAY + 366;
/// What the first days of 1970 are in a partition's column, which takes no NULL.
const EPOCH_DAY: Constant = Constant::Text("1970-01-01");

/// Why a column can't be written.
pub(super) enum Problem {
    /// A row's value has no form.
    Unfit(usize, Unfit),
    /// A deletion lacks its key.
    NoKey,
    /// Arrow refuses, in its words.
    Arrow(String),
}

/// A value of a row.
enum Slot<T> {
    Value(T),
    Null,
    /// Whatever the type's zero is: 0, false, an empty text, 1970-01-01, or the moment that backends read as the first.
    Zero,
}

/// One column of a record batch.
pub(super) struct Column<'a> {
    pub(super) plan: &'a ColumnPlan,
    pub(super) cells: &'a Cells<'a>,
    pub(super) source: &'a ArrayRef,
    pub(super) wire: Wire,
    pub(super) key: bool,
    pub(super) run: &'a Run,
}

impl Column<'_> {
    /// The values of the run's rows.
    pub(super) fn array(&self) -> Result<ArrayRef, Problem> {
        if let Some(same) = self.uncopied()? {
            return Ok(same);
        }
        use Values as V;
        match (&self.cells.values, self.wire) {
            (V::Boolean(a), Wire::Boolean) => self.booleans(a),
            (V::Int8(a), Wire::Integer(..=1)) => self.numbers::<Int8Type>(|r| Ok(a.value(r))),
            (V::Int8(a), Wire::Integer(2)) => self.numbers::<Int16Type>(|r| Ok(a.value(r).into())),
            (V::Int8(a), Wire::Integer(3..=4)) => self.numbers::<Int32Type>(|r| Ok(a.value(r).into())),
            (V::Int8(a), Wire::Integer(_)) => self.numbers::<Int64Type>(|r| Ok(a.value(r).into())),
            (V::Int16(a), Wire::Integer(..=2)) => self.numbers::<Int16Type>(|r| Ok(a.value(r))),
            (V::Int16(a), Wire::Integer(3..=4)) => self.numbers::<Int32Type>(|r| Ok(a.value(r).into())),
            (V::Int16(a), Wire::Integer(_)) => self.numbers::<Int64Type>(|r| Ok(a.value(r).into())),
            (V::Int32(a), Wire::Integer(..=4)) => self.numbers::<Int32Type>(|r| Ok(a.value(r))),
            (V::Int32(a), Wire::Integer(_)) => self.numbers::<Int64Type>(|r| Ok(a.value(r).into())),
            (V::Int64(a), Wire::Integer(_)) => self.numbers::<Int64Type>(|r| Ok(a.value(r))),
            (V::Int8(a), Wire::Decimal(p, s)) => self.decimals(p, s, |r| a.value(r).into()),
            (V::Int16(a), Wire::Decimal(p, s)) => self.decimals(p, s, |r| a.value(r).into()),
            (V::Int32(a), Wire::Decimal(p, s)) => self.decimals(p, s, |r| a.value(r).into()),
            (V::Int64(a), Wire::Decimal(p, s)) => self.decimals(p, s, |r| a.value(r).into()),
            (V::Decimal(a, from), Wire::Decimal(p, s)) => self.decimals(p, s.saturating_sub(*from), |r| a.value(r)),
            (V::Int8(a), Wire::Float) => self.numbers::<Float32Type>(|r| Ok(a.value(r).into())),
            (V::Int16(a), Wire::Float) => self.numbers::<Float32Type>(|r| Ok(a.value(r).into())),
            (V::Float32(a), Wire::Float) => self.numbers::<Float32Type>(|r| finite32(a.value(r))),
            (V::Int8(a), Wire::Double) => self.numbers::<Float64Type>(|r| Ok(a.value(r).into())),
            (V::Int16(a), Wire::Double) => self.numbers::<Float64Type>(|r| Ok(a.value(r).into())),
            (V::Int32(a), Wire::Double) => self.numbers::<Float64Type>(|r| Ok(a.value(r).into())),
            (V::Float32(a), Wire::Double) => {
                let digits = RefCell::new(Vec::new());
                self.numbers::<Float64Type>(|r| widened(a.value(r), &mut digits.borrow_mut()))
            }
            (V::Float64(a), Wire::Double) => self.numbers::<Float64Type>(|r| finite64(a.value(r))),
            (V::Date(a), Wire::Date) => self.numbers::<Date32Type>(|r| day(a.value(r))),
            (V::Timestamp(a, _), Wire::DateTime(digits)) => {
                self.numbers::<TimestampMicrosecondType>(|r| moment(a.value(r), digits))
            }
            (V::Instant(a, _), Wire::DateTime(digits)) => {
                self.numbers::<TimestampMicrosecondType>(|r| moment(self.cells.wall(a.value(r)), digits))
            }
            (_, Wire::Text(most)) => self.texts(most.map_or(usize::MAX, |n| n as usize), ""),
            (_, Wire::LargeInteger) => self.texts(usize::MAX, "0"),
            (_, wire) => Err(Problem::Arrow(format!("its values can't be written as {}", wire.arrow()))),
        }
    }

    /// The source's own values, where nothing has to be looked at or changed.
    fn uncopied(&self) -> Result<Option<ArrayRef>, Problem> {
        let Some(range) = self.run.range() else { return Ok(None) };
        if *self.source.data_type() != self.wire.arrow() || self.plan.null != Constant::Null {
            return Ok(None);
        }
        match (&self.cells.values, self.wire) {
            (Values::Boolean(_), Wire::Boolean)
            | (Values::Int8(_) | Values::Int16(_) | Values::Int32(_) | Values::Int64(_), Wire::Integer(_)) => {}
            (Values::Text(a), Wire::Text(most)) => {
                let limit = self.cells.limit.min(most.map_or(usize::MAX, |n| n as usize));
                for row in range.clone().filter(|row| !a.is_null(*row)) {
                    fits(usize::try_from(a.value_length(row)).unwrap_or(0), limit)
                        .map_err(|unfit| Problem::Unfit(row, unfit))?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(self.source.slice(range.start, range.len())))
    }

    /// A row's value, in the same order of decisions in which JSON is written.
    fn slot<T>(
        &self,
        row: usize,
        deletion: bool,
        value: impl FnOnce(usize) -> Result<T, Unfit>,
    ) -> Result<Slot<T>, Problem> {
        let filler = if self.plan.filler == Constant::Null { Slot::Null } else { Slot::Zero };
        if self.cells.is_null(row) {
            return match (self.plan.null, self.wire) {
                (Constant::Null, _) if !deletion => Ok(Slot::Null),
                (Constant::Null, _) if self.key => Err(Problem::NoKey),
                (Constant::Null, _) => Ok(filler),
                (EPOCH_DAY, Wire::Date) => Ok(Slot::Zero),
                // Midnight of that day is before what a backend reads.
                _ => Err(Problem::Unfit(row, Unfit::Before1970)),
            };
        }
        match value(row) {
            Ok(value) => Ok(Slot::Value(value)),
            // A value that was never loaded needs no value to be deleted.
            Err(_) if deletion && !self.key => Ok(filler),
            Err(unfit) => Err(Problem::Unfit(row, unfit)),
        }
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        value: impl Fn(usize) -> Result<T::Native, Unfit>,
    ) -> Result<ArrayRef, Problem> {
        let mut values = Vec::with_capacity(self.run.len());
        let mut nulls = NullBufferBuilder::new(self.run.len());
        for (row, deletion) in self.run.iter() {
            let slot = self.slot(row, deletion, &value)?;
            nulls.append(!matches!(slot, Slot::Null));
            values.push(match slot {
                Slot::Value(value) => value,
                Slot::Null | Slot::Zero => T::Native::default(),
            });
        }
        let array = PrimitiveArray::<T>::try_new(values.into(), nulls.finish());
        Ok(Arc::new(array.map_err(|e| Problem::Arrow(e.to_string()))?.with_data_type(self.wire.arrow())))
    }

    /// Decimals with more digits behind the point than they have.
    fn decimals(&self, precision: u8, more: u8, value: impl Fn(usize) -> i128) -> Result<ArrayRef, Problem> {
        let (factor, bound) = (10_i128.checked_pow(more.into()), 10_i128.checked_pow(precision.into()));
        let (Some(factor), Some(bound)) = (factor, bound) else {
            return Err(Problem::Arrow(format!("a decimal of {precision} digits can't be written")));
        };
        // Backends copy as many bytes as their column has: a value with more digits would become another one.
        self.numbers::<Decimal128Type>(|row| {
            let scaled = value(row).checked_mul(factor).ok_or(Unfit::Digits)?;
            if (-bound < scaled) && (scaled < bound) { Ok(scaled) } else { Err(Unfit::Digits) }
        })
    }

    fn booleans(&self, source: &BooleanArray) -> Result<ArrayRef, Problem> {
        let mut values = BooleanBufferBuilder::new(self.run.len());
        let mut nulls = NullBufferBuilder::new(self.run.len());
        for (row, deletion) in self.run.iter() {
            let slot = self.slot(row, deletion, |row| Ok(source.value(row)))?;
            nulls.append(!matches!(slot, Slot::Null));
            values.append(matches!(slot, Slot::Value(true)));
        }
        Ok(Arc::new(BooleanArray::new(values.finish(), nulls.finish())))
    }

    fn texts(&self, most: usize, zero: &str) -> Result<ArrayRef, Problem> {
        let mut bytes = Vec::with_capacity(self.run.len() * 16);
        let mut lengths = Vec::with_capacity(self.run.len());
        let mut nulls = NullBufferBuilder::new(self.run.len());
        for (row, deletion) in self.run.iter() {
            let start = bytes.len();
            let slot = self.slot(row, deletion, |row| {
                let written = self.cells.append(&Bare, &mut bytes, row);
                let written = written.and_then(|()| fits(bytes.len() - start, most));
                if written.is_err() {
                    bytes.truncate(start);
                }
                written
            })?;
            nulls.append(!matches!(slot, Slot::Null));
            if matches!(slot, Slot::Zero) {
                bytes.extend_from_slice(zero.as_bytes());
            }
            lengths.push(bytes.len() - start);
        }
        if i32::try_from(bytes.len()).is_err() {
            return Err(Problem::Arrow("its texts are more than 2 GiB".to_owned()));
        }
        let array = StringArray::try_new(OffsetBuffer::from_lengths(lengths), bytes.into(), nulls.finish());
        Ok(Arc::new(array.map_err(|e| Problem::Arrow(e.to_string()))?))
    }
}

/// Without the sign of zero, as JSON has it.
fn finite32(value: f32) -> Result<f32, Unfit> {
    if value.is_finite() { Ok(value + 0.0) } else { Err(Unfit::NotANumber) }
}

fn finite64(value: f64) -> Result<f64, Unfit> {
    if value.is_finite() { Ok(value + 0.0) } else { Err(Unfit::NotANumber) }
}

/// The double that the fewest digits of the float denote: 0.1, which as a float is no tenth, stays 0.1.
fn widened(value: f32, digits: &mut Vec<u8>) -> Result<f64, Unfit> {
    digits.clear();
    append_f32(digits, finite32(value)?);
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(Unfit::NotANumber)
}

fn day(days: i32) -> Result<i32, Unfit> {
    match i64::from(days) {
        FIRST_READ_DAY..=LAST_DAY => Ok(days),
        FIRST_DAY..FIRST_READ_DAY => Err(Unfit::FirstYear),
        _ => Err(Unfit::Year),
    }
}

/// What a backend must be sent so that it stores a wall time.
fn moment(wall: i64, digits: u8) -> Result<i64, Unfit> {
    if !(FIRST_DAY..=LAST_DAY).contains(&wall.div_euclid(MICROS_PER_DAY)) {
        return Err(Unfit::Year);
    }
    if wall < BACKEND_OFFSET {
        return Err(Unfit::Before1970);
    }
    // Backends keep all six digits, whatever the column has.
    if wall % 10_i64.pow(6 - u32::from(digits.min(6))) != 0 {
        return Err(Unfit::Digits);
    }
    Ok(wall - BACKEND_OFFSET)
}
