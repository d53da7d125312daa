//! Columns while an expression is evaluated: an Arrow array of one value a row, or of one value for all rows.

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float64Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, Datum, PrimitiveArray, StringArray};
use std::sync::Arc;

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Col {
    pub(crate) array: ArrayRef,
    /// Whether the array has one value, which stands for all rows.
    pub(crate) scalar: bool,
}

impl Datum for Col {
    fn get(&self) -> (&dyn Array, bool) {
        (self.array.as_ref(), self.scalar)
    }
}

/// A kernel got an array of another type than it was bound for: a fault of ours, told instead of a panic.
#[derive(Debug)]
pub(crate) struct WrongArray;

macro_rules! reader {
    ($name:ident, $method:ident, $array:ty, $value:ty) => {
        /// Reads the values of a column by row.
        #[derive(Clone, Copy)]
        pub(crate) struct $name<'a> {
            array: &'a $array,
            scalar: bool,
        }

        impl<'a> $name<'a> {
            /// The value of a row; `None` is NULL.
            #[inline]
            pub(crate) fn get(&self, row: usize) -> Option<$value> {
                let row = if self.scalar { 0 } else { row };
                self.array.is_valid(row).then(|| self.array.value(row))
            }
        }

        impl Col {
            pub(crate) fn $method(&self) -> Result<$name<'_>, WrongArray> {
                let array = self.array.as_any().downcast_ref::<$array>().ok_or(WrongArray)?;
                Ok($name { array, scalar: self.scalar })
            }
        }
    };
}

reader!(Texts, texts, StringArray, &'a str);
reader!(Blobs, blobs, BinaryArray, &'a [u8]);
reader!(Bools, bools, BooleanArray, bool);
reader!(Longs, longs, PrimitiveArray<Int64Type>, i64);
reader!(Doubles, doubles, PrimitiveArray<Float64Type>, f64);
reader!(Decimals, decimals, PrimitiveArray<Decimal128Type>, i128);
reader!(Dates, dates, PrimitiveArray<Date32Type>, i32);
reader!(Durations, durations, PrimitiveArray<DurationMicrosecondType>, i64);
reader!(Times, times, PrimitiveArray<TimestampMicrosecondType>, i64);

impl Col {
    pub(crate) fn rows(array: ArrayRef) -> Self {
        Self { array, scalar: false }
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(if self.scalar { 0 } else { row })
    }

    /// The array with one value a row.
    pub(crate) fn spread(&self, rows: usize) -> Result<ArrayRef, arrow_schema::ArrowError> {
        if !self.scalar || rows == 1 {
            return Ok(Arc::clone(&self.array));
        }
        let indices = arrow_array::UInt32Array::from(vec![0_u32; rows]);
        arrow_select::take::take(self.array.as_ref(), &indices, None)
    }
}

/// The values of a column are together longer than a column can be.
#[derive(Debug)]
pub(crate) struct TooLong;

/// A column holds less than 2 GiB: its offsets have 31 bits.
const MAX_BYTES: usize = i32::MAX as usize;

/// Builds a column of texts; the closure appends to an empty text and says whether the value is not NULL.
pub(crate) fn build_text(
    rows: usize,
    mut value: impl FnMut(usize, &mut String) -> Option<()>,
) -> Result<ArrayRef, TooLong> {
    let mut builder = StringBuilder::with_capacity(rows, rows * 16);
    let mut scratch = String::new();
    let mut total = 0_usize;
    for row in 0..rows {
        scratch.clear();
        let valid = value(row, &mut scratch).is_some();
        total = total.saturating_add(scratch.len());
        if total > MAX_BYTES {
            return Err(TooLong);
        }
        builder.append_option(valid.then_some(scratch.as_str()));
    }
    Ok(Arc::new(builder.finish()))
}

/// The same of bytes.
pub(crate) fn build_bytes(
    rows: usize,
    mut value: impl FnMut(usize, &mut Vec<u8>) -> Option<()>,
) -> Result<ArrayRef, TooLong> {
    let mut builder = BinaryBuilder::with_capacity(rows, rows * 16);
    let mut scratch = Vec::new();
    let mut total = 0_usize;
    for row in 0..rows {
        scratch.clear();
        let valid = value(row, &mut scratch).is_some();
        total = total.saturating_add(scratch.len());
        if total > MAX_BYTES {
            return Err(TooLong);
        }
        builder.append_option(valid.then_some(scratch.as_slice()));
    }
    Ok(Arc::new(builder.finish()))
}

/// Builds a column of numbers or times.
pub(crate) fn build<T: ArrowPrimitiveType>(rows: usize, mut value: impl FnMut(usize) -> Option<T::Native>) -> ArrayRef {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(rows);
    for row in 0..rows {
        builder.append_option(value(row));
    }
    Arc::new(builder.finish())
}

/// Builds a column of truth values.
pub(crate) fn build_bool(rows: usize, mut value: impl FnMut(usize) -> Option<bool>) -> ArrayRef {
    let mut builder = BooleanBuilder::with_capacity(rows);
    for row in 0..rows {
        builder.append_option(value(row));
    }
    Arc::new(builder.finish())
}

/// The array as truth values.
pub(crate) fn as_bools(array: &dyn Array) -> Result<&BooleanArray, WrongArray> {
    array.as_boolean_opt().ok_or(WrongArray)
}
