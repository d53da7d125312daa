//! A table that is being written.

use super::committable::Prepared;
use super::lake::Lake;
use super::plan::Plan;
use super::rows;
use crate::SinkError;
use paimon::CommitMessage;
use paimon::table::{Table, TableWrite};
use rowferry_model::{ChangeBatch, TableId, TableSchema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Paimon's option for how many bytes one bucket's writer may hold before it writes a file.
const BUCKET_BUFFER: &str = "write.parquet-buffer-size";

/// What a bucket's writer may hold where the table says nothing.
const BUCKET_BUFFER_BYTES: &str = "32 mb";

/// A table that is being written.
pub(super) struct OpenTable {
    id: TableId,
    /// The generation of schemas in which it was opened.
    pub(super) generation: u64,
    plan: Plan,
    schema_id: i64,
    schema_millis: i64,
    write: TableWrite,
    /// Files that were written before the checkpoint, to keep memory within bounds.
    early: Vec<CommitMessage>,
    /// An estimate of what the writer holds in memory.
    pub(super) bytes: usize,
    /// The buckets that the writer keeps state for.
    buckets: HashSet<(Vec<u8>, i32)>,
    /// Deletes that were left out because the table has no key.
    pub(super) dropped: u64,
}

impl OpenTable {
    /// Opens a table for rows of a schema.
    ///
    /// # Errors
    /// The table is not there, or can't hold such rows.
    pub(super) async fn open(
        lake: &Lake,
        id: &TableId,
        schema: &Arc<TableSchema>,
        generation: u64,
    ) -> Result<Self, SinkError> {
        let table = lake.table(id).await?.ok_or_else(|| {
            SinkError::permanent(format!("paimon sink: table {id} does not exist"))
                .hint("it was dropped while rowferry was running; restart with a new state to create it again")
        })?;
        let plan = Plan::new(lake, id, schema, &table)?;
        let (schema_id, schema_millis) = (table.schema().id(), table.schema().time_millis());
        let write = write_of(lake, id, &table)?;
        Ok(Self {
            id: id.clone(),
            generation,
            plan,
            schema_id,
            schema_millis,
            write,
            early: Vec::new(),
            bytes: 0,
            buckets: HashSet::new(),
            dropped: 0,
        })
    }

    /// Whether rows of that schema go in as it is open now.
    pub(super) fn takes(&self, schema: &Arc<TableSchema>, generation: u64) -> bool {
        self.generation == generation && self.plan.is_for(schema)
    }

    /// Whether anything was written that has not been prepared.
    pub(super) fn is_clean(&self) -> bool {
        self.bytes == 0 && self.early.is_empty()
    }

    /// How many buckets the writer keeps state for.
    pub(super) fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Takes rows.
    ///
    /// # Errors
    /// A value can't be held or a file can't be written. What was written since the last checkpoint is lost then.
    pub(super) async fn write(&mut self, batch: &ChangeBatch) -> Result<(), SinkError> {
        let selected = if self.plan.keyed {
            rows::keyed(batch, &self.plan.key, self.plan.update_before)?
        } else {
            rows::appended(batch)?
        };
        if selected.dropped > 0 {
            if self.dropped == 0 {
                tracing::warn!(
                    table = %self.id,
                    "the table has no primary key: deletes are left out, and an update adds its new row"
                );
            }
            self.dropped += selected.dropped;
        }
        if selected.rows.num_rows() == 0 {
            return Ok(());
        }
        let rows = self.plan.rows(&selected.rows, selected.kinds)?;
        self.bytes += rows.columns().iter().map(|c| c.get_buffer_memory_size()).sum::<usize>();
        self.write.write_arrow_batch(&rows).await.map_err(|e| self.failed("can't be written", e))
    }

    /// Writes what is held in memory into files.
    ///
    /// # Errors
    /// A file can't be written.
    pub(super) async fn flush(&mut self) -> Result<(), SinkError> {
        if self.bytes == 0 {
            return Ok(());
        }
        let messages = self.write.prepare_commit().await.map_err(|e| self.failed("can't be written", e))?;
        self.bytes = 0;
        self.buckets.extend(messages.iter().map(|m| (m.partition.clone(), m.bucket)));
        self.early.extend(messages);
        Ok(())
    }

    /// The files since the last checkpoint, for the commit; `None`: there are none.
    ///
    /// # Errors
    /// A file can't be written.
    pub(super) async fn prepare(&mut self) -> Result<Option<Prepared>, SinkError> {
        self.flush().await?;
        let mut messages = std::mem::take(&mut self.early);
        keep_last_index(&mut messages);
        if messages.is_empty() {
            return Ok(None);
        }
        Ok(Some(Prepared {
            table: self.id.clone(),
            schema_id: self.schema_id,
            schema_millis: self.schema_millis,
            messages,
        }))
    }

    /// Discards what has not been prepared.
    pub(super) async fn close(mut self) {
        self.write.close().await;
    }

    fn failed(&self, what: &str, error: paimon::Error) -> SinkError {
        // Never transient: Paimon's writer has thrown away what it held, so only a restart from the last checkpoint
        // brings those rows back.
        SinkError::permanent(format!("paimon sink: table {} {what}: {error}", self.id)).caused_by(error)
    }
}

fn write_of(lake: &Lake, id: &TableId, table: &Table) -> Result<TableWrite, SinkError> {
    let bounded;
    let table = if table.schema().options().contains_key(BUCKET_BUFFER) {
        table
    } else {
        let options = HashMap::from([(BUCKET_BUFFER.to_owned(), BUCKET_BUFFER_BYTES.to_owned())]);
        bounded = table.copy_with_options(options);
        &bounded
    };
    table.new_write_builder().with_commit_user(lake.commit_user.as_str()).and_then(|b| b.new_write()).map_err(|e| {
        SinkError::permanent(format!("paimon sink: table {id} can't be opened for writing: {e}")).caused_by(e)
    })
}

/// Of several index files of one bucket only the last counts: each holds the whole index.
fn keep_last_index(messages: &mut [CommitMessage]) {
    let mut seen = HashSet::new();
    for message in messages.iter_mut().rev() {
        if message.new_index_files.is_empty() {
            continue;
        }
        if !seen.insert((message.partition.clone(), message.bucket)) {
            message.new_index_files.clear();
        }
    }
}
