//! What is on its way to one table.

use super::super::committable::PreparedTransaction;
use super::super::load_client::Transaction;
use rowferry_model::TableId;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// The body of one load.
#[derive(Debug)]
pub(super) struct Chunk {
    /// A JSON array.
    pub(super) body: Vec<u8>,
    /// How many objects it has.
    pub(super) rows: u64,
    /// The `columns` header.
    pub(super) columns: Option<Arc<str>>,
}

/// A transaction that rows were loaded into, and the header that all its loads must share.
#[derive(Clone, Debug)]
pub(super) struct OpenTransaction {
    pub(super) transaction: Transaction,
    pub(super) columns: Option<Arc<str>>,
}

/// The state of a table's transactions; moves into a load and comes back.
#[derive(Debug, Default)]
pub(super) struct LaneTransactions {
    pub(super) open: Option<OpenTransaction>,
    /// Prepared already, because a later load needed another header.
    pub(super) sealed: Vec<PreparedTransaction>,
    /// How many transactions the checkpoint has had on this table.
    pub(super) sequence: u32,
}

/// What is on its way to one table. Loads of a table follow one another.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) table: TableId,
    /// A JSON array without its end.
    pub(super) buffer: Vec<u8>,
    pub(super) rows: u64,
    pub(super) columns: Option<Arc<str>>,
    /// When the first row came into the buffer.
    pub(super) since: Option<Instant>,
    pub(super) queue: VecDeque<Chunk>,
    /// `None` while a load is under way.
    pub(super) transactions: Option<LaneTransactions>,
}

impl Lane {
    pub(super) fn new(table: TableId) -> Self {
        Self {
            table,
            buffer: Vec::new(),
            rows: 0,
            columns: None,
            since: None,
            queue: VecDeque::new(),
            transactions: Some(LaneTransactions::default()),
        }
    }

    /// Makes the buffer a load of its own.
    pub(super) fn seal(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let mut body = std::mem::take(&mut self.buffer);
        body.push(b']');
        self.queue.push_back(Chunk { body, rows: std::mem::take(&mut self.rows), columns: self.columns.clone() });
        self.since = None;
    }

    /// Whether a load can start.
    pub(super) fn is_ready(&self) -> bool {
        self.transactions.is_some() && !self.queue.is_empty()
    }
}
