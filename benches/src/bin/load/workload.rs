//! The rows: a table of four columns, and one of 25.

use crate::Result;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, TableId, TableSchema};
use std::sync::Arc;

const ROWS: usize = 10_000;

/// The tables' names, each with a batch.
pub(crate) fn tables() -> Result<Vec<(&'static str, ChangeBatch)>> {
    let narrow = ["id", "k", "name", "at"];
    let mut wide: Vec<&str> = narrow.to_vec();
    let more: Vec<String> = (0..21).map(|i| format!("c{i}")).collect();
    wide.extend(more.iter().map(String::as_str));
    Ok(vec![("narrow", batch("narrow", &narrow)?), ("wide", batch("wide", &wide)?)])
}

fn batch(name: &str, names: &[&str]) -> Result<ChangeBatch> {
    let mut columns = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let (data_type, array) = column(i)?;
        let column = Column::new(*name, data_type);
        columns.push(if i == 0 { column.not_null() } else { column });
        arrays.push(array);
    }
    let schema = Arc::new(TableSchema { columns, primary_key: vec!["id".to_owned()], ..TableSchema::default() });
    let rows = RecordBatch::try_new(schema.arrow(), arrays)?;
    Ok(ChangeBatch::new(TableId::new("bench", name), schema, Changes::Inserts(ROWS), rows)?)
}

fn column(i: usize) -> Result<(DataType, ArrayRef)> {
    let numbers = (0..ROWS as i64).map(|n| n.wrapping_mul(7_919).wrapping_add(i as i64));
    Ok(match i {
        0 => (DataType::BigInt, Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
        1 => (DataType::Int, Arc::new(Int32Array::from_iter_values(numbers.map(|n| (n % 1_000_000) as i32)))),
        2 => (DataType::Varchar(20), Arc::new(StringArray::from_iter_values(numbers.map(|n| format!("name {n}"))))),
        3 => (
            DataType::Timestamp(6),
            Arc::new(TimestampMicrosecondArray::from_iter_values(numbers.map(|n| 1_700_000_000_000_000 + n * 1_001))),
        ),
        _ => match i % 5 {
            0 => (
                DataType::Decimal { precision: 18, scale: 4 },
                Arc::new(Decimal128Array::from_iter_values(numbers.map(i128::from)).with_precision_and_scale(18, 4)?),
            ),
            1 => (DataType::Double, Arc::new(Float64Array::from_iter_values(numbers.map(|n| n as f64 / 8.0)))),
            2 => (DataType::Date, Arc::new(Date32Array::from_iter_values(numbers.map(|n| (n % 20_000) as i32)))),
            3 => (DataType::Boolean, Arc::new(BooleanArray::from_iter(numbers.map(|n| Some(n % 2 == 0))))),
            _ => (
                DataType::Varchar(40),
                Arc::new(StringArray::from_iter_values(numbers.map(|n| format!("a longer text, number {n}")))),
            ),
        },
    })
}
