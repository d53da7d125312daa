//! Rows that become one record batch.

use std::ops::Range;

/// Rows that become one record batch.
#[derive(Debug, Default)]
pub(super) struct Run {
    rows: Vec<u32>,
    deletes: Vec<bool>,
    any_deletion: bool,
}

impl Run {
    /// Adds a row of the batch: one that is there, or one that is gone.
    pub(super) fn push(&mut self, row: usize, deletion: bool) {
        // A batch has fewer rows than 32 bits count: its Arrow arrays do.
        self.rows.push(u32::try_from(row).unwrap_or(u32::MAX));
        self.deletes.push(deletion);
        self.any_deletion |= deletion;
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row by row, and whether it is a deletion.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, bool)> {
        self.rows.iter().map(|row| *row as usize).zip(self.deletes.iter().copied())
    }

    /// The rows where they follow one another and none is a deletion: their columns need no copy.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        let (first, last) = self.rows.first().zip(self.rows.last())?;
        let follows = self.rows.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        (follows && !self.any_deletion).then(|| *first as usize..*last as usize + 1)
    }
}
