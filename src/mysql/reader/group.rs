//! Rows gathered by table, undecoded.

use super::history::{Bystanders, Ddl};
use crate::mysql::binlog::{RowImages, RowPlan, RowsEvent, RowsKind};
use rowferry_model::{BinlogPosition, Offset, TableId, TableSchema};
use std::sync::Arc;

/// A place in the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPoint {
    /// Where reading would resume: the end of the last whole transaction.
    pub offset: Offset,
    /// The UUID or id of the server that the places belong to.
    pub server: Arc<str>,
    /// Behind the last event read.
    pub at: BinlogPosition,
    /// Whether that is a transaction's end.
    pub boundary: bool,
    /// The time of the last event, seconds since the epoch; 0: none yet.
    pub seconds: i64,
    /// Whether the server had nothing more to send.
    pub caught_up: bool,
    /// Transactions that ended in this segment.
    pub transactions: u64,
    /// Bytes of events in this segment, those of other tables included.
    pub bytes: u64,
}

/// Rows of one table and one schema version, in the stream's order.
#[derive(Clone, Debug)]
pub struct Group {
    /// The table.
    pub table: TableId,
    /// How its rows are decoded.
    pub plan: Arc<RowPlan>,
    /// Their schema.
    pub schema: Arc<TableSchema>,
    /// Runs of rows of one kind.
    runs: Vec<Run>,
    data: Vec<u8>,
}

/// Rows of one kind: of one event, or of several in a row.
#[derive(Clone, Debug)]
struct Run {
    kind: RowsKind,
    columns: usize,
    present: Box<[u8]>,
    present_after: Box<[u8]>,
    start: usize,
    end: usize,
    /// The event's time, seconds since the epoch.
    seconds: u32,
}

impl Group {
    /// A group without rows.
    pub fn new(table: TableId, plan: Arc<RowPlan>, schema: Arc<TableSchema>) -> Self {
        Self { table, plan, schema, runs: Vec::new(), data: Vec::new() }
    }

    /// Adds an event's rows; gives how many bytes they are.
    pub fn push(&mut self, event: &RowsEvent<'_>, seconds: u32, keep_seconds: bool) -> usize {
        let start = self.data.len();
        self.data.extend_from_slice(&event.images);
        let end = self.data.len();
        if let Some(last) = self.runs.last_mut()
            && last.kind == event.kind
            && (!keep_seconds || last.seconds == seconds)
            && *last.present == *event.present
            && *last.present_after == *event.present_after
        {
            last.end = end;
            return end - start;
        }
        self.runs.push(Run {
            kind: event.kind,
            columns: event.columns,
            present: event.present.into(),
            present_after: event.present_after.into(),
            start,
            end,
            seconds,
        });
        end - start
    }

    /// The rows for the decoder, with each run's time in seconds since the epoch.
    pub fn images(&self) -> impl Iterator<Item = (RowImages<'_>, u32)> {
        self.runs.iter().map(|run| {
            let images = RowImages {
                kind: run.kind,
                columns: run.columns,
                present: &run.present,
                present_after: &run.present_after,
                bytes: self.data.get(run.start..run.end).unwrap_or_default(),
            };
            (images, run.seconds)
        })
    }
}

/// What was gathered between two places of the stream.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The tables' rows. Tables keep no order among one another within a segment.
    pub groups: Vec<Group>,
    /// A DDL behind the rows; a segment has rows or a DDL, not both.
    pub ddl: Option<Box<Ddl>>,
    /// What is known of tables that are not captured, where it has changed.
    pub bystanders: Option<Box<Bystanders>>,
    /// The place behind it.
    pub point: StreamPoint,
}
