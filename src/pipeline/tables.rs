//! The tables of an attempt and what each is in.

use super::attempt::Attempt;
use super::snapshot::{ChunkOutcome, Planned, TableToPlan, Whole, start_planner, start_whole};
use super::transform::TableTransform;
use crate::checkpoint::SnapshotProgress;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::metrics::TableProgress;
use crate::mysql::binlog::{JsonStyle, TextPlan};
use crate::mysql::catalog;
use crate::mysql::reader::Tracked;
use crate::mysql::snapshot::{ChunkKey, ChunkTask, JoinError, PlannedChunk, ReadOutcome, TableJoin};
use crate::mysql::wire::Connection;
use rowferry_model::{BinlogPosition, ChangeBatch, Changes, TableId};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// What a table is in.
pub(super) enum TablePhase {
    /// Its snapshot is read in chunks.
    Chunks(Box<TableJoin>),
    /// Its snapshot is read as a whole, later.
    WholeWaiting,
    /// Its snapshot shows this place of the log; changes up to it are in it.
    WholeAt(BinlogPosition),
    /// Changes only.
    Streaming,
    /// It was dropped or renamed; if its snapshot was not done, how far it had come.
    Gone(Option<SnapshotProgress>),
}

/// A table of the pipeline.
pub(super) struct TableEntry {
    pub(super) tracked: Tracked,
    /// What the rules of `transform` make of its rows.
    pub(super) transform: TableTransform,
    pub(super) phase: TablePhase,
    pub(super) text_plan: Option<Arc<TextPlan>>,
    pub(super) estimated_rows: u64,
    /// The statement that makes the table at the server as it is tracked. `None` while the server is ahead of the
    /// stream: then its snapshot waits.
    pub(super) statement: Option<Arc<str>>,
    /// Counts the definitions: what was planned or read under another one is not used.
    pub(super) generation: u32,
    /// When the stream last showed a change of it, or began.
    pub(super) changed_at: Instant,
}

/// How long a transaction that the stream has shown may take until reads see it, where the server can't be asked: MySQL
/// writes it to the log, and sends it, before it commits it, and one without GTIDs or before 5.7 does not tell when.
const VISIBLE_AFTER: Duration = Duration::from_millis(100);

impl TableEntry {
    /// A table without snapshot.
    pub(super) fn new(tracked: Tracked, transform: TableTransform, estimated_rows: u64) -> Self {
        Self {
            tracked,
            transform,
            phase: TablePhase::Streaming,
            text_plan: None,
            estimated_rows,
            statement: None,
            generation: 0,
            changed_at: Instant::now(),
        }
    }

    /// Whether its snapshot waits for the stream to come to the definition that the server has.
    pub(super) fn is_suspended(&self) -> bool {
        self.statement.is_none() && matches!(self.phase, TablePhase::Chunks(_) | TablePhase::WholeWaiting)
    }
}

pub(super) fn join_error(error: JoinError) -> Error {
    Error::permanent("RF-SNP-001", "the snapshot can't be joined with the binlog").caused_by(error)
}

pub(super) fn batch_error(error: rowferry_model::BatchError) -> Error {
    Error::permanent("RF-RUN-005", "a batch is malformed").caused_by(error)
}

/// How a table's rows are read from the server.
pub(super) fn text_plan(tracked: &Tracked) -> Result<Arc<TextPlan>> {
    let name = tracked.table.to_string();
    let plan = TextPlan::new(&name, &tracked.def, &tracked.schema, JsonStyle::Server).map_err(|e| {
        Error::permanent("RF-SNP-002", "a table's rows can't be decoded").with("table", &tracked.table).caused_by(e)
    })?;
    Ok(Arc::new(plan))
}

/// Puts a table at the place in its snapshot that `progress` says.
pub(super) fn snapshot_phase(
    entry: &mut TableEntry,
    chunk_key: Option<&str>,
    progress: SnapshotProgress,
) -> Result<()> {
    entry.text_plan = Some(text_plan(&entry.tracked)?);
    entry.phase = match ChunkKey::of(&entry.tracked.def, chunk_key) {
        None => TablePhase::WholeWaiting,
        Some(key) => {
            let progress = SnapshotProgress { estimated_rows: entry.estimated_rows, ..progress };
            let (table, schema) = (entry.tracked.table.clone(), entry.tracked.schema.clone());
            TablePhase::Chunks(Box::new(TableJoin::new(table, schema, key, &progress).map_err(join_error)?))
        }
    };
    Ok(())
}

/// What the planner needs of a table, if it is to be planned now.
pub(super) fn planned_table(entry: &TableEntry) -> Option<TableToPlan> {
    let (TablePhase::Chunks(join), Some(definition)) = (&entry.phase, &entry.statement) else { return None };
    Some(TableToPlan {
        tracked: entry.tracked.clone(),
        key: join.key().clone(),
        estimated_rows: entry.estimated_rows,
        done: join.progress().done,
        definition: definition.clone(),
        generation: entry.generation,
    })
}

impl Attempt<'_> {
    pub(super) fn join(&mut self, table: &TableId) -> Option<&mut TableJoin> {
        match self.tables.get_mut(table).map(|t| &mut t.phase) {
            Some(TablePhase::Chunks(join)) => Some(join),
            _ => None,
        }
    }

    /// The table's snapshot, if it is still read by that definition.
    fn join_of(&mut self, table: &TableId, generation: u32) -> Option<&mut TableJoin> {
        match self.tables.get_mut(table) {
            Some(entry) if entry.generation == generation => match &mut entry.phase {
                TablePhase::Chunks(join) => Some(join),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn open_chunks(&self) -> usize {
        let open = |t: &super::tables::TableEntry| match &t.phase {
            TablePhase::Chunks(join) => join.open_chunks(),
            _ => 0,
        };
        self.tables.values().map(open).sum()
    }

    pub(super) fn in_snapshot(&self) -> bool {
        self.tables.values().any(|t| matches!(t.phase, TablePhase::Chunks(_) | TablePhase::WholeWaiting))
    }

    /// Whether the stream must still come to a place of this server's log.
    pub(super) fn is_bound_to_server(&self) -> bool {
        self.tables.values().any(|t| {
            !matches!(t.phase, TablePhase::Streaming | TablePhase::Gone(_))
                || t.tracked.since.as_ref().is_some_and(|since| *since > self.point.at)
        })
    }

    pub(super) fn whole_pending(&self) -> bool {
        self.tables.values().any(|t| matches!(t.phase, TablePhase::WholeWaiting | TablePhase::WholeAt(_)))
    }

    /// The next table that can be read as a whole now.
    pub(super) fn next_whole(&self) -> Option<TableId> {
        let waiting = |t: &&TableEntry| matches!(t.phase, TablePhase::WholeWaiting) && t.statement.is_some();
        self.tables.values().find(waiting).map(|t| t.tracked.table.clone())
    }

    /// Takes what a planner says; gives a chunk to read.
    pub(super) async fn take_planned(&mut self, message: Planned) -> Result<Option<(TableId, u32, PlannedChunk)>> {
        match message {
            Planned::Chunk(table, generation, chunk) => {
                let Some(join) = self.join_of(&table, generation) else { return Ok(None) };
                join.expect_chunk();
                return Ok(Some((table, generation, chunk)));
            }
            Planned::TableDone(table, generation) => {
                if let Some(join) = self.join_of(&table, generation) {
                    join.planning_done();
                }
                self.close_chunks().await?;
            }
            Planned::DefinitionChanged(table, generation) => self.suspend(&table, generation),
            Planned::Failed(error) => return Err(error),
        }
        Ok(None)
    }

    /// Takes what came of a chunk; gives chunks to read instead, where it was too large.
    pub(super) fn take_outcome(&mut self, chunk: ChunkOutcome) -> Result<Vec<(TableId, u32, PlannedChunk)>> {
        let ChunkOutcome { table, generation, order, outcome } = chunk;
        let Some(join) = self.join_of(&table, generation) else { return Ok(vec![]) };
        match outcome? {
            ReadOutcome::Read(read) => join.read(&order, read),
            ReadOutcome::Split(parts) => {
                join.split(&order, parts.len());
                return Ok(parts.into_iter().map(|chunk| (table.clone(), generation, chunk)).collect());
            }
            ReadOutcome::DefinitionChanged => self.suspend(&table, generation),
        }
        Ok(vec![])
    }

    /// The server's table is not what the stream says it is here: its snapshot waits until the stream has come to the DDL.
    pub(super) fn suspend(&mut self, table: &TableId, generation: u32) {
        let Some(entry) = self.tables.get_mut(table).filter(|t| t.generation == generation) else { return };
        tracing::info!(%table, "the table's definition has changed during its snapshot, which goes on behind the DDL");
        entry.generation += 1;
        entry.statement = None;
        if let TablePhase::Chunks(join) = &mut entry.phase {
            join.suspend();
        }
    }

    /// Goes on with the snapshots of tables that are at the server again what the stream says they are.
    pub(super) async fn resume_suspended(&mut self) -> Result<()> {
        let suspended: Vec<TableId> =
            self.tables.values().filter(|t| t.is_suspended()).map(|t| t.tracked.table.clone()).collect();
        if suspended.is_empty() {
            return Ok(());
        }
        let connect = self.settings.connect.clone();
        let now = tokio::task::spawn_blocking(move || -> Result<_> {
            let mut connection = Connection::connect(&connect)?;
            Ok(catalog::definitions_at(&mut connection, &suspended)?.0)
        })
        .await
        .map_err(|e| Error::transient("RF-RUN-006", "a task has ended").caused_by(e))??;
        let mut to_plan = Vec::new();
        for now in now {
            let Some(entry) = self.tables.get_mut(&now.table) else { continue };
            if super::source::is_same(&now.def, &entry.tracked.def) {
                entry.statement = Some(now.statement.into());
                to_plan.extend(planned_table(entry));
            }
        }
        if !to_plan.is_empty() {
            start_planner(self.settings.connect.clone(), to_plan, self.settings.chunk, self.plan_sender.clone())?;
        }
        Ok(())
    }

    pub(super) fn start_chunk(&mut self, table: &TableId, generation: u32, chunk: PlannedChunk) -> Result<()> {
        let armed_at = rowferry_model::Offset { position: self.point.at.clone(), ..self.point.offset.clone() };
        let memory = self.settings.memory / (2 * self.settings.parallelism).max(1);
        let max_rows = (self.settings.chunk.size * 4).max(1000);
        let Some(entry) = self.tables.get_mut(table).filter(|t| t.generation == generation) else { return Ok(()) };
        let TablePhase::Chunks(join) = &mut entry.phase else { return Ok(()) };
        let (Some(plan), Some(definition)) = (entry.text_plan.clone(), entry.statement.clone()) else { return Ok(()) };
        join.arm(chunk.clone());
        failpoint::pass("chunk-armed");
        let task = ChunkTask {
            table: table.clone(),
            key: join.key().clone(),
            plan,
            chunk,
            definition,
            generation,
            armed_at,
            visible_from: entry.changed_at + VISIBLE_AFTER,
            batch_rows: 8192,
            max_rows,
            max_bytes: memory,
        };
        self.readers
            .tasks
            .send(task)
            .map_err(|e| Error::transient("RF-RUN-003", "the snapshot's readers have ended").caused_by(e.to_string()))
    }

    pub(super) fn start_whole(&mut self, table: &TableId) -> Result<mpsc::Receiver<Whole>> {
        let parts = self.tables.get(table).and_then(|t| t.text_plan.clone().zip(t.statement.clone()));
        let (plan, definition) = parts
            .ok_or_else(|| Error::permanent("RF-RUN-004", "a table's snapshot has no plan").with("table", table))?;
        tracing::info!(%table, "reading a table without a usable key as a whole");
        start_whole(self.settings.connect.clone(), &self.point.server, table.clone(), plan, definition, 8192)
    }

    /// Takes what the reader of a whole table says; `true`: it is done.
    pub(super) async fn take_whole(&mut self, table: &TableId, message: Option<Whole>) -> Result<bool> {
        match message {
            Some(Whole::Position(at)) => {
                self.create(table).await?;
                if let Some(entry) = self.tables.get_mut(table) {
                    entry.phase = TablePhase::WholeAt(at);
                }
                Ok(false)
            }
            Some(Whole::Rows(columns)) => {
                let rows = columns.num_rows();
                if let Some(entry) = self.tables.get(table) {
                    let schema = entry.tracked.schema.clone();
                    let batch = ChangeBatch::new(table.clone(), schema, Changes::Inserts(rows), columns)
                        .map_err(batch_error)?;
                    self.write_snapshot(batch).await?;
                }
                self.add_table_rows(table, rows as u64, false);
                Ok(false)
            }
            Some(Whole::Done) => {
                self.add_table_rows(table, 0, true);
                Ok(true)
            }
            Some(Whole::DefinitionChanged) => {
                // The place may be known already; no row of it came.
                if let Some(entry) = self.tables.get_mut(table) {
                    entry.phase = TablePhase::WholeWaiting;
                }
                let generation = self.tables.get(table).map_or(0, |t| t.generation);
                self.suspend(table, generation);
                Ok(true)
            }
            Some(Whole::Failed(error)) => Err(error),
            None => Err(Error::transient("RF-RUN-003", "the snapshot's readers have ended")),
        }
    }

    fn add_table_rows(&self, table: &TableId, rows: u64, done: bool) {
        let before = self.metrics.tables().into_iter().find(|(t, _)| t == table).map(|(_, p)| p).unwrap_or_default();
        self.metrics.set_table(table, TableProgress { rows: before.rows + rows, done, ..before });
    }

    /// Writes the chunks that the stream has passed, and notes the tables that are complete.
    pub(super) async fn close_chunks(&mut self) -> Result<()> {
        let ids: Vec<TableId> = self
            .tables
            .iter()
            .filter(|(_, t)| matches!(t.phase, TablePhase::Chunks(_)))
            .map(|(id, _)| id.clone())
            .collect();
        for table in ids {
            let at = self.point.at.clone();
            let Some(join) = self.join(&table) else { continue };
            let before = join.done_chunks();
            let closed = join.close(&at).map_err(join_error)?;
            let (some_done, complete) = (join.done_chunks() > before, join.is_complete());
            let progress = join.progress();
            if some_done || complete {
                self.create(&table).await?;
            }
            for batch in closed {
                self.write_snapshot(batch).await?;
            }
            if some_done || complete {
                failpoint::pass("chunk-written");
                self.metrics.set_table(
                    &table,
                    TableProgress { rows: progress.rows, estimated_rows: progress.estimated_rows, done: complete },
                );
            }
            if complete && let Some(entry) = self.tables.get_mut(&table) {
                entry.phase = TablePhase::Streaming;
                tracing::info!(%table, rows = progress.rows, "snapshot of a table is done");
            }
        }
        Ok(())
    }
}
