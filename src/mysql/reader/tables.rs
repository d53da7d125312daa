//! The tables that are captured, as the log has left them.

use crate::error::{Error, Result};
use rowferry_model::{BinlogPosition, TableId, TableSchema};
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
    /// The definition was read at this place of the log: what stands before it, rows and DDL, is in it or in the
    /// table's snapshot. `None`: the definition is that of the place where reading began.
    pub since: Option<BinlogPosition>,
}

impl Tracked {
    /// A table with its stream schema.
    ///
    /// # Errors
    /// A column's type has no counterpart in the stream.
    pub fn new(table: TableId, def: Arc<TableDef>, options: &MappingOptions) -> Result<Self> {
        let schema = def.to_schema(options).map_err(|e| {
            Error::permanent("RF-SRC-020", "a column's type is not supported")
                .with("table", &table)
                .caused_by(e)
                .hint("leave the table out with `tables.exclude`")
        })?;
        Ok(Self { table, def, schema: Arc::new(schema), since: None })
    }

    /// Whether the definition was read behind this place of the log.
    pub(super) fn is_ahead_of(&self, at: &BinlogPosition) -> bool {
        self.since.as_ref().is_some_and(|since| at <= since)
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

    /// The table's name as names are compared.
    pub(super) fn fold(&self, table: &TableId) -> TableId {
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

    /// Captures a table, or gives it another definition.
    pub(super) fn insert(&mut self, table: Tracked) {
        self.tables.insert(self.fold(&table.table), table);
    }

    /// Captures a table no longer.
    pub(super) fn remove(&mut self, table: &TableId) -> Option<Tracked> {
        self.tables.remove(&self.fold(table))
    }

    /// Forgets where in the log definitions were read.
    pub(super) fn forget_places(&mut self) {
        for table in self.tables.values_mut() {
            table.since = None;
        }
    }

    /// The captured tables of a database.
    pub(super) fn of_database(&self, database: &str) -> Vec<TableId> {
        let of = |t: &&Tracked| self.fold(&t.table).database() == self.fold(&TableId::new(database, "")).database();
        self.tables.values().filter(of).map(|t| t.table.clone()).collect()
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
