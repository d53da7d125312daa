//! Whether a table still has the types that rows were encoded for.

use super::super::sql::SqlClient;
use super::targets::{find, read};
use super::wire;
use crate::olap::body::LoadColumns;
use crate::olap::load_error::{Cause, LoadError};
use rowferry_model::TableId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at tables around their loads.
pub(in super::super) struct Guard {
    sql: SqlClient,
    /// Tables with rows that are seen already, and of which nobody knows yet what they were read as.
    doubtful: Mutex<HashMap<TableId, Arc<LoadColumns>>>,
}

impl Guard {
    /// Nothing is known of any table.
    pub(in super::super) fn new(sql: SqlClient) -> Self {
        Self { sql, doubtful: Mutex::default() }
    }

    /// Whether rows may be loaded: as they are encoded, and as earlier ones were that could not be looked at. Blocking.
    ///
    /// # Errors
    /// The table has other types: the rows must be encoded again. Or it can't be looked at.
    pub(in super::super) fn before(&self, table: &TableId, columns: &LoadColumns) -> Result<(), LoadError> {
        let earlier = self.doubtful().remove(table);
        let differs = |columns: &LoadColumns| self.difference(table, columns);
        if let Some(earlier) = earlier {
            let found = differs(&earlier).inspect_err(|_| {
                self.doubtful().insert(table.clone(), Arc::clone(&earlier));
            })?;
            if let Some(found) = found {
                self.doubtful().insert(table.clone(), earlier);
                return Err(seen(table, &found));
            }
        }
        match differs(columns)? {
            None => Ok(()),
            Some(found) => Err(LoadError::new(
                Cause::Busy,
                format!("{table} has changed since its rows were written as Arrow: {found}; nothing was loaded"),
            )),
        }
    }

    /// Whether rows were read as they are, which are loaded and not seen yet. Blocking.
    ///
    /// # Errors
    /// The table has other types now, or it can't be looked at: the rows must not be seen.
    pub(in super::super) fn after_hidden(&self, table: &TableId, columns: &LoadColumns) -> Result<(), LoadError> {
        match self.difference(table, columns)? {
            None => Ok(()),
            Some(found) => Err(LoadError::new(
                Cause::Busy,
                format!("{table} has changed while rows were loaded as Arrow: {found}; the load is rolled back"),
            )),
        }
    }

    /// Whether rows were read as they are, which may be seen already. Blocking.
    ///
    /// # Errors
    /// The table has other types now: rows may be wrong. Or it can't be looked at, which is done before the next load then.
    pub(in super::super) fn after_seen(&self, table: &TableId, columns: &Arc<LoadColumns>) -> Result<(), LoadError> {
        match self.difference(table, columns) {
            Ok(None) => Ok(()),
            Ok(Some(found)) => Err(seen(table, &found)),
            Err(error) => {
                self.doubtful().insert(table.clone(), Arc::clone(columns));
                Err(error)
            }
        }
    }

    fn doubtful(&self) -> std::sync::MutexGuard<'_, HashMap<TableId, Arc<LoadColumns>>> {
        self.doubtful.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first column that is not what rows were encoded for.
    fn difference(&self, table: &TableId, columns: &LoadColumns) -> Result<Option<String>, LoadError> {
        let targets = read(&self.sql, table)?;
        Ok(columns.wires.iter().find_map(|(name, layout)| match find(&targets, name) {
            None => Some(format!("column `{name}` is gone")),
            Some(target) if wire(&target.target).map(|w| w.layout()) != Some(*layout) => {
                Some(format!("column `{name}` is {} now", target.target))
            }
            Some(_) => None,
        }))
    }
}

fn seen(table: &TableId, found: &str) -> LoadError {
    let message =
        format!("{table} has changed while rows were loaded as Arrow: {found}; some of its rows may be wrong");
    let mut error = LoadError::new(Cause::Refused, message);
    error.hint = Some(
        "snapshot the table again; with `sink.enable.batch-mode: false` and `sink.enable-2pc: true` such a load is rolled back",
    );
    error
}
