//! What happens after a crash, beyond what every sink must do.

use super::{Warehouse, checkpoint, create, rows, schema};
use crate::{Committable, Retry};
use paimon::CommitMessage;
use rowferry_model::{AddedColumn, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableId, TableSchema};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn keyless() -> Arc<TableSchema> {
    schema(vec![Column::new("id", DataType::BigInt), Column::new("v", DataType::String)], &[])
}

fn one<'a>(id: &'a str, v: &'a str) -> [Option<&'a str>; 2] {
    [Some(id), Some(v)]
}

fn data_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "parquet") {
                found.push(path);
            }
        }
    }
    found
}

/// Another writer of the same table, with a commit user of its own.
async fn somebody_else_commits(warehouse: &Warehouse, table: &TableId, from: &Committable) {
    let (_, mut prepared) = super::super::committable::decode(from).unwrap();
    let messages: Vec<CommitMessage> = prepared.remove(0).messages;
    let opened = warehouse.table(table).await;
    let builder = opened.new_write_builder().with_commit_user("somebody-else").unwrap();
    builder.new_commit().commit_with_identifier(messages, 1).await.unwrap();
}

#[tokio::test]
async fn a_commit_is_recognised_although_others_have_committed_and_the_prefix_has_changed() {
    let mut warehouse = Warehouse::new(&[("commit.user-prefix", "before")]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    // Rows that somebody else will commit: another prepare of another sink.
    let mut other = warehouse.sink();
    other.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("9", "other"))])).await.unwrap();
    let others = other.events.prepare(1).await.unwrap().unwrap();

    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    let saved = sink.events.prepare(1).await.unwrap().unwrap();
    sink.events.commit(1, saved.clone()).await.unwrap();
    somebody_else_commits(&warehouse, &table, &others).await;

    warehouse.options.insert("commit.user-prefix".into(), "after".into());
    let mut sink = warehouse.sink();
    sink.events.recover(Some((1, Some(saved)))).await.unwrap();
    assert_eq!(warehouse.rows(&table).await, ["1, a", "9, other"]);
    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("2", "b"))])).await.unwrap();
    checkpoint(&mut sink, 2).await;
    assert_eq!(warehouse.rows(&table).await, ["1, a", "2, b", "9, other"]);
}

#[tokio::test]
async fn rows_are_not_doubled_when_the_snapshot_of_their_commit_has_expired() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let mut other = warehouse.sink();
    other.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("9", "other"))])).await.unwrap();
    let others = other.events.prepare(1).await.unwrap().unwrap();
    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    let saved = sink.events.prepare(1).await.unwrap().unwrap();
    sink.events.commit(1, saved.clone()).await.unwrap();
    somebody_else_commits(&warehouse, &table, &others).await;
    let snapshots = warehouse.path().join("lake.db/t/snapshot");
    std::fs::remove_file(snapshots.join("snapshot-1")).unwrap();
    std::fs::write(snapshots.join("EARLIEST"), "2").unwrap();
    let error = warehouse.sink().events.recover(Some((1, Some(saved)))).await.unwrap_err();
    assert!(error.to_string().contains("lake.t"), "{error}");
    assert_eq!(warehouse.rows(&table).await, ["1, a", "9, other"]);
}

#[tokio::test]
async fn closing_removes_files_that_were_not_prepared() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    sink.events.close().await.unwrap();
    assert_eq!(data_files(&warehouse.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn rows_are_not_dropped_in_silence_when_a_prepared_file_is_gone() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    let saved = sink.events.prepare(1).await.unwrap();
    drop(sink);
    let files = data_files(&warehouse.path());
    assert_eq!(files.len(), 1);
    std::fs::remove_file(&files[0]).unwrap();
    let error = warehouse.sink().events.recover(Some((1, saved))).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("lake.t") && error.to_string().contains("does not exist"), "{error}");
}

#[tokio::test]
async fn a_table_that_vanishes_between_prepare_and_commit_is_an_error() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    let saved = sink.events.prepare(1).await.unwrap().unwrap();
    std::fs::remove_dir_all(warehouse.path().join("lake.db/t")).unwrap();
    let error = sink.events.commit(1, saved).await.unwrap_err();
    assert!(error.to_string().contains("lake.t"), "{error}");
}

#[tokio::test]
async fn bytes_that_are_not_ours_are_refused() {
    let warehouse = Warehouse::new(&[]);
    for bytes in
        [b"".as_slice(), b"{}", b"nonsense", br#"{"version":9,"message_version":14,"commit_user":"u","tables":[]}"#]
    {
        let mut sink = warehouse.sink();
        let error = sink.events.recover(Some((1, Some(Committable(bytes.to_vec()))))).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Permanent);
    }
}

#[tokio::test]
async fn a_table_is_not_opened_between_prepare_and_commit() {
    let warehouse = Warehouse::new(&[]);
    let schema = keyless();
    let (first, second) = (TableId::new("lake", "a"), TableId::new("lake", "b"));
    let mut sink = warehouse.sink();
    create(&mut sink, &first, &schema).await;
    create(&mut sink, &second, &schema).await;
    sink.events.write(rows(&first, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
    let saved = sink.events.prepare(1).await.unwrap().unwrap();
    let late = rows(&second, &schema, &[(RowOp::Insert, &one("2", "b"))]);
    assert!(sink.events.write(late.clone()).await.is_err());
    assert!(sink.events.prepare(2).await.is_err(), "the rows of checkpoint 1 would be lost");
    sink.events.commit(1, saved).await.unwrap();
    sink.events.write(late).await.unwrap();
    checkpoint(&mut sink, 2).await;
    assert_eq!(warehouse.rows(&second).await, ["2, b"]);
}

#[tokio::test]
async fn memory_is_kept_within_the_bound_over_all_tables() {
    let warehouse = Warehouse::new(&[("rowferry.buffer-bytes", "20000"), ("table.properties.bucket", "1")]);
    let schema =
        schema(vec![Column::new("id", DataType::BigInt).not_null(), Column::new("v", DataType::String)], &["id"]);
    let tables = [TableId::new("lake", "a"), TableId::new("lake", "b"), TableId::new("lake", "c")];
    let mut sink = warehouse.sink();
    for table in &tables {
        create(&mut sink, table, &schema).await;
    }
    let text = "x".repeat(1000);
    for n in 0..30 {
        let id = n.to_string();
        for table in &tables {
            sink.events.write(rows(table, &schema, &[(RowOp::Insert, &one(&id, &text))])).await.unwrap();
        }
        let held = sink.events.gauges().into_iter().find(|(name, _, _)| *name == "paimon_buffered_bytes").unwrap().2;
        assert!(held <= 20000.0, "{held} bytes are held");
    }
    checkpoint(&mut sink, 1).await;
    for table in &tables {
        assert_eq!(warehouse.rows(table).await.len(), 30);
        assert!(
            data_files(&warehouse.path().join("lake.db").join(table.table())).len() > 1,
            "files were written early"
        );
    }
}

/// What a kill leaves of a schema file whose writing it has cut short.
#[tokio::test]
async fn a_schema_that_was_cut_short_is_removed_and_the_change_comes_again() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    let schemas = warehouse.directory.path().join("wh/lake.db/t/schema");
    for torn in ["", "{\"version\":3,\"fiel"] {
        // While the table is created: as if there were none.
        std::fs::create_dir_all(&schemas).unwrap();
        std::fs::write(schemas.join("schema-0"), torn).unwrap();
        let mut sink = warehouse.sink();
        create(&mut sink, &table, &schema).await;
        sink.events.write(rows(&table, &schema, &[(RowOp::Insert, &one("1", "a"))])).await.unwrap();
        checkpoint(&mut sink, 1).await;
        // While a column is added: as it was before.
        std::fs::write(schemas.join("schema-1"), torn).unwrap();
        let column = Column::new("x", DataType::Int);
        let added = AddedColumn { column, position: ColumnPosition::Last };
        let change = SchemaChange::AddColumns { table: table.clone(), columns: vec![added] };
        let after = schema.apply(&change).unwrap().unwrap();
        let mut sink = warehouse.sink();
        sink.metadata.apply(&change, Some(&after)).await.unwrap();
        assert_eq!(warehouse.rows(&table).await, ["1, a, null"]);
        let drop = SchemaChange::DropTable { table: table.clone() };
        sink.metadata.apply(&drop, None).await.unwrap();
        assert!(!schemas.exists());
    }
}

/// A file that is damaged otherwise is somebody's to look at.
#[tokio::test]
async fn a_schema_that_is_damaged_otherwise_is_left_as_it_is() {
    let warehouse = Warehouse::new(&[]);
    let (table, schema) = (TableId::new("lake", "t"), keyless());
    create(&mut warehouse.sink(), &table, &schema).await;
    let file = warehouse.directory.path().join("wh/lake.db/t/schema/schema-1");
    std::fs::write(&file, "{\"version\": oops").unwrap();
    let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&schema) };
    let mut sink = warehouse.sink();
    assert!(sink.metadata.apply(&change, Some(&schema)).await.is_err());
    assert!(file.exists());
}
