//! One attempt at running: from the last checkpoint until the end, a stop or an error.

use super::collisions::CollisionWatch;
use super::ddl_steps::DdlSteps;
use super::decode::{Decoded, InOrder};
use super::evolve::Targets;
use super::progress::Progress;
use super::run::Outcome;
use super::settings::{Settings, Until};
use super::snapshot::{ChunkReaders, Planned, Whole};
use super::start::TableChoice;
use super::tables::{TableEntry, TablePhase, join_error};
use crate::checkpoint::{SavedTargets, Store};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::metrics::Metrics;
use crate::mysql::catalog;
use crate::mysql::reader::{Bystanders, ReaderHandle, StreamPoint};
use crate::mysql::snapshot::PlannedChunk;
use crate::mysql::wire::Connection;
use rowferry_model::{BinlogPosition, ChangeBatch, CheckpointId, TableId};
use rowferry_sinks::Sink;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::sync::watch;

/// Everything that one attempt works with.
pub(super) struct Attempt<'a> {
    pub(super) settings: &'a Settings,
    pub(super) choice: Arc<dyn TableChoice>,
    pub(super) store: &'a mut Store,
    pub(super) metrics: Arc<Metrics>,
    pub(super) sink: Sink,
    pub(super) targets: Targets,
    /// Looks for equal keys of merged tables; `None`: no merge can have them.
    pub(super) collisions: Option<CollisionWatch>,
    /// The changes of the DDL that is being followed, or was last.
    pub(super) steps: DdlSteps,
    /// The targets as they were last saved.
    pub(super) saved_targets: Arc<SavedTargets>,
    pub(super) tables: BTreeMap<TableId, TableEntry>,
    pub(super) bystanders: Arc<Bystanders>,
    pub(super) last_checkpoint: CheckpointId,
    pub(super) point: StreamPoint,
    pub(super) stream: InOrder,
    pub(super) reader: ReaderHandle,
    /// Tells the reader to seal at every transaction: whole tables need an exact place.
    pub(super) seal_each: Arc<AtomicBool>,
    /// Tells the reader that places of this server's log are waited for.
    pub(super) bound_to_server: Arc<AtomicBool>,
    pub(super) plan_sender: mpsc::Sender<Planned>,
    pub(super) planned: mpsc::Receiver<Planned>,
    pub(super) readers: ChunkReaders,
    pub(super) stop: watch::Receiver<bool>,
    /// A connection for questions about keys that only the server can compare.
    pub(super) asking: Option<Connection>,
}

/// How long `idle` may have to wait for its turn.
const TICK: Duration = Duration::from_millis(50);

/// How often the server is asked whether a table is again what the stream says it is.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Attempt<'_> {
    /// Runs until the end, a stop or an error.
    pub(super) async fn run(&mut self, progress: &mut Progress) -> Result<Outcome> {
        let mut ready: VecDeque<(TableId, u32, PlannedChunk)> = VecDeque::new();
        let mut whole: Option<(TableId, mpsc::Receiver<Whole>)> = None;
        // Where the server's log ended, and whose log it is.
        let mut caught_up_at: Option<(Arc<str>, BinlogPosition)> = None;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.adapt_targets().await?;
        if self.last_checkpoint == 0 {
            // From here on a crash goes on at this place, not at a later one.
            self.checkpoint().await?;
        }
        let mut checkpointed = Instant::now();
        let mut dirty = true;
        let mut stopping: Option<Instant> = None;
        let mut looked = Instant::now();
        let open_limit = self.settings.parallelism * 2;

        loop {
            let in_snapshot = self.in_snapshot();
            if self.bound_to_server.load(Ordering::Relaxed) && !self.is_bound_to_server() {
                self.bound_to_server.store(false, Ordering::Relaxed);
            }
            let next_whole = self.next_whole();
            if whole.is_none()
                && stopping.is_none()
                && self.point.boundary
                && let Some(table) = next_whole.clone()
            {
                whole = Some((table.clone(), self.start_whole(&table)?));
            }
            if stopping.is_none() && whole.is_none() && next_whole.is_none() {
                while self.open_chunks() < open_limit
                    && let Some((table, generation, chunk)) = ready.pop_front()
                {
                    self.start_chunk(&table, generation, chunk)?;
                }
            }
            // The end of the run.
            if !in_snapshot && whole.is_none() && self.point.boundary {
                let reached = match self.settings.until {
                    Until::Stopped => false,
                    Until::SnapshotDone => true,
                    Until::CaughtUp => {
                        if caught_up_at.as_ref().is_none_or(|(server, _)| *server != self.point.server) {
                            caught_up_at = Some((self.point.server.clone(), self.server_position().await?));
                        }
                        caught_up_at.as_ref().is_some_and(|(_, end)| *end <= self.point.at)
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

            let want_plan = ready.is_empty()
                && stopping.is_none()
                && whole.is_none()
                && next_whole.is_none()
                && self.open_chunks() < open_limit;
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
                message = self.planned.recv(), if want_plan => {
                    let Some(message) = message else { continue };
                    ready.extend(self.take_planned(message).await?);
                }
                outcome = self.readers.outcomes.recv() => {
                    let Some(outcome) = outcome else {
                        return Err(Error::transient("RF-RUN-003", "the snapshot's readers have ended"));
                    };
                    dirty = true;
                    failpoint::pass("chunk-read");
                    for part in self.take_outcome(outcome)?.into_iter().rev() {
                        ready.push_front(part);
                    }
                    self.close_chunks().await?;
                    self.sink.events.idle().await?;
                }
                message = async { match &mut whole { Some((_, w)) => w.recv().await, None => None } }, if whole.is_some() => {
                    dirty = true;
                    let Some((table, _)) = &whole else { continue };
                    let table = table.clone();
                    if self.take_whole(&table, message).await? {
                        whole = None;
                    }
                }
                _ = tick.tick() => {
                    self.sink.events.idle().await?;
                    if looked.elapsed() >= LOOK_AGAIN && self.tables.values().any(TableEntry::is_suspended) {
                        self.resume_suspended().await?;
                        looked = Instant::now();
                    }
                    if let Some(rules) = &self.settings.transforms {
                        let (metrics, counters) = (&self.metrics, rules.counters());
                        metrics.transform_zero_divisions.store(counters.zero_divisions(), Ordering::Relaxed);
                        metrics.transform_lost_values.store(counters.lost_values(), Ordering::Relaxed);
                    }
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

    /// Takes a segment of the stream.
    async fn segment(&mut self, decoded: Decoded) -> Result<()> {
        for batch in decoded.batches {
            let table = batch.table().clone();
            let entry = self.tables.get_mut(&table).map(|entry| {
                entry.changed_at = Instant::now();
                &mut entry.phase
            });
            let passed = match entry {
                None | Some(TablePhase::Gone(_)) => None,
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
        match decoded.ddl {
            Some(ddl) => self.follow(*ddl, decoded.point, decoded.bystanders).await?,
            None => {
                self.point = decoded.point;
                if let Some(bystanders) = decoded.bystanders {
                    self.bystanders = Arc::new(*bystanders);
                }
            }
        }
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

    async fn server_position(&self) -> Result<BinlogPosition> {
        let connect = self.settings.connect.clone();
        tokio::task::spawn_blocking(move || -> Result<_> {
            let mut connection = Connection::connect(&connect)?;
            Ok(catalog::binlog_position(&mut connection)?.position)
        })
        .await
        .map_err(|e| Error::transient("RF-RUN-006", "a task has ended").caused_by(e))?
    }
}
