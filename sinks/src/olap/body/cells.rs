//! A column of a batch with what its values become.

use super::escape::{append_base64, append_hex};
use super::numbers::{append_decimal, append_f32, append_f64, append_i64};
use super::plan::{ColumnPlan, Form};
use super::syntax::Syntax;
use super::time::{append_date, append_time, append_timestamp};
use super::zone::{LastOffset, Zone};
use crate::cells::Cells as Values;
use arrow_buffer::NullBuffer;

/// A value that the target can't hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It is too long.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The greatest length.
        limit: usize,
    },
    /// The year is not one of 0 to 9999.
    Year,
    /// It is no number.
    NotANumber,
    /// It has what sets values apart.
    Separator,
    /// It is the text that stands for NULL.
    NullMark,
    /// As Arrow: it is before the first moment that a backend reads as it is.
    #[cfg(feature = "doris")]
    Before1970,
    /// As Arrow: it is a day of the year 0.
    #[cfg(feature = "doris")]
    FirstYear,
    /// As Arrow: it has more digits than its column.
    #[cfg(feature = "doris")]
    Digits,
}

/// The values of a column, and how they are written.
pub(super) struct Cells<'a> {
    pub(super) values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
    form: Form,
    pub(super) limit: usize,
    zone: &'a Zone,
    last: LastOffset,
}

impl<'a> Cells<'a> {
    /// A column.
    pub(super) fn new(plan: &ColumnPlan, values: Values<'a>, zone: &'a Zone) -> Self {
        let limit = plan.limit.unwrap_or(usize::MAX);
        let nulls = values.nulls();
        Self { values, nulls, form: plan.form, limit, zone, last: LastOffset::default() }
    }

    /// Whether a value is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Whether the values of two rows are the same to the target: -0 is written as 0.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        match &self.values {
            Values::Float32(v) => v.value(a) == v.value(b),
            Values::Float64(v) => v.value(a) == v.value(b),
            values => values.same(a, b),
        }
    }

    /// An instant as a wall time, in microseconds.
    #[cfg(feature = "doris")]
    pub(super) fn wall(&self, micros: i64) -> i64 {
        self.zone.wall(micros, &self.last)
    }

    /// Appends a value that is not NULL.
    #[inline]
    pub(super) fn append<S: Syntax>(&self, syntax: &S, out: &mut Vec<u8>, row: usize) -> Result<(), Unfit> {
        let start = out.len();
        let quoted = self.form == Form::Quoted;
        match &self.values {
            Values::Boolean(a) => out.extend_from_slice(if a.value(row) { b"true" } else { b"false" }),
            Values::Int8(a) => append_i64(out, a.value(row).into()),
            Values::Int16(a) => append_i64(out, a.value(row).into()),
            Values::Int32(a) => append_i64(out, a.value(row).into()),
            Values::Int64(a) => append_i64(out, a.value(row)),
            Values::Float32(a) => {
                let value = a.value(row) + 0.0;
                if !value.is_finite() {
                    return Err(Unfit::NotANumber);
                }
                in_quotes(syntax, out, quoted, |out| append_f32(out, value));
            }
            Values::Float64(a) => {
                let value = a.value(row) + 0.0;
                if !value.is_finite() {
                    return Err(Unfit::NotANumber);
                }
                in_quotes(syntax, out, quoted, |out| append_f64(out, value));
            }
            // In quotes, so that no parser takes the way through a double.
            Values::Decimal(a, scale) => in_quotes(syntax, out, true, |out| append_decimal(out, a.value(row), *scale)),
            Values::Text(a) => {
                let text = a.value(row);
                fits(text.len(), self.limit)?;
                syntax.text(out, text);
                syntax.check(out.get(start..).unwrap_or_default())?;
            }
            Values::Bytes(a) if self.form == Form::Hex => {
                let bytes = a.value(row);
                fits(bytes.len() * 2, self.limit)?;
                in_quotes(syntax, out, true, |out| append_hex(out, bytes));
                syntax.check(out.get(start..).unwrap_or_default())?;
            }
            Values::Bytes(a) => {
                let bytes = a.value(row);
                fits(bytes.len(), self.limit)?;
                in_quotes(syntax, out, true, |out| append_base64(out, bytes));
                syntax.check(out.get(start..).unwrap_or_default())?;
            }
            Values::Date(a) => day(syntax, out, |out| append_date(out, a.value(row).into()))?,
            Values::Time(a, precision) => {
                in_quotes(syntax, out, true, |out| append_time(out, a.value(row), *precision));
            }
            Values::Timestamp(a, _) => day(syntax, out, |out| append_timestamp(out, a.value(row)))?,
            Values::Instant(a, _) => {
                day(syntax, out, |out| append_timestamp(out, self.zone.wall(a.value(row), &self.last)))?;
            }
        }
        Ok(())
    }
}

fn in_quotes<S: Syntax>(syntax: &S, out: &mut Vec<u8>, quoted: bool, append: impl FnOnce(&mut Vec<u8>)) {
    if quoted {
        syntax.quote(out);
    }
    append(out);
    if quoted {
        syntax.quote(out);
    }
}

fn day<S: Syntax>(syntax: &S, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Result<(), Unfit> {
    syntax.quote(out);
    append(out).ok_or(Unfit::Year)?;
    syntax.quote(out);
    Ok(())
}

pub(super) fn fits(bytes: usize, limit: usize) -> Result<(), Unfit> {
    if bytes > limit { Err(Unfit::TooLong { bytes, limit }) } else { Ok(()) }
}
