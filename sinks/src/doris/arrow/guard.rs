//! Whether a table still has the types that rows were encoded for.

use super::super::sql::SqlClient;
use super::targets::{find, read};
use super::wire;
use crate::olap::body::LoadColumns;
use crate::olap::load_error::{Cause, LoadError};
use rowferry_model::TableId;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a table that can't be looked at behind a load is asked for again.
const PATIENCE: Duration = Duration::from_secs(600);

/// Looks at tables around their loads.
pub(in super::super) struct Guard {
    sql: SqlClient,
    pub(super) patience: Duration,
}

impl Guard {
    /// Nothing is looked at yet.
    pub(in super::super) fn new(sql: SqlClient) -> Self {
        Self { sql, patience: PATIENCE }
    }

    /// Whether rows may be loaded as they are encoded. Blocking.
    ///
    /// # Errors
    /// The table has other types: the rows must be encoded again. Or it can't be looked at.
    pub(in super::super) fn before(&self, table: &TableId, columns: &LoadColumns) -> Result<(), LoadError> {
        match self.difference(table, columns)? {
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

    /// Whether rows were read as they are, which may be seen already. Blocking, for as long as it takes: an attempt that
    /// began anew would take the types of then for those that the rows were read as.
    ///
    /// # Errors
    /// The table has other types now, or it can't be looked at at all: rows may be wrong.
    pub(in super::super) fn after_seen(&self, table: &TableId, columns: &LoadColumns) -> Result<(), LoadError> {
        let deadline = Instant::now() + self.patience;
        let mut pause = Duration::from_millis(100);
        let reason = loop {
            match self.difference(table, columns) {
                Ok(None) => return Ok(()),
                Ok(Some(found)) => break format!("has changed while rows were loaded as Arrow: {found}"),
                Err(error) if error.may_pass() && Instant::now() < deadline => {
                    tracing::warn!(
                        "doris: looking again at {table}, into which rows were loaded, after: {}",
                        error.message
                    );
                    sleep(pause);
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                Err(error) => break format!("can't be looked at after a load as Arrow: {}", error.message),
            }
        };
        Err(wrong(table, &reason))
    }

    /// The same for rows of which nobody knows whether they are seen: their load has failed, and they will come again.
    /// Where servers can't be reached nothing more is known than that. Blocking.
    ///
    /// # Errors
    /// The table has other types now: rows may be wrong.
    pub(in super::super) fn after_unknown(&self, table: &TableId, columns: &LoadColumns) -> Result<(), LoadError> {
        match self.difference(table, columns) {
            Ok(Some(found)) => Err(wrong(table, &format!("has changed while rows were loaded as Arrow: {found}"))),
            Ok(None) | Err(_) => Ok(()),
        }
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

/// Rows are seen, and nobody knows what they were read as.
fn wrong(table: &TableId, reason: &str) -> LoadError {
    let mut error = LoadError::new(Cause::Refused, format!("{table} {reason}; some of its rows may be wrong"));
    error.hint = Some(
        "snapshot the table again; with `sink.enable.batch-mode: false` and `sink.enable-2pc: true` such a load is rolled back",
    );
    error
}
