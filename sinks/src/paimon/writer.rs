//! Rows of the `paimon` sink: data files at `prepare`, a snapshot at `commit`.

use super::commit::{self, Attempt};
use super::committable;
use super::guard;
use super::lake::Lake;
use super::table::OpenTable;
use super::types;
use crate::{Capabilities, Committable, EventSink, Gauge, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, TableId, TableSchema};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A table with more open buckets than this is closed after its commit, so that state doesn't grow with partitions.
const MAX_OPEN_BUCKETS: usize = 1024;

/// More open tables than this are closed after a commit.
const MAX_OPEN_TABLES: usize = 256;

/// What has been written into a table since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    files: u64,
    bytes: u64,
    commits: u64,
    rows: u64,
    deletes_left_out: u64,
}

/// Writes rows.
pub(super) struct PaimonWriter {
    lake: Arc<Lake>,
    open: HashMap<TableId, OpenTable>,
    /// A checkpoint whose files wait for their commit.
    prepared: Option<CheckpointId>,
    /// Whether its commit has been tried.
    tried: bool,
    counts: BTreeMap<TableId, Counts>,
}

impl PaimonWriter {
    pub(super) fn new(lake: Arc<Lake>) -> Self {
        Self { lake, open: HashMap::new(), prepared: None, tried: false, counts: BTreeMap::new() }
    }

    /// Makes sure that a table is open for rows of a schema.
    async fn open(&mut self, id: &TableId, schema: &Arc<TableSchema>) -> Result<(), SinkError> {
        let generation = self.lake.generation(id);
        match self.open.get(id) {
            Some(open) if open.takes(schema, generation) => return Ok(()),
            Some(open) if !open.is_clean() => {
                return Err(SinkError::permanent(format!(
                    "paimon sink: rows of {id} changed their schema before the rows before were committed"
                )));
            }
            _ => {}
        }
        // A writer takes its sequence numbers from the last snapshot: rows that are prepared but not committed must
        // not be missing there.
        if let Some(checkpoint) = self.prepared {
            return Err(SinkError::permanent(format!(
                "paimon sink: table {id} can't be opened while checkpoint {checkpoint} is not committed"
            )));
        }
        if let Some(old) = self.open.remove(id) {
            old.close().await;
        }
        let opened = OpenTable::open(&self.lake, id, schema, generation).await?;
        self.open.insert(id.clone(), opened);
        Ok(())
    }

    /// Keeps what waits in memory, over all tables, within the bound.
    async fn keep_within_bound(&mut self) -> Result<(), SinkError> {
        let mut held: usize = self.open.values().map(|t| t.bytes).sum();
        while held > self.lake.config.buffer_bytes {
            let Some(largest) = self.open.values_mut().max_by_key(|t| t.bytes) else { return Ok(()) };
            held -= largest.bytes;
            largest.flush().await?;
        }
        Ok(())
    }

    async fn close_what_is_too_much(&mut self) {
        let all = self.open.len() > MAX_OPEN_TABLES;
        let closing: Vec<TableId> = self
            .open
            .iter()
            .filter(|(_, t)| t.is_clean() && (all || t.buckets() > MAX_OPEN_BUCKETS))
            .map(|(id, _)| id.clone())
            .collect();
        for id in closing {
            if let Some(table) = self.open.remove(&id) {
                table.close().await;
            }
        }
    }
}

#[async_trait]
impl EventSink for PaimonWriter {
    fn capabilities(&self) -> Capabilities {
        // The old row tells the partition that an updated row has left, and is a part of an `input` changelog.
        Capabilities { keyless_tables: true, before_images: true, exactly_once: true }
    }

    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        for (kind, name) in [("database", table.database()), ("table", table.table())] {
            if let Some(why) = types::bad_name(name) {
                return Err(SinkError::permanent(format!("paimon sink: the {kind} name `{name}` {why}"))
                    .hint("give the table another name with a `route` rule"));
            }
        }
        for column in &schema.columns {
            if types::reserved_column(&column.name) {
                return Err(SinkError::permanent(format!(
                    "paimon sink: column `{}` of {table} has a name that Paimon keeps for itself",
                    column.name
                ))
                .hint("rename it in a `transform` rule: `projection: _x AS x`"));
            }
            types::lake_type(table, column, column.nullable, self.lake.config.time_type)?;
        }
        for key in self.lake.partition_keys(table, schema) {
            if schema.column(&key).is_none() {
                return Err(SinkError::permanent(format!(
                    "paimon sink: {table} has no column `{key}`, which its partition key names"
                )));
            }
        }
        if schema.primary_key.is_empty() {
            guard::check_keyless(table, |key| self.lake.table_option(schema, key))?;
        }
        let options = schema.options.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        guard::refuse_options(options, &format!("table {table}"))
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        let id = batch.table().clone();
        self.open(&id, batch.schema()).await?;
        let Some(table) = self.open.get_mut(&id) else { return Ok(()) };
        let left_out = table.dropped;
        table.write(&batch).await?;
        let counts = self.counts.entry(id).or_default();
        counts.rows += batch.num_changes() as u64;
        counts.deletes_left_out += table.dropped - left_out;
        self.keep_within_bound().await
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    async fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        if let Some(before) = self.prepared {
            // Its files would never be committed, and its rows be lost without a word.
            return Err(SinkError::permanent(format!(
                "paimon sink: checkpoint {checkpoint} can't be prepared while checkpoint {before} is not committed"
            )));
        }
        let mut tables = Vec::new();
        for table in self.open.values_mut() {
            tables.extend(table.prepare().await?);
        }
        if tables.is_empty() {
            return Ok(None);
        }
        self.prepared = Some(checkpoint);
        self.tried = false;
        committable::encode(&self.lake.commit_user, &tables).map(Some)
    }

    async fn commit(&mut self, checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError> {
        let (user, tables) = committable::decode(&committable)?;
        let first = self.prepared == Some(checkpoint) && !self.tried;
        let attempt = if first { Attempt::First } else { Attempt::Again };
        self.tried = true;
        for prepared in tables {
            let id = prepared.table.clone();
            let files = prepared.messages.iter().flat_map(|m| &m.new_files);
            let (files, bytes) = files.fold((0, 0), |(n, bytes), f| (n + 1, bytes + f.file_size.unsigned_abs()));
            let table = self.lake.table(&id).await?.ok_or_else(|| {
                SinkError::permanent(format!(
                    "paimon sink: checkpoint {checkpoint} can't be committed: table {id} does not exist any more"
                ))
            })?;
            commit::commit(checkpoint, &user, prepared, &table, attempt).await?;
            let counts = self.counts.entry(id).or_default();
            counts.files += files;
            counts.bytes += bytes;
            counts.commits += 1;
        }
        self.prepared = None;
        self.close_what_is_too_much().await;
        Ok(())
    }

    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        let Some((checkpoint, Some(committable))) = last else { return Ok(()) };
        let (user, tables) = committable::decode(&committable)?;
        for prepared in tables {
            // A schema change is applied only after everything before it was committed. So a table that is gone, or is
            // another one by now, was dropped behind this commit.
            match self.lake.table(&prepared.table).await? {
                Some(table) if commit::is_same_table(&prepared, &table).await? => {
                    commit::commit(checkpoint, &user, prepared, &table, Attempt::Again).await?;
                }
                _ => tracing::warn!(
                    table = %prepared.table,
                    checkpoint,
                    "the table was dropped after its last commit; there is nothing to commit again"
                ),
            }
        }
        Ok(())
    }

    fn gauges(&self) -> Vec<Gauge> {
        let mut gauges = Vec::new();
        for (table, counts) in &self.counts {
            let mut gauge = |name, value: u64| gauges.push((name, vec![("table", table.to_string())], value as f64));
            gauge("paimon_files_since_start", counts.files);
            gauge("paimon_file_bytes_since_start", counts.bytes);
            gauge("paimon_commits_since_start", counts.commits);
            gauge("paimon_rows_since_start", counts.rows);
            gauge("paimon_deletes_left_out", counts.deletes_left_out);
        }
        let held: usize = self.open.values().map(|t| t.bytes).sum();
        gauges.push(("paimon_buffered_bytes", Vec::new(), held as f64));
        gauges
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        for (_, table) in self.open.drain() {
            table.close().await;
        }
        Ok(())
    }
}
