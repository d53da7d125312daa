//! The tables that are captured, as the log has left them.

use crate::error::{Error, Result};
use rowferry_model::{TableId, TableSchema};
use rowferry_sql::{MappingOptions, TableDef};
use std::collections::HashMap;
use std::sync::Arc;

/// A captured table's definition and the schema that the stream gives it.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// The table.
    pub table: TableId,
    /// As the server defines it.
    pub def: Arc<TableDef>,
    /// As the stream sees it.
    pub schema: Arc<TableSchema>,
}

impl Tracked {
    /// A table with its stream schema.
    ///
    /// # Errors
    /// A column's type has no counterpart in the stream.
    pub fn new(table: TableId, def: TableDef, options: &MappingOptions) -> Result<Self> {
        let schema = def.to_schema(options).map_err(|e| {
            Error::permanent("RF-SRC-020", "a column's type is not supported")
                .with("table", &table)
                .caused_by(e)
                .hint("leave the table out with `tables.exclude`")
        })?;
        Ok(Self { table, def: Arc::new(def), schema: Arc::new(schema) })
    }
}

/// All captured tables by name.
#[derive(Clone, Debug, Default)]
pub struct CapturedTables {
    tables: HashMap<TableId, Tracked>,
    /// `lower_case_table_names` is not 0: the log may spell names in another case than the catalog.
    fold_case: bool,
}

impl CapturedTables {
    /// The given tables; with `fold_case` their names are compared without case.
    pub fn new(tables: impl IntoIterator<Item = Tracked>, fold_case: bool) -> Self {
        let mut captured = Self { tables: HashMap::new(), fold_case };
        for table in tables {
            captured.tables.insert(captured.fold(&table.table), table);
        }
        captured
    }

    fn fold(&self, table: &TableId) -> TableId {
        if self.fold_case {
            TableId::new(table.database().to_lowercase(), table.table().to_lowercase())
        } else {
            table.clone()
        }
    }

    /// The table of that name, if it is captured.
    pub fn get(&self, table: &TableId) -> Option<&Tracked> {
        if self.fold_case { self.tables.get(&self.fold(table)) } else { self.tables.get(table) }
    }

    /// Whether a database has captured tables.
    pub fn has_database(&self, database: &str) -> bool {
        self.tables
            .keys()
            .any(|t| t.database() == database || (self.fold_case && t.database() == database.to_lowercase()))
    }

    /// All tables.
    pub fn iter(&self) -> impl Iterator<Item = &Tracked> {
        self.tables.values()
    }
}
