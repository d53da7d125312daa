//! Loads pieces: each is one stream load.

use super::arrow::Guard;
use super::committable::PreparedTransaction;
use super::config::{Config, Mode};
use super::load_client::{LabelState, Loaded, transaction_in};
use super::row_plan::DELETE_SIGN;
use super::shared::Shared;
use crate::olap::body::LoadColumns;
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::loads::{LoadReport, Loader, Piece};
use rowferry_model::TableId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a load under a label that another request of ours holds may take to end.
const LABEL_WAIT: Duration = Duration::from_secs(600);

/// What a table has had in a checkpoint.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// In the order in which they were loaded.
    transactions: Vec<PreparedTransaction>,
    /// How many labels the checkpoint has used up on this table.
    sequence: u32,
}

/// Loads pieces.
pub(super) struct DorisLoader {
    shared: Arc<Shared>,
    guard: Guard,
    mode: Mode,
    deletes: bool,
    attempts: u32,
    /// Tells this run's plain labels from those of other runs.
    run: u64,
    plain_sequence: AtomicU64,
}

impl DorisLoader {
    /// A loader; nothing is connected yet.
    pub(super) fn new(config: &Config, shared: Arc<Shared>, guard: Guard) -> Self {
        Self {
            shared,
            guard,
            mode: config.mode,
            deletes: config.deletes,
            attempts: config.max_retries.saturating_add(1),
            run: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64),
            plain_sequence: AtomicU64::new(0),
        }
    }

    fn send(&self, table: &TableId, label: Option<&str>, piece: &Piece) -> Result<Loaded, LoadError> {
        let columns = match piece.columns.as_deref() {
            Some(columns) => Some(("columns", columns.header.as_str())),
            // JSON names its columns by itself, but for this one.
            None => self.deletes.then_some(("hidden_columns", DELETE_SIGN)),
        };
        self.shared.client.load(table, label, columns, &piece.body)
    }

    /// Tries until it works, it can't work, or it was tried often enough.
    fn again<T>(&self, table: &TableId, mut once: impl FnMut() -> Result<T, LoadError>) -> Result<T, LoadError> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            match once() {
                Err(error) if error.may_pass() && attempt < self.attempts => {
                    tracing::warn!("doris: loading {table} again after: {}", error.message);
                    sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn load_once(&self, table: &TableId, state: &mut Prepared, piece: &Piece) -> Result<LoadReport, LoadError> {
        match self.mode {
            Mode::TwoPhase => self.two_phase(table, state, piece),
            Mode::Plain => self.plain(table, piece),
            Mode::GroupCommit => self.again(table, || self.send(table, None, piece).map(|loaded| loaded.report)),
        }
    }

    /// Rows that a backend reads as the table's types, whatever they are: these must be the same before and behind the load.
    fn load_guarded(
        &self,
        table: &TableId,
        state: &mut Prepared,
        piece: &Piece,
        columns: &Arc<LoadColumns>,
    ) -> Result<LoadReport, LoadError> {
        self.guard.before(table, columns)?;
        let prepared = state.transactions.len();
        let loaded = self.load_once(table, state, piece);
        if self.mode != Mode::TwoPhase {
            match &loaded {
                Ok(_) => self.guard.after_seen(table, columns)?,
                Err(error) if error.may_pass() => self.guard.after_unknown(table, columns)?,
                Err(_) => {}
            }
            return loaded;
        }
        let report = loaded?;
        self.guard.after_hidden(table, columns).map(|()| report).inspect_err(|_| {
            // What the checkpoint does not name is never committed, also where this fails.
            self.roll_back(table, state.transactions.drain(prepared..));
        })
    }

    fn roll_back(&self, table: &TableId, transactions: impl Iterator<Item = PreparedTransaction>) {
        for transaction in transactions {
            if let Err(error) = self.shared.client.abort(table, Some(transaction.id), &transaction.label) {
                tracing::warn!("doris: {} stays open until it times out: {}", transaction.label, error.message);
            }
        }
    }

    /// One load that waits for the checkpoint's commit. A label is given up only once the server knows it, so that
    /// there is no gap in which a transaction could be lost.
    fn two_phase(&self, table: &TableId, state: &mut Prepared, piece: &Piece) -> Result<LoadReport, LoadError> {
        self.shared.discard_stale(table)?;
        let labels = self.shared.labels(table);
        let checkpoint = self.shared.checkpoint();
        self.again(table, || {
            loop {
                let label = labels.transaction(checkpoint, state.sequence);
                match self.send(table, Some(&label), piece) {
                    Ok(Loaded { transaction: Some(id), report }) => {
                        state.sequence += 1;
                        state.transactions.push(PreparedTransaction {
                            id,
                            label,
                            database: table.database().to_owned(),
                            table: table.table().to_owned(),
                        });
                        return Ok(report);
                    }
                    Ok(Loaded { transaction: None, .. }) => {
                        let message = format!("Doris gives no transaction number for the load {label} of {table}");
                        return Err(LoadError::new(Cause::Refused, message));
                    }
                    // An answer that got lost, or an earlier attempt: nobody else has our labels. The rows may be
                    // those of another attempt, so they go.
                    Err(error) if error.cause == Cause::LabelExists => {
                        match self.shared.client.state(table, &label)? {
                            LabelState::Running | LabelState::PreCommitted => {
                                self.shared.client.abort(table, transaction_in(&error.message), &label)?;
                            }
                            _ => {}
                        }
                        state.sequence += 1;
                    }
                    Err(error) => {
                        // Refused by the server: the label is aborted there, and free again.
                        return Err(error);
                    }
                }
            }
        })
    }

    fn plain_label(&self, table: &TableId) -> String {
        self.shared.labels(table).plain(self.run, self.plain_sequence.fetch_add(1, Ordering::Relaxed))
    }

    fn plain(&self, table: &TableId, piece: &Piece) -> Result<LoadReport, LoadError> {
        let mut label = self.plain_label(table);
        self.again(table, || {
            let result = match self.send(table, Some(&label), piece) {
                Err(error) if error.cause == Cause::LabelExists => self.ended(table, &label),
                result => result.map(|loaded| loaded.report),
            };
            // Under the same label where the first try may have had its effect.
            if result.as_ref().is_err_and(|e| e.cause == Cause::Busy) {
                label = self.plain_label(table);
            }
            result
        })
    }

    /// What an earlier request under a label has come to.
    fn ended(&self, table: &TableId, label: &str) -> Result<LoadReport, LoadError> {
        let deadline = Instant::now() + LABEL_WAIT;
        loop {
            match self.shared.client.state(table, label)? {
                LabelState::Committed | LabelState::Visible => return Ok(LoadReport::default()),
                LabelState::Aborted | LabelState::Unknown => {
                    return Err(LoadError::new(Cause::Busy, format!("the load {label} of {table} was aborted")));
                }
                _ if Instant::now() > deadline => {
                    return Err(LoadError::new(Cause::Busy, format!("the load {label} of {table} does not end")));
                }
                _ => sleep(FIRST_PAUSE),
            }
        }
    }
}

impl Loader for DorisLoader {
    type State = Prepared;
    type Prepared = PreparedTransaction;
    const SINK: &'static str = "doris";
    const GAUGES: [&'static str; 7] = [
        "doris_buffered_bytes",
        "doris_loads_running",
        "doris_loads_total",
        "doris_loaded_rows_total",
        "doris_loaded_bytes_total",
        "doris_filtered_rows_total",
        "doris_load_seconds_total",
    ];

    /// Each row ends by itself.
    fn end(&self) -> &'static [u8] {
        b""
    }

    fn load(&self, table: &TableId, state: &mut Prepared, piece: &Piece) -> Result<LoadReport, LoadError> {
        match piece.columns.as_ref().filter(|c| !c.wires.is_empty()) {
            Some(columns) => self.load_guarded(table, state, piece, columns),
            None => self.load_once(table, state, piece),
        }
    }

    /// Every load is prepared as soon as it is done.
    fn prepare(&self, _table: &TableId, state: Prepared) -> Result<Vec<PreparedTransaction>, LoadError> {
        Ok(state.transactions)
    }

    fn abandon(&self, table: &TableId, state: Prepared) {
        self.roll_back(table, state.transactions.into_iter());
    }
}
