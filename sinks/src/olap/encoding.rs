//! A batch that may be encoded on another thread, a buffer at a time.

use super::body::{BatchEncoder, LoadColumns, Plan, Zone};
use super::loads::Buffer;
use crate::SinkError;
use rowferry_model::{ChangeBatch, TableId};
use std::sync::Arc;

/// Up to this many bytes of columns are encoded sooner than another thread is woken.
const FEW: usize = 64 << 10;

/// The rows of a batch, and how many of them are written.
#[derive(Debug)]
pub(crate) struct Encoding {
    batch: ChangeBatch,
    plan: Arc<Plan>,
    next: usize,
}

impl Encoding {
    /// None is written yet.
    pub(crate) fn new(batch: ChangeBatch, plan: Arc<Plan>) -> Self {
        Self { batch, plan, next: 0 }
    }

    /// Whether another thread would cost more than it saves.
    pub(crate) fn is_small(&self) -> bool {
        self.batch.num_bytes() < FEW
    }

    /// Whether all are written.
    pub(crate) fn is_done(&self) -> bool {
        self.next >= self.batch.num_rows()
    }

    /// Whose rows they are.
    pub(crate) fn table(&self) -> &TableId {
        self.batch.table()
    }

    /// What their load says of its columns.
    pub(crate) fn columns(&self) -> Option<&Arc<LoadColumns>> {
        self.plan.load_columns.as_ref()
    }

    /// Appends rows until the buffer is full or all are written.
    ///
    /// # Errors
    /// A value that the target can't hold: names table, column and key.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, zone: &Zone) -> Result<(), SinkError> {
        let mut encoder = BatchEncoder::new(&self.plan, &self.batch, zone)?.starting_at(self.next);
        let rows = buffer.limit_rows.saturating_sub(buffer.rows);
        buffer.rows += encoder.fill(&mut buffer.body, buffer.limit, rows)?;
        self.next = encoder.next();
        Ok(())
    }
}
