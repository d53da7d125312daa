//! The state in an SQLite file that an operator can open.

use super::state::{Checkpoint, DdlProgress, SavedTargets, TableState};
use crate::mysql::reader::Bystanders;
use rowferry_model::{CheckpointId, TableId};
use rowferry_sinks::Committable;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the tables below; a file of another version is refused.
const FORMAT: i64 = 2;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS checkpoint (
  id INTEGER PRIMARY KEY, saved_at INTEGER NOT NULL, server TEXT NOT NULL, position_file TEXT NOT NULL,
  position INTEGER NOT NULL, gtids TEXT, committable BLOB);
CREATE TABLE IF NOT EXISTS table_state (
  database TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (database, name));
CREATE TABLE IF NOT EXISTS schema_state (name TEXT PRIMARY KEY, state TEXT NOT NULL);
";

/// The state file of one pipeline.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// What `table_state` holds, so that only changed tables are written.
    written: std::collections::HashMap<TableId, TableState>,
    /// What `schema_state` holds, likewise.
    schemas: Option<(Arc<Bystanders>, Arc<SavedTargets>)>,
}

/// The state file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("the state file {} can't be used", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's answer.
        #[source]
        source: rusqlite::Error,
    },
    /// The file's content is not what this version writes.
    #[error("the state file {} can't be read: {reason}", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl Store {
    /// The name of the file in a state directory.
    pub const FILE: &str = "state.sqlite";

    /// Opens the state of a pipeline, creating it if needed.
    ///
    /// # Errors
    /// The file can't be opened or is of another version.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(Self::FILE);
        let connection = Connection::open(&path).map_err(|source| StoreError::Sqlite { path: path.clone(), source })?;
        let store = Self { connection, path, written: Default::default(), schemas: None };
        store
            .connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            // At once: who looks at the state meanwhile sees no half of it.
            .and_then(|()| store.connection.execute_batch(&format!("BEGIN IMMEDIATE; {TABLES} COMMIT;")))
            .map_err(|e| store.sqlite(e))?;
        match store.meta("format")? {
            None => store.set_meta("format", &FORMAT.to_string())?,
            Some(format) if format == FORMAT.to_string() => {}
            Some(format) => return Err(store.corrupt(format!("it has format {format}, this version knows {FORMAT}"))),
        }
        if store.meta("instance")?.is_none() {
            store.set_meta("instance", &uuid::Uuid::new_v4().simple().to_string())?;
        }
        Ok(store)
    }

    /// Opens the state of a pipeline to look at it as it is at one moment, also while another process runs it. `None`:
    /// there is none, or the other process is just about to make it.
    ///
    /// # Errors
    /// The file can't be opened.
    pub fn open_read_only(directory: &Path) -> Result<Option<Self>, StoreError> {
        let path = directory.join(Self::FILE);
        if !path.exists() {
            return Ok(None);
        }
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|source| StoreError::Sqlite { path: path.clone(), source })?;
        let store = Self { connection, path, written: Default::default(), schemas: None };
        let made = store
            .connection
            .execute_batch("BEGIN")
            .and_then(|()| {
                let sql = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'checkpoint'";
                store.connection.query_row(sql, [], |row| row.get::<_, i64>(0))
            })
            .map_err(|e| store.sqlite(e))?;
        Ok((made > 0).then_some(store))
    }

    /// The name of this pipeline's state that stays the same for ever: 32 hexadecimal digits.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn instance(&self) -> Result<String, StoreError> {
        self.meta("instance")?.ok_or_else(|| self.corrupt("it has no instance name"))
    }

    /// The last saved checkpoint.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn load(&mut self) -> Result<Option<Checkpoint>, StoreError> {
        type Row = (i64, i64, String, String, i64, Option<String>, Option<Vec<u8>>);
        let row: Option<Row> = self
            .connection
            .query_row(
                "SELECT id, saved_at, server, position_file, position, gtids, committable FROM checkpoint
                 ORDER BY id DESC LIMIT 1",
                [],
                |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?, r.get(6)?)),
            )
            .optional()
            .map_err(|e| self.sqlite(e))?;
        let Some((id, saved_at, server, file, pos, gtids, committable)) = row else { return Ok(None) };
        let gtids = match gtids {
            None => None,
            Some(text) => Some(text.parse().map_err(|e| self.corrupt(format!("{e}")))?),
        };
        let mut tables = Vec::new();
        let rows: Vec<(String, String, String)> = self
            .connection
            .prepare("SELECT database, name, state FROM table_state ORDER BY database, name")
            .and_then(|mut s| s.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect())
            .map_err(|e| self.sqlite(e))?;
        for (database, name, state) in rows {
            let id = TableId::new(database, name);
            let state: TableState =
                serde_json::from_str(&state).map_err(|e| self.corrupt(format!("the state of table {id}: {e}")))?;
            self.written.insert(id.clone(), state.clone());
            tables.push((id, state));
        }
        let bystanders: Arc<Bystanders> = Arc::new(self.schema_state(BYSTANDERS)?);
        let targets: Arc<SavedTargets> = Arc::new(self.schema_state(TARGETS)?);
        self.schemas = Some((bystanders.clone(), targets.clone()));
        Ok(Some(Checkpoint {
            id: id as CheckpointId,
            saved_at,
            offset: rowferry_model::Offset {
                position: rowferry_model::BinlogPosition::new(file, pos as u64),
                gtids,
                rows: 0,
            },
            server,
            committable: committable.map(Committable),
            tables,
            bystanders,
            targets,
        }))
    }

    /// Saves a checkpoint in one transaction: either all of it is there after a crash or none.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn save(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let path = self.path.clone();
        let sqlite = |source| StoreError::Sqlite { path: path.clone(), source };
        let transaction = self.connection.transaction().map_err(sqlite)?;
        transaction
            .execute(
                "INSERT INTO checkpoint (id, saved_at, server, position_file, position, gtids, committable)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
                params![
                    checkpoint.id as i64,
                    checkpoint.saved_at,
                    checkpoint.server,
                    checkpoint.offset.position.file,
                    checkpoint.offset.position.pos as i64,
                    checkpoint.offset.gtids.as_ref().map(ToString::to_string),
                    checkpoint.committable.as_ref().map(|c| c.0.as_slice()),
                ],
            )
            .map_err(sqlite)?;
        transaction
            .execute("DELETE FROM checkpoint WHERE id < ?", params![checkpoint.id as i64 - 9])
            .map_err(sqlite)?;
        let mut changed = Vec::new();
        for (table, state) in &checkpoint.tables {
            if self.written.get(table) == Some(state) {
                continue;
            }
            let json = serde_json::to_string(state)
                .map_err(|e| StoreError::Corrupt { path: path.clone(), reason: e.to_string() })?;
            transaction
                .execute(
                    "INSERT INTO table_state (database, name, state) VALUES (?, ?, ?)
                     ON CONFLICT (database, name) DO UPDATE SET state = excluded.state",
                    params![table.database(), table.table(), json],
                )
                .map_err(sqlite)?;
            changed.push((table.clone(), state.clone()));
        }
        let mut gone = Vec::new();
        if self.written.len() + changed.len() > checkpoint.tables.len() {
            let kept: std::collections::HashSet<&TableId> = checkpoint.tables.iter().map(|(t, _)| t).collect();
            for table in self.written.keys().filter(|t| !kept.contains(t)) {
                transaction
                    .execute(
                        "DELETE FROM table_state WHERE database = ? AND name = ?",
                        params![table.database(), table.table()],
                    )
                    .map_err(sqlite)?;
                gone.push(table.clone());
            }
        }
        let known = self.schemas.as_ref();
        if !known.is_some_and(|(known, _)| Arc::ptr_eq(known, &checkpoint.bystanders)) {
            put_schema_state(&transaction, &path, BYSTANDERS, &*checkpoint.bystanders)?;
        }
        if !known.is_some_and(|(_, known)| Arc::ptr_eq(known, &checkpoint.targets)) {
            put_schema_state(&transaction, &path, TARGETS, &*checkpoint.targets)?;
        }
        transaction.commit().map_err(sqlite)?;
        self.schemas = Some((checkpoint.bystanders.clone(), checkpoint.targets.clone()));
        for table in gone {
            self.written.remove(&table);
        }
        self.written.extend(changed);
        Ok(())
    }

    /// How far the sink has come with the last DDL.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn ddl_progress(&self) -> Result<Option<DdlProgress>, StoreError> {
        let Some(text) = self.meta(DDL)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|e| self.corrupt(format!("{DDL}: {e}")))
    }

    /// Notes how far the sink has come with a DDL, beside the last checkpoint.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn note_ddl(&self, progress: &DdlProgress) -> Result<(), StoreError> {
        let json = serde_json::to_string(progress).map_err(|e| self.corrupt(e.to_string()))?;
        self.set_meta(DDL, &json)
    }

    /// What is saved of schemas under a name; nothing is as good as empty.
    fn schema_state<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, StoreError> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT state FROM schema_state WHERE name = ?", [name], |r| r.get(0))
            .optional()
            .map_err(|e| self.sqlite(e))?;
        match text {
            Some(text) => serde_json::from_str(&text).map_err(|e| self.corrupt(format!("{name}: {e}"))),
            None => Ok(T::default()),
        }
    }

    fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT value FROM meta WHERE name = ?", [name], |r| r.get(0))
            .optional()
            .map_err(|e| self.sqlite(e))
    }

    fn set_meta(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.connection
            .execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [name, value])
            .map(|_| ())
            .map_err(|e| self.sqlite(e))
    }

    fn sqlite(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sqlite { path: self.path.clone(), source }
    }

    fn corrupt(&self, reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), reason: reason.into() }
    }
}

/// The name under which the progress of a DDL is saved.
const DDL: &str = "ddl";
/// The names under which schemas are saved.
const BYSTANDERS: &str = "bystanders";
const TARGETS: &str = "targets";

fn put_schema_state(
    transaction: &rusqlite::Transaction<'_>,
    path: &Path,
    name: &str,
    state: &impl Serialize,
) -> Result<(), StoreError> {
    let json = serde_json::to_string(state)
        .map_err(|e| StoreError::Corrupt { path: path.to_owned(), reason: e.to_string() })?;
    transaction
        .execute("INSERT OR REPLACE INTO schema_state (name, state) VALUES (?, ?)", [name, &json])
        .map(|_| ())
        .map_err(|source| StoreError::Sqlite { path: path.to_owned(), source })
}
