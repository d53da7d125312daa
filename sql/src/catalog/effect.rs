//! What a DDL did to the tracked tables.

use crate::{ColumnDef, TableDef};
use rowferry_model::{ColumnPosition, TableId};
use std::sync::Arc;

/// What a DDL did to one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A table is new.
    Created {
        /// The table.
        table: TableId,
        /// Its definition.
        def: Arc<TableDef>,
    },
    /// A table's definition was changed; it may be as before.
    Altered {
        /// The table.
        table: TableId,
        /// The definition before.
        before: Arc<TableDef>,
        /// The definition after: what rows look like in the binlog from now on.
        after: Arc<TableDef>,
        /// What was done to columns and comment, in the order of the statement.
        steps: Vec<AlterStep>,
    },
    /// A table has another name.
    Renamed {
        /// The old name.
        from: TableId,
        /// The new name.
        to: TableId,
        /// The definition; `None` where the table wasn't tracked under the old name.
        def: Option<Arc<TableDef>>,
    },
    /// A table is gone.
    Dropped {
        /// The table.
        table: TableId,
        /// Its database was dropped with all tables in it.
        with_database: bool,
    },
    /// All rows of a table are gone.
    Truncated {
        /// The table.
        table: TableId,
    },
    /// Some rows of a table are gone without events for them, or others came in: partitions were dropped, truncated or
    /// exchanged.
    PartitionsChanged {
        /// The table.
        table: TableId,
        /// The clause.
        clause: &'static str,
    },
}

impl Effect {
    /// The table; for a rename the old name.
    pub fn table(&self) -> &TableId {
        match self {
            Self::Created { table, .. }
            | Self::Altered { table, .. }
            | Self::Renamed { from: table, .. }
            | Self::Dropped { table, .. }
            | Self::Truncated { table }
            | Self::PartitionsChanged { table, .. } => table,
        }
    }
}

/// One step of an ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterStep {
    /// Columns are added: those of one ADD clause.
    Add(Vec<(ColumnDef, ColumnPosition)>),
    /// A column is defined anew, and perhaps renamed and moved.
    Change {
        /// The column's name before.
        old: String,
        /// The column after.
        column: ColumnDef,
    },
    /// A column is renamed.
    Rename {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
    },
    /// A column is dropped.
    Drop(String),
    /// The table's comment is set.
    Comment(String),
}
