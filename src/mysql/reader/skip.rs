//! The beginning of a transaction that is left out: `scan.startup.specific-offset.skip-events` and `skip-rows`.
//!
//! Counted as Flink CDC counts, whose binlog reader is Debezium's: from the first `BEGIN` on, every event, that one
//! included; then rows of the next event that has rows of a captured table.

/// What is still to be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    events: u64,
    rows: u64,
    /// Whether `BEGIN` has come.
    begun: bool,
}

impl Skip {
    /// So many events, then so many rows.
    pub fn new(events: u64, rows: u64) -> Self {
        Self { events, rows, begun: false }
    }

    /// A transaction begins, with an event that counts.
    pub(super) fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.events = self.events.saturating_sub(1);
        }
    }

    /// Counts an event; whether its rows are left out.
    pub(super) fn event(&mut self) -> bool {
        let left_out = self.begun && self.events > 0;
        if left_out {
            self.events -= 1;
        }
        left_out
    }

    /// Rows to leave out of an event that is not left out.
    pub(super) fn take_rows(&mut self) -> usize {
        usize::try_from(std::mem::take(&mut self.rows)).unwrap_or(usize::MAX)
    }
}
