//! A batch as record batches of a body.

use super::super::encoder::BatchEncoder;
use super::column::{Column, Problem};
use super::run::Run;
use super::{Arrow, options};
use crate::SinkError;
use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use rowferry_model::RowOp;
use std::sync::Arc;

/// The most rows of one record batch.
const MOST_ROWS: usize = 4096;
/// The fewest, and their bytes: a record batch has a head of some hundred bytes.
const FEW_ROWS: usize = 64;
const FEW_BYTES: usize = 1 << 16;

impl BatchEncoder<'_> {
    /// Appends rows as a whole stream, as [`fill`](Self::fill) does. Nothing is appended where there are no rows: to a backend
    /// a stream without rows is the body's end.
    pub(in super::super) fn fill_arrow(
        &mut self,
        arrow: &Arrow,
        out: &mut Vec<u8>,
        limit: usize,
        rows: u64,
    ) -> Result<u64, SinkError> {
        let row_bytes = arrow.row_bytes(&self.cells);
        let mut written = 0;
        let mut run = self.run(rows, limit.saturating_sub(out.len()), row_bytes);
        if run.is_empty() {
            return Ok(0);
        }
        let failed = |e: ArrowError| SinkError::permanent(format!("rows can't be written as Arrow: {e}"));
        let mut stream = StreamWriter::try_new_with_options(&mut *out, &arrow.schema, options()).map_err(failed)?;
        while !run.is_empty() {
            stream.write(&self.record_batch(arrow, &run)?).map_err(failed)?;
            written += run.len() as u64;
            let room = limit.saturating_sub(stream.get_ref().len());
            run = self.run(rows.saturating_sub(written), room, row_bytes);
        }
        stream.finish().map_err(failed)?;
        Ok(written)
    }

    /// The next rows, as many as fit into so many rows and bytes, about.
    fn run(&mut self, rows: u64, bytes: usize, row_bytes: usize) -> Run {
        let mut run = Run::default();
        if bytes == 0 {
            return run;
        }
        let most = (bytes / row_bytes).max(FEW_ROWS.min(FEW_BYTES / row_bytes)).clamp(1, MOST_ROWS);
        let most = usize::try_from(rows).unwrap_or(usize::MAX).min(most);
        while !self.is_done() && run.len() < most {
            let row = self.next;
            self.next += 1;
            match self.batch.changes().op(row) {
                RowOp::Delete if !self.plan.deletes => {}
                RowOp::Delete => run.push(row, true),
                RowOp::UpdateBefore => {
                    let after = self.next;
                    self.next += 1;
                    if self.plan.deletes && self.key_differs(row, after) {
                        run.push(row, true);
                    }
                    run.push(after, false);
                }
                // The other half of an update came first: the batch has been checked for pairs.
                RowOp::Insert | RowOp::UpdateAfter => run.push(row, false),
            }
        }
        run
    }

    fn record_batch(&self, arrow: &Arrow, run: &Run) -> Result<RecordBatch, SinkError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(arrow.wires.len() + 1);
        if arrow.sign {
            columns.push(Arc::new(Int8Array::from_iter_values(run.iter().map(|(_, deletion)| i8::from(deletion)))));
        }
        let sources = self.plan.columns.iter().zip(&self.cells).zip(self.batch.columns().columns());
        for (i, (((plan, cells), source), wire)) in sources.zip(&arrow.wires).enumerate() {
            let column = Column { plan, cells, source, wire: *wire, key: self.plan.keys.contains(&i), run };
            columns.push(column.array().map_err(|problem| match problem {
                Problem::Unfit(row, unfit) => self.refuse(&plan.name, row, &unfit),
                Problem::NoKey => self.keyless_deletion(&plan.name),
                Problem::Arrow(words) => {
                    SinkError::permanent(format!("column `{}` of {}: {words}", plan.name, self.batch.table()))
                }
            })?);
        }
        RecordBatch::try_new(Arc::clone(&arrow.schema), columns)
            .map_err(|e| SinkError::permanent(format!("rows of {} can't be put together: {e}", self.batch.table())))
    }
}
