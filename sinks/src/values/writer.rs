//! Rows of the `values` sink.

use super::config::{Config, Format};
use super::numbers::append_int;
use super::output::Output;
use super::print::{append_json, append_json_string, append_text};
use crate::cells::Cells;
use crate::{Capabilities, Committable, EventSink, Gauge, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, RowOp, TableId, TableSchema};
use std::io::Write;
use std::sync::Arc;

/// Prints rows: one line a change, also for an update, which is two rows of a batch. An update that changes the
/// primary key is a delete and an insert, as in Flink CDC.
///
/// `op_ts` is printed for batches that carry it; the pipeline attaches it (zero for snapshot rows) when
/// `metadata.list` asks for it.
pub(super) struct ValuesWriter {
    print: bool,
    format: Format,
    output: Arc<Output>,
    /// Changes taken since the start.
    rows: u64,
}

impl ValuesWriter {
    pub(super) fn new(config: &Config, output: Arc<Output>) -> Self {
        Self { print: config.print, format: config.format, output, rows: 0 }
    }
}

#[async_trait]
impl EventSink for ValuesWriter {
    fn capabilities(&self) -> Capabilities {
        Capabilities { keyless_tables: true, before_images: self.print, exactly_once: false }
    }

    fn check(&self, _table: &TableId, _schema: &TableSchema) -> Result<(), SinkError> {
        Ok(())
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        self.rows += batch.num_changes() as u64;
        if !self.print {
            return Ok(());
        }
        let cells = Cells::of(&batch)?;
        let key: Vec<&Cells<'_>> = batch.schema().key_indices().into_iter().filter_map(|i| cells.get(i)).collect();
        let printer = Printer::new(self.format, &batch, &cells);
        let mut out = self.output.lock();
        let mut row = 0;
        while row < batch.num_rows() {
            let mut line = |change| {
                if out.take_line() {
                    printer.append(out.buffer(), change);
                    out.end_line()
                } else {
                    Ok(())
                }
            };
            match batch.changes().op(row) {
                RowOp::Insert => line(Change::Insert(row))?,
                RowOp::Delete => line(Change::Delete(row))?,
                // A batch's updates are adjacent pairs: it was checked when the batch was made.
                RowOp::UpdateBefore | RowOp::UpdateAfter => {
                    if key.iter().all(|k| k.same(row, row + 1)) {
                        line(Change::Update(row))?;
                    } else {
                        line(Change::Delete(row))?;
                        line(Change::Insert(row + 1))?;
                    }
                    row += 1;
                }
            }
            row += 1;
        }
        Ok(())
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        self.output.lock().flush()
    }

    async fn prepare(&mut self, _checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        self.output.lock().flush()?;
        Ok(None)
    }

    async fn commit(&mut self, _checkpoint: CheckpointId, _committable: Committable) -> Result<(), SinkError> {
        Ok(())
    }

    async fn recover(&mut self, _last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        Ok(())
    }

    fn gauges(&self) -> Vec<Gauge> {
        vec![("values_rows", Vec::new(), self.rows as f64)]
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        self.output.lock().flush()
    }
}

/// A change and the row or, for an update, the first of the two rows that make it.
#[derive(Clone, Copy)]
enum Change {
    Insert(usize),
    Update(usize),
    Delete(usize),
}

impl Change {
    fn before(self) -> Option<usize> {
        match self {
            Self::Insert(_) => None,
            Self::Update(row) | Self::Delete(row) => Some(row),
        }
    }

    fn after(self) -> Option<usize> {
        match self {
            Self::Insert(row) => Some(row),
            Self::Update(row) => Some(row + 1),
            Self::Delete(_) => None,
        }
    }
}

/// Prints the changes of one batch; what is the same in all its lines is made once.
struct Printer<'a> {
    format: Format,
    batch: &'a ChangeBatch,
    cells: &'a [Cells<'a>],
    /// What every line begins with.
    head: Vec<u8>,
    /// For JSON, each column's name with quotes and colon.
    names: Vec<Vec<u8>>,
}

impl<'a> Printer<'a> {
    fn new(format: Format, batch: &'a ChangeBatch, cells: &'a [Cells<'a>]) -> Self {
        let mut head = Vec::new();
        let mut names = Vec::new();
        match format {
            Format::Lines => {
                let _ = write!(head, "DataChangeEvent{{tableId={}, before=[", batch.table());
            }
            Format::Json => {
                head.extend_from_slice(b",\"database\":");
                append_json_string(&mut head, batch.table().database());
                head.extend_from_slice(b",\"table\":");
                append_json_string(&mut head, batch.table().table());
                for column in &batch.schema().columns {
                    let mut name = Vec::new();
                    append_json_string(&mut name, &column.name);
                    name.push(b':');
                    names.push(name);
                }
            }
        }
        Self { format, batch, cells, head, names }
    }

    fn append(&self, out: &mut Vec<u8>, change: Change) {
        match self.format {
            Format::Lines => self.append_line(out, change),
            Format::Json => self.append_json(out, change),
        }
    }

    fn op_ts(&self, change: Change) -> Option<i64> {
        let row = change.after().or(change.before())?;
        self.batch.op_ts().map(|ts| ts.value(row))
    }

    fn append_line(&self, out: &mut Vec<u8>, change: Change) {
        out.extend_from_slice(&self.head);
        self.append_values(out, change.before());
        out.extend_from_slice(b"], after=[");
        self.append_values(out, change.after());
        out.extend_from_slice(match change {
            Change::Insert(_) => b"], op=INSERT, meta=(".as_slice(),
            Change::Update(_) => b"], op=UPDATE, meta=(",
            Change::Delete(_) => b"], op=DELETE, meta=(",
        });
        if let Some(ts) = self.op_ts(change) {
            out.extend_from_slice(b"{op_ts=");
            append_int(out, ts);
            out.push(b'}');
        }
        out.extend_from_slice(b")}");
    }

    fn append_values(&self, out: &mut Vec<u8>, row: Option<usize>) {
        let Some(row) = row else { return };
        for (i, cells) in self.cells.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            append_text(cells, out, row);
        }
    }

    fn append_json(&self, out: &mut Vec<u8>, change: Change) {
        out.extend_from_slice(match change {
            Change::Insert(_) => b"{\"event\":\"insert\"".as_slice(),
            Change::Update(_) => b"{\"event\":\"update\"",
            Change::Delete(_) => b"{\"event\":\"delete\"",
        });
        out.extend_from_slice(&self.head);
        if let Some(ts) = self.op_ts(change) {
            out.extend_from_slice(b",\"op_ts\":");
            append_int(out, ts);
        }
        out.extend_from_slice(b",\"before\":");
        self.append_object(out, change.before());
        out.extend_from_slice(b",\"after\":");
        self.append_object(out, change.after());
        out.push(b'}');
    }

    fn append_object(&self, out: &mut Vec<u8>, row: Option<usize>) {
        let Some(row) = row else {
            out.extend_from_slice(b"null");
            return;
        };
        out.push(b'{');
        for (i, (name, cells)) in self.names.iter().zip(self.cells).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.extend_from_slice(name);
            append_json(cells, out, row);
        }
        out.push(b'}');
    }
}
