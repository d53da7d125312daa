//! The tables' lanes, the loads under way, and the bound on their memory.

mod lane;
mod spares;

use super::body::LoadColumns;
use super::load_error::LoadError;
use crate::{Gauge, SinkError};
pub(crate) use lane::Buffer;
use lane::Lane;
use rowferry_model::TableId;
use spares::Spares;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// The body of one load.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Rows as the loader's server takes them.
    pub(crate) body: Vec<u8>,
    /// How many of the body's bytes count against the memory's bound.
    buffered: usize,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// What the load says of its columns.
    pub(crate) columns: Option<Arc<LoadColumns>>,
}

#[cfg(all(test, feature = "starrocks"))]
impl Piece {
    /// A piece that counts against no bound.
    pub(crate) fn of(body: Vec<u8>, rows: u64) -> Self {
        Self { body, buffered: 0, rows, columns: None }
    }
}

/// What a load did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadReport {
    /// Rows that the server left out because `max_filter_ratio` lets it.
    pub(crate) filtered: u64,
}

/// What loads pieces into one kind of server. Its calls may wait: they come on threads of their own.
pub(crate) trait Loader: Send + Sync + 'static {
    /// What a table's loads of one checkpoint leave behind; moves into a load and comes back.
    type State: Default + Send + 'static;
    /// What a checkpoint's commit needs to know.
    type Prepared: Send + 'static;
    /// The sink's name, for messages and before the names of figures.
    const SINK: &'static str;
    /// Names of the figures, in the order of `Loads::gauges`.
    const GAUGES: [&'static str; 7];

    /// What ends a body.
    fn end(&self) -> &'static [u8];

    /// Loads a piece.
    ///
    /// # Errors
    /// The rows are not in the table, and won't be after one more try.
    fn load(&self, table: &TableId, state: &mut Self::State, piece: &Piece) -> Result<LoadReport, LoadError>;

    /// Makes durable what a table has had in a checkpoint.
    ///
    /// # Errors
    /// It is not durable.
    fn prepare(&self, table: &TableId, state: Self::State) -> Result<Vec<Self::Prepared>, LoadError>;

    /// Takes back what a table has had in a checkpoint that will not be; failures are told in the log.
    fn abandon(&self, table: &TableId, state: Self::State);
}

/// How much may be buffered, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In buffers, queues and loads, in bytes.
    pub(crate) bytes: usize,
    /// In one load, in bytes.
    pub(crate) piece: usize,
    /// In one load.
    pub(crate) piece_rows: u64,
    /// How long a row may wait before it is loaded.
    pub(crate) interval: Duration,
    /// How many loads may be under way.
    pub(crate) threads: usize,
}

/// Figures since the start.
#[derive(Debug, Default)]
struct Totals {
    rows: u64,
    bytes: u64,
    loads: u64,
    filtered: u64,
    seconds: f64,
}

/// A load that is done, or failed.
struct Done<S> {
    lane: usize,
    state: S,
    outcome: Result<LoadReport, LoadError>,
    rows: u64,
    buffered: usize,
    took: Duration,
    /// The body's memory, for another one.
    body: Vec<u8>,
}

/// All that is on its way.
pub(crate) struct Loads<L: Loader> {
    loader: Arc<L>,
    limits: Limits,
    lanes: Vec<Lane<L::State>>,
    by_table: HashMap<TableId, usize>,
    running: JoinSet<Done<L::State>>,
    /// Bytes in buffers, queues and loads.
    bytes: usize,
    spares: Spares,
    totals: Totals,
}

impl<L: Loader> Loads<L> {
    /// Nothing is on its way.
    pub(crate) fn new(loader: Arc<L>, limits: Limits) -> Self {
        Self {
            loader,
            limits,
            lanes: Vec::new(),
            by_table: HashMap::new(),
            running: JoinSet::new(),
            bytes: 0,
            spares: Spares::default(),
            totals: Totals::default(),
        }
    }

    /// Lends a table's buffer, so that rows can be appended to it. Until it comes back the table has nothing to load but
    /// what was full before. One for `many` rows may get memory of bodies that are loaded.
    pub(crate) fn lend(&mut self, table: &TableId, columns: Option<&Arc<LoadColumns>>, many: bool) -> Buffer {
        let at = match self.by_table.get(table) {
            Some(at) => *at,
            None => {
                self.lanes.push(Lane::new(table.clone()));
                self.by_table.insert(table.clone(), self.lanes.len() - 1);
                self.lanes.len() - 1
            }
        };
        let mut buffer = Buffer {
            lane: at,
            body: Vec::new(),
            rows: 0,
            before: 0,
            limit: self.limits.piece,
            limit_rows: self.limits.piece_rows,
        };
        if let Some(lane) = self.lanes.get_mut(at) {
            if !same(lane.columns.as_ref(), columns) {
                lane.seal(self.loader.end());
                lane.columns = columns.cloned();
            }
            buffer.body = std::mem::take(&mut lane.buffer);
            buffer.rows = std::mem::take(&mut lane.rows);
            buffer.before = buffer.body.len();
            lane.since.get_or_insert_with(Instant::now);
        }
        if many && buffer.body.capacity() == 0 {
            // It must not gather in buffers that are no longer filled.
            let idle: usize = self.lanes.iter().map(|lane| lane.buffer.capacity() - lane.buffer.len()).sum();
            buffer.body = self.spares.take(self.limits.bytes.saturating_sub(self.bytes + idle));
        }
        buffer
    }

    /// Takes a buffer back; one that is full will be loaded.
    pub(crate) fn take_back(&mut self, buffer: Buffer) {
        let Some(lane) = self.lanes.get_mut(buffer.lane) else { return };
        self.bytes += buffer.body.len().saturating_sub(buffer.before);
        self.spares.shrink(self.limits.bytes.saturating_sub(self.bytes));
        let full = buffer.is_full();
        lane.buffer = buffer.body;
        lane.rows = buffer.rows;
        if lane.buffer.is_empty() {
            lane.since = None;
        } else if full {
            lane.seal(self.loader.end());
        }
    }

    /// Waits until more rows may be taken. It waits for whichever load ends first: a slow one holds up others only when
    /// all the room is its own.
    pub(crate) async fn make_room(&mut self) -> Result<(), SinkError> {
        loop {
            self.reap()?;
            if self.bytes + self.limits.piece.min(self.limits.bytes / 2) <= self.limits.bytes {
                return Ok(());
            }
            if !self.lanes.iter().any(Lane::is_ready) {
                // Nothing else can start: the largest buffer must go.
                let idle = self.lanes.iter_mut().filter(|l| l.state.is_some() && !l.buffer.is_empty());
                if let Some(lane) = idle.max_by_key(|l| l.buffer.len()) {
                    lane.seal(self.loader.end());
                }
            }
            // Loads that end from here on are seen below: who reaped them now would wait for the others.
            self.start_ready();
            match self.running.join_next().await {
                Some(result) => self.finish(result)?,
                None => return Ok(()),
            }
        }
    }

    /// Starts loads while there are threads and tables that wait.
    pub(crate) fn start(&mut self) -> Result<(), SinkError> {
        self.reap()?;
        self.start_ready();
        Ok(())
    }

    fn start_ready(&mut self) {
        while self.running.len() < self.limits.threads {
            // The longest queue first.
            let Some((at, lane)) =
                self.lanes.iter_mut().enumerate().filter(|(_, l)| l.is_ready()).max_by_key(|(_, l)| l.queue.len())
            else {
                return;
            };
            let (Some(piece), Some(mut state)) = (lane.queue.pop_front(), lane.state.take()) else { return };
            let (loader, table) = (Arc::clone(&self.loader), lane.table.clone());
            self.running.spawn_blocking(move || {
                let start = Instant::now();
                let outcome = loader.load(&table, &mut state, &piece);
                if let Ok(report) = &outcome
                    && report.filtered > 0
                {
                    let filtered = report.filtered;
                    tracing::warn!("{}: {filtered} rows of {table} were left out by max_filter_ratio", L::SINK);
                }
                let Piece { body, buffered, rows, .. } = piece;
                Done { lane: at, state, outcome, rows, buffered, took: start.elapsed(), body }
            });
        }
    }

    /// Loads what has waited long enough.
    pub(crate) async fn flush_old(&mut self) -> Result<(), SinkError> {
        let now = Instant::now();
        for lane in &mut self.lanes {
            if lane.since.is_some_and(|since| now.duration_since(since) >= self.limits.interval) {
                lane.seal(self.loader.end());
            }
        }
        self.start()?;
        if self.bytes == 0 {
            self.spares.shrink(0);
        }
        Ok(())
    }

    /// Loads everything and makes it durable.
    pub(crate) async fn prepare(&mut self) -> Result<Vec<L::Prepared>, SinkError> {
        for lane in &mut self.lanes {
            lane.seal(self.loader.end());
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
            let state = lane.state.take()?;
            Some((at, lane.table.clone(), state))
        });
        let mut results = Vec::new();
        loop {
            while preparing.len() < self.limits.threads
                && let Some((at, table, state)) = waiting.next()
            {
                let loader = Arc::clone(&self.loader);
                preparing.spawn_blocking(move || (at, loader.prepare(&table, state)));
            }
            match preparing.join_next().await {
                Some(result) => results.push(result.map_err(|e| panicked::<L>(&e))?),
                None => break,
            }
        }
        drop(waiting);
        results.sort_by_key(|(at, _)| *at);
        let mut all = Vec::new();
        for (at, result) in results {
            all.extend(result.map_err(LoadError::into_sink_error)?);
            if let Some(lane) = self.lanes.get_mut(at) {
                lane.state = Some(L::State::default());
            }
        }
        Ok(all)
    }

    /// Takes back what is not prepared and forgets what is buffered.
    pub(crate) async fn abandon(&mut self) {
        // Loads can't be broken off: they end by themselves.
        while let Some(result) = self.running.join_next().await {
            if let Ok(done) = result
                && let Some(lane) = self.lanes.get_mut(done.lane)
            {
                lane.state = Some(done.state);
            }
        }
        let mut rolling = JoinSet::new();
        for lane in self.lanes.drain(..) {
            let Some(state) = lane.state else { continue };
            let loader = Arc::clone(&self.loader);
            rolling.spawn_blocking(move || loader.abandon(&lane.table, state));
        }
        while rolling.join_next().await.is_some() {}
        self.by_table.clear();
        self.bytes = 0;
        self.spares.shrink(0);
    }

    /// Figures for the metrics page: buffered bytes, loads running, loads, rows, bytes, filtered rows, seconds.
    pub(crate) fn gauges(&self) -> Vec<Gauge> {
        let figures = [
            self.bytes as f64,
            self.running.len() as f64,
            self.totals.loads as f64,
            self.totals.rows as f64,
            self.totals.bytes as f64,
            self.totals.filtered as f64,
            self.totals.seconds,
        ];
        L::GAUGES.into_iter().zip(figures).map(|(name, figure)| (name, Vec::new(), figure)).collect()
    }

    fn reap(&mut self) -> Result<(), SinkError> {
        while let Some(result) = self.running.try_join_next() {
            self.finish(result)?;
        }
        Ok(())
    }

    fn finish(&mut self, result: Result<Done<L::State>, JoinError>) -> Result<(), SinkError> {
        let done = result.map_err(|e| panicked::<L>(&e))?;
        self.bytes = self.bytes.saturating_sub(done.buffered);
        self.spares.keep(done.body);
        self.spares.shrink(self.limits.bytes.saturating_sub(self.bytes));
        if let Some(lane) = self.lanes.get_mut(done.lane) {
            lane.state = Some(done.state);
        }
        let report = done.outcome.map_err(LoadError::into_sink_error)?;
        self.totals.loads += 1;
        self.totals.rows += done.rows;
        self.totals.bytes += done.buffered as u64;
        self.totals.filtered += report.filtered;
        self.totals.seconds += done.took.as_secs_f64();
        Ok(())
    }
}

fn panicked<L: Loader>(error: &JoinError) -> SinkError {
    SinkError::permanent(format!("{} sink: a load's thread ended unexpectedly: {error}", L::SINK))
}

/// Whether loads say the same of their columns; it is mostly the very same.
fn same(a: Option<&Arc<LoadColumns>>, b: Option<&Arc<LoadColumns>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr) || a == b
}
