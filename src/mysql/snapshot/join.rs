//! One table between its snapshot and the stream: which changes pass, which belong to a chunk that is being read, and
//! which can be forgotten.

use super::key::{ChunkKey, KeyBound};
use super::overlay::Overlay;
use super::plan::PlannedChunk;
use super::read::ChunkRead;
use crate::checkpoint::SnapshotProgress;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_select::take::take_record_batch;
use rowferry_model::{BinlogPosition, ChangeBatch, Changes, RowOp, TableId, TableSchema};
use std::cmp::Ordering;
use std::sync::Arc;

/// Where a row's key lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// In a range that is in the sink: its changes pass.
    Done,
    /// In the chunk at this index of the open ones: its changes are kept beside the chunk.
    Open(usize),
    /// In a range that will be read later: its changes are seen then.
    Pending,
}

/// A chunk closed, or rows that pass.
pub type Joined = ChangeBatch;

#[derive(Debug)]
struct DoneRange {
    order: Vec<u32>,
    low: Option<KeyBound>,
    high: Option<KeyBound>,
}

struct OpenChunk {
    chunk: PlannedChunk,
    overlay: Overlay,
    read: Option<ChunkRead>,
}

/// One table during its snapshot.
pub struct TableJoin {
    table: TableId,
    schema: Arc<TableSchema>,
    key: ChunkKey,
    primary_key: Vec<usize>,
    converter: RowConverter,
    done: Vec<DoneRange>,
    open: Vec<OpenChunk>,
    /// Chunks that were planned or split off and not armed yet, and whether more can come.
    waiting: usize,
    planned: bool,
    rows: u64,
    estimated_rows: u64,
    /// Chunks closed in this run.
    closed: u64,
    /// Deletes pass wherever their row is.
    pass_deletes: bool,
}

/// The joint can't go on: a fault in rowferry or in the rows' types.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Arrow refused.
    #[error("rows of {table} can't be joined with their snapshot")]
    Arrow {
        /// The table.
        table: TableId,
        /// Why.
        #[source]
        source: arrow_schema::ArrowError,
    },
    /// A batch's parts do not fit.
    #[error(transparent)]
    Batch(#[from] rowferry_model::BatchError),
    /// A key could not be compared with a chunk's bounds.
    #[error("a key of {table} can't be compared with the snapshot's chunks")]
    Key {
        /// The table.
        table: TableId,
    },
}

impl TableJoin {
    /// A table whose snapshot starts, or goes on where `progress` says.
    ///
    /// # Errors
    /// The key's types can't be compared.
    pub fn new(
        table: TableId,
        schema: Arc<TableSchema>,
        key: ChunkKey,
        progress: &SnapshotProgress,
    ) -> Result<Self, JoinError> {
        let primary_key = schema.key_indices();
        let fields = primary_key.iter().map(|i| SortField::new(schema.columns[*i].data_type.arrow())).collect();
        let converter =
            RowConverter::new(fields).map_err(|source| JoinError::Arrow { table: table.clone(), source })?;
        let done = progress
            .done
            .iter()
            .enumerate()
            .map(|(i, (low, high))| DoneRange { order: vec![2 * i as u32 + 1], low: low.clone(), high: high.clone() })
            .collect();
        Ok(Self {
            table,
            schema,
            key,
            primary_key,
            converter,
            done,
            open: Vec::new(),
            waiting: 0,
            planned: false,
            rows: progress.rows,
            estimated_rows: progress.estimated_rows,
            closed: 0,
            pass_deletes: false,
        })
    }

    /// The table's definition changes: chunks that are not closed are read again. What is in the sink stays there, as long
    /// as the key that the table is cut by keeps its kind; else all of it is read again.
    ///
    /// # Errors
    /// The key's types can't be compared.
    pub fn redefine(&mut self, schema: Arc<TableSchema>, key: ChunkKey) -> Result<(), JoinError> {
        let same_key = self.key.is_alike(&key) && self.schema.primary_key.len() == schema.primary_key.len();
        let mut progress = self.progress();
        if !same_key {
            progress.done.clear();
        }
        let mut fresh = Self::new(self.table.clone(), schema, key, &progress)?;
        // Rows that are read a second time may be in the sink already, and be deleted meanwhile.
        fresh.pass_deletes = self.pass_deletes || !same_key;
        *self = fresh;
        Ok(())
    }

    /// Chunks that are not closed are read again.
    pub fn suspend(&mut self) {
        self.open.clear();
        self.waiting = 0;
        self.planned = false;
    }

    /// Lets deletes pass wherever their row is. For a sink that keeps what was written behind the last checkpoint when the
    /// process dies: a row of a chunk that is read again may be there already, and if it is deleted meanwhile nothing
    /// else would remove it.
    pub fn pass_all_deletes(&mut self) {
        self.pass_deletes = true;
    }

    /// The table's schema.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// What the table is cut by.
    pub fn key(&self) -> &ChunkKey {
        &self.key
    }

    /// How many chunks have been closed in this run.
    pub fn done_chunks(&self) -> u64 {
        self.closed
    }

    /// Chunks that are being read or wait for the stream.
    pub fn open_chunks(&self) -> usize {
        self.open.len()
    }

    /// So many rows the table was thought to have.
    pub fn set_estimate(&mut self, rows: u64) {
        self.estimated_rows = rows;
    }

    /// The planner has a chunk of this table, which will be armed later.
    pub fn expect_chunk(&mut self) {
        self.waiting += 1;
    }

    /// The planner has no more chunks of this table.
    pub fn planning_done(&mut self) {
        self.planned = true;
    }

    /// Whether every row is in the sink.
    pub fn is_complete(&self) -> bool {
        self.planned && self.waiting == 0 && self.open.is_empty()
    }

    /// From here on changes of the chunk's rows are kept beside it.
    pub fn arm(&mut self, chunk: PlannedChunk) {
        self.waiting = self.waiting.saturating_sub(1);
        self.open.push(OpenChunk { chunk, overlay: Overlay::default(), read: None });
    }

    /// The chunk has been read.
    pub fn read(&mut self, order: &[u32], read: ChunkRead) {
        if let Some(open) = self.open.iter_mut().find(|o| o.chunk.order == order) {
            open.read = Some(read);
        }
    }

    /// The chunk turned out too large; these parts of it will be armed one by one instead.
    pub fn split(&mut self, order: &[u32], parts: usize) {
        self.open.retain(|o| o.chunk.order != order);
        self.waiting += parts;
    }

    /// Progress for the checkpoint: only what is in the sink counts.
    pub fn progress(&self) -> SnapshotProgress {
        SnapshotProgress {
            done: self.done.iter().map(|d| (d.low.clone(), d.high.clone())).collect(),
            rows: self.rows,
            estimated_rows: self.estimated_rows,
        }
    }

    /// The queries that tell where a batch's keys lie, where only the server can tell; empty where none is needed.
    /// [`TableJoin::pass`] wants their results.
    pub fn classify_queries(&self, batch: &ChangeBatch) -> Vec<String> {
        /// Keys a query: keeps a statement below the smallest `max_allowed_packet` in use.
        const KEYS: usize = 256;
        let bounds = self.bounds();
        if self.key.is_local() || bounds.is_empty() {
            return Vec::new();
        }
        let keys = self.chunk_keys(batch.columns());
        let rows: Vec<usize> = (0..batch.num_rows()).collect();
        rows.chunks(KEYS).filter_map(|rows| self.key.classify_query(&keys, rows, &bounds)).collect()
    }

    /// Takes a batch of the stream: keeps what belongs to open chunks, forgets what will be read later, and gives back
    /// what passes. `below` holds a row for each row of the batch and in it, for each bound, whether the key lies below.
    ///
    /// # Errors
    /// A key can't be compared.
    pub fn pass(&mut self, batch: ChangeBatch, below: Option<&[Vec<bool>]>) -> Result<Option<ChangeBatch>, JoinError> {
        if self.done.is_empty() && self.open.is_empty() && !self.pass_deletes {
            return Ok(None);
        }
        let classes = self.classify(&batch, below)?;
        if classes.iter().all(|c| *c == Class::Done) {
            return Ok(Some(batch));
        }
        let keys = self.primary_keys(batch.columns())?;
        let mut passed: Vec<(usize, RowOp)> = Vec::new();
        let mut used = vec![None; self.open.len()];
        let mut row = 0;
        while row < batch.num_rows() {
            let op = batch.changes().op(row);
            if op == RowOp::UpdateBefore
                && classes.get(row) == Some(&Class::Done)
                && classes.get(row + 1) == Some(&Class::Done)
            {
                passed.extend([(row, RowOp::UpdateBefore), (row + 1, RowOp::UpdateAfter)]);
                row += 2;
                continue;
            }
            // Between ranges an update is a delete here and an insert there.
            let op = match op {
                RowOp::Insert | RowOp::UpdateAfter => RowOp::Insert,
                RowOp::Delete | RowOp::UpdateBefore => RowOp::Delete,
            };
            match classes[row] {
                Class::Done => passed.push((row, op)),
                Class::Pending if op == RowOp::Delete && self.pass_deletes => passed.push((row, op)),
                Class::Pending => {}
                Class::Open(i) => {
                    let overlay = &mut self.open[i].overlay;
                    let at = *used[i].get_or_insert_with(|| overlay.hold(batch.columns().clone()));
                    overlay.put(keys.row(row).as_ref(), (op == RowOp::Insert).then_some((at, row)));
                    if op == RowOp::Delete && self.pass_deletes {
                        passed.push((row, op));
                    }
                }
            }
            row += 1;
        }
        for (open, _) in self.open.iter_mut().zip(&used).filter(|(_, used)| used.is_some()) {
            open.overlay.compact().map_err(|source| JoinError::Arrow { table: self.table.clone(), source })?;
        }
        if passed.is_empty() {
            return Ok(None);
        }
        let indices = Int64Array::from_iter_values(passed.iter().map(|(row, _)| *row as i64));
        let columns = take_record_batch(batch.columns(), &indices)
            .map_err(|source| JoinError::Arrow { table: self.table.clone(), source })?;
        let ops = passed.iter().map(|(_, op)| *op).collect();
        let op_ts = batch.op_ts().map(|ts| Arc::new(passed.iter().map(|(row, _)| ts.value(*row)).collect()));
        let out = ChangeBatch::new(self.table.clone(), self.schema.clone(), Changes::Mixed(ops), columns)?;
        Ok(Some(match op_ts {
            Some(op_ts) => out.with_op_ts(op_ts)?,
            None => out,
        }))
    }

    /// Closes the chunks whose high watermark the stream has passed: their rows as they are at this place of the stream.
    ///
    /// # Errors
    /// The rows can't be joined.
    pub fn close(&mut self, stream_at: &BinlogPosition) -> Result<Vec<Joined>, JoinError> {
        let mut closed = Vec::new();
        let mut i = 0;
        while i < self.open.len() {
            if self.open[i].read.as_ref().is_none_or(|r| r.high > *stream_at) {
                i += 1;
                continue;
            }
            let OpenChunk { chunk, overlay, read } = self.open.remove(i);
            let Some(read) = read else { continue };
            let batches = if overlay.is_empty() {
                read.batches
            } else {
                let keys = read.batches.iter().map(|b| self.primary_keys(b)).collect::<Result<Vec<_>, _>>()?;
                overlay
                    .over(&read.batches, &keys)
                    .map_err(|source| JoinError::Arrow { table: self.table.clone(), source })?
            };
            for columns in batches.into_iter().filter(|b| b.num_rows() > 0) {
                self.rows += columns.num_rows() as u64;
                let changes = Changes::Inserts(columns.num_rows());
                closed.push(ChangeBatch::new(self.table.clone(), self.schema.clone(), changes, columns)?);
            }
            self.finish(chunk);
        }
        Ok(closed)
    }

    /// Adds a range to those that are in the sink, merging it with its neighbours.
    fn finish(&mut self, chunk: PlannedChunk) {
        self.closed += 1;
        let at = self.done.partition_point(|d| d.order < chunk.order);
        self.done.insert(at, DoneRange { order: chunk.order, low: chunk.low, high: chunk.high });
        let touches = |a: &DoneRange, b: &DoneRange| a.high.is_some() && a.high == b.low;
        if at + 1 < self.done.len() && touches(&self.done[at], &self.done[at + 1]) {
            self.done[at].high = self.done.remove(at + 1).high;
        }
        if at > 0 && touches(&self.done[at - 1], &self.done[at]) {
            self.done[at - 1].high = self.done.remove(at).high;
        }
    }

    fn bounds(&self) -> Vec<&KeyBound> {
        let done = self.done.iter().flat_map(|d| [&d.low, &d.high]);
        let open = self.open.iter().flat_map(|o| [&o.chunk.low, &o.chunk.high]);
        done.chain(open).filter_map(Option::as_ref).collect()
    }

    fn chunk_keys(&self, columns: &RecordBatch) -> Vec<ArrayRef> {
        self.key.indices().map(|i| columns.column(i).clone()).collect()
    }

    fn primary_keys(&self, columns: &RecordBatch) -> Result<arrow_row::Rows, JoinError> {
        let keys: Vec<ArrayRef> = self.primary_key.iter().map(|i| columns.column(*i).clone()).collect();
        self.converter.convert_columns(&keys).map_err(|source| JoinError::Arrow { table: self.table.clone(), source })
    }

    fn classify(&self, batch: &ChangeBatch, below: Option<&[Vec<bool>]>) -> Result<Vec<Class>, JoinError> {
        let error = || JoinError::Key { table: self.table.clone() };
        let keys = self.chunk_keys(batch.columns());
        let ranges = self
            .done
            .iter()
            .map(|d| (&d.low, &d.high, Class::Done))
            .chain(self.open.iter().enumerate().map(|(i, o)| (&o.chunk.low, &o.chunk.high, Class::Open(i))));
        let ranges: Vec<_> = ranges.collect();
        let local = self.key.is_local();
        (0..batch.num_rows())
            .map(|row| {
                // The bounds come in the order of `bounds`, which skips the open ends.
                let mut at = 0;
                let mut is_below = |bound: &KeyBound| {
                    let answer = if local {
                        self.key.compare(&keys, row, bound).map(|o| o == Ordering::Less)
                    } else {
                        below.and_then(|b| b.get(row)).and_then(|b| b.get(at)).copied()
                    };
                    at += 1;
                    answer.ok_or_else(error)
                };
                let mut class = Class::Pending;
                for (low, high, of) in &ranges {
                    let above = match low {
                        Some(low) => !is_below(low)?,
                        None => true,
                    };
                    let under = match high {
                        Some(high) => is_below(high)?,
                        None => true,
                    };
                    if above && under {
                        class = *of;
                        break;
                    }
                }
                Ok(class)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
