//! The tables' lanes, the loads under way, and the bound on their memory.

use super::super::committable::PreparedTransaction;
use super::super::config::Config;
use super::super::shared::Shared;
use super::lane::{Lane, LaneTransactions};
use super::load_job::{LoadJob, LoadResult, prepare_lane};
use crate::{Gauge, SinkError};
use rowferry_model::TableId;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Backends refuse JSON of more than 100 MB, and parse it as a whole.
const MAX_CHUNK: usize = 64 << 20;
const MIN_CHUNK: usize = 64 << 10;

/// Figures since the start.
#[derive(Debug, Default)]
struct Totals {
    rows: u64,
    bytes: u64,
    loads: u64,
    filtered: u64,
    seconds: f64,
}

/// All that is on its way.
pub(super) struct Loads {
    config: Arc<Config>,
    shared: Arc<Shared>,
    lanes: Vec<Lane>,
    by_table: HashMap<TableId, usize>,
    running: JoinSet<LoadResult>,
    /// Bytes in buffers, queues and loads.
    bytes: usize,
    chunk: usize,
    /// Tells this run's plain labels from those of other runs.
    run: u64,
    plain_sequence: Arc<AtomicU64>,
    totals: Totals,
}

impl Loads {
    /// Nothing is on its way.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>) -> Self {
        // So that each thread can load one chunk while another fills up.
        let chunk = (config.max_bytes / (config.threads + 1)).clamp(MIN_CHUNK, MAX_CHUNK).min(config.max_bytes.max(1));
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
        Self {
            config,
            shared,
            lanes: Vec::new(),
            by_table: HashMap::new(),
            running: JoinSet::new(),
            bytes: 0,
            chunk,
            run,
            plain_sequence: Arc::new(AtomicU64::new(0)),
            totals: Totals::default(),
        }
    }

    /// Appends rows to a table's buffer; `fill` is given the buffer and how long it may become, and says how many
    /// rows it wrote.
    pub(super) fn append(
        &mut self,
        table: &TableId,
        columns: Option<&str>,
        fill: impl FnOnce(&mut Vec<u8>, usize) -> Result<u64, SinkError>,
    ) -> Result<(), SinkError> {
        let at = match self.by_table.get(table) {
            Some(at) => *at,
            None => {
                self.lanes.push(Lane::new(table.clone()));
                self.by_table.insert(table.clone(), self.lanes.len() - 1);
                self.lanes.len() - 1
            }
        };
        let Some(lane) = self.lanes.get_mut(at) else { return Ok(()) };
        if lane.columns.as_deref() != columns {
            lane.seal();
            lane.columns = columns.map(Arc::from);
        }
        let before = lane.buffer.len();
        let rows = fill(&mut lane.buffer, self.chunk)?;
        lane.rows += rows;
        lane.since.get_or_insert_with(Instant::now);
        self.bytes += lane.buffer.len() - before;
        if lane.buffer.len() >= self.chunk {
            lane.seal();
        }
        Ok(())
    }

    /// Waits until more rows may be taken.
    pub(super) async fn make_room(&mut self) -> Result<(), SinkError> {
        self.reap()?;
        while self.bytes + self.chunk.min(self.config.max_bytes / 2) > self.config.max_bytes {
            if self.lanes.iter().all(|l| l.queue.is_empty() || l.transactions.is_none()) {
                // Nothing else can start: the largest buffer must go.
                if let Some(lane) =
                    self.lanes.iter_mut().filter(|l| l.transactions.is_some()).max_by_key(|l| l.buffer.len())
                {
                    lane.seal();
                }
            }
            self.start()?;
            match self.running.join_next().await {
                Some(result) => self.finish(result)?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Starts loads while there are threads and tables that wait.
    pub(super) fn start(&mut self) -> Result<(), SinkError> {
        self.reap()?;
        while self.running.len() < self.config.threads {
            // The longest queue first.
            let Some((at, lane)) =
                self.lanes.iter_mut().enumerate().filter(|(_, l)| l.is_ready()).max_by_key(|(_, l)| l.queue.len())
            else {
                return Ok(());
            };
            let (Some(chunk), Some(transactions)) = (lane.queue.pop_front(), lane.transactions.take()) else {
                return Ok(());
            };
            let job = LoadJob {
                lane: at,
                table: lane.table.clone(),
                transactions,
                chunk,
                transactional: self.config.transactional,
                run: self.run,
                plain_sequence: Arc::clone(&self.plain_sequence),
                shared: Arc::clone(&self.shared),
            };
            self.running.spawn_blocking(move || job.run());
        }
        Ok(())
    }

    /// Loads what has waited long enough.
    pub(super) async fn flush_old(&mut self) -> Result<(), SinkError> {
        let now = Instant::now();
        for lane in &mut self.lanes {
            if lane.since.is_some_and(|since| now.duration_since(since) >= self.config.flush_interval) {
                lane.seal();
            }
        }
        self.start()
    }

    /// Loads everything and prepares every transaction.
    pub(super) async fn prepare(&mut self) -> Result<Vec<PreparedTransaction>, SinkError> {
        for lane in &mut self.lanes {
            lane.seal();
        }
        loop {
            self.start()?;
            match self.running.join_next().await {
                Some(result) => self.finish(result)?,
                None => break,
            }
        }
        let mut preparing = JoinSet::new();
        let mut waiting = self.lanes.iter_mut().enumerate().filter_map(|(at, lane)| {
            let transactions = lane.transactions.take()?;
            Some((at, lane.table.clone(), transactions))
        });
        let mut results = Vec::new();
        loop {
            while preparing.len() < self.config.threads
                && let Some((at, table, transactions)) = waiting.next()
            {
                let shared = Arc::clone(&self.shared);
                preparing.spawn_blocking(move || (at, prepare_lane(&shared, &table, transactions)));
            }
            match preparing.join_next().await {
                Some(result) => results.push(result.map_err(|e| panicked(&e))?),
                None => break,
            }
        }
        drop(waiting);
        results.sort_by_key(|(at, _)| *at);
        let mut all = Vec::new();
        for (at, result) in results {
            all.extend(result.map_err(super::super::load_error::LoadError::into_sink_error)?);
            if let Some(lane) = self.lanes.get_mut(at) {
                lane.transactions = Some(LaneTransactions::default());
            }
        }
        Ok(all)
    }

    /// Rolls back what is open and forgets what is buffered.
    pub(super) async fn abandon(&mut self) {
        // Loads can't be broken off: they end by themselves.
        while let Some(result) = self.running.join_next().await {
            if let Ok(done) = result
                && let Some(lane) = self.lanes.get_mut(done.lane)
            {
                lane.transactions = Some(done.transactions);
            }
        }
        let mut rolling = JoinSet::new();
        for lane in self.lanes.drain(..) {
            let Some(open) = lane.transactions.and_then(|t| t.open) else { continue };
            let shared = Arc::clone(&self.shared);
            rolling.spawn_blocking(move || {
                if let Err(error) = shared.client.rollback(&lane.table, &open.transaction.label) {
                    tracing::warn!(
                        "starrocks: {} stays open until it times out: {}",
                        open.transaction.label,
                        error.message
                    );
                }
            });
        }
        while rolling.join_next().await.is_some() {}
        self.by_table.clear();
        self.bytes = 0;
    }

    /// Figures for the metrics page.
    pub(super) fn gauges(&self) -> Vec<Gauge> {
        vec![
            ("starrocks_buffered_bytes", Vec::new(), self.bytes as f64),
            ("starrocks_loads_running", Vec::new(), self.running.len() as f64),
            ("starrocks_loads_total", Vec::new(), self.totals.loads as f64),
            ("starrocks_loaded_rows_total", Vec::new(), self.totals.rows as f64),
            ("starrocks_loaded_bytes_total", Vec::new(), self.totals.bytes as f64),
            ("starrocks_filtered_rows_total", Vec::new(), self.totals.filtered as f64),
            ("starrocks_load_seconds_total", Vec::new(), self.totals.seconds),
        ]
    }

    fn reap(&mut self) -> Result<(), SinkError> {
        while let Some(result) = self.running.try_join_next() {
            self.finish(result)?;
        }
        Ok(())
    }

    fn finish(&mut self, result: Result<LoadResult, JoinError>) -> Result<(), SinkError> {
        let done = result.map_err(|e| panicked(&e))?;
        self.bytes = self.bytes.saturating_sub(done.buffered);
        if let Some(lane) = self.lanes.get_mut(done.lane) {
            lane.transactions = Some(done.transactions);
        }
        let report = done.outcome.map_err(super::super::load_error::LoadError::into_sink_error)?;
        self.totals.loads += 1;
        self.totals.rows += done.rows;
        self.totals.bytes += done.buffered as u64;
        self.totals.filtered += report.filtered;
        self.totals.seconds += done.took.as_secs_f64();
        Ok(())
    }
}

fn panicked(error: &JoinError) -> SinkError {
    SinkError::permanent(format!("starrocks sink: a load's thread ended unexpectedly: {error}"))
}
