//! One load, on a thread of its own.

use super::super::committable::PreparedTransaction;
use super::super::load_client::{LabelState, LoadReport, Transaction};
use super::super::load_error::{Cause, LoadError};
use super::super::shared::Shared;
use super::lane::{Chunk, LaneTransactions, OpenTransaction};
use rowferry_model::TableId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a load is tried.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long a load under a label that another request of ours holds may take to end.
const LABEL_WAIT: Duration = Duration::from_secs(600);

/// A load that is to be done.
pub(super) struct LoadJob {
    pub(super) lane: usize,
    pub(super) table: TableId,
    pub(super) transactions: LaneTransactions,
    pub(super) chunk: Chunk,
    pub(super) transactional: bool,
    pub(super) run: u64,
    pub(super) plain_sequence: Arc<AtomicU64>,
    pub(super) shared: Arc<Shared>,
}

/// A load that is done, or failed.
pub(super) struct LoadResult {
    pub(super) lane: usize,
    pub(super) transactions: LaneTransactions,
    pub(super) outcome: Result<LoadReport, LoadError>,
    pub(super) rows: u64,
    /// Bytes of the buffer that it was, without the closing bracket.
    pub(super) buffered: usize,
    pub(super) took: Duration,
}

impl LoadJob {
    /// Does it.
    pub(super) fn run(mut self) -> LoadResult {
        let start = Instant::now();
        let outcome = if self.transactional { self.in_transaction() } else { self.plain() };
        if let Ok(report) = &outcome
            && report.filtered > 0
        {
            tracing::warn!("starrocks: {} rows of {} were left out by max_filter_ratio", report.filtered, self.table);
        }
        LoadResult {
            lane: self.lane,
            transactions: self.transactions,
            outcome,
            rows: self.chunk.rows,
            buffered: self.chunk.body.len().saturating_sub(1),
            took: start.elapsed(),
        }
    }

    fn in_transaction(&mut self) -> Result<LoadReport, LoadError> {
        // All loads of a transaction must have the same parameters.
        if self.transactions.open.as_ref().is_some_and(|open| open.columns != self.chunk.columns) {
            seal(&self.shared, &self.table, &mut self.transactions)?;
        }
        if let Some(open) = &self.transactions.open {
            // A load that fails takes the whole transaction with it, and its earlier loads are no longer here.
            let transaction = open.transaction.clone();
            let result = self.load(&transaction);
            if result.is_err() {
                self.transactions.open = None;
                self.give_up(&transaction);
            }
            return result;
        }
        self.shared.discard_stale(&self.table)?;
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let result = self.begin_and_load();
            match result {
                Err(error) if error.may_pass() && attempt < ATTEMPTS => {
                    tracing::warn!("starrocks: loading {} again after: {}", self.table, error.message);
                    sleep(pause);
                    pause *= 2;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn begin_and_load(&mut self) -> Result<LoadReport, LoadError> {
        let transaction = self.begin()?;
        match self.load(&transaction) {
            Ok(report) => {
                self.transactions.open = Some(OpenTransaction { transaction, columns: self.chunk.columns.clone() });
                Ok(report)
            }
            Err(error) => {
                self.give_up(&transaction);
                Err(error)
            }
        }
    }

    fn begin(&mut self) -> Result<Transaction, LoadError> {
        let labels = self.shared.labels(&self.table);
        let checkpoint = self.shared.checkpoint();
        loop {
            let label = labels.transaction(checkpoint, self.transactions.sequence);
            match self.shared.client.begin(&self.table, &label) {
                Ok(transaction) => {
                    self.transactions.sequence += 1;
                    return Ok(transaction);
                }
                Err(error) if error.cause == Cause::LabelExists => {
                    match self.shared.client.state(&self.table, &label)? {
                        // An answer that got lost, or an earlier attempt: nobody else has our labels.
                        LabelState::Open | LabelState::Prepared => self.shared.client.rollback(&self.table, &label)?,
                        LabelState::Aborted(_) | LabelState::Unknown => {}
                        LabelState::Committed | LabelState::Visible => {}
                    }
                    self.transactions.sequence += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn load(&self, transaction: &Transaction) -> Result<LoadReport, LoadError> {
        self.shared.client.load(&self.table, transaction, self.chunk.columns.as_deref(), &self.chunk.body)
    }

    /// The server has rolled back already, most likely.
    fn give_up(&self, transaction: &Transaction) {
        if let Err(error) = self.shared.client.rollback(&self.table, &transaction.label) {
            tracing::debug!("starrocks: rolling back {}: {}", transaction.label, error.message);
        }
    }

    fn plain(&mut self) -> Result<LoadReport, LoadError> {
        let labels = self.shared.labels(&self.table);
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        let mut label = labels.plain(self.run, self.plain_sequence.fetch_add(1, Ordering::Relaxed));
        loop {
            let error = match self.plain_once(&label) {
                Ok(report) => return Ok(report),
                Err(error) => error,
            };
            if !error.may_pass() || attempt == ATTEMPTS {
                return Err(error);
            }
            tracing::warn!("starrocks: loading {} again after: {}", self.table, error.message);
            sleep(pause);
            pause *= 2;
            attempt += 1;
            // Under the same label where the first try may have had its effect.
            if error.cause == Cause::Busy {
                label = labels.plain(self.run, self.plain_sequence.fetch_add(1, Ordering::Relaxed));
            }
        }
    }

    fn plain_once(&self, label: &str) -> Result<LoadReport, LoadError> {
        let client = &self.shared.client;
        match client.stream_load(&self.table, label, self.chunk.columns.as_deref(), &self.chunk.body) {
            Err(error) if error.cause == Cause::LabelExists => {
                let deadline = Instant::now() + LABEL_WAIT;
                loop {
                    match client.state(&self.table, label)? {
                        LabelState::Committed | LabelState::Visible => return Ok(LoadReport::default()),
                        LabelState::Aborted(reason) => {
                            return Err(LoadError::new(
                                Cause::Busy,
                                format!("the load {label} of {} was aborted: {reason}", self.table),
                            ));
                        }
                        _ if Instant::now() > deadline => {
                            return Err(LoadError::new(
                                Cause::Busy,
                                format!("the load {label} of {} does not end", self.table),
                            ));
                        }
                        _ => sleep(FIRST_PAUSE),
                    }
                }
            }
            result => result,
        }
    }
}

/// Prepares the open transaction.
fn seal(shared: &Shared, table: &TableId, transactions: &mut LaneTransactions) -> Result<(), LoadError> {
    let Some(open) = transactions.open.take() else { return Ok(()) };
    let label = &open.transaction.label;
    if let Err(error) = shared.client.prepare(table, &open.transaction) {
        // An answer that got lost: the label's state tells.
        let prepared =
            error.cause == Cause::Unknown && matches!(shared.client.state(table, label), Ok(LabelState::Prepared));
        if !prepared {
            return Err(error);
        }
    }
    transactions.sealed.push(PreparedTransaction {
        label: label.clone(),
        database: table.database().to_owned(),
        table: table.table().to_owned(),
    });
    Ok(())
}

/// Prepares what a table has had in a checkpoint.
pub(super) fn prepare_lane(
    shared: &Shared,
    table: &TableId,
    mut transactions: LaneTransactions,
) -> Result<Vec<PreparedTransaction>, LoadError> {
    seal(shared, table, &mut transactions)?;
    Ok(transactions.sealed)
}
