//! Batches from text.

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use rowferry_model::{ChangeBatch, Changes, DataType, RowOp, TableId, TableSchema};
use std::error::Error;
use std::sync::Arc;

/// A batch whose values are given as text, one slice a row; `None` is NULL.
///
/// # Errors
/// A value is not one of its column's type, a row has the wrong length, or the column's type is none of BOOLEAN, INT,
/// BIGINT and the character types.
pub fn batch(
    table: &TableId,
    schema: &Arc<TableSchema>,
    rows: &[(RowOp, &[Option<&str>])],
) -> Result<ChangeBatch, Box<dyn Error + Send + Sync>> {
    if let Some((_, row)) = rows.iter().find(|(_, row)| row.len() != schema.columns.len()) {
        return Err(format!("a row of {table} has {} values for {} columns", row.len(), schema.columns.len()).into());
    }
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (i, column) in schema.columns.iter().enumerate() {
        let values = rows.iter().map(|(_, row)| row[i]);
        columns.push(match column.data_type {
            DataType::Boolean => Arc::new(parsed::<bool>(values)?.into_iter().collect::<BooleanArray>()),
            DataType::Int => Arc::new(parsed::<i32>(values)?.into_iter().collect::<Int32Array>()),
            DataType::BigInt => Arc::new(parsed::<i64>(values)?.into_iter().collect::<Int64Array>()),
            DataType::Char(_) | DataType::Varchar(_) | DataType::String => Arc::new(values.collect::<StringArray>()),
            other => return Err(format!("a batch from text can't have a column of type {other}").into()),
        });
    }
    let ops = rows.iter().map(|(op, _)| *op).collect();
    let columns = RecordBatch::try_new(schema.arrow(), columns)?;
    Ok(ChangeBatch::new(table.clone(), Arc::clone(schema), Changes::Mixed(ops), columns)?)
}

fn parsed<'a, T: std::str::FromStr>(
    values: impl Iterator<Item = Option<&'a str>>,
) -> Result<Vec<Option<T>>, Box<dyn Error + Send + Sync>> {
    values
        .map(|v| v.map(|v| v.parse().map_err(|_| format!("`{v}` is not a value of the column's type"))).transpose())
        .collect::<Result<_, String>>()
        .map_err(Into::into)
}
