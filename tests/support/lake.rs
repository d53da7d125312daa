//! Paimon warehouses, read back with Apache's Python implementation.

use super::rowferry::Pipeline;
use super::servers::Database;
use rowferry::mysql::wire::ConnectOptions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A table of a warehouse.
#[derive(Debug)]
pub(crate) struct LakeTable {
    /// Names and types of its columns, one after another.
    pub(crate) schema: String,
    /// Its comment.
    pub(crate) comment: Option<String>,
    columns: Vec<String>,
    rows: Vec<Value>,
}

impl LakeTable {
    /// The rows in order, each the values of the given columns; without columns of all in their order.
    pub(crate) fn rows(&self, columns: &[&str]) -> Vec<String> {
        let all: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let columns = if columns.is_empty() { &all } else { columns };
        let shown = |value: Option<&Value>| match value {
            None => "-".to_owned(),
            Some(Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
        };
        let words = |row: &Value| columns.iter().map(|c| shown(row.get(*c))).collect::<Vec<_>>().join("|");
        let mut rows: Vec<String> = self.rows.iter().map(words).collect();
        rows.sort();
        rows
    }
}

fn python(arguments: &[&str]) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/paimon-read");
    let output = Command::new(script).args(arguments).output().expect("runs");
    if output.status.code() == Some(3) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// All tables of a database of a warehouse; `None`, with a message, where the reader can't be installed.
pub(crate) fn lake_tables(warehouse: &Path, database: &str) -> Option<BTreeMap<String, LakeTable>> {
    let text = python(&[&warehouse.display().to_string(), database, "*"])?;
    let table = |line: &str| {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        let fields = value["fields"].as_array().expect("fields").clone();
        let word = |field: &Value, name: &str| field[name].as_str().expect("a text").to_owned();
        let table = LakeTable {
            schema: fields
                .iter()
                .map(|f| {
                    let comment = f["comment"].as_str().map(|c| format!(" '{c}'")).unwrap_or_default();
                    format!("{} {}{comment}", word(f, "name"), word(f, "type"))
                })
                .collect::<Vec<_>>()
                .join(", "),
            comment: value["comment"].as_str().map(str::to_owned),
            columns: fields.iter().map(|f| word(f, "name")).collect(),
            rows: value["rows"].as_array_mut().map(std::mem::take).expect("rows"),
        };
        (value["table"].as_str().expect("a name").to_owned(), table)
    };
    Some(text.lines().map(table).collect())
}

/// The rows that are read from a table, in the form of [`super::rowferry::server_rows`]; `None`, with a message, where
/// the reader can't be installed.
pub(crate) fn lake_rows(warehouse: &Path, database: &str, table: &str, columns: &[&str]) -> Option<Vec<String>> {
    let text = python(&[&warehouse.display().to_string(), database, table])?;
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let table = LakeTable { schema: String::new(), comment: None, columns: Vec::new(), rows };
    Some(table.rows(columns))
}

/// The block of a sink that writes a warehouse.
pub(crate) fn lake_sink(warehouse: &Path) -> String {
    format!(
        "  type: paimon\n  catalog.properties.metastore: filesystem\n  catalog.properties.warehouse: {}\n",
        warehouse.display()
    )
}

/// A pipeline of all tables of a database into a lake; `pipeline` are further lines of that block.
pub(crate) fn to_lake(server: &ConnectOptions, database: &Database, warehouse: &Path, pipeline: &[&str]) -> Pipeline {
    let lines: Vec<&str> = [&["rowferry.checkpoint.interval: 20 ms"], pipeline].concat();
    let chunks = ["scan.incremental.snapshot.chunk.size: 30"];
    Pipeline::new(server, &format!("{}.\\.*", database.name), &chunks, &lake_sink(warehouse), &lines)
}
