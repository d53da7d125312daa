//! Rows of one table in columns.

use crate::{TableId, TableSchema};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use std::sync::Arc;

/// What happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RowOp {
    /// The row is new, or was read by the snapshot.
    Insert = 0,
    /// The row before an update; the next row of the batch is its [`RowOp::UpdateAfter`].
    UpdateBefore = 1,
    /// The row after an update; the row before it in the batch is its [`RowOp::UpdateBefore`].
    UpdateAfter = 2,
    /// The row that was deleted.
    Delete = 3,
}

/// The operations of a batch, one a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// So many rows, all inserted: what a snapshot yields.
    Inserts(usize),
    /// One operation a row; an update is two adjacent rows.
    Mixed(Vec<RowOp>),
}

impl Changes {
    /// How many rows there are; an update counts twice.
    pub fn len(&self) -> usize {
        match self {
            Self::Inserts(n) => *n,
            Self::Mixed(ops) => ops.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operation of a row; rows past the end count as inserted.
    pub fn op(&self, row: usize) -> RowOp {
        match self {
            Self::Inserts(_) => RowOp::Insert,
            Self::Mixed(ops) => ops.get(row).copied().unwrap_or(RowOp::Insert),
        }
    }

    /// Whether every row is an insert.
    pub fn all_inserts(&self) -> bool {
        match self {
            Self::Inserts(_) => true,
            Self::Mixed(ops) => ops.iter().all(|op| *op == RowOp::Insert),
        }
    }
}

/// Rows of **one table and one schema version**.
#[derive(Clone, Debug)]
pub struct ChangeBatch {
    table: TableId,
    schema: Arc<TableSchema>,
    changes: Changes,
    columns: RecordBatch,
    /// Milliseconds since the epoch of each row's binlog event; `None`: all zero, as for snapshot rows.
    op_ts: Option<Arc<Int64Array>>,
}

/// The parts of a [`ChangeBatch`] do not fit one another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Another number of operations, timestamps or columns than expected.
    #[error("a batch of {table}: {what} has {got} entries where {want} were expected")]
    Length {
        /// The table.
        table: TableId,
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The right length.
        want: usize,
    },
    /// A column's Arrow type is not the one that [`DataType::arrow`](crate::DataType::arrow) gives.
    #[error("a batch of {table}: column `{column}` has Arrow type {got} where {want} was expected")]
    Type {
        /// The table.
        table: TableId,
        /// The column.
        column: String,
        /// Its Arrow type.
        got: String,
        /// The right Arrow type.
        want: String,
    },
    /// An [`RowOp::UpdateBefore`] is not followed by its [`RowOp::UpdateAfter`].
    #[error("a batch of {table}: the update at row {row} is not a pair")]
    UnpairedUpdate {
        /// The table.
        table: TableId,
        /// The row.
        row: usize,
    },
}

impl ChangeBatch {
    /// A batch; checks that the parts fit one another.
    ///
    /// # Errors
    /// A length or a type is not as the schema says, or an update is not a pair.
    pub fn new(
        table: TableId,
        schema: Arc<TableSchema>,
        changes: Changes,
        columns: RecordBatch,
    ) -> Result<Self, BatchError> {
        let length = |what, got, want| BatchError::Length { table: table.clone(), what, got, want };
        if columns.num_columns() != schema.columns.len() {
            return Err(length("the record batch's columns", columns.num_columns(), schema.columns.len()));
        }
        if changes.len() != columns.num_rows() {
            return Err(length("the operations", changes.len(), columns.num_rows()));
        }
        for (column, array) in schema.columns.iter().zip(columns.columns()) {
            let want = column.data_type.arrow();
            if array.data_type() != &want {
                return Err(BatchError::Type {
                    table: table.clone(),
                    column: column.name.clone(),
                    got: array.data_type().to_string(),
                    want: want.to_string(),
                });
            }
        }
        if let Changes::Mixed(ops) = &changes {
            let mut row = 0;
            while row < ops.len() {
                match ops[row] {
                    RowOp::UpdateBefore if ops.get(row + 1) == Some(&RowOp::UpdateAfter) => row += 2,
                    RowOp::UpdateBefore | RowOp::UpdateAfter => {
                        return Err(BatchError::UnpairedUpdate { table: table.clone(), row });
                    }
                    RowOp::Insert | RowOp::Delete => row += 1,
                }
            }
        }
        Ok(Self { table, schema, changes, columns, op_ts: None })
    }

    /// The same batch with the time of each row's event, in milliseconds since the epoch.
    ///
    /// # Errors
    /// There is not one timestamp a row.
    pub fn with_op_ts(mut self, op_ts: Arc<Int64Array>) -> Result<Self, BatchError> {
        if op_ts.len() != self.num_rows() {
            return Err(BatchError::Length {
                table: self.table,
                what: "op_ts",
                got: op_ts.len(),
                want: self.columns.num_rows(),
            });
        }
        self.op_ts = Some(op_ts);
        Ok(self)
    }

    /// The same rows for another table: what a route does.
    #[must_use]
    pub fn with_table(mut self, table: TableId) -> Self {
        self.table = table;
        self
    }

    /// The same changes with other columns: what a projection does.
    ///
    /// # Errors
    /// The columns are not those of the schema, or not as many rows as there are changes.
    pub fn with_columns(self, schema: Arc<TableSchema>, columns: RecordBatch) -> Result<Self, BatchError> {
        let batch = Self::new(self.table, schema, self.changes, columns)?;
        Ok(Self { op_ts: self.op_ts, ..batch })
    }

    /// The table.
    pub fn table(&self) -> &TableId {
        &self.table
    }

    /// The schema of all its rows.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The operations.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The columns.
    pub fn columns(&self) -> &RecordBatch {
        &self.columns
    }

    /// One column.
    pub fn column(&self, i: usize) -> &ArrayRef {
        self.columns.column(i)
    }

    /// The time of each row's event in milliseconds since the epoch; `None`: not asked for, or a snapshot's rows (0).
    pub fn op_ts(&self) -> Option<&Int64Array> {
        self.op_ts.as_deref()
    }

    /// How many rows there are; an update counts twice.
    pub fn num_rows(&self) -> usize {
        self.columns.num_rows()
    }

    /// How many changes there are; an update counts once.
    pub fn num_changes(&self) -> usize {
        match &self.changes {
            Changes::Inserts(n) => *n,
            Changes::Mixed(ops) => ops.iter().filter(|op| **op != RowOp::UpdateBefore).count(),
        }
    }

    /// The memory that the columns hold, in bytes.
    pub fn num_bytes(&self) -> usize {
        self.columns.columns().iter().map(|c| c.get_buffer_memory_size()).sum::<usize>() + self.changes.len()
    }
}

#[cfg(test)]
mod tests;
