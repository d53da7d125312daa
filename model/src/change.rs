//! Changes of a table's shape.

use crate::{Column, DataType, TableId, TableSchema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where an added column goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ColumnPosition {
    /// Behind all others.
    Last,
    /// Before all others.
    First,
    /// Behind that column.
    After(String),
    /// Before that column.
    Before(String),
}

/// A column that is added, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AddedColumn {
    /// The new column.
    pub column: Column,
    /// Its place.
    pub position: ColumnPosition,
}

/// A column whose type, nullability or comment changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AlteredColumn {
    /// The column's name.
    pub name: String,
    /// The new type.
    pub data_type: DataType,
    /// The new nullability.
    pub nullable: bool,
    /// The old type and nullability, where known.
    pub old: Option<(DataType, bool)>,
    /// The new comment, if it is known.
    pub comment: Option<String>,
}

/// One change of one table's shape: Flink CDC's set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SchemaChange {
    /// A table is there from now on, with this schema. The first event of every table.
    CreateTable {
        /// The table.
        table: TableId,
        /// Its schema.
        schema: Arc<TableSchema>,
    },
    /// Columns are added, one after another.
    AddColumns {
        /// The table.
        table: TableId,
        /// The columns in the order in which they are added.
        columns: Vec<AddedColumn>,
    },
    /// Columns change their type, nullability or comment.
    AlterColumns {
        /// The table.
        table: TableId,
        /// What changes.
        columns: Vec<AlteredColumn>,
    },
    /// Columns are renamed, all at once: two may swap their names.
    RenameColumns {
        /// The table.
        table: TableId,
        /// Old name and new name.
        names: Vec<(String, String)>,
    },
    /// Columns are dropped.
    DropColumns {
        /// The table.
        table: TableId,
        /// Their names.
        names: Vec<String>,
    },
    /// The table is dropped.
    DropTable {
        /// The table.
        table: TableId,
    },
    /// All rows are removed.
    TruncateTable {
        /// The table.
        table: TableId,
    },
    /// The table's comment changes.
    AlterTableComment {
        /// The table.
        table: TableId,
        /// The new comment.
        comment: Option<String>,
    },
}

/// The kind of a [`SchemaChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of SchemaChange")]
pub enum SchemaChangeKind {
    CreateTable,
    AddColumns,
    AlterColumns,
    RenameColumns,
    DropColumns,
    DropTable,
    TruncateTable,
    AlterTableComment,
}

impl SchemaChangeKind {
    /// Flink CDC's tag, as in `include.schema.changes`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::CreateTable => "create.table",
            Self::AddColumns => "add.column",
            Self::AlterColumns => "alter.column.type",
            Self::RenameColumns => "rename.column",
            Self::DropColumns => "drop.column",
            Self::DropTable => "drop.table",
            Self::TruncateTable => "truncate.table",
            Self::AlterTableComment => "alter.table.comment",
        }
    }
}

impl SchemaChange {
    /// The table that changes.
    pub fn table(&self) -> &TableId {
        match self {
            Self::CreateTable { table, .. }
            | Self::AddColumns { table, .. }
            | Self::AlterColumns { table, .. }
            | Self::RenameColumns { table, .. }
            | Self::DropColumns { table, .. }
            | Self::DropTable { table }
            | Self::TruncateTable { table }
            | Self::AlterTableComment { table, .. } => table,
        }
    }

    /// What kind of change it is.
    pub fn kind(&self) -> SchemaChangeKind {
        match self {
            Self::CreateTable { .. } => SchemaChangeKind::CreateTable,
            Self::AddColumns { .. } => SchemaChangeKind::AddColumns,
            Self::AlterColumns { .. } => SchemaChangeKind::AlterColumns,
            Self::RenameColumns { .. } => SchemaChangeKind::RenameColumns,
            Self::DropColumns { .. } => SchemaChangeKind::DropColumns,
            Self::DropTable { .. } => SchemaChangeKind::DropTable,
            Self::TruncateTable { .. } => SchemaChangeKind::TruncateTable,
            Self::AlterTableComment { .. } => SchemaChangeKind::AlterTableComment,
        }
    }

    /// The same change of another table: what a route does.
    #[must_use]
    pub fn with_table(mut self, to: TableId) -> Self {
        match &mut self {
            Self::CreateTable { table, .. }
            | Self::AddColumns { table, .. }
            | Self::AlterColumns { table, .. }
            | Self::RenameColumns { table, .. }
            | Self::DropColumns { table, .. }
            | Self::DropTable { table }
            | Self::TruncateTable { table }
            | Self::AlterTableComment { table, .. } => *table = to,
        }
        self
    }
}
