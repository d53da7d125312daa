//! What is on its way to one table.

use super::super::body::LoadColumns;
use super::Piece;
use rowferry_model::TableId;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// A table's buffer while rows are written into it: it leaves its lane for that time, and comes back.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Which lane it belongs to.
    pub(super) lane: usize,
    /// Rows as the loader's server takes them.
    pub(crate) body: Vec<u8>,
    /// How many they are.
    pub(crate) rows: u64,
    /// How long the body was when it left.
    pub(super) before: usize,
    /// How long the body may become: the row that passes it is the last.
    pub(crate) limit: usize,
    /// How many rows it may have.
    pub(crate) limit_rows: u64,
}

impl Buffer {
    /// Whether it must be loaded before more rows come.
    pub(crate) fn is_full(&self) -> bool {
        self.body.len() >= self.limit || self.rows >= self.limit_rows
    }
}

/// What is on its way to one table. Loads of a table follow one another.
#[derive(Debug)]
pub(super) struct Lane<S> {
    pub(super) table: TableId,
    pub(super) buffer: Vec<u8>,
    pub(super) rows: u64,
    pub(super) columns: Option<Arc<LoadColumns>>,
    /// When the first row came into the buffer.
    pub(super) since: Option<Instant>,
    pub(super) queue: VecDeque<Piece>,
    /// `None` while a load is under way.
    pub(super) state: Option<S>,
}

impl<S: Default> Lane<S> {
    pub(super) fn new(table: TableId) -> Self {
        Self {
            table,
            buffer: Vec::new(),
            rows: 0,
            columns: None,
            since: None,
            queue: VecDeque::new(),
            state: Some(S::default()),
        }
    }

    /// Makes the buffer a load of its own, with what ends a body.
    pub(super) fn seal(&mut self, end: &[u8]) {
        if self.buffer.is_empty() {
            return;
        }
        let mut body = std::mem::take(&mut self.buffer);
        let buffered = body.len();
        body.extend_from_slice(end);
        let rows = std::mem::take(&mut self.rows);
        self.queue.push_back(Piece { body, buffered, rows, columns: self.columns.clone() });
        self.since = None;
    }

    /// Whether a load can start.
    pub(super) fn is_ready(&self) -> bool {
        self.state.is_some() && !self.queue.is_empty()
    }
}
