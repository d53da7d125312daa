#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod conformance;
mod evolution;
mod options;
mod recovery;
mod tables;
mod values;

use crate::{Sink, SinkContext};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType as ArrowType;
use paimon::catalog::Identifier;
use paimon::{Catalog, CatalogOptions, FileSystemCatalog, Options};
use rowferry_model::{ChangeBatch, Changes, Column, RowOp, SchemaChange, TableId, TableSchema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A warehouse of a test.
struct Warehouse {
    directory: tempfile::TempDir,
    options: BTreeMap<String, String>,
}

impl Warehouse {
    fn new(options: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut all: BTreeMap<String, String> =
            options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        all.insert("catalog.properties.metastore".into(), "filesystem".into());
        all.entry("catalog.properties.warehouse".into())
            .or_insert_with(|| directory.path().join("wh").to_string_lossy().into_owned());
        Self { directory, options: all }
    }

    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("wh")
    }

    /// A new sink, as after a start of the process.
    fn sink(&self) -> Sink {
        let context = SinkContext {
            pipeline: "test".into(),
            parallelism: 1,
            time_zone: "UTC".into(),
            instance: "0123456789abcdef0123456789abcdef".into(),
            select: |_| Err("there are no patterns here".to_owned()),
        };
        crate::build("paimon", &self.options, &context).unwrap()
    }

    fn catalog(&self) -> FileSystemCatalog {
        let mut options = Options::new();
        options.set(CatalogOptions::WAREHOUSE, self.path().to_string_lossy().into_owned());
        FileSystemCatalog::new(options).unwrap()
    }

    async fn table(&self, table: &TableId) -> paimon::table::Table {
        self.catalog().get_table(&Identifier::new(table.database(), table.table())).await.unwrap()
    }

    /// The rows of a table of integers and text, read by the library that wrote them.
    async fn rows(&self, table: &TableId) -> Vec<String> {
        let Ok(table) = self.catalog().get_table(&Identifier::new(table.database(), table.table())).await else {
            return Vec::new();
        };
        let builder = table.new_read_builder();
        let plan = builder.new_scan().plan().await.unwrap();
        let mut stream = builder.new_read().unwrap().to_arrow(plan.splits()).unwrap();
        let mut lines = Vec::new();
        while let Some(batch) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            let batch: RecordBatch = batch.unwrap();
            for row in 0..batch.num_rows() {
                lines.push(batch.columns().iter().map(|c| text(c, row)).collect::<Vec<_>>().join(", "));
            }
        }
        lines.sort();
        lines
    }

    /// The rows as Apache's Python implementation reads them; `None` where it can't be installed.
    fn python_rows(&self, table: &TableId) -> Option<Vec<Value>> {
        self.python(table, &[]).map(|out| out.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
    }

    /// Columns and keys as Apache's Python implementation reads them; `None` where it can't be installed.
    fn python_schema(&self, table: &TableId) -> Option<Value> {
        self.python(table, &["--schema"]).map(|out| serde_json::from_str(&out).unwrap())
    }

    fn python(&self, table: &TableId, flags: &[&str]) -> Option<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/paimon-read");
        let output = Command::new(script)
            .arg(self.path())
            .args([table.database(), table.table()])
            .args(flags)
            .output()
            .expect("scripts/paimon-read can be started");
        if output.status.code() == Some(3) {
            eprintln!("skipped: pypaimon can't be installed here");
            return None;
        }
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

fn text(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    match array.data_type() {
        ArrowType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        ArrowType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        other => panic!("no text for {other}"),
    }
}

fn schema(columns: Vec<Column>, key: &[&str]) -> Arc<TableSchema> {
    let primary_key = key.iter().map(|k| (*k).to_owned()).collect();
    Arc::new(TableSchema { columns, primary_key, ..TableSchema::default() })
}

fn inserts(table: &TableId, schema: &Arc<TableSchema>, columns: Vec<ArrayRef>) -> ChangeBatch {
    let rows = columns[0].len();
    let columns = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(table.clone(), Arc::clone(schema), Changes::Inserts(rows), columns).unwrap()
}

fn rows(table: &TableId, schema: &Arc<TableSchema>, rows: &[(RowOp, &[Option<&str>])]) -> ChangeBatch {
    crate::testing::batch(table, schema, rows).unwrap()
}

async fn create(sink: &mut Sink, table: &TableId, schema: &Arc<TableSchema>) {
    sink.events.check(table, schema).unwrap();
    let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(schema) };
    sink.metadata.apply(&change, Some(schema)).await.unwrap();
}

async fn checkpoint(sink: &mut Sink, id: u64) {
    if let Some(committable) = sink.events.prepare(id).await.unwrap() {
        sink.events.commit(id, committable).await.unwrap();
    }
}
