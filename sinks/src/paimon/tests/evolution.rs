//! Schema changes on tables with rows, looked at by Apache's Python implementation.

use super::{Warehouse, checkpoint, create, inserts, rows, schema};
use crate::{Retry, Sink, SinkError};
use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float32Array, Int8Array, Int32Array, StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{
    AddedColumn, AlteredColumn, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableId, TableSchema,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn table() -> TableId {
    TableId::new("lake", "t")
}

/// Applies a change twice, as after a crash between the change and its checkpoint.
async fn apply(
    sink: &mut Sink,
    schema: &Arc<TableSchema>,
    change: SchemaChange,
) -> Result<Arc<TableSchema>, SinkError> {
    let after = schema.apply(&change).unwrap().unwrap();
    sink.metadata.apply(&change, Some(&after)).await?;
    sink.metadata.apply(&change, Some(&after)).await?;
    Ok(Arc::new(after))
}

fn alter(name: &str, data_type: DataType, nullable: bool) -> SchemaChange {
    let column = AlteredColumn { name: name.into(), data_type, nullable, old: None, comment: None };
    SchemaChange::AlterColumns { table: table(), columns: vec![column] }
}

fn rename(names: &[(&str, &str)]) -> SchemaChange {
    let names = names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    SchemaChange::RenameColumns { table: table(), names }
}

fn names(schema: &Value) -> Vec<&str> {
    schema["fields"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect()
}

fn pair() -> Arc<TableSchema> {
    schema(vec![Column::new("id", DataType::BigInt).not_null(), Column::new("v", DataType::String)], &["id"])
}

#[tokio::test]
async fn columns_are_added_where_they_belong() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let schema = pair();
    create(&mut sink, &table(), &schema).await;
    let added = |name: &str, position| AddedColumn {
        column: Column { comment: Some(format!("{name}!")), ..Column::new(name, DataType::Int).not_null() },
        position,
    };
    let columns = vec![
        added("first", ColumnPosition::First),
        added("before", ColumnPosition::Before("v".into())),
        added("after", ColumnPosition::After("before".into())),
        added("last", ColumnPosition::Last),
    ];
    let after = apply(&mut sink, &schema, SchemaChange::AddColumns { table: table(), columns }).await.unwrap();
    let expected: Vec<&str> = after.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(expected, ["first", "id", "before", "after", "v", "last"]);
    let Some(seen) = warehouse.python_schema(&table()) else { return };
    assert_eq!(names(&seen), expected);
    assert_eq!(seen["fields"][0], json!({"name": "first", "type": "INT", "comment": "first!"}));
}

#[tokio::test]
async fn types_widen_under_rows_that_are_there() {
    let warehouse = Warehouse::new(&[("table.properties.bucket", "1")]);
    let mut sink = warehouse.sink();
    let d = |precision, scale| DataType::Decimal { precision, scale };
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("a", DataType::TinyInt),
        Column::new("b", DataType::Int),
        Column::new("c", DataType::Varchar(5)),
        Column::new("e", DataType::Date),
        Column::new("f", d(5, 1)),
        Column::new("g", DataType::Float),
        Column::new("h", DataType::Timestamp(0)),
    ];
    let mut now = schema(columns, &["id"]);
    create(&mut sink, &table(), &now).await;
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1])),
        Arc::new(Int8Array::from(vec![-128])),
        Arc::new(Int32Array::from(vec![42])),
        Arc::new(StringArray::from(vec!["é"])),
        Arc::new(Date32Array::from(vec![19_782])),
        Arc::new(Decimal128Array::from(vec![-99_999]).with_precision_and_scale(5, 1).unwrap()),
        Arc::new(Float32Array::from(vec![0.5])),
        Arc::new(TimestampMicrosecondArray::from(vec![1_709_210_096_000_000])),
    ];
    sink.events.write(inserts(&table(), &now, arrays)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    for (name, data_type) in [
        ("a", DataType::Int),
        ("b", DataType::Varchar(20)),
        ("c", DataType::String),
        ("e", DataType::Timestamp(3)),
        ("f", d(20, 6)),
        ("g", DataType::Double),
        ("h", DataType::Timestamp(6)),
    ] {
        now = apply(&mut sink, &now, alter(name, data_type, true)).await.unwrap();
    }
    let Some(seen) = warehouse.python_rows(&table()) else { return };
    assert_eq!(
        seen,
        [json!({
            "id": 1, "a": -128, "b": "42", "c": "é", "e": "2024-02-29T00:00:00", "f": "-9999.900000", "g": 0.5,
            "h": "2024-02-29T12:34:56"
        })]
    );
}

#[tokio::test]
async fn null_is_allowed_where_it_was_not_and_the_other_way_keeps_the_column_nullable() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("a", DataType::Int).not_null(),
        Column::new("b", DataType::Int),
    ];
    let mut now = schema(columns, &["id"]);
    create(&mut sink, &table(), &now).await;
    now = apply(&mut sink, &now, alter("a", DataType::BigInt, true)).await.unwrap();
    now = apply(&mut sink, &now, alter("b", DataType::Int, false)).await.unwrap();
    // The key stays NOT NULL whatever is said of it.
    now = apply(&mut sink, &now, alter("id", DataType::Int, true)).await.unwrap();
    sink.events.write(rows(&table(), &now, &[(RowOp::Insert, &[Some("1"), None, Some("3")])])).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(warehouse.rows(&table()).await, ["1, null, 3"]);
}

#[tokio::test]
async fn columns_change_their_names_in_chains_and_circles() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("a", DataType::Int),
        Column::new("b", DataType::Int),
        Column::new("c", DataType::Int),
    ];
    let mut now = schema(columns, &["id"]);
    create(&mut sink, &table(), &now).await;
    sink.events
        .write(rows(&table(), &now, &[(RowOp::Insert, &[Some("1"), Some("10"), Some("20"), Some("30")])]))
        .await
        .unwrap();
    checkpoint(&mut sink, 1).await;
    now = apply(&mut sink, &now, rename(&[("a", "b"), ("b", "c"), ("c", "a")])).await.unwrap();
    now = apply(&mut sink, &now, rename(&[("b", "x"), ("c", "y")])).await.unwrap();
    now = apply(&mut sink, &now, rename(&[("id", "key")])).await.unwrap();
    assert_eq!(now.primary_key, ["key"]);
    sink.events
        .write(rows(&table(), &now, &[(RowOp::Insert, &[Some("2"), Some("11"), Some("21"), Some("31")])]))
        .await
        .unwrap();
    checkpoint(&mut sink, 2).await;
    let Some(seen) = warehouse.python_rows(&table()) else { return };
    assert_eq!(seen, [json!({"key": 1, "x": 10, "y": 20, "a": 30}), json!({"key": 2, "x": 11, "y": 21, "a": 31})]);
}

#[tokio::test]
async fn a_chain_of_renames_that_came_already_is_left_as_it_is() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let columns = ["id", "a", "b"].map(|name| Column::new(name, DataType::Int)).into();
    let before = schema(columns, &["id"]);
    create(&mut sink, &table(), &before).await;
    for _ in 0..2 {
        apply(&mut sink, &before, rename(&[("a", "b"), ("b", "c")])).await.unwrap();
        let fields = warehouse.table(&table()).await.schema().fields().to_vec();
        assert_eq!(fields.iter().map(|f| f.name()).collect::<Vec<_>>(), ["id", "b", "c"]);
    }
}

#[tokio::test]
async fn comments_of_table_and_columns_change() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let schema = pair();
    create(&mut sink, &table(), &schema).await;
    let comment = SchemaChange::AlterTableComment { table: table(), comment: Some("of the table".into()) };
    let now = apply(&mut sink, &schema, comment).await.unwrap();
    let column = AlteredColumn {
        name: "v".into(),
        data_type: DataType::String,
        nullable: true,
        old: None,
        comment: Some("of v".into()),
    };
    apply(&mut sink, &now, SchemaChange::AlterColumns { table: table(), columns: vec![column] }).await.unwrap();
    let Some(seen) = warehouse.python_schema(&table()) else { return };
    assert_eq!((&seen["comment"], &seen["fields"][1]["comment"]), (&json!("of the table"), &json!("of v")));
}

#[tokio::test]
async fn a_change_that_came_already_makes_no_new_schema() {
    let warehouse = Warehouse::new(&[]);
    let mut sink = warehouse.sink();
    let schema = pair();
    create(&mut sink, &table(), &schema).await;
    apply(&mut sink, &schema, alter("v", DataType::String, true)).await.unwrap();
    apply(&mut sink, &schema, SchemaChange::AlterTableComment { table: table(), comment: None }).await.unwrap();
    assert_eq!(warehouse.table(&table()).await.schema().id(), 0);
}

#[tokio::test]
async fn what_paimon_can_not_do_is_said_to_be_unsupported() {
    let warehouse = Warehouse::new(&[("partition.key", "lake.t:p")]);
    let mut sink = warehouse.sink();
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("p", DataType::Int),
        Column::new("v", DataType::Bytes),
    ];
    let schema = schema(columns, &["id"]);
    create(&mut sink, &table(), &schema).await;
    for change in [
        alter("id", DataType::BigInt, false),
        alter("p", DataType::BigInt, true),
        alter("v", DataType::Date, true),
        rename(&[("p", "q")]),
        SchemaChange::DropColumns { table: table(), names: vec!["id".into()] },
    ] {
        let after = schema.apply(&change).unwrap().unwrap();
        let error = sink.metadata.apply(&change, Some(&after)).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Unsupported, "{change:?}: {error}");
        assert!(error.to_string().contains("lake.t"), "{error}");
    }
}
