//! Rows events: into which table's group.

use super::group::Group;
use super::stream::BinlogReader;
use crate::error::{Error, Result};
use crate::mysql::binlog::{DecodeError, EventHeader, RowImages, RowPlan, RowsDecoder, RowsEvent};
use rowferry_model::TableId;
use std::sync::Arc;

/// A table, how its rows are decoded, and their schema.
pub(super) type Planned = (TableId, Arc<RowPlan>, Arc<rowferry_model::TableSchema>);

/// A table number of the log.
pub(super) struct NumberedTable {
    /// The TABLE_MAP event's body; the same bytes mean the same plan.
    pub(super) body: Vec<u8>,
    /// `None`: the table is not captured.
    pub(super) plan: Option<Planned>,
    /// The open segment's number and its group there, if it has one.
    pub(super) group: Option<(u64, usize)>,
}

impl BinlogReader {
    pub(super) fn rows(&mut self, header: &EventHeader, rows: RowsEvent<'_>) -> Result<()> {
        let Some(number) = self.numbers.get_mut(&rows.table_id) else {
            // The end-of-statement marker of a statement that changed nothing has no table.
            const DUMMY: u64 = 0x00ff_ffff;
            if rows.table_id == DUMMY {
                return Ok(());
            }
            return Err(Error::transient("RF-SRC-040", "rows of an unknown table number came")
                .with("number", rows.table_id)
                .with("position", &self.at));
        };
        let Some((table, plan, schema)) = &number.plan else { return Ok(()) };
        self.taken += 1;
        if self.left_out {
            return Ok(());
        }
        let rows = match self.skip.take_rows() {
            0 => rows,
            count => without(rows, count, plan).map_err(|e| {
                Error::permanent("RF-SRC-044", "rows that are to be left out can't be read")
                    .with("table", table)
                    .with("position", &self.at)
                    .caused_by(e)
            })?,
        };
        if self.taken <= self.leave_out || header.timestamp < self.options.skip_before_seconds || rows.images.is_empty()
        {
            return Ok(());
        }
        let index = match number.group {
            Some((segment, index)) if segment == self.segment => index,
            _ => {
                // A table may get a second number; its rows stay in one group while the plan is the same.
                let same = self.groups.iter().position(|g| Arc::ptr_eq(&g.plan, plan));
                let index = same.unwrap_or(self.groups.len());
                if index == self.groups.len() {
                    self.groups.push(Group::new(table.clone(), plan.clone(), schema.clone()));
                }
                number.group = Some((self.segment, index));
                index
            }
        };
        if let Some(group) = self.groups.get_mut(index) {
            self.group_bytes += group.push(&rows, header.timestamp, self.options.op_ts);
        }
        Ok(())
    }
}

/// An event without its first rows.
fn without<'a>(
    mut rows: RowsEvent<'a>,
    count: usize,
    plan: &Arc<RowPlan>,
) -> std::result::Result<RowsEvent<'a>, DecodeError> {
    let images = RowImages {
        kind: rows.kind,
        columns: rows.columns,
        present: rows.present,
        present_after: rows.present_after,
        bytes: &rows.images,
    };
    let next = RowsDecoder::new(plan.clone()).skip(&images, 0, count)?.next;
    rows.images = rows.images.get(next..).unwrap_or_default().to_vec().into();
    Ok(rows)
}
