//! What the server is and how it reads SQL.

use super::error::CatalogError;
use super::position::{server_id, server_uuid};
use super::tables::{LowerCaseTableNames, lower_case_table_names};
use crate::mysql::wire::Connection;
use rowferry_model::BinlogPosition;
use rowferry_sql::CharSet;
use rowferry_sql::ddl::DdlContext;

/// A name for the server that was asked: its UUID, or at MariaDB, which has none, its id.
///
/// # Errors
/// The connection fails.
pub fn server_identity(connection: &mut Connection) -> Result<String, CatalogError> {
    match server_uuid(connection)? {
        Some(uuid) => Ok(uuid),
        None => Ok(format!("server-id-{}", server_id(connection)?)),
    }
}

/// The place in the log that the read view of the open transaction stands for; only MariaDB tells
/// (`START TRANSACTION WITH CONSISTENT SNAPSHOT`). `None`: it does not tell.
///
/// # Errors
/// The connection fails.
pub fn snapshot_position(connection: &mut Connection) -> Result<Option<BinlogPosition>, CatalogError> {
    let rows = connection.query("SHOW STATUS LIKE 'binlog_snapshot_%'")?;
    let value = |name: &str| {
        let row = rows.iter().find(|r| r.at(0).is_some_and(|n| n.eq_ignore_ascii_case(name)))?;
        row.at(1).filter(|v| !v.is_empty())
    };
    let position = value("binlog_snapshot_position").and_then(|p| p.parse().ok());
    Ok(value("binlog_snapshot_file").zip(position).map(|(file, pos)| BinlogPosition::new(file, pos)))
}

/// How the server reads statements, as far as the log's statements don't say it themselves.
///
/// # Errors
/// The connection fails.
pub fn ddl_context(connection: &mut Connection) -> Result<DdlContext, CatalogError> {
    let version = connection.server();
    let mut context = DdlContext::new(version, "");
    context.lower_case_table_names = match lower_case_table_names(connection)? {
        LowerCaseTableNames::Sensitive => 0,
        LowerCaseTableNames::Lower => 1,
        LowerCaseTableNames::Insensitive => 2,
    };
    let row = connection.query_first("SELECT @@GLOBAL.collation_server AS c")?;
    if let Some(charset) = row.as_ref().and_then(|r| r.get("c")).and_then(|c| CharSet::of_collation(c, version)) {
        context.server_charset = charset;
    }
    let explicit = connection.query_first("SHOW GLOBAL VARIABLES LIKE 'explicit_defaults_for_timestamp'")?;
    if let Some(value) = explicit.as_ref().and_then(|r| r.at(1)) {
        context.explicit_defaults_for_timestamp = value.eq_ignore_ascii_case("ON") || value == "1";
    }
    if !version.is_mariadb() {
        let row = connection.query_first("SHOW GLOBAL VARIABLES LIKE 'sql_generate_invisible_primary_key'")?;
        context.generate_invisible_primary_key =
            row.as_ref().and_then(|r| r.at(1)).is_some_and(|v| v.eq_ignore_ascii_case("ON"));
    }
    Ok(context)
}
