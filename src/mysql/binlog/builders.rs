//! Columns that grow value by value: typed, without an allocation a value.

use super::decode_error::{DecodeError, ValueError};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::Schema;
use rowferry_model::{Changes, DataType, RowOp, TableSchema};
use std::sync::Arc;

/// The values of one column.
pub(crate) enum Values {
    Bool(BooleanBufferBuilder),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Text or bytes, one behind the other, with the end of each.
    Bytes {
        ends: Vec<i32>,
        data: Vec<u8>,
    },
}

/// A column that grows value by value.
pub(crate) struct ColumnBuilder {
    data_type: DataType,
    pub(crate) values: Values,
    nulls: NullBufferBuilder,
}

/// What the values were other than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeStats {
    /// Dates without a day, such as `0000-00-00` and `2024-00-10`: given as NULL, or as the epoch where NULL is not
    /// allowed.
    pub zero_dates: u64,
    /// Texts with bytes that are not text in their charset; these bytes are given as U+FFFD.
    pub invalid_texts: u64,
}

macro_rules! pushes {
    ($($push:ident: $variant:ident($type:ty);)*) => {
        $(
            #[inline]
            pub(crate) fn $push(&mut self, value: $type) -> Result<(), ValueError> {
                let Values::$variant(values) = &mut self.values else { return Err(ValueError::WRONG_BUILDER) };
                values.push(value);
                self.nulls.append_non_null();
                Ok(())
            }
        )*
    };
}

impl ColumnBuilder {
    fn new(data_type: DataType) -> Self {
        let values = match data_type {
            DataType::Boolean => Values::Bool(BooleanBufferBuilder::new(0)),
            DataType::TinyInt => Values::I8(Vec::new()),
            DataType::SmallInt => Values::I16(Vec::new()),
            DataType::Int | DataType::Date => Values::I32(Vec::new()),
            DataType::BigInt | DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampLtz(_) => {
                Values::I64(Vec::new())
            }
            DataType::Float => Values::F32(Vec::new()),
            DataType::Double => Values::F64(Vec::new()),
            DataType::Decimal { .. } => Values::I128(Vec::new()),
            DataType::Char(_)
            | DataType::Varchar(_)
            | DataType::String
            | DataType::Binary(_)
            | DataType::Varbinary(_)
            | DataType::Bytes => Values::Bytes { ends: vec![0], data: Vec::new() },
        };
        Self { data_type, values, nulls: NullBufferBuilder::new(0) }
    }

    pushes! {
        push_i8: I8(i8);
        push_i16: I16(i16);
        push_i32: I32(i32);
        push_i64: I64(i64);
        push_i128: I128(i128);
        push_f32: F32(f32);
        push_f64: F64(f64);
    }

    #[inline]
    pub(crate) fn push_bool(&mut self, value: bool) -> Result<(), ValueError> {
        let Values::Bool(values) = &mut self.values else { return Err(ValueError::WRONG_BUILDER) };
        values.append(value);
        self.nulls.append_non_null();
        Ok(())
    }

    #[inline]
    pub(crate) fn push_bytes(&mut self, value: &[u8]) -> Result<(), ValueError> {
        self.write_bytes(|data| {
            data.extend_from_slice(value);
            Ok(())
        })
    }

    /// Appends a value that `write` puts behind what is there already.
    #[inline]
    pub(crate) fn write_bytes(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ValueError>,
    ) -> Result<(), ValueError> {
        let Values::Bytes { ends, data } = &mut self.values else { return Err(ValueError::WRONG_BUILDER) };
        write(data)?;
        ends.push(i32::try_from(data.len()).map_err(|_| ValueError::TooLarge)?);
        self.nulls.append_non_null();
        Ok(())
    }

    #[inline]
    pub(crate) fn push_null(&mut self) {
        match &mut self.values {
            Values::Bool(v) => v.append(false),
            Values::I8(v) => v.push(0),
            Values::I16(v) => v.push(0),
            Values::I32(v) => v.push(0),
            Values::I64(v) => v.push(0),
            Values::I128(v) => v.push(0),
            Values::F32(v) => v.push(0.0),
            Values::F64(v) => v.push(0.0),
            Values::Bytes { ends, data } => ends.push(data.len() as i32),
        }
        self.nulls.append_null();
    }

    /// The column so far; the builder starts anew with room for as many rows.
    fn finish(&mut self, rows: usize, stats: &mut DecodeStats) -> Result<ArrayRef, ValueError> {
        fn swap<T>(values: &mut Vec<T>, rows: usize) -> Vec<T> {
            std::mem::replace(values, Vec::with_capacity(rows))
        }
        let nulls = self.nulls.finish();
        Ok(match (&mut self.values, self.data_type) {
            (Values::Bool(v), _) => Arc::new(BooleanArray::new(v.finish(), nulls)),
            (Values::I8(v), _) => Arc::new(Int8Array::new(swap(v, rows).into(), nulls)),
            (Values::I16(v), _) => Arc::new(Int16Array::new(swap(v, rows).into(), nulls)),
            (Values::I32(v), DataType::Date) => Arc::new(Date32Array::new(swap(v, rows).into(), nulls)),
            (Values::I32(v), _) => Arc::new(Int32Array::new(swap(v, rows).into(), nulls)),
            (Values::I64(v), DataType::Time(_)) => Arc::new(DurationMicrosecondArray::new(swap(v, rows).into(), nulls)),
            (Values::I64(v), DataType::Timestamp(_)) => {
                Arc::new(TimestampMicrosecondArray::new(swap(v, rows).into(), nulls))
            }
            (Values::I64(v), DataType::TimestampLtz(_)) => {
                Arc::new(TimestampMicrosecondArray::new(swap(v, rows).into(), nulls).with_timezone("UTC"))
            }
            (Values::I64(v), _) => Arc::new(Int64Array::new(swap(v, rows).into(), nulls)),
            (Values::I128(v), data_type) => {
                let array = Decimal128Array::new(swap(v, rows).into(), nulls);
                match data_type {
                    DataType::Decimal { precision, scale } => Arc::new(
                        array
                            .with_precision_and_scale(precision, scale as i8)
                            .map_err(|_| ValueError::Malformed("an impossible precision or scale"))?,
                    ),
                    _ => return Err(ValueError::WRONG_BUILDER),
                }
            }
            (Values::F32(v), _) => Arc::new(Float32Array::new(swap(v, rows).into(), nulls)),
            (Values::F64(v), _) => Arc::new(Float64Array::new(swap(v, rows).into(), nulls)),
            (Values::Bytes { ends, data }, data_type) => {
                let room = data.len();
                let data = swap(data, room);
                let ends = std::mem::replace(ends, Vec::with_capacity(rows + 1));
                if let Values::Bytes { ends, .. } = &mut self.values {
                    ends.push(0);
                }
                let text = matches!(data_type, DataType::Char(_) | DataType::Varchar(_) | DataType::String);
                let (ends, data) = if text { valid_text(ends, data, stats)? } else { (ends, data) };
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                let array = (offsets, Buffer::from_vec(data), nulls);
                let broken = |_| ValueError::Malformed("the offsets of a column are broken");
                if text {
                    Arc::new(StringArray::try_new(array.0, array.1, array.2).map_err(broken)?)
                } else {
                    Arc::new(BinaryArray::try_new(array.0, array.1, array.2).map_err(broken)?)
                }
            }
        })
    }
}

/// Text columns must be UTF-8. The whole column is looked at in one go; only if something is wrong are single texts
/// looked at, and bytes that are no text become U+FFFD.
fn valid_text(ends: Vec<i32>, data: Vec<u8>, stats: &mut DecodeStats) -> Result<(Vec<i32>, Vec<u8>), ValueError> {
    // A text may end within a character, with the next one beginning with the rest: together they look right.
    if let Ok(all) = std::str::from_utf8(&data)
        && ends.iter().all(|end| all.is_char_boundary(*end as usize))
    {
        return Ok((ends, data));
    }
    let (mut new_ends, mut new_data) = (Vec::with_capacity(ends.len()), Vec::with_capacity(data.len() + 16));
    new_ends.push(0);
    for pair in ends.windows(2) {
        if let [start, end] = pair {
            let text = String::from_utf8_lossy(data.get(*start as usize..*end as usize).unwrap_or_default());
            stats.invalid_texts += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            new_data.extend_from_slice(text.as_bytes());
            new_ends.push(i32::try_from(new_data.len()).map_err(|_| ValueError::TooLarge)?);
        }
    }
    Ok((new_ends, new_data))
}

/// Rows of one table and one schema version, growing.
pub struct BatchBuilder {
    schema: Arc<Schema>,
    pub(crate) columns: Vec<ColumnBuilder>,
    ops: Vec<RowOp>,
    all_inserts: bool,
    rows: usize,
    bytes: usize,
    pub(crate) stats: DecodeStats,
    pub(crate) broken: bool,
}

impl BatchBuilder {
    /// An empty batch of that schema.
    pub fn new(schema: &TableSchema) -> Self {
        Self {
            schema: schema.arrow(),
            columns: schema.columns.iter().map(|c| ColumnBuilder::new(c.data_type)).collect(),
            ops: Vec::new(),
            all_inserts: true,
            rows: 0,
            bytes: 0,
            stats: DecodeStats::default(),
            broken: false,
        }
    }

    /// How many rows there are; an update with its image from before counts twice.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many bytes the rows had on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// What the values were other than usual, since the builder was made.
    pub fn stats(&self) -> DecodeStats {
        self.stats
    }

    pub(crate) fn end_row(&mut self, op: RowOp, bytes: usize) {
        self.rows += 1;
        self.bytes += bytes;
        if op != RowOp::Insert && self.all_inserts {
            self.all_inserts = false;
            self.ops.resize(self.rows - 1, RowOp::Insert);
        }
        if !self.all_inserts {
            self.ops.push(op);
        }
    }

    /// The rows so far; the builder starts anew.
    ///
    /// # Errors
    /// A row before could not be decoded, so that the columns have different lengths; or a column is too large.
    pub fn finish(&mut self) -> Result<(Changes, RecordBatch), DecodeError> {
        if self.broken {
            return Err(DecodeError::Broken);
        }
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter_mut().zip(self.schema.fields()) {
            let array = column
                .finish(rows, &mut self.stats)
                .map_err(|kind| DecodeError::Column { column: field.name().clone(), kind })?;
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|_| DecodeError::Broken)?;
        let changes = if std::mem::replace(&mut self.all_inserts, true) {
            Changes::Inserts(rows)
        } else {
            Changes::Mixed(std::mem::take(&mut self.ops))
        };
        Ok((changes, batch))
    }
}
