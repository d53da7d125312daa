//! The changes that happened to a chunk's rows while it was read.

use arrow_array::RecordBatch;
use arrow_row::Rows;
use arrow_schema::ArrowError;
use arrow_select::interleave::interleave_record_batch;
use std::collections::{HashMap, HashSet};

/// The last change of each key: the row as it is now, or that it is gone.
#[derive(Default)]
pub(super) struct Overlay {
    batches: Vec<RecordBatch>,
    /// By encoded key: batch and row, or `None` for a deleted row.
    changes: HashMap<Box<[u8]>, Option<(usize, usize)>>,
    /// Rows in `batches`, those superseded included.
    held: usize,
}

/// Superseded rows that may be held before they are given back.
const SLACK: usize = 16_384;

impl Overlay {
    /// Whether nothing changed.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Rows that are held, those superseded included.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Keeps a batch that rows will point into; gives its index.
    pub(super) fn hold(&mut self, batch: RecordBatch) -> usize {
        self.held += batch.num_rows();
        self.batches.push(batch);
        self.batches.len() - 1
    }

    /// The key's row is this one now, or it is gone.
    pub(super) fn put(&mut self, key: &[u8], row: Option<(usize, usize)>) {
        match self.changes.get_mut(key) {
            Some(at) => *at = row,
            None => {
                self.changes.insert(key.into(), row);
            }
        }
    }

    /// Gives superseded rows back once they outnumber the others: memory follows the keys, not the changes.
    pub(super) fn compact(&mut self) -> Result<(), ArrowError> {
        if self.held < 2 * self.changes.len() + SLACK {
            return Ok(());
        }
        let mut indices = Vec::new();
        for at in self.changes.values_mut().flatten() {
            indices.push(*at);
            *at = (0, indices.len() - 1);
        }
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        self.batches = vec![interleave_record_batch(&batches, &indices)?];
        self.held = indices.len();
        Ok(())
    }

    /// The rows that were read, with the changes applied. `keys` are the encoded keys of `read`, batch by batch.
    pub(super) fn over(self, read: &[RecordBatch], keys: &[Rows]) -> Result<Vec<RecordBatch>, ArrowError> {
        /// Rows a batch of the result.
        const BATCH: usize = 8192;
        let mut indices = Vec::new();
        let mut seen = HashSet::new();
        for (b, keys) in keys.iter().enumerate() {
            for row in 0..keys.num_rows() {
                match self.changes.get_key_value(keys.row(row).as_ref()) {
                    None => indices.push((b, row)),
                    Some((key, change)) => {
                        seen.insert(key.as_ref());
                        indices.extend(change.map(|(batch, row)| (read.len() + batch, row)));
                    }
                }
            }
        }
        let mut added: Vec<(usize, usize)> = self
            .changes
            .iter()
            .filter(|(key, _)| !seen.contains(key.as_ref()))
            .filter_map(|(_, change)| change.map(|(batch, row)| (read.len() + batch, row)))
            .collect();
        // In the order of the stream, so that a run can be repeated with the same result.
        added.sort_unstable();
        indices.extend(added);
        let sources: Vec<&RecordBatch> = read.iter().chain(&self.batches).collect();
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        indices.chunks(BATCH).map(|indices| interleave_record_batch(&sources, indices)).collect()
    }
}
