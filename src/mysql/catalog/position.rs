//! Where the server's binlog stands, and what of it there is.

use super::error::CatalogError;
use super::identifier::quote_string;
use crate::mysql::wire::{Connection, Row, WireError};
use rowferry_model::{BinlogPosition, GtidSet, MariadbGtidSet, MysqlGtidSet, Offset};

/// A file of the binlog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinlogFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// The one value of a statement with one row; `None` for no row or NULL.
fn value(connection: &mut Connection, sql: &str) -> Result<Option<String>, WireError> {
    Ok(connection.query_first(sql)?.and_then(|row| row.at(0).map(str::to_owned)))
}

/// A GTID set of the server's flavour: an empty text has none of its own.
fn parse_gtids(connection: &Connection, text: &str) -> Result<GtidSet, CatalogError> {
    Ok(if connection.server().is_mariadb() {
        GtidSet::Mariadb(text.parse::<MariadbGtidSet>()?)
    } else {
        GtidSet::Mysql(text.parse::<MysqlGtidSet>()?)
    })
}

fn status_row(connection: &mut Connection) -> Result<Row, CatalogError> {
    let sql = if connection.server().mysql_since(80_200) { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
    connection.query_first(sql)?.ok_or(CatalogError::NoBinlog)
}

/// Whether positions are to be kept as GTIDs: `gtid_mode` ON at MySQL, always at MariaDB. The value is the setting.
///
/// # Errors
/// The connection fails.
pub fn gtid_mode(connection: &mut Connection) -> Result<String, CatalogError> {
    if connection.server().is_mariadb() {
        return Ok("ON".to_owned());
    }
    Ok(value(connection, "SELECT @@GLOBAL.gtid_mode")?.unwrap_or_default())
}

/// The end of the binlog at this moment, with the GTIDs of everything before it where the server has GTIDs.
///
/// # Errors
/// The server writes no binlog, or the user lacks REPLICATION CLIENT (MariaDB: BINLOG MONITOR).
pub fn binlog_position(connection: &mut Connection) -> Result<Offset, CatalogError> {
    let has_gtids = gtid_mode(connection)?.eq_ignore_ascii_case("ON");
    let row = status_row(connection)?;
    let position = BinlogPosition::new(row.require("File")?, row.number("Position")?);
    let gtids = if !has_gtids {
        None
    } else if connection.server().is_mariadb() {
        // Of just this position: the server-wide variable may have moved on already.
        let sql = format!("SELECT BINLOG_GTID_POS({}, {})", quote_string(&position.file), position.pos);
        let text = value(connection, &sql)?.unwrap_or_default();
        Some(parse_gtids(connection, &text)?)
    } else {
        let text = row.get("Executed_Gtid_Set").unwrap_or_default();
        Some(parse_gtids(connection, text)?)
    };
    Ok(Offset { position, gtids, rows: 0 })
}

/// The files of the binlog, oldest first.
///
/// # Errors
/// The server writes no binlog, or the user lacks the privilege.
pub fn binlog_files(connection: &mut Connection) -> Result<Vec<BinlogFile>, CatalogError> {
    let rows = match connection.query("SHOW BINARY LOGS") {
        // ER_NO_BINARY_LOGGING
        Err(e) if e.code() == Some(1381) => return Err(CatalogError::NoBinlog),
        other => other?,
    };
    rows.iter()
        .map(|row| Ok(BinlogFile { name: row.require("Log_name")?.to_owned(), size: row.number("File_size")? }))
        .collect()
}

/// The start of the oldest file. It has no GTIDs: the file's own events tell them.
///
/// # Errors
/// As [`binlog_files`].
pub fn first_position(connection: &mut Connection) -> Result<Offset, CatalogError> {
    let files = binlog_files(connection)?;
    let first = files.first().ok_or(CatalogError::NoBinlog)?;
    Ok(Offset { position: BinlogPosition::new(&*first.name, 4), gtids: None, rows: 0 })
}

/// The GTIDs that were executed but are no longer in any file; `None` where the server does not tell (MariaDB).
///
/// # Errors
/// The connection fails.
pub fn purged_gtids(connection: &mut Connection) -> Result<Option<GtidSet>, CatalogError> {
    if connection.server().is_mariadb() {
        return Ok(None);
    }
    let text = value(connection, "SELECT @@GLOBAL.gtid_purged")?.unwrap_or_default();
    parse_gtids(connection, &text).map(Some)
}

/// The server's UUID; `None` at MariaDB, which has none.
///
/// # Errors
/// The connection fails.
pub fn server_uuid(connection: &mut Connection) -> Result<Option<String>, CatalogError> {
    if connection.server().is_mariadb() {
        return Ok(None);
    }
    Ok(value(connection, "SELECT @@GLOBAL.server_uuid")?)
}

/// The server's id.
///
/// # Errors
/// The connection fails.
pub fn server_id(connection: &mut Connection) -> Result<u32, CatalogError> {
    let row = connection.query_first("SELECT @@GLOBAL.server_id AS id")?;
    Ok(row.ok_or_else(|| WireError::Protocol("no answer".to_owned()))?.number("id")?)
}

/// Checks that reading can resume at a saved offset. By GTIDs where both sides have them, else by file. MariaDB tells
/// of lost GTIDs only when it is asked for the stream.
///
/// # Errors
/// [`CatalogError::OffsetGone`] says what is missing and what to do.
pub fn check_offset(connection: &mut Connection, offset: &Offset) -> Result<(), CatalogError> {
    if let Some(GtidSet::Mysql(saved)) = &offset.gtids
        && !connection.server().is_mariadb()
        && gtid_mode(connection)?.eq_ignore_ascii_case("ON")
    {
        return check_gtids(connection, saved);
    }
    let wanted = || offset.position.to_string();
    let files = binlog_files(connection)?;
    if offset.position.file.is_empty() {
        return Ok(());
    }
    let Some(file) = files.iter().find(|f| f.name == offset.position.file) else {
        if matches!(&offset.gtids, Some(GtidSet::Mariadb(_))) && connection.server().is_mariadb() {
            return Ok(());
        }
        let reason = match (files.first(), files.last()) {
            (Some(first), Some(last)) => format!(
                "binlog file `{}` is not on the server, whose files are `{}` to `{}`",
                offset.position.file, first.name, last.name
            ),
            _ => "there is no binlog file on the server".to_owned(),
        };
        return Err(CatalogError::OffsetGone { wanted: wanted(), reason });
    };
    if offset.position.pos > file.size {
        let reason = format!(
            "binlog file `{}` has only {} bytes: it is another file of the same name, after RESET or on another server",
            file.name, file.size
        );
        return Err(CatalogError::OffsetGone { wanted: wanted(), reason });
    }
    Ok(())
}

fn check_gtids(connection: &mut Connection, saved: &MysqlGtidSet) -> Result<(), CatalogError> {
    let gone = |reason| Err(CatalogError::OffsetGone { wanted: format!("GTIDs {saved}"), reason });
    if let Some(GtidSet::Mysql(purged)) = purged_gtids(connection)? {
        let missing = purged.subtract(saved);
        if !missing.is_empty() {
            return gone(format!(
                "the server has purged transactions that were not read yet: {missing} (its oldest binlog begins \
                 behind {purged})"
            ));
        }
    }
    let text = value(connection, "SELECT @@GLOBAL.gtid_executed")?.unwrap_or_default();
    let unknown = saved.subtract(&text.parse::<MysqlGtidSet>()?);
    if !unknown.is_empty() {
        return gone(format!(
            "the server never executed {unknown}, which were read already: it is another server, or one that was reset \
             or lags behind"
        ));
    }
    Ok(())
}
