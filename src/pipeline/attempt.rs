//! One attempt at running: from the last checkpoint until the end, a stop or an error.

use super::decode::{Decoded, InOrder};
use super::progress::Progress;
use super::route::Router;
use super::run::Outcome;
use super::settings::{Settings, Until};
use super::snapshot::{ChunkReaders, Planned, Whole, start_whole};
use crate::checkpoint::{Checkpoint, Phase, Store, TableState};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::metrics::{Metrics, TableProgress, now_millis};
use crate::mysql::binlog::TextPlan;
use crate::mysql::catalog;
use crate::mysql::reader::{ReaderHandle, StreamPoint, Tracked};
use crate::mysql::snapshot::{ChunkTask, PlannedChunk, ReadOutcome, TableJoin};
use crate::mysql::wire::Connection;
use arrow_array::Int64Array;
use rowferry_model::{BinlogPosition, ChangeBatch, Changes, CheckpointId, SchemaChange, TableId};
use rowferry_sinks::Sink;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::sync::watch;

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
}

/// A table of the pipeline.
pub(super) struct TableEntry {
    pub(super) tracked: Tracked,
    pub(super) phase: TablePhase,
    pub(super) created: bool,
    pub(super) text_plan: Option<Arc<TextPlan>>,
    pub(super) estimated_rows: u64,
}

/// Everything that one attempt works with.
pub(super) struct Attempt<'a> {
    pub(super) settings: &'a Settings,
    pub(super) store: &'a mut Store,
    pub(super) metrics: Arc<Metrics>,
    pub(super) sink: Sink,
    pub(super) router: Router,
    pub(super) tables: BTreeMap<TableId, TableEntry>,
    pub(super) server: String,
    pub(super) last_checkpoint: CheckpointId,
    pub(super) point: StreamPoint,
    pub(super) stream: InOrder,
    pub(super) reader: ReaderHandle,
    /// Tells the reader to seal at every transaction: whole tables need an exact place.
    pub(super) seal_each: Arc<AtomicBool>,
    pub(super) planned: Option<mpsc::Receiver<Planned>>,
    pub(super) readers: ChunkReaders,
    pub(super) stop: watch::Receiver<bool>,
    /// A connection for questions about keys that only the server can compare.
    pub(super) asking: Option<Connection>,
}

/// How long `idle` may have to wait for its turn.
const TICK: Duration = Duration::from_millis(50);

impl Attempt<'_> {
    /// Runs until the end, a stop or an error.
    pub(super) async fn run(&mut self, progress: &mut Progress) -> Result<Outcome> {
        let mut ready: VecDeque<(TableId, PlannedChunk)> = VecDeque::new();
        let mut wholes: VecDeque<TableId> = self
            .tables
            .iter()
            .filter(|(_, t)| matches!(t.phase, TablePhase::WholeWaiting))
            .map(|(id, _)| id.clone())
            .collect();
        let mut whole: Option<(TableId, mpsc::Receiver<Whole>)> = None;
        let mut caught_up_at: Option<BinlogPosition> = None;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        if self.last_checkpoint == 0 {
            // From here on a crash goes on at this place, not at a later one.
            self.checkpoint().await?;
        }
        let mut checkpointed = Instant::now();
        let mut dirty = true;
        let mut stopping: Option<Instant> = None;
        let open_limit = self.settings.parallelism * 2;

        loop {
            let in_snapshot = self.in_snapshot();
            if whole.is_none()
                && stopping.is_none()
                && self.point.boundary
                && let Some(table) = wholes.pop_front()
            {
                whole = Some((table.clone(), self.start_whole(&table)?));
            }
            if stopping.is_none() && whole.is_none() && wholes.is_empty() {
                while self.open_chunks() < open_limit
                    && let Some((table, chunk)) = ready.pop_front()
                {
                    self.start_chunk(&table, chunk)?;
                }
            }
            // The end of the run.
            if !in_snapshot && whole.is_none() && wholes.is_empty() && self.point.boundary {
                let reached = match self.settings.until {
                    Until::Stopped => false,
                    Until::SnapshotDone => true,
                    Until::CaughtUp => {
                        if caught_up_at.is_none() {
                            caught_up_at = Some(self.server_position().await?);
                        }
                        caught_up_at.as_ref().is_some_and(|end| *end <= self.point.at)
                    }
                };
                if reached {
                    self.checkpoint().await?;
                    return Ok(Outcome::Done);
                }
            }
            if let Some(since) = stopping
                && (self.point.boundary || since.elapsed() > Duration::from_secs(10))
            {
                if self.point.boundary && whole.is_none() {
                    self.checkpoint().await?;
                }
                return Ok(Outcome::Interrupted);
            }
            if dirty
                && whole.is_none()
                && self.point.boundary
                && checkpointed.elapsed() >= self.settings.checkpoint_interval
            {
                self.checkpoint().await?;
                checkpointed = Instant::now();
                dirty = false;
            }

            let want_plan = self.planned.is_some()
                && ready.is_empty()
                && stopping.is_none()
                && whole.is_none()
                && wholes.is_empty()
                && self.open_chunks() < open_limit;
            let planned = &mut self.planned;
            tokio::select! {
                item = self.stream.next(), if whole.is_none() => {
                    let Some(item) = item else {
                        return Err(Error::transient("RF-RUN-002", "the binlog reader has ended"));
                    };
                    self.segment(item?).await?;
                    // What is there already is taken at once: the sink flushes when there is no more.
                    while let Some(item) = self.stream.next_now() {
                        self.segment(item?).await?;
                        if self.point.boundary && checkpointed.elapsed() >= self.settings.checkpoint_interval {
                            break;
                        }
                    }
                    dirty = true;
                    self.close_chunks().await?;
                    self.sink.events.idle().await?;
                }
                message = async { match planned { Some(p) => p.recv().await, None => None } }, if want_plan => {
                    match message {
                        Some(Planned::Chunk(table, chunk)) => {
                            if let Some(join) = self.join(&table) {
                                join.expect_chunk();
                                ready.push_back((table, chunk));
                            }
                        }
                        Some(Planned::TableDone(table)) => {
                            if let Some(join) = self.join(&table) {
                                join.planning_done();
                            }
                            self.close_chunks().await?;
                        }
                        Some(Planned::Failed(error)) => return Err(error),
                        None => self.planned = None,
                    }
                }
                outcome = self.readers.outcomes.recv() => {
                    let Some((table, order, outcome)) = outcome else {
                        return Err(Error::transient("RF-RUN-003", "the snapshot's readers have ended"));
                    };
                    dirty = true;
                    let outcome = outcome?;
                    failpoint::pass("chunk-read");
                    if let Some(join) = self.join(&table) {
                        match outcome {
                            ReadOutcome::Read(read) => join.read(&order, read),
                            ReadOutcome::Split(parts) => {
                                join.split(&order, parts.len());
                                for chunk in parts.into_iter().rev() {
                                    ready.push_front((table.clone(), chunk));
                                }
                            }
                        }
                    }
                    self.close_chunks().await?;
                    self.sink.events.idle().await?;
                }
                message = async { match &mut whole { Some((_, w)) => w.recv().await, None => None } }, if whole.is_some() => {
                    dirty = true;
                    let Some((table, _)) = &whole else { continue };
                    let table = table.clone();
                    if self.whole(&table, message).await? {
                        whole = None;
                    }
                }
                _ = tick.tick() => {
                    self.sink.events.idle().await?;
                    self.metrics.set_sink(self.sink.events.gauges());
                    progress.tick(&self.metrics, in_snapshot);
                }
                changed = self.stop.changed(), if stopping.is_none() => {
                    if changed.is_err() || *self.stop.borrow() {
                        tracing::info!("stopping at the next transaction's end");
                        stopping = Some(Instant::now());
                    }
                }
            }
        }
    }

    fn join(&mut self, table: &TableId) -> Option<&mut TableJoin> {
        match self.tables.get_mut(table).map(|t| &mut t.phase) {
            Some(TablePhase::Chunks(join)) => Some(join),
            _ => None,
        }
    }

    fn open_chunks(&self) -> usize {
        self.tables
            .values()
            .map(|t| match &t.phase {
                TablePhase::Chunks(join) => join.open_chunks(),
                _ => 0,
            })
            .sum()
    }

    fn in_snapshot(&self) -> bool {
        self.tables.values().any(|t| matches!(t.phase, TablePhase::Chunks(_) | TablePhase::WholeWaiting))
    }

    fn whole_pending(&self) -> bool {
        self.tables.values().any(|t| matches!(t.phase, TablePhase::WholeWaiting | TablePhase::WholeAt(_)))
    }

    fn start_chunk(&mut self, table: &TableId, chunk: PlannedChunk) -> Result<()> {
        let armed_at = rowferry_model::Offset { position: self.point.at.clone(), ..self.point.offset.clone() };
        let memory = self.settings.memory / (2 * self.settings.parallelism).max(1);
        let max_rows = (self.settings.chunk.size * 4).max(1000);
        let Some(entry) = self.tables.get_mut(table) else { return Ok(()) };
        let TablePhase::Chunks(join) = &mut entry.phase else { return Ok(()) };
        let Some(plan) = entry.text_plan.clone() else { return Ok(()) };
        join.arm(chunk.clone());
        failpoint::pass("chunk-armed");
        let task = ChunkTask {
            table: table.clone(),
            key: join.key().clone(),
            plan,
            chunk,
            armed_at,
            batch_rows: 8192,
            max_rows,
            max_bytes: memory,
        };
        self.readers
            .tasks
            .try_send(task)
            .map_err(|e| Error::transient("RF-RUN-003", "the snapshot's readers have ended").caused_by(e.to_string()))
    }

    fn start_whole(&mut self, table: &TableId) -> Result<mpsc::Receiver<Whole>> {
        let plan = self
            .tables
            .get(table)
            .and_then(|t| t.text_plan.clone())
            .ok_or_else(|| Error::permanent("RF-RUN-004", "a table's snapshot has no plan").with("table", table))?;
        tracing::info!(%table, "reading a table without a usable key as a whole");
        start_whole(self.settings.connect.clone(), table.clone(), plan, 8192)
    }

    /// Takes what the reader of a whole table says; `true`: it is done.
    async fn whole(&mut self, table: &TableId, message: Option<Whole>) -> Result<bool> {
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
            Some(Whole::Failed(error)) => Err(error),
            None => Err(Error::transient("RF-RUN-003", "the snapshot's readers have ended")),
        }
    }

    fn add_table_rows(&self, table: &TableId, rows: u64, done: bool) {
        let before = self.metrics.tables().into_iter().find(|(t, _)| t == table).map(|(_, p)| p).unwrap_or_default();
        self.metrics.set_table(table, TableProgress { rows: before.rows + rows, done, ..before });
    }

    /// Takes a segment of the stream.
    async fn segment(&mut self, decoded: Decoded) -> Result<()> {
        for batch in decoded.batches {
            let table = batch.table().clone();
            let passed = match self.tables.get_mut(&table).map(|t| &mut t.phase) {
                None => None,
                Some(TablePhase::Streaming) => Some(batch),
                Some(TablePhase::WholeWaiting) => None,
                Some(TablePhase::WholeAt(at)) => {
                    if decoded.point.at <= *at {
                        None
                    } else {
                        Some(batch)
                    }
                }
                Some(TablePhase::Chunks(_)) => self.pass(&table, batch).await?,
            };
            if let Some(batch) = passed {
                Metrics::add(&self.metrics.changes, batch.num_changes() as u64);
                self.create(&table).await?;
                self.write(batch).await?;
            }
        }
        self.point = decoded.point;
        let mut whole_passed = false;
        for entry in self.tables.values_mut() {
            if matches!(&entry.phase, TablePhase::WholeAt(at) if *at <= self.point.at) {
                entry.phase = TablePhase::Streaming;
                whole_passed = true;
            }
        }
        if whole_passed {
            self.seal_each.store(self.whole_pending(), Ordering::Relaxed);
        }
        let metrics = &self.metrics;
        Metrics::add(&metrics.binlog_bytes, self.point.bytes);
        Metrics::add(&metrics.transactions, self.point.transactions);
        metrics.last_commit_seconds.store(self.point.seconds, Ordering::Relaxed);
        metrics.caught_up.store(u64::from(self.point.caught_up), Ordering::Relaxed);
        // How much the server has beyond what it has sent is not known.
        metrics.lag_bytes.store(if self.point.caught_up { 0 } else { -1 }, Ordering::Relaxed);
        Ok(())
    }

    /// Joins a batch of the stream with the table's snapshot.
    async fn pass(&mut self, table: &TableId, batch: ChangeBatch) -> Result<Option<ChangeBatch>> {
        let Some(join) = self.join(table) else { return Ok(None) };
        let queries = join.classify_queries(&batch);
        let below = if queries.is_empty() { None } else { Some(self.ask(queries).await?) };
        let Some(join) = self.join(table) else { return Ok(None) };
        join.pass(batch, below.as_deref()).map_err(join_error)
    }

    /// Asks the server which keys lie below which bounds.
    async fn ask(&mut self, queries: Vec<String>) -> Result<Vec<Vec<bool>>> {
        let connect = self.settings.connect.clone();
        let connection = self.asking.take();
        let (connection, answers) = tokio::task::spawn_blocking(move || -> Result<_> {
            let mut connection = match connection {
                Some(connection) => connection,
                None => Connection::connect(&connect)?,
            };
            let mut answers = Vec::new();
            for sql in queries {
                for row in connection.query(&sql)? {
                    answers.push((0..row.len()).map(|i| row.at(i) == Some("1")).collect());
                }
            }
            Ok((connection, answers))
        })
        .await
        .map_err(|e| Error::transient("RF-RUN-006", "a task has ended").caused_by(e))??;
        self.asking = Some(connection);
        Ok(answers)
    }

    /// Writes the chunks that the stream has passed, and notes the tables that are complete.
    async fn close_chunks(&mut self) -> Result<()> {
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

    /// Tells the sink to create a table, once.
    async fn create(&mut self, table: &TableId) -> Result<()> {
        let Some(entry) = self.tables.get_mut(table) else { return Ok(()) };
        if entry.created {
            return Ok(());
        }
        entry.created = true;
        let schema = entry.tracked.schema.clone();
        for target in self.router.targets(table) {
            self.sink.events.check(target, &schema)?;
            let change = SchemaChange::CreateTable { table: target.clone(), schema: schema.clone() };
            self.sink.metadata.apply(&change, Some(&schema)).await?;
        }
        Ok(())
    }

    /// Writes rows of a snapshot: their event has no time, which is 0 where times are asked for.
    async fn write_snapshot(&mut self, batch: ChangeBatch) -> Result<()> {
        Metrics::add(&self.metrics.snapshot_rows, batch.num_rows() as u64);
        let batch = if self.settings.op_ts {
            let zeros = Int64Array::from(vec![0; batch.num_rows()]);
            batch.with_op_ts(Arc::new(zeros)).map_err(batch_error)?
        } else {
            batch
        };
        self.write(batch).await
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<()> {
        Metrics::add(&self.metrics.sink_bytes, batch.num_bytes() as u64);
        let targets = self.router.targets(batch.table()).to_vec();
        for target in targets {
            let batch = if target == *batch.table() { batch.clone() } else { batch.clone().with_table(target) };
            self.sink.events.write(batch).await?;
        }
        Ok(())
    }

    async fn server_position(&self) -> Result<BinlogPosition> {
        let connect = self.settings.connect.clone();
        tokio::task::spawn_blocking(move || -> Result<_> {
            let mut connection = Connection::connect(&connect)?;
            Ok(catalog::binlog_position(&mut connection)?.position)
        })
        .await
        .map_err(|e| Error::transient("RF-RUN-006", "a task has ended").caused_by(e))?
    }

    /// Makes everything up to the stream's place durable, saves the state, and makes it visible.
    async fn checkpoint(&mut self) -> Result<()> {
        let id = self.last_checkpoint + 1;
        failpoint::pass("before-prepare");
        let committable = self.sink.events.prepare(id).await?;
        let tables = self
            .tables
            .iter()
            .map(|(table, entry)| {
                let phase = match &entry.phase {
                    TablePhase::Chunks(join) => Phase::Snapshot(join.progress()),
                    TablePhase::WholeWaiting => Phase::Snapshot(crate::checkpoint::SnapshotProgress {
                        estimated_rows: entry.estimated_rows,
                        ..Default::default()
                    }),
                    TablePhase::WholeAt(at) => Phase::StreamingFrom(at.clone()),
                    TablePhase::Streaming => Phase::Streaming,
                };
                let def = entry.tracked.def.as_ref().clone();
                (table.clone(), TableState { def, phase, created: entry.created })
            })
            .collect();
        let checkpoint = Checkpoint {
            id,
            saved_at: now_millis(),
            offset: self.point.offset.clone(),
            server: self.server.clone(),
            committable: committable.clone(),
            tables,
        };
        failpoint::pass("before-save");
        self.store.save(&checkpoint).map_err(super::run::store_error)?;
        self.last_checkpoint = id;
        failpoint::pass("before-commit");
        if let Some(committable) = committable {
            self.sink.events.commit(id, committable).await?;
        }
        failpoint::pass("after-commit");
        self.metrics.checkpoint_at.store(checkpoint.saved_at, Ordering::Relaxed);
        self.metrics.checkpoint_id.store(id, Ordering::Relaxed);
        tracing::debug!(id, offset = %checkpoint.offset, "checkpoint");
        Ok(())
    }
}

fn batch_error(error: rowferry_model::BatchError) -> Error {
    Error::permanent("RF-RUN-005", "a batch is malformed").caused_by(error)
}

fn join_error(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::permanent("RF-SNP-001", "the snapshot can't be joined with the binlog").caused_by(error)
}
