//! Partitions, buckets, tables without a key, options of tables, tables that are there already.

use super::{Warehouse, checkpoint, create, rows, schema};
use crate::Retry;
use paimon::Catalog;
use paimon::catalog::Identifier;
use paimon::spec::{DataType as LakeType, IntType, Schema, VarCharType};
use rowferry_model::{Column, DataType, RowOp, SchemaChange, TableId, TableSchema};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};

fn partitioned() -> Arc<TableSchema> {
    let columns = vec![
        Column::new("id", DataType::BigInt).not_null(),
        Column::new("dt", DataType::Varchar(10)),
        Column::new("v", DataType::String),
    ];
    schema(columns, &["id"])
}

#[tokio::test]
async fn partition_columns_become_a_part_of_the_key_and_a_row_that_moves_leaves_its_partition() {
    let warehouse = Warehouse::new(&[("partition.key", "lake.event:dt"), ("table.properties.bucket", "2")]);
    let (table, schema) = (TableId::new("lake", "event"), partitioned());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let first: &[(RowOp, &[Option<&str>])] = &[
        (Insert, &[Some("1"), Some("d1"), Some("a")]),
        (Insert, &[Some("2"), Some("d1"), Some("b")]),
        (Insert, &[Some("3"), Some("d2"), Some("c")]),
    ];
    sink.events.write(rows(&table, &schema, first)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    let second: &[(RowOp, &[Option<&str>])] = &[
        (UpdateBefore, &[Some("1"), Some("d1"), Some("a")]),
        (UpdateAfter, &[Some("1"), Some("d2"), Some("moved")]),
        (Delete, &[Some("3"), Some("d2"), Some("c")]),
    ];
    sink.events.write(rows(&table, &schema, second)).await.unwrap();
    checkpoint(&mut sink, 2).await;
    assert!(warehouse.path().join("lake.db/event/dt=d1").is_dir());
    assert_eq!(warehouse.rows(&table).await, ["1, d2, moved", "2, d1, b"]);
    let Some(seen) = warehouse.python_rows(&table) else { return };
    assert_eq!(seen, [json!({"id": 1, "dt": "d2", "v": "moved"}), json!({"id": 2, "dt": "d1", "v": "b"})]);
    let keys = warehouse.python_schema(&table).unwrap();
    assert_eq!((&keys["primaryKeys"], &keys["partitionKeys"]), (&json!(["id", "dt"]), &json!(["dt"])));
}

#[tokio::test]
async fn partitions_and_options_of_the_schema_are_taken() {
    let warehouse =
        Warehouse::new(&[("table.properties.bucket", "2"), ("table.properties.snapshot.num-retained.min", "5")]);
    let table = TableId::new("lake", "click");
    let schema = Arc::new(TableSchema {
        partition_key: vec!["dt".into()],
        options: vec![("bucket".into(), "3".into())],
        comment: Some("clicks".into()),
        ..partitioned().as_ref().clone()
    });
    create(&mut warehouse.sink(), &table, &schema).await;
    let made = warehouse.table(&table).await;
    let options = made.schema().options();
    assert_eq!(options["bucket"], "3", "the table's own option goes before the sink's");
    assert_eq!(options["snapshot.num-retained.min"], "5");
    assert_eq!(made.schema().partition_keys(), ["dt"]);
    assert_eq!(made.schema().comment(), Some("clicks"));
}

#[tokio::test]
async fn options_of_a_table_that_hide_rows_are_refused() {
    let warehouse = Warehouse::new(&[]);
    let bad = TableSchema { options: vec![("bucket".into(), "-2".into())], ..partitioned().as_ref().clone() };
    assert!(warehouse.sink().events.check(&TableId::new("lake", "t"), &bad).is_err());
    let unknown = TableSchema { partition_key: vec!["nope".into()], ..partitioned().as_ref().clone() };
    let error = warehouse.sink().events.check(&TableId::new("lake", "t"), &unknown).unwrap_err().to_string();
    assert!(error.contains("nope"), "{error}");
}

#[test]
fn a_table_without_a_key_is_refused_at_start_where_the_options_are_for_tables_with_one() {
    let table = TableId::new("lake", "log");
    let plain = schema(partitioned().columns.clone(), &[]);
    for (option, value) in [("table.properties.bucket", "4"), ("table.properties.changelog-producer", "input")] {
        let sink = Warehouse::new(&[(option, value)]).sink();
        let error = sink.events.check(&table, &plain).unwrap_err();
        assert!(error.to_string().contains("lake.log") && error.hint_text().is_some(), "{error}");
        assert!(sink.events.check(&table, &partitioned()).is_ok());
    }
    let own = TableSchema { options: vec![("bucket".into(), "-1".into())], ..plain.as_ref().clone() };
    assert!(Warehouse::new(&[("table.properties.bucket", "4")]).sink().events.check(&table, &own).is_ok());
}

#[tokio::test]
async fn a_table_without_a_key_takes_the_new_rows_of_updates_and_counts_the_deletes() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "log"), schema(partitioned().columns.clone(), &[]));
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let changes: &[(RowOp, &[Option<&str>])] = &[
        (Insert, &[Some("1"), None, Some("a")]),
        (UpdateBefore, &[Some("1"), None, Some("a")]),
        (UpdateAfter, &[Some("1"), None, Some("b")]),
        (Delete, &[Some("1"), None, Some("b")]),
    ];
    sink.events.write(rows(&table, &schema, changes)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(warehouse.rows(&table).await, ["1, null, a", "1, null, b"]);
    let left_out = sink.events.gauges().into_iter().find(|(name, _, _)| *name == "paimon_deletes_left_out").unwrap();
    assert_eq!(left_out, ("paimon_deletes_left_out", vec![("table", "lake.log".to_owned())], 1.0));
}

#[tokio::test]
async fn an_input_changelog_has_the_old_rows_of_updates() {
    let warehouse =
        Warehouse::new(&[("table.properties.bucket", "1"), ("table.properties.changelog-producer", "input")]);
    let (table, schema) = (TableId::new("lake", "t"), partitioned());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let changes: &[(RowOp, &[Option<&str>])] = &[
        (Insert, &[Some("1"), None, Some("a")]),
        (UpdateBefore, &[Some("1"), None, Some("a")]),
        (UpdateAfter, &[Some("1"), None, Some("b")]),
    ];
    sink.events.write(rows(&table, &schema, changes)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(warehouse.rows(&table).await, ["1, null, b"]);
    let snapshot = warehouse.table(&table).await.snapshot_manager().get_latest_snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.changelog_record_count(), Some(3));
}

async fn existing(warehouse: &Warehouse, table: &TableId, schema: Schema) {
    let catalog = warehouse.catalog();
    catalog.create_database(table.database(), true, HashMap::new()).await.unwrap();
    catalog.create_table(&Identifier::new(table.database(), table.table()), schema, false).await.unwrap();
}

fn int() -> LakeType {
    LakeType::Int(IntType::new())
}

#[tokio::test]
async fn an_existing_table_may_be_wider_and_ordered_otherwise() {
    let warehouse = Warehouse::new(&[]);
    let table = TableId::new("lake", "t");
    let text = LakeType::VarChar(VarCharType::new(VarCharType::MAX_LENGTH).unwrap());
    let wide = LakeType::BigInt(paimon::spec::BigIntType::new());
    let made = Schema::builder()
        .column("Name", text)
        .column("extra", int())
        .column("id", wide)
        .primary_key(["id"])
        .option("bucket", "1")
        .build()
        .unwrap();
    existing(&warehouse, &table, made).await;
    let columns = vec![Column::new("id", DataType::Int).not_null(), Column::new("name", DataType::Varchar(5))];
    let schema = schema(columns, &["id"]);
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    sink.events.write(rows(&table, &schema, &[(Insert, &[Some("1"), Some("a")])])).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(warehouse.rows(&table).await, ["a, null, 1"]);
}

#[tokio::test]
async fn an_existing_table_that_can_not_take_the_rows_is_refused() {
    let table = TableId::new("lake", "t");
    let columns = vec![Column::new("id", DataType::Int).not_null(), Column::new("v", DataType::BigInt)];
    let keyed = schema(columns, &["id"]);
    let base = || Schema::builder().column("id", int());
    let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&keyed) };
    for (made, part) in [
        (base().column("v", int()).primary_key(["id"]), "`v`"),
        (base().column("v", LakeType::BigInt(paimon::spec::BigIntType::new())), "primary key"),
        (
            base()
                .column("v", LakeType::BigInt(paimon::spec::BigIntType::new()))
                .column("p", int())
                .primary_key(["id", "p"])
                .partition_keys(["p"]),
            "primary key",
        ),
        (
            base()
                .column("v", LakeType::BigInt(paimon::spec::BigIntType::new()))
                .primary_key(["id"])
                .option("deletion-vectors.enabled", "true"),
            "deletion-vectors.enabled",
        ),
    ] {
        let warehouse = Warehouse::new(&[]);
        existing(&warehouse, &table, made.build().unwrap()).await;
        let error = warehouse.sink().metadata.apply(&change, Some(&keyed)).await.unwrap_err();
        assert!(error.to_string().contains(part), "{part} is missing in: {error}");
        assert_eq!(error.retry(), Retry::Permanent);
    }
    // A column that is missing is refused with the first row: a replayed change may have dropped it.
    let warehouse = Warehouse::new(&[]);
    existing(&warehouse, &table, base().primary_key(["id"]).build().unwrap()).await;
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &keyed).await;
    let error = sink.events.write(rows(&table, &keyed, &[(Insert, &[Some("1"), Some("2")])])).await.unwrap_err();
    assert!(error.to_string().contains("`v`"), "{error}");
}

#[tokio::test]
async fn a_table_that_is_created_leaves_rows_of_others_that_wait_for_their_commit() {
    let warehouse = Warehouse::new(&[("table.properties.bucket", "1")]);
    let (first, second) = (TableId::new("lake", "first"), TableId::new("lake", "second"));
    let schema = partitioned();
    let mut sink = warehouse.sink();
    create(&mut sink, &first, &schema).await;
    let row = |id: &'static str| [Some(id), Some("d"), Some("v")];
    sink.events.write(rows(&first, &schema, &[(Insert, &row("1"))])).await.unwrap();
    create(&mut sink, &second, &schema).await;
    sink.events.write(rows(&second, &schema, &[(Insert, &row("2"))])).await.unwrap();
    sink.events.write(rows(&first, &schema, &[(Insert, &row("3"))])).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(warehouse.rows(&first).await, ["1, d, v", "3, d, v"]);
    assert_eq!(warehouse.rows(&second).await, ["2, d, v"]);
}
