//! Casts of whole columns.

use super::wall::{instant_to_wall, wall_to_instant};
use crate::config::Zone;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::BooleanBufferBuilder;
use rowferry_model::DataType;
use rowferry_sinks::text::column_text;
use std::io::Write;
use std::sync::Arc;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// How values of one type become values of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cast {
    /// They are the same.
    Same,
    /// They are the same where the target has room for them.
    Length,
    /// Numbers and truth values.
    Number,
    /// Days and times.
    Temporal,
    /// To text.
    Text,
    /// To bytes, by way of the text.
    Bytes,
    /// Truth values in words.
    Word,
    /// Only NULL can pass.
    Never,
}

impl Cast {
    pub(super) fn between(from: DataType, to: DataType) -> Self {
        use DataType as T;
        let number = |t| matches!(t, T::TinyInt | T::SmallInt | T::Int | T::BigInt | T::Decimal { .. });
        match (from, to) {
            (from, to) if from == to => Self::Same,
            (T::Timestamp(_), T::Timestamp(_))
            | (T::TimestampLtz(_), T::TimestampLtz(_))
            | (T::Time(_), T::Time(_)) => Self::Same,
            (from, to) if length(from).is_some() && is_text(from) == is_text(to) && length(to).is_some() => {
                if length(to) >= length(from) { Self::Same } else { Self::Length }
            }
            (_, to) if is_text(to) => Self::Text,
            (_, to) if length(to).is_some() => Self::Bytes,
            (from, T::Boolean) if is_text(from) => Self::Word,
            (T::Boolean, to) if number(to) => Self::Number,
            (from, T::Boolean) if number(from) => Self::Number,
            (from, to) if number(from) && (number(to) || matches!(to, T::Float | T::Double)) => Self::Number,
            (T::Float, T::Double) | (T::Double, T::Float) => Self::Number,
            (T::Date, T::Timestamp(_) | T::TimestampLtz(_))
            | (T::Timestamp(_), T::TimestampLtz(_))
            | (T::TimestampLtz(_), T::Timestamp(_)) => Self::Temporal,
            _ => Self::Never,
        }
    }
}

fn is_text(data_type: DataType) -> bool {
    matches!(data_type, DataType::Char(_) | DataType::Varchar(_) | DataType::String)
}

/// How long texts, in characters, or byte strings may be; `None` for other types.
fn length(data_type: DataType) -> Option<u32> {
    match data_type {
        DataType::Char(n) | DataType::Varchar(n) | DataType::Binary(n) | DataType::Varbinary(n) => Some(n),
        DataType::String | DataType::Bytes => Some(u32::MAX),
        _ => None,
    }
}

/// A value does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Its row.
    pub(super) row: usize,
}

/// Casts a column; NULL stays NULL.
pub(super) fn cast(how: Cast, from: DataType, to: DataType, array: &ArrayRef, zone: &Zone) -> Result<ArrayRef, Misfit> {
    let cast = match how {
        Cast::Same => Some(array.clone()),
        Cast::Length => Some(fitting(array.clone(), to)?),
        Cast::Text => match column_text(&from, array) {
            Some(texts) => Some(fitting(Arc::new(texts), to)?),
            None => None,
        },
        Cast::Bytes => match column_text(&from, array) {
            Some(texts) => Some(fitting(Arc::new(BinaryArray::from(texts)), to)?),
            None => None,
        },
        Cast::Word => match array.as_string_opt() {
            Some(words) => Some(Arc::new(words_to_boolean(words)?) as ArrayRef),
            None => None,
        },
        Cast::Number => number(from, to, array)?,
        Cast::Temporal => temporal(from, to, array, zone)?,
        Cast::Never => None,
    };
    match cast {
        Some(cast) => Ok(cast),
        None => match (0..array.len()).find(|row| array.is_valid(*row)) {
            Some(row) => Err(Misfit { row }),
            None => Ok(arrow_array::new_null_array(&to.arrow(), array.len())),
        },
    }
}

/// The column, if the target has room for all its values.
fn fitting(array: ArrayRef, to: DataType) -> Result<ArrayRef, Misfit> {
    let most = length(to).and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let too_long = if let Some(texts) = array.as_string_opt::<i32>() {
        // As many characters as bytes at most, so that few are counted.
        (0..texts.len()).find(|row| {
            texts.is_valid(*row) && texts.value(*row).len() > most && texts.value(*row).chars().count() > most
        })
    } else if let Some(bytes) = array.as_binary_opt::<i32>() {
        (0..bytes.len()).find(|row| bytes.is_valid(*row) && bytes.value(*row).len() > most)
    } else {
        None
    };
    too_long.map_or(Ok(array), |row| Err(Misfit { row }))
}

fn words_to_boolean(words: &StringArray) -> Result<BooleanArray, Misfit> {
    let mut values = BooleanBufferBuilder::new(words.len());
    for row in 0..words.len() {
        values.append(match words.value(row) {
            _ if words.is_null(row) => false,
            word if word.eq_ignore_ascii_case("true") => true,
            word if word.eq_ignore_ascii_case("false") => false,
            _ => return Err(Misfit { row }),
        });
    }
    Ok(BooleanArray::new(values.finish(), words.nulls().cloned()))
}

/// Converts each value; `convert` gives nothing for one that does not fit.
fn each<S: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    array: &PrimitiveArray<S>,
    mut convert: impl FnMut(S::Native) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>, Misfit> {
    let mut values = Vec::with_capacity(array.len());
    for (row, value) in array.values().iter().enumerate() {
        // What lies under NULL is anything.
        if array.is_null(row) {
            values.push(T::Native::default());
        } else {
            values.push(convert(*value).ok_or(Misfit { row })?);
        }
    }
    Ok(PrimitiveArray::new(values.into(), array.nulls().cloned()))
}

fn temporal(from: DataType, to: DataType, array: &ArrayRef, zone: &Zone) -> Result<Option<ArrayRef>, Misfit> {
    type Micros = TimestampMicrosecondType;
    let to_instant = matches!(to, DataType::TimestampLtz(_));
    let cast: PrimitiveArray<Micros> = match from {
        DataType::Date => {
            let Some(days) = array.as_primitive_opt::<Date32Type>() else { return Ok(None) };
            each(days, |day| {
                let midnight = i64::from(day).checked_mul(MICROS_PER_DAY)?;
                if to_instant { wall_to_instant(midnight, zone) } else { Some(midnight) }
            })?
        }
        _ => {
            let Some(times) = array.as_primitive_opt::<Micros>() else { return Ok(None) };
            each::<Micros, Micros>(times, |micros| {
                if to_instant { wall_to_instant(micros, zone) } else { instant_to_wall(micros, zone) }
            })?
        }
    };
    Ok(Some(Arc::new(cast.with_data_type(to.arrow()))))
}

fn number(from: DataType, to: DataType, array: &ArrayRef) -> Result<Option<ArrayRef>, Misfit> {
    macro_rules! integers {
        ($type:ty) => {
            match array.as_primitive_opt::<$type>() {
                Some(array) => from_integers(array, to),
                None => Ok(None),
            }
        };
    }
    match from {
        DataType::TinyInt => integers!(Int8Type),
        DataType::SmallInt => integers!(Int16Type),
        DataType::Int => integers!(Int32Type),
        DataType::BigInt => integers!(Int64Type),
        DataType::Boolean => match array.as_boolean_opt() {
            Some(array) => {
                let values: Vec<i8> = (0..array.len()).map(|row| i8::from(array.value(row))).collect();
                from_integers(&PrimitiveArray::<Int8Type>::new(values.into(), array.nulls().cloned()), to)
            }
            None => Ok(None),
        },
        DataType::Decimal { scale, .. } => match array.as_primitive_opt::<Decimal128Type>() {
            Some(array) => from_decimals(array, scale, to),
            None => Ok(None),
        },
        DataType::Float => match array.as_primitive_opt::<Float32Type>() {
            Some(array) => Ok(Some(Arc::new(each::<_, Float64Type>(array, |v| Some(f64::from(v)))?))),
            None => Ok(None),
        },
        DataType::Double => match array.as_primitive_opt::<Float64Type>() {
            // What a FLOAT can't hold exactly does not fit.
            Some(array) => Ok(Some(Arc::new(each::<_, Float32Type>(array, |v| {
                let narrow = v as f32;
                (v.is_nan() || f64::from(narrow) == v).then_some(narrow)
            })?))),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn from_integers<S>(array: &PrimitiveArray<S>, to: DataType) -> Result<Option<ArrayRef>, Misfit>
where
    S: ArrowPrimitiveType,
    S::Native: Into<i64>,
{
    Ok(Some(match to {
        DataType::Boolean => booleans(array, |v| match v.into() {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        })?,
        DataType::TinyInt => Arc::new(each::<_, Int8Type>(array, |v| i8::try_from(v.into()).ok())?),
        DataType::SmallInt => Arc::new(each::<_, Int16Type>(array, |v| i16::try_from(v.into()).ok())?),
        DataType::Int => Arc::new(each::<_, Int32Type>(array, |v| i32::try_from(v.into()).ok())?),
        DataType::BigInt => Arc::new(each::<_, Int64Type>(array, |v| Some(v.into()))?),
        // The nearest number, as Java and MySQL take it.
        DataType::Float => Arc::new(each::<_, Float32Type>(array, |v| Some(v.into() as f32))?),
        DataType::Double => Arc::new(each::<_, Float64Type>(array, |v| Some(v.into() as f64))?),
        DataType::Decimal { precision, scale } => {
            let cast = each::<_, Decimal128Type>(array, |v| rescale(i128::from(v.into()), 0, precision, scale))?;
            Arc::new(cast.with_data_type(to.arrow()))
        }
        _ => return Ok(None),
    }))
}

fn from_decimals(
    array: &PrimitiveArray<Decimal128Type>,
    from_scale: u8,
    to: DataType,
) -> Result<Option<ArrayRef>, Misfit> {
    let whole = |v: i128| {
        let unit = 10_i128.checked_pow(u32::from(from_scale))?;
        (v % unit == 0).then_some(v / unit)
    };
    Ok(Some(match to {
        DataType::Boolean => booleans(array, |v| match whole(v)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        })?,
        DataType::TinyInt => Arc::new(each::<_, Int8Type>(array, |v| i8::try_from(whole(v)?).ok())?),
        DataType::SmallInt => Arc::new(each::<_, Int16Type>(array, |v| i16::try_from(whole(v)?).ok())?),
        DataType::Int => Arc::new(each::<_, Int32Type>(array, |v| i32::try_from(whole(v)?).ok())?),
        DataType::BigInt => Arc::new(each::<_, Int64Type>(array, |v| i64::try_from(whole(v)?).ok())?),
        DataType::Float => {
            let mut text = Vec::with_capacity(48);
            Arc::new(each::<_, Float32Type>(array, |v| decimal_text(&mut text, v, from_scale)?.parse().ok())?)
        }
        DataType::Double => {
            let mut text = Vec::with_capacity(48);
            Arc::new(each::<_, Float64Type>(array, |v| decimal_text(&mut text, v, from_scale)?.parse().ok())?)
        }
        DataType::Decimal { precision, scale } => {
            let cast = each::<_, Decimal128Type>(array, |v| rescale(v, from_scale, precision, scale))?;
            Arc::new(cast.with_data_type(to.arrow()))
        }
        _ => return Ok(None),
    }))
}

fn booleans<S: ArrowPrimitiveType>(
    array: &PrimitiveArray<S>,
    convert: impl Fn(S::Native) -> Option<bool>,
) -> Result<ArrayRef, Misfit> {
    let mut values = BooleanBufferBuilder::new(array.len());
    for (row, value) in array.values().iter().enumerate() {
        values.append(!array.is_null(row) && convert(*value).ok_or(Misfit { row })?);
    }
    Ok(Arc::new(BooleanArray::new(values.finish(), array.nulls().cloned())))
}

/// `text` as a number that a float can be parsed from, which rounds once.
fn decimal_text(text: &mut Vec<u8>, unscaled: i128, scale: u8) -> Option<&str> {
    text.clear();
    write!(text, "{unscaled}e-{scale}").ok()?;
    std::str::from_utf8(text).ok()
}

/// A decimal with another scale, rounded half away from zero as MySQL does; `None` where it has too many digits before
/// the point.
fn rescale(unscaled: i128, from_scale: u8, precision: u8, scale: u8) -> Option<i128> {
    let rescaled = if scale >= from_scale {
        unscaled.checked_mul(10_i128.checked_pow(u32::from(scale - from_scale))?)?
    } else {
        let unit = 10_i128.checked_pow(u32::from(from_scale - scale))?;
        let (quotient, rest) = (unscaled / unit, unscaled % unit);
        if rest.unsigned_abs() * 2 >= unit.unsigned_abs() { quotient + unscaled.signum() } else { quotient }
    };
    let limit = 10_u128.checked_pow(u32::from(precision))?;
    (rescaled.unsigned_abs() < limit).then_some(rescaled)
}
