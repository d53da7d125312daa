//! A sink whose target is memory, with the promises of a transactional one.

use crate::cells::Cells;
use crate::values::append_text;
use crate::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, RowOp, SchemaChange, TableId, TableSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A row as text; `None` is NULL.
type Row = Vec<Option<String>>;

/// What a table must do to take a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Change {
    table: TableId,
    remove: bool,
    row: Row,
}

#[derive(Default)]
struct State {
    tables: BTreeMap<TableId, (TableSchema, Vec<Row>)>,
    /// The last checkpoint that was committed.
    committed: CheckpointId,
    changes: Vec<SchemaChange>,
}

/// The target of in-memory sinks. It outlives them, as a database does.
#[derive(Clone, Default)]
pub struct MemoryTarget(Arc<Mutex<State>>);

impl MemoryTarget {
    /// A sink that writes here.
    pub fn sink(&self) -> Sink {
        Sink {
            events: Box::new(MemorySink { target: self.clone(), written: Vec::new() }),
            metadata: Box::new(MemoryApplier(self.clone())),
        }
    }

    /// The visible rows of a table, sorted, each as Flink CDC prints it (`1, a, null`); empty if there is no table.
    pub fn rows(&self, table: &TableId) -> Vec<String> {
        let state = self.lock();
        let mut rows: Vec<String> =
            state.tables.get(table).map(|(_, rows)| rows.iter().map(line).collect()).unwrap_or_default();
        rows.sort();
        rows
    }

    /// The tables that are there.
    pub fn tables(&self) -> Vec<TableId> {
        self.lock().tables.keys().cloned().collect()
    }

    /// The schema of a table.
    pub fn schema(&self, table: &TableId) -> Option<TableSchema> {
        self.lock().tables.get(table).map(|(schema, _)| schema.clone())
    }

    /// All schema changes in the order in which they came, also repeated ones.
    pub fn schema_changes(&self) -> Vec<SchemaChange> {
        self.lock().changes.clone()
    }

    /// The last checkpoint that was committed; 0: none.
    pub fn committed(&self) -> CheckpointId {
        self.lock().committed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(row: &Row) -> String {
    row.iter().map(|v| v.as_deref().unwrap_or("null")).collect::<Vec<_>>().join(", ")
}

struct MemorySink {
    target: MemoryTarget,
    written: Vec<Change>,
}

#[async_trait]
impl EventSink for MemorySink {
    fn capabilities(&self) -> Capabilities {
        Capabilities { keyless_tables: true, before_images: true, exactly_once: true }
    }

    fn check(&self, _table: &TableId, _schema: &TableSchema) -> Result<(), SinkError> {
        Ok(())
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        let cells = Cells::of(&batch)?;
        for row in 0..batch.num_rows() {
            let values = cells.iter().map(|c| {
                (!c.is_null(row)).then(|| {
                    let mut text = Vec::new();
                    append_text(c, &mut text, row);
                    String::from_utf8_lossy(&text).into_owned()
                })
            });
            let remove = matches!(batch.changes().op(row), RowOp::Delete | RowOp::UpdateBefore);
            self.written.push(Change { table: batch.table().clone(), remove, row: values.collect() });
        }
        Ok(())
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    async fn prepare(&mut self, _checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        if self.written.is_empty() {
            return Ok(None);
        }
        let bytes = serde_json::to_vec(&std::mem::take(&mut self.written));
        bytes.map(|b| Some(Committable(b))).map_err(|e| SinkError::permanent("memory sink: no bytes").caused_by(e))
    }

    async fn commit(&mut self, checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError> {
        let changes: Vec<Change> = serde_json::from_slice(&committable.0)
            .map_err(|e| SinkError::permanent("memory sink: bytes that aren't ours").caused_by(e))?;
        let mut state = self.target.lock();
        if checkpoint <= state.committed {
            return Ok(());
        }
        state.committed = checkpoint;
        for Change { table, remove, row } in changes {
            let Some((schema, rows)) = state.tables.get_mut(&table) else {
                return Err(SinkError::permanent(format!("memory sink: there is no table {table}")));
            };
            let key = schema.key_indices();
            // Without a key all columns are the key, and one of several equal rows is removed.
            let same = |other: &Row| {
                if key.is_empty() { *other == row } else { key.iter().all(|i| other.get(*i) == row.get(*i)) }
            };
            if (remove || !key.is_empty())
                && let Some(at) = rows.iter().position(same)
            {
                rows.remove(at);
            }
            if !remove {
                rows.push(row);
            }
        }
        Ok(())
    }

    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        match last {
            Some((checkpoint, Some(committable))) => self.commit(checkpoint, committable).await,
            _ => Ok(()),
        }
    }

    fn gauges(&self) -> Vec<Gauge> {
        vec![("memory_written", Vec::new(), self.written.len() as f64)]
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

struct MemoryApplier(MemoryTarget);

#[async_trait]
impl MetadataApplier for MemoryApplier {
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError> {
        let mut state = self.0.lock();
        state.changes.push(change.clone());
        let id = change.table();
        match change {
            SchemaChange::CreateTable { schema, .. } => {
                state.tables.entry(id.clone()).or_insert_with(|| (schema.as_ref().clone(), Vec::new()));
            }
            SchemaChange::DropTable { .. } => {
                state.tables.remove(id);
            }
            SchemaChange::TruncateTable { .. } => {
                if let Some((_, rows)) = state.tables.get_mut(id) {
                    rows.clear();
                }
            }
            _ => {
                let after = after.ok_or_else(|| SinkError::permanent(format!("memory sink: no schema for {id}")))?;
                let Some((schema, rows)) = state.tables.get_mut(id) else {
                    return Err(SinkError::permanent(format!("memory sink: there is no table {id}")));
                };
                if schema != after {
                    // Where each column of the new schema was in the old one.
                    let was: Vec<Option<usize>> =
                        after.columns.iter().map(|c| schema.index_of(old_name(change, &c.name))).collect();
                    for row in rows.iter_mut() {
                        *row = was.iter().map(|at| at.and_then(|i| row.get(i).cloned().flatten())).collect();
                    }
                    *schema = after.clone();
                }
            }
        }
        Ok(())
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The name that a column had before a change.
fn old_name<'a>(change: &'a SchemaChange, name: &'a str) -> &'a str {
    match change {
        SchemaChange::RenameColumns { names, .. } => {
            names.iter().find(|(_, new)| new == name).map_or(name, |(old, _)| old.as_str())
        }
        _ => name,
    }
}
