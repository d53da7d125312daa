//! Tables, rows, and the steps of a pipeline.

use arrow_array::{ArrayRef, RecordBatch};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, RowOp, TableId, TableSchema};
use rowferry_sinks::{Sink, SinkContext, SinkError, TableSelector};
use std::sync::Arc;

pub const INSTANCE: &str = "0123456789abcdef0123456789abcdef";

pub fn context() -> SinkContext {
    SinkContext {
        pipeline: "p".to_owned(),
        parallelism: 1,
        time_zone: "+08:00".to_owned(),
        instance: INSTANCE.to_owned(),
        select: whole_names,
    }
}

/// Names themselves, with commas between them: the patterns of a pipeline file are not the sinks' matter.
fn whole_names(list: &str) -> Result<TableSelector, String> {
    let names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
    Ok(Arc::new(move |table| names.contains(&table.to_string())))
}

pub fn table() -> TableId {
    TableId::new("shop", "orders")
}

pub fn schema(columns: Vec<Column>, key: &[&str]) -> Arc<TableSchema> {
    Arc::new(TableSchema {
        columns,
        primary_key: key.iter().map(|k| (*k).to_owned()).collect(),
        ..TableSchema::default()
    })
}

/// `id BIGINT` and `name VARCHAR(20)`.
pub fn simple_schema() -> Arc<TableSchema> {
    schema(vec![Column::new("id", DataType::BigInt).not_null(), Column::new("name", DataType::Varchar(20))], &["id"])
}

pub fn batch(table: &TableId, schema: &Arc<TableSchema>, changes: Changes, columns: Vec<ArrayRef>) -> ChangeBatch {
    let columns = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(table.clone(), Arc::clone(schema), changes, columns).unwrap()
}

/// Rows of the simple schema.
pub fn rows(table: &TableId, rows: &[(RowOp, i64, Option<&str>)]) -> ChangeBatch {
    use arrow_array::{Int64Array, StringArray};
    let ops = rows.iter().map(|r| r.0).collect();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1)));
    let names: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|r| r.2)));
    batch(table, &simple_schema(), Changes::Mixed(ops), vec![ids, names])
}

/// Prepares and commits a checkpoint, as the pipeline does.
pub async fn checkpoint(sink: &mut Sink, id: u64) -> Result<(), SinkError> {
    if let Some(committable) = sink.events.prepare(id).await? {
        sink.events.commit(id, committable).await?;
    }
    Ok(())
}

/// Creates the simple table by way of the sink.
pub async fn create(sink: &mut Sink, table: &TableId) {
    let schema = simple_schema();
    let change = rowferry_model::SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
}
