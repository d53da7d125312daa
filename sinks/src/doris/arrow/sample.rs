//! Rows with every type that is sent, at its bounds, and what must come back.

use super::super::target_type::TargetType;
use crate::SinkError;
use crate::olap::quote;
use crate::olap::rows::Rows;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, RowOp, TableId, TableSchema};
use std::sync::Arc;

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// As text: what a frontend's JSON would make of a large number is its own matter.
    Text,
    /// As text of a number, because servers spell booleans in several ways.
    Number,
    /// As a floating-point number, however it is spelled.
    Floating,
    /// As text with a fraction, whose last zeros count for nothing.
    Fraction,
}

/// A column, and what must be read of it, row by row.
pub(super) struct Sent {
    pub(super) name: String,
    pub(super) target: TargetType,
    reading: Reading,
    wanted: Vec<Option<&'static str>>,
}

impl Sent {
    /// As it is asked for.
    pub(super) fn selected(&self) -> String {
        let name = quote::name(&self.name);
        match self.reading {
            Reading::Text | Reading::Fraction => format!("CAST({name} AS STRING)"),
            Reading::Number => format!("CAST({name} AS INT)"),
            Reading::Floating => name,
        }
    }

    fn is(&self, wanted: Option<&str>, read: Option<&str>) -> bool {
        let (Some(wanted), Some(read)) = (wanted, read) else { return wanted == read };
        match self.reading {
            Reading::Text | Reading::Number => wanted == read,
            // The samples have few digits, binary and decimal: no spelling is another number.
            Reading::Floating => wanted.parse::<f64>().is_ok_and(|w| read.parse() == Ok(w)),
            Reading::Fraction => shortest(wanted) == shortest(read),
        }
    }
}

fn shortest(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Rows, and what must come back.
pub(super) struct Sample {
    pub(super) columns: Vec<Sent>,
    pub(super) key: String,
    pub(super) batch: ChangeBatch,
    /// How many rows must come back.
    pub(super) rows: usize,
}

/// Rows that stay; one that is deleted follows.
const STAY: usize = 4;

impl Sample {
    /// The rows for a table.
    ///
    /// # Errors
    /// They can't be put together.
    pub(super) fn new(table: &TableId) -> Result<Self, SinkError> {
        let mut all = columns()?;
        // A row that is to go, in the same load.
        let mut schema = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        let mut sent = Vec::new();
        for (i, (source, target, reading, array, wanted)) in all.drain(..).enumerate() {
            let name = format!("c{i}");
            schema.push(Column::new(name.clone(), source));
            arrays.push(array);
            sent.push(Sent { name, target, reading, wanted: wanted.to_vec() });
        }
        let key = "c0".to_owned();
        let schema =
            Arc::new(TableSchema { columns: schema, primary_key: vec![key.clone()], ..TableSchema::default() });
        let mut ops = vec![RowOp::Insert; STAY];
        ops.push(RowOp::Delete);
        let failed =
            |e: String| SinkError::permanent(format!("doris sink: the rows that check Arrow can't be made: {e}"));
        let columns = RecordBatch::try_new(schema.arrow(), arrays).map_err(|e| failed(e.to_string()))?;
        let batch =
            ChangeBatch::new(table.clone(), schema, Changes::Mixed(ops), columns).map_err(|e| failed(e.to_string()))?;
        Ok(Self { columns: sent, key, batch, rows: STAY })
    }

    /// What was sent and what came back, where the two differ.
    pub(super) fn difference(&self, read: &Rows) -> Option<String> {
        if read.rows.len() != self.rows {
            return Some(format!("{} rows came back instead of {}", read.rows.len(), self.rows));
        }
        self.columns.iter().enumerate().find_map(|(at, column)| {
            column.wanted.iter().zip(&read.rows).find_map(|(wanted, row)| {
                let read = row.get(at).and_then(|v| v.as_deref());
                let shown = |v: Option<&str>| v.map_or_else(|| "NULL".to_owned(), |v| format!("`{v}`"));
                (!column.is(*wanted, read)).then(|| {
                    format!("{} was sent as {} and came back as {}", shown(*wanted), column.target, shown(read))
                })
            })
        })
    }
}

type Made = (DataType, TargetType, Reading, ArrayRef, [Option<&'static str>; STAY]);

/// The columns, the key first. The last value of each is that of the row that goes.
fn columns() -> Result<Vec<Made>, SinkError> {
    use Reading::{Floating, Fraction, Number, Text};
    let decimals = |precision: u8, scale: u8, values: [Option<i128>; STAY + 1]| {
        Decimal128Array::from(values.to_vec())
            .with_precision_and_scale(precision, scale as i8)
            .map(|array| -> ArrayRef { Arc::new(array) })
            .map_err(|e| SinkError::permanent(format!("doris sink: the rows that check Arrow can't be made: {e}")))
    };
    let texts = |values: [Option<&str>; STAY + 1]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let times =
        |values: [Option<i64>; STAY + 1]| -> ArrayRef { Arc::new(TimestampMicrosecondArray::from(values.to_vec())) };
    let decimal = |precision, scale| DataType::Decimal { precision, scale };
    // 99999999999999999999999999999999999999, the greatest number of 38 digits.
    const MOST: i128 = 10_i128.pow(38) - 1;
    // 1970-01-01 08:00:00, 2024-02-29 23:59:59 and 9999-12-31 23:59:59.
    const FIRST: i64 = 28_800_000_000;
    const LEAP: i64 = 1_709_251_199_000_000;
    const LAST: i64 = 253_402_300_799_000_000;
    Ok(vec![
        (
            DataType::Int,
            TargetType::Int,
            Text,
            Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5])),
            [Some("1"), Some("2"), Some("3"), Some("4")],
        ),
        (
            DataType::Boolean,
            TargetType::Boolean,
            Number,
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true), None])),
            [Some("1"), Some("0"), None, Some("1")],
        ),
        (
            DataType::TinyInt,
            TargetType::TinyInt,
            Text,
            Arc::new(Int8Array::from(vec![Some(i8::MIN), Some(i8::MAX), None, Some(-1), None])),
            [Some("-128"), Some("127"), None, Some("-1")],
        ),
        (
            DataType::SmallInt,
            TargetType::SmallInt,
            Text,
            Arc::new(Int16Array::from(vec![Some(i16::MIN), Some(i16::MAX), None, Some(-2), None])),
            [Some("-32768"), Some("32767"), None, Some("-2")],
        ),
        (
            DataType::Int,
            TargetType::Int,
            Text,
            Arc::new(Int32Array::from(vec![Some(i32::MIN), Some(i32::MAX), None, Some(-3), None])),
            [Some("-2147483648"), Some("2147483647"), None, Some("-3")],
        ),
        (
            DataType::BigInt,
            TargetType::BigInt,
            Text,
            Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(i64::MAX), None, Some(-4), None])),
            [Some("-9223372036854775808"), Some("9223372036854775807"), None, Some("-4")],
        ),
        (
            decimal(38, 0),
            TargetType::LargeInt,
            Text,
            decimals(38, 0, [Some(-MOST), Some(MOST), None, Some(0), None])?,
            [
                Some("-99999999999999999999999999999999999999"),
                Some("99999999999999999999999999999999999999"),
                None,
                Some("0"),
            ],
        ),
        (
            DataType::Float,
            TargetType::Float,
            Floating,
            Arc::new(Float32Array::from(vec![Some(-0.5), Some(4096.5), None, Some(0.0), None])),
            [Some("-0.5"), Some("4096.5"), None, Some("0")],
        ),
        (
            DataType::Double,
            TargetType::Double,
            Floating,
            Arc::new(Float64Array::from(vec![Some(-0.125), Some(1_048_576.125), None, Some(0.0), None])),
            [Some("-0.125"), Some("1048576.125"), None, Some("0")],
        ),
        (
            decimal(9, 2),
            TargetType::Decimal(9, 2),
            Fraction,
            decimals(9, 2, [Some(-999_999_999), Some(999_999_999), None, Some(-1), None])?,
            [Some("-9999999.99"), Some("9999999.99"), None, Some("-0.01")],
        ),
        (
            decimal(18, 6),
            TargetType::Decimal(18, 6),
            Fraction,
            decimals(18, 6, [Some(-999_999_999_999_999_999), Some(999_999_999_999_999_999), None, Some(1), None])?,
            [Some("-999999999999.999999"), Some("999999999999.999999"), None, Some("0.000001")],
        ),
        (
            decimal(38, 10),
            TargetType::Decimal(38, 10),
            Fraction,
            decimals(38, 10, [Some(-MOST), Some(MOST), None, Some(-1), None])?,
            [
                Some("-9999999999999999999999999999.9999999999"),
                Some("9999999999999999999999999999.9999999999"),
                None,
                Some("-0.0000000001"),
            ],
        ),
        (
            DataType::Char(4),
            TargetType::Char(16),
            Text,
            texts([Some("a"), Some("😀😀😀😀"), None, Some(""), None]),
            [Some("a"), Some("😀😀😀😀"), None, Some("")],
        ),
        (
            DataType::Varchar(4),
            TargetType::Varchar(16),
            Text,
            texts([Some(" a "), Some("中\\N\"'"), None, Some(""), None]),
            [Some(" a "), Some("中\\N\"'"), None, Some("")],
        ),
        (
            DataType::String,
            TargetType::String,
            Text,
            texts([Some("\\N"), Some("line\tend"), None, Some(""), None]),
            [Some("\\N"), Some("line\tend"), None, Some("")],
        ),
        (
            DataType::Date,
            TargetType::Date,
            Text,
            Arc::new(Date32Array::from(vec![Some(-719_162), Some(2_932_896), None, Some(-1), None])),
            [Some("0001-01-01"), Some("9999-12-31"), None, Some("1969-12-31")],
        ),
        (
            DataType::Timestamp(0),
            TargetType::DateTime(0),
            Fraction,
            times([Some(FIRST), Some(LAST), None, Some(LEAP), None]),
            [Some("1970-01-01 08:00:00"), Some("9999-12-31 23:59:59"), None, Some("2024-02-29 23:59:59")],
        ),
        (
            DataType::Timestamp(3),
            TargetType::DateTime(3),
            Fraction,
            times([Some(FIRST + 1000), Some(LAST + 999_000), None, Some(LEAP + 120_000), None]),
            [Some("1970-01-01 08:00:00.001"), Some("9999-12-31 23:59:59.999"), None, Some("2024-02-29 23:59:59.120")],
        ),
        (
            DataType::Timestamp(6),
            TargetType::DateTime(6),
            Fraction,
            times([Some(FIRST + 1), Some(LAST + 999_999), None, Some(LEAP + 123_456), None]),
            [
                Some("1970-01-01 08:00:00.000001"),
                Some("9999-12-31 23:59:59.999999"),
                None,
                Some("2024-02-29 23:59:59.123456"),
            ],
        ),
    ])
}
