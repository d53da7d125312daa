//! Rows as Arrow IPC streams, for Doris: a backend copies a column's buffers into the table's column without a look at their
//! type, so that the type must be the one that it expects there.
//!
//! A value that has no such form is refused with its key: JSON takes it.

mod column;
mod fill;
mod run;
mod text;
#[cfg(test)]
mod tests;
mod wire;

use super::cells::Cells;
use super::plan::ColumnPlan;
use crate::cells::Cells as Values;
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use std::sync::Arc;
pub(crate) use wire::Wire;

/// Backends read a timestamp as an instant, and store what a clock in their own zone shows then, which no setting changes.
/// Without the zone's name those of 2026 read it at UTC; older ones never look at the name.
const BACKEND_ZONE: &str = "+08:00";
/// In microseconds.
const BACKEND_OFFSET: i64 = 8 * 3600 * 1_000_000;

/// How rows are written as record batches.
#[derive(Clone, Debug)]
pub(crate) struct Arrow {
    /// By column.
    wires: Vec<Wire>,
    /// Whether the first field tells an upsert (0) from a deletion (1).
    sign: bool,
    schema: Arc<Schema>,
}

impl Arrow {
    /// Rows of these columns, each with what its values are sent as. `sign`: the field that tells deletions.
    pub(crate) fn new(columns: &[ColumnPlan], wires: Vec<Wire>, sign: Option<&str>) -> Self {
        let tells = sign.map(|name| Field::new(name, ArrowType::Int8, true));
        let own = columns.iter().zip(&wires).map(|(column, wire)| Field::new(&column.name, wire.arrow(), true));
        let schema = Arc::new(Schema::new(tells.into_iter().chain(own).collect::<Vec<_>>()));
        Self { wires, sign: sign.is_some(), schema }
    }

    /// How many bytes a row of a batch has in the mean, roughly.
    fn row_bytes(&self, columns: &[Cells<'_>]) -> usize {
        let wide = self.wires.iter().zip(columns).map(|(wire, cells)| match (wire, &cells.values) {
            (Wire::Text(_), Values::Text(a)) => 4 + mean(a.value_offsets()),
            // As base64.
            (Wire::Text(_), Values::Bytes(a)) => 4 + mean(a.value_offsets()) * 4 / 3,
            (wire, _) => wire.width(),
        });
        wide.sum::<usize>().max(1)
    }
}

fn mean(offsets: &[i32]) -> usize {
    let bytes = offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last - first);
    usize::try_from(bytes).unwrap_or(0) / offsets.len().saturating_sub(1).max(1)
}

/// Buffers begin at multiples of 64 bytes: backends read 16 at a time.
fn options() -> IpcWriteOptions {
    IpcWriteOptions::default()
}
