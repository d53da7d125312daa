//! The tracked tables: what the server's tables look like at one place of its binlog.

mod alter;
mod apply;
mod changes;
mod create;
mod default_value;
mod effect;
mod key;
mod resolve;
mod temporal;
mod undo;

pub use effect::{AlterStep, Effect};

use crate::{CharSet, ColumnDef, TableDef};
use rowferry_model::TableId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Databases with their default charsets, and tables, as they are at one place of the binlog. [`Catalog::apply`]
/// moves it over a DDL. It serialises with serde, also to JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    databases: BTreeMap<String, CharSet>,
    #[serde(with = "pairs")]
    tables: BTreeMap<TableId, Arc<TableDef>>,
}

/// JSON has only text for keys: the tables are written as pairs.
mod pairs {
    use super::{Arc, BTreeMap, TableDef, TableId};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        tables: &BTreeMap<TableId, Arc<TableDef>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(tables)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<TableId, Arc<TableDef>>, D::Error> {
        Vec::deserialize(deserializer).map(|pairs| pairs.into_iter().collect())
    }
}

impl Catalog {
    /// A table, if it is tracked.
    pub fn table(&self, table: &TableId) -> Option<&Arc<TableDef>> {
        self.tables.get(table)
    }

    /// All tracked tables.
    pub fn tables(&self) -> impl Iterator<Item = (&TableId, &Arc<TableDef>)> {
        self.tables.iter()
    }

    /// Tracks a table as the server shows it.
    pub fn insert_table(&mut self, table: TableId, def: impl Into<Arc<TableDef>>) {
        self.tables.insert(table, def.into());
    }

    /// Tracks a table no longer.
    pub fn remove_table(&mut self, table: &TableId) -> Option<Arc<TableDef>> {
        self.tables.remove(table)
    }

    /// A database's default charset, if it is tracked.
    pub fn database(&self, name: &str) -> Option<&CharSet> {
        self.databases.get(name)
    }

    /// Tracks a database's default charset, as `information_schema.SCHEMATA` shows it.
    pub fn insert_database(&mut self, name: impl Into<String>, charset: CharSet) {
        self.databases.insert(name.into(), charset);
    }
}

/// A DDL can't be applied to the tracked tables: the server must be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The table is not tracked.
    #[error("the table {0} is not tracked")]
    UnknownTable(TableId),
    /// The database's default charset is not tracked, and the new table takes it from there.
    #[error("the default charset of database `{0}` is not known")]
    UnknownDatabase(String),
    /// The column is not there.
    #[error("the table {table} has no column `{column}`")]
    UnknownColumn {
        /// The table.
        table: TableId,
        /// The column.
        column: String,
    },
    /// There is such a column already.
    #[error("the table {table} already has a column `{column}`")]
    DuplicateColumn {
        /// The table.
        table: TableId,
        /// The column.
        column: String,
    },
    /// The charset or collation is not known.
    #[error("the charset or collation `{0}` is not known")]
    UnknownCharset(String),
    /// A definition that servers refuse.
    #[error("column `{column}`: {reason}")]
    InvalidColumn {
        /// The column.
        column: String,
        /// What is wrong.
        reason: String,
    },
}

/// Whether two names of columns or keys are the same to the server.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// The position of a column.
pub(crate) fn position(columns: &[ColumnDef], name: &str) -> Option<usize> {
    columns.iter().position(|c| same_name(&c.name, name))
}

#[cfg(test)]
mod tests;
