//! The user's privileges. They are tried, not read: roles, wildcards and partial revokes make lists of grants lie.

use super::PreflightWants;
use super::report::{Finding, Severity};
use crate::mysql::catalog::{quote_string, quote_table};
use crate::mysql::wire::{Connection, WireError};
use rowferry_model::TableId;

/// What a server says when a privilege is missing.
fn is_denied(error: &WireError) -> bool {
    // Database, user, table, column, and "you need (at least one of) the … privilege(s)".
    matches!(error.code(), Some(1044 | 1045 | 1142 | 1143 | 1227))
}

pub(super) fn check(
    connection: &mut Connection,
    wants: &PreflightWants,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    let user = current_user(connection)?;
    for table in &wants.tables {
        check_select(connection, table, &user, findings)?;
    }
    if wants.reads_binlog {
        check_replication(connection, &user, findings)?;
    }
    if !wants.tables_without_key.is_empty() {
        check_lock(connection, wants, &user, findings)?;
    }
    Ok(())
}

/// The account as GRANT wants it.
fn current_user(connection: &mut Connection) -> Result<String, WireError> {
    let row = connection.query_first("SELECT CURRENT_USER() AS u")?;
    let account = row.as_ref().and_then(|r| r.get("u")).unwrap_or("@").to_owned();
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
    Ok(format!("{}@{}", quote_string(user), quote_string(host)))
}

fn check_select(
    connection: &mut Connection,
    table: &TableId,
    user: &str,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    let name = quote_table(table);
    let Err(error) = connection.query(&format!("SELECT * FROM {name} LIMIT 0")) else { return Ok(()) };
    // ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE: a user without any right to a table is told the one or the other.
    let missing = matches!(error.code(), Some(1049 | 1146));
    if !is_denied(&error) && !missing {
        if !matches!(error, WireError::Server(_)) {
            return Err(error);
        }
        findings.push(Finding::new(Severity::Error, format!("table {table}"), error.to_string(), None));
        return Ok(());
    }
    let message = if missing {
        format!("table {table} does not exist, or this user may not see it")
    } else {
        format!("this user may not read all columns of {table}")
    };
    findings.push(Finding::new(Severity::Error, "SELECT", message, format!("GRANT SELECT ON {name} TO {user};")));
    Ok(())
}

fn check_replication(connection: &mut Connection, user: &str, findings: &mut Vec<Finding>) -> Result<(), WireError> {
    let server = connection.server();
    let sql = if server.mysql_since(80_200) { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
    match connection.query(sql) {
        Ok(_) => {}
        Err(e) if is_denied(&e) => {
            let privilege = if server.mariadb_since(100_502) { "BINLOG MONITOR" } else { "REPLICATION CLIENT" };
            findings.push(Finding::new(
                Severity::Error,
                privilege,
                "without it the position of the binlog cannot be asked for",
                format!("GRANT {privilege} ON *.* TO {user};"),
            ));
        }
        Err(e) => return Err(e),
    }
    // The highest ids are nobody's.
    let id = u32::MAX - (connection.id() & 0xffff);
    match connection.register_replica(id) {
        Ok(()) => {}
        Err(e) if is_denied(&e) => findings.push(Finding::new(
            Severity::Error,
            "REPLICATION SLAVE",
            "without it the server does not send its binlog",
            format!("GRANT REPLICATION SLAVE ON *.* TO {user};"),
        )),
        Err(e) => return Err(e),
    }
    Ok(())
}

/// A lock cannot be tried without being taken: here the list of grants has to do, and its absence is only a warning.
fn check_lock(
    connection: &mut Connection,
    wants: &PreflightWants,
    user: &str,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    let mut grants = String::new();
    for row in connection.query("SHOW GRANTS")? {
        grants.push_str(&row.at(0).unwrap_or_default().to_ascii_uppercase());
        grants.push('\n');
    }
    if grants.contains("LOCK TABLES") || grants.contains("ALL PRIVILEGES") {
        return Ok(());
    }
    let mut databases: Vec<&str> = wants.tables_without_key.iter().map(|t| t.database()).collect();
    databases.sort_unstable();
    databases.dedup();
    let names: Vec<String> = wants.tables_without_key.iter().map(ToString::to_string).collect();
    let remedy: Vec<String> = databases
        .iter()
        .map(|d| format!("GRANT LOCK TABLES ON {}.* TO {user};", crate::mysql::catalog::quote_identifier(d)))
        .collect();
    findings.push(Finding::new(
        Severity::Warning,
        "LOCK TABLES",
        format!("tables without a key are copied exactly only under a short lock: {}", names.join(", ")),
        remedy.join(" "),
    ));
    Ok(())
}
