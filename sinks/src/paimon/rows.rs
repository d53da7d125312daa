//! Which rows of a batch are written, and as what.

use crate::SinkError;
use crate::cells::Cells;
use arrow_array::{Int8Array, RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use paimon::spec::RowKind;
use rowferry_model::{ChangeBatch, Changes, RowOp};

/// Rows to write.
pub(super) struct Selected {
    /// The rows, in the order in which they happened.
    pub(super) rows: RecordBatch,
    /// What each is, as Paimon counts it.
    pub(super) kinds: Int8Array,
    /// How many changes were left out because a table without a key can't express them.
    pub(super) dropped: u64,
}

/// The rows of a table with a key. The old row of an update is written only where it has another key, as a delete, or
/// where the table's changelog wants it (`update_before`).
pub(super) fn keyed(batch: &ChangeBatch, key: &[usize], update_before: bool) -> Result<Selected, SinkError> {
    let ops = match batch.changes() {
        Changes::Mixed(ops) if !batch.changes().all_inserts() => ops,
        _ => return Ok(all(batch, RowKind::Insert)),
    };
    let cells = Cells::of(batch)?;
    let key: Vec<&Cells<'_>> = key.iter().filter_map(|i| cells.get(*i)).collect();
    let mut rows = Vec::with_capacity(ops.len());
    let mut kinds = Vec::with_capacity(ops.len());
    let mut take = |row: usize, kind: RowKind| {
        rows.push(row as u32);
        kinds.push(kind.to_value());
    };
    let mut moved = false;
    for (row, op) in ops.iter().enumerate() {
        match op {
            RowOp::Insert => take(row, RowKind::Insert),
            RowOp::Delete => take(row, RowKind::Delete),
            RowOp::UpdateBefore => {
                // The batch was checked: the new row follows.
                moved = !key.iter().all(|k| k.same(row, row + 1));
                if moved {
                    take(row, RowKind::Delete);
                } else if update_before {
                    take(row, RowKind::UpdateBefore);
                }
            }
            RowOp::UpdateAfter => take(row, if moved { RowKind::Insert } else { RowKind::UpdateAfter }),
        }
    }
    Ok(Selected { rows: pick(batch, rows)?, kinds: Int8Array::from(kinds), dropped: 0 })
}

/// The rows of a table without a key, to which rows can only be added: an update adds its new row, a delete nothing.
pub(super) fn appended(batch: &ChangeBatch) -> Result<Selected, SinkError> {
    let ops = match batch.changes() {
        Changes::Mixed(ops) if !batch.changes().all_inserts() => ops,
        _ => return Ok(all(batch, RowKind::Insert)),
    };
    let kept = |op: &RowOp| matches!(op, RowOp::Insert | RowOp::UpdateAfter);
    let rows: Vec<u32> = ops.iter().enumerate().filter(|(_, op)| kept(op)).map(|(row, _)| row as u32).collect();
    let dropped = ops.iter().filter(|op| **op == RowOp::Delete).count() as u64;
    let kinds = Int8Array::from(vec![RowKind::Insert.to_value(); rows.len()]);
    Ok(Selected { rows: pick(batch, rows)?, kinds, dropped })
}

fn all(batch: &ChangeBatch, kind: RowKind) -> Selected {
    Selected {
        rows: batch.columns().clone(),
        kinds: Int8Array::from(vec![kind.to_value(); batch.num_rows()]),
        dropped: 0,
    }
}

fn pick(batch: &ChangeBatch, rows: Vec<u32>) -> Result<RecordBatch, SinkError> {
    take_record_batch(batch.columns(), &UInt32Array::from(rows)).map_err(|e| {
        SinkError::permanent(format!("paimon sink: rows of {} can't be picked", batch.table())).caused_by(e)
    })
}
