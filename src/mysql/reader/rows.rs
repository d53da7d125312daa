//! TABLE_MAP and rows events: which table, by which plan, into which group.

use super::from_map::{definition_of, labels_differ};
use super::group::Group;
use super::history::Ddl;
use super::stream::BinlogReader;
use super::tables::Tracked;
use crate::error::{Error, Result};
use crate::mysql::binlog::{DecodeError, EventHeader, RawTableMap, RowImages, RowPlan, RowsDecoder, RowsEvent};
use rowferry_model::TableId;
use std::sync::Arc;

/// A table, how its rows are decoded, and their schema.
type Planned = (TableId, Arc<RowPlan>, Arc<rowferry_model::TableSchema>);

/// A table number of the log.
pub(super) struct NumberedTable {
    /// The TABLE_MAP event's body; the same bytes mean the same plan.
    body: Vec<u8>,
    /// `None`: the table is not captured.
    plan: Option<Planned>,
    /// The open segment's number and its group there, if it has one.
    group: Option<(u64, usize)>,
}

impl BinlogReader {
    pub(super) fn table_map(&mut self, map: RawTableMap<'_>) -> Result<()> {
        if let Some(known) = self.numbers.get(&map.table_id)
            && known.body == map.body
        {
            return Ok(());
        }
        // Until this one is understood the number means nothing: never the old table.
        self.numbers.remove(&map.table_id);
        let table = TableId::new(
            String::from_utf8_lossy(map.database).into_owned(),
            String::from_utf8_lossy(map.table).into_owned(),
        );
        let (plan, body) = match self.history.tables().get(&table) {
            None => (None, map.body.to_vec()),
            // In the snapshot already. No body: the next event of the same bytes is looked at again.
            Some(tracked) if tracked.is_ahead_of(&self.at) => (None, Vec::new()),
            Some(tracked) => (Some(self.plan(tracked.clone(), map)?), map.body.to_vec()),
        };
        // Numbers are given anew with each change of a table and after each flush: forget what is not in use.
        const MAX_NUMBERS: usize = 100_000;
        if self.numbers.len() >= MAX_NUMBERS {
            self.seal(false)?;
            self.numbers.clear();
        }
        self.numbers.insert(map.table_id, NumberedTable { body, plan, group: None });
        Ok(())
    }

    /// How a table's rows are decoded. Where the log is read from an old place, the definition may be newer than the
    /// rows: then the log's own metadata tell what the table was.
    fn plan(&mut self, mut tracked: Tracked, map: RawTableMap<'_>) -> Result<Planned> {
        let table = tracked.table.clone();
        let parsed = map.columns().map_err(|e| {
            Error::permanent("RF-SRC-038", "a TABLE_MAP event can't be read")
                .with("table", &table)
                .with("position", &self.at)
                .caused_by(e)
        })?;
        let mut plan = RowPlan::new(&parsed, &tracked.def, &tracked.schema, self.options.decode);
        if self.history.is_provisional(&table, &self.at)
            && (plan.is_err() || labels_differ(&parsed, &tracked.def))
            && let Some(def) = definition_of(&parsed, &tracked.def, self.context.server)
        {
            let change = self.history.redefine(&table, def)?;
            if self.taken > 0 {
                return Err(Error::permanent(
                    "RF-DDL-005",
                    "a table's former definition shows only in the middle of a transaction",
                )
                .with("table", &table)
                .with("position", &self.at)
                .hint("start at a later place, or with a new snapshot"));
            }
            if let Some(now) = change.tracked.clone() {
                tracing::info!(%table, position = %self.at, "the binlog's metadata show what the table was here");
                tracked = now;
                plan = RowPlan::new(&parsed, &tracked.def, &tracked.schema, self.options.decode);
            }
            self.seal_before_ddl()?;
            let statement = "(none: the definition as the binlog's metadata show it)".to_owned();
            self.ddl = Some(Ddl { statement, position: self.at.clone(), tables: vec![change] });
            self.seal(false)?;
        }
        let plan = plan.map_err(|e| {
            Error::permanent("RF-SRC-039", "the log's columns are not those of the table's definition")
                .with("table", &table)
                .with("position", &self.at)
                .caused_by(e)
                .hint("the definition has changed since: SET PERSIST binlog_row_metadata = 'FULL' makes the log tell it from then on; now start at a later place, or with a new snapshot")
        })?;
        Ok((table, plan, tracked.schema.clone()))
    }

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
