//! Which tables there are.

use super::error::CatalogError;
use crate::mysql::wire::{Connection, WireError};
use rowferry_model::TableId;

/// A table that can be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub id: TableId,
    /// Its storage engine.
    pub engine: Option<String>,
    /// How many rows it has, by the engine's estimate: it may be off by half.
    pub approximate_rows: Option<u64>,
}

/// How the server treats the case of database and table names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowerCaseTableNames {
    /// 0: kept and compared as written.
    Sensitive,
    /// 1: kept in lower case.
    Lower,
    /// 2: kept as written, compared without case.
    Insensitive,
}

/// The server's `lower_case_table_names`.
///
/// # Errors
/// The connection fails.
pub fn lower_case_table_names(connection: &mut Connection) -> Result<LowerCaseTableNames, CatalogError> {
    let row = connection.query_first("SELECT @@GLOBAL.lower_case_table_names AS n")?;
    match row.as_ref().and_then(|r| r.get("n")) {
        Some("0") => Ok(LowerCaseTableNames::Sensitive),
        Some("1") => Ok(LowerCaseTableNames::Lower),
        Some("2") => Ok(LowerCaseTableNames::Insensitive),
        other => Err(WireError::Protocol(format!("lower_case_table_names is {other:?}")).into()),
    }
}

/// All base tables that the user may see, without those of the system, in the order of their names. MariaDB's
/// system-versioned tables are among them.
///
/// # Errors
/// The connection fails.
pub fn list_tables(connection: &mut Connection) -> Result<Vec<TableInfo>, CatalogError> {
    let rows = connection.query(
        "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, ENGINE AS e, TABLE_ROWS AS n FROM information_schema.TABLES \
         WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
         AND TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') \
         ORDER BY TABLE_SCHEMA, TABLE_NAME",
    )?;
    rows.iter()
        .map(|row| {
            Ok(TableInfo {
                id: TableId::new(row.require("d")?, row.require("t")?),
                engine: row.get("e").map(str::to_owned),
                approximate_rows: row.get("n").and_then(|n| n.parse().ok()),
            })
        })
        .collect()
}
