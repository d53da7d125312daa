//! Loads into transactions, or without.

use super::committable::PreparedTransaction;
use super::config::Config;
use super::load_client::{LabelState, Transaction};
use super::shared::Shared;
use crate::olap::body::LoadColumns;
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::loads::{LoadReport, Loader, Piece};
use rowferry_model::TableId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a load is tried.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long a load under a label that another request of ours holds may take to end.
const LABEL_WAIT: Duration = Duration::from_secs(600);
/// How long a label that is taken may be one of which nothing is known.
const UNKNOWN_WAIT: Duration = Duration::from_secs(10);

/// A transaction that rows were loaded into, and the header that all its loads must share.
#[derive(Clone, Debug)]
struct OpenTransaction {
    transaction: Transaction,
    columns: Option<Arc<LoadColumns>>,
}

/// The state of a table's transactions.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    open: Option<OpenTransaction>,
    /// Prepared already, because a later load needed another header.
    sealed: Vec<PreparedTransaction>,
    /// How many transactions the checkpoint has had on this table.
    sequence: u32,
}

/// Loads pieces.
pub(super) struct StarRocksLoader {
    shared: Arc<Shared>,
    transactional: bool,
    json: bool,
    /// Tells this run's plain labels from those of other runs.
    run: u64,
    plain_sequence: AtomicU64,
    /// [`UNKNOWN_WAIT`], but in tests.
    unknown_wait: Duration,
}

impl StarRocksLoader {
    /// A loader; nothing is connected yet.
    pub(super) fn new(config: &Config, shared: Arc<Shared>) -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
        Self {
            shared,
            transactional: config.transactional,
            json: config.csv.is_none(),
            run,
            plain_sequence: AtomicU64::new(0),
            unknown_wait: UNKNOWN_WAIT,
        }
    }

    fn in_transaction(
        &self,
        table: &TableId,
        state: &mut Transactions,
        piece: &Piece,
    ) -> Result<LoadReport, LoadError> {
        // All loads of a transaction must have the same parameters.
        if state.open.as_ref().is_some_and(|open| open.columns != piece.columns) {
            seal(&self.shared, table, state)?;
        }
        if let Some(open) = &state.open {
            // A load that fails takes the whole transaction with it, and its earlier loads are no longer here.
            let transaction = open.transaction.clone();
            let result = self.load_into(table, &transaction, piece);
            if result.is_err() {
                state.open = None;
                self.give_up(table, &transaction);
            }
            return result;
        }
        self.shared.discard_stale(table)?;
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let result = self.begin_and_load(table, state, piece);
            match result {
                Err(error) if error.may_pass() && attempt < ATTEMPTS => {
                    tracing::warn!("starrocks: loading {} again after: {}", table, error.message);
                    sleep(pause);
                    pause *= 2;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn begin_and_load(
        &self,
        table: &TableId,
        state: &mut Transactions,
        piece: &Piece,
    ) -> Result<LoadReport, LoadError> {
        let transaction = self.begin(table, state)?;
        match self.load_into(table, &transaction, piece) {
            Ok(report) => {
                state.open = Some(OpenTransaction { transaction, columns: piece.columns.clone() });
                Ok(report)
            }
            Err(error) => {
                self.give_up(table, &transaction);
                Err(error)
            }
        }
    }

    fn begin(&self, table: &TableId, state: &mut Transactions) -> Result<Transaction, LoadError> {
        let labels = self.shared.labels(table);
        let checkpoint = self.shared.checkpoint();
        loop {
            let label = labels.transaction(checkpoint, state.sequence);
            match self.shared.client.begin(table, &label) {
                Ok(transaction) => {
                    state.sequence += 1;
                    return Ok(transaction);
                }
                Err(error) if error.cause == Cause::LabelExists => {
                    match self.shared.client.state(table, &label)? {
                        // An answer that got lost, or an earlier attempt: nobody else has our labels.
                        LabelState::Open | LabelState::Prepared => self.shared.client.roll_back(table, &label)?,
                        LabelState::Aborted(_) | LabelState::Unknown => {}
                        LabelState::Committed | LabelState::Visible => {}
                    }
                    state.sequence += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn load_into(&self, table: &TableId, transaction: &Transaction, piece: &Piece) -> Result<LoadReport, LoadError> {
        self.shared.client.load(table, transaction, piece.columns.as_deref().map(|c| c.header.as_str()), &piece.body)
    }

    /// The server has rolled back already, most likely.
    fn give_up(&self, table: &TableId, transaction: &Transaction) {
        if let Err(error) = self.shared.client.roll_back(table, &transaction.label) {
            tracing::debug!("starrocks: rolling back {}: {}", transaction.label, error.message);
        }
    }

    fn plain(&self, table: &TableId, piece: &Piece) -> Result<LoadReport, LoadError> {
        let labels = self.shared.labels(table);
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        let mut label = labels.plain(self.run, self.plain_sequence.fetch_add(1, Ordering::Relaxed));
        loop {
            let error = match self.plain_once(table, piece, &label) {
                Ok(report) => return Ok(report),
                Err(error) => error,
            };
            if !error.may_pass() || attempt == ATTEMPTS {
                return Err(error);
            }
            tracing::warn!("starrocks: loading {} again after: {}", table, error.message);
            sleep(pause);
            pause *= 2;
            attempt += 1;
            // Under the same label where the first try may have had its effect.
            if error.cause == Cause::Busy {
                label = labels.plain(self.run, self.plain_sequence.fetch_add(1, Ordering::Relaxed));
            }
        }
    }

    fn plain_once(&self, table: &TableId, piece: &Piece, label: &str) -> Result<LoadReport, LoadError> {
        let client = &self.shared.client;
        match client.stream_load(table, label, piece.columns.as_deref().map(|c| c.header.as_str()), &piece.body) {
            Err(error) if error.cause == Cause::LabelExists => {
                let (deadline, unknown) = (Instant::now() + LABEL_WAIT, Instant::now() + self.unknown_wait);
                loop {
                    match client.state(table, label)? {
                        LabelState::Committed | LabelState::Visible => return Ok(LoadReport::default()),
                        LabelState::Aborted(reason) => {
                            return Err(LoadError::new(
                                Cause::Busy,
                                format!("the load {label} of {} was aborted: {reason}", table),
                            ));
                        }
                        // Another frontend may not know it yet; if none does for long, it is gone.
                        LabelState::Unknown if Instant::now() > unknown => {
                            return Err(LoadError::new(
                                Cause::Busy,
                                format!("nothing is known of the load {label} of {table}, whose label is taken"),
                            ));
                        }
                        _ if Instant::now() > deadline => {
                            return Err(LoadError::new(
                                Cause::Busy,
                                format!("the load {label} of {} does not end", table),
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

impl Loader for StarRocksLoader {
    type State = Transactions;
    type Prepared = PreparedTransaction;
    const SINK: &'static str = "starrocks";
    const GAUGES: [&'static str; 7] = [
        "starrocks_buffered_bytes",
        "starrocks_loads_running",
        "starrocks_loads_total",
        "starrocks_loaded_rows_total",
        "starrocks_loaded_bytes_total",
        "starrocks_filtered_rows_total",
        "starrocks_load_seconds_total",
    ];

    /// JSON is an array, which the first row has begun.
    fn end(&self) -> &'static [u8] {
        if self.json { b"]" } else { b"" }
    }

    fn load(&self, table: &TableId, state: &mut Transactions, piece: &Piece) -> Result<LoadReport, LoadError> {
        if self.transactional { self.in_transaction(table, state, piece) } else { self.plain(table, piece) }
    }

    fn prepare(&self, table: &TableId, mut state: Transactions) -> Result<Vec<PreparedTransaction>, LoadError> {
        seal(&self.shared, table, &mut state)?;
        Ok(state.sealed)
    }

    fn abandon(&self, table: &TableId, state: Transactions) {
        let Some(open) = state.open else { return };
        if let Err(error) = self.shared.client.roll_back(table, &open.transaction.label) {
            tracing::warn!("starrocks: {} stays open until it times out: {}", open.transaction.label, error.message);
        }
    }
}

/// Prepares the open transaction.
fn seal(shared: &Shared, table: &TableId, state: &mut Transactions) -> Result<(), LoadError> {
    let Some(open) = state.open.take() else { return Ok(()) };
    let label = &open.transaction.label;
    if let Err(error) = shared.client.prepare(table, &open.transaction) {
        // An answer that got lost: the label's state tells.
        let prepared =
            error.cause == Cause::Unknown && matches!(shared.client.state(table, label), Ok(LabelState::Prepared));
        if !prepared {
            return Err(error);
        }
    }
    state.sealed.push(PreparedTransaction {
        label: label.clone(),
        database: table.database().to_owned(),
        table: table.table().to_owned(),
    });
    Ok(())
}

#[cfg(test)]
mod tests;
