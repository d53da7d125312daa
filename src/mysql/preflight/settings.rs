//! The server's settings.

use super::PreflightWants;
use super::report::{Finding, Severity};
use crate::mysql::wire::{Connection, WireError};
use rowferry_sql::ServerVersion;
use std::collections::HashMap;

/// The settings that are looked at; a server lacks those that it does not know.
const NAMES: &[&str] = &[
    "log_bin",
    "server_id",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_value_options",
    "binlog_row_metadata",
    "binlog_expire_logs_seconds",
    "expire_logs_days",
    "gtid_mode",
    "log_slave_updates",
    "log_replica_updates",
];

/// A server's settings by name.
#[derive(Debug, Default)]
pub(super) struct Settings(pub(super) HashMap<String, String>);

impl Settings {
    fn read(connection: &mut Connection) -> Result<Self, WireError> {
        let names: Vec<String> = NAMES.iter().map(|n| format!("'{n}'")).collect();
        let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", "));
        let mut settings = HashMap::new();
        for row in connection.query(&sql)? {
            let name = row.require("Variable_name")?.to_ascii_lowercase();
            settings.insert(name, row.get("Value").unwrap_or_default().to_owned());
        }
        Ok(Self(settings))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.get(name).is_some_and(|v| v.eq_ignore_ascii_case(value))
    }

    fn is_not(&self, name: &str, value: &str) -> bool {
        self.get(name).is_some_and(|v| !v.eq_ignore_ascii_case(value))
    }
}

pub(super) fn check(
    connection: &mut Connection,
    wants: &PreflightWants,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    let settings = Settings::read(connection)?;
    judge(connection.server(), &settings, wants, findings);
    check_zone(connection, wants, findings)?;
    if wants.reads_binlog {
        check_filters(connection, wants, findings)?;
        check_replica(connection, &settings, findings)?;
    }
    Ok(())
}

/// Judges the settings alone.
pub(super) fn judge(server: ServerVersion, settings: &Settings, wants: &PreflightWants, findings: &mut Vec<Finding>) {
    use Severity::{Error, Note, Warning};
    let mut add = |severity, subject: &str, message: String, remedy: Option<&str>| {
        findings.push(Finding::new(severity, subject, message, remedy.map(str::to_owned)));
    };
    if !server.mysql_since(50_600) && !server.mariadb_since(100_200) {
        add(Error, "version", format!("{server} is too old: MySQL 5.6 or MariaDB 10.2 at least"), None);
    }
    if !wants.reads_binlog {
        return;
    }
    if settings.is("log_bin", "OFF") {
        let message = "the server writes no binlog, so there are no changes to read".to_owned();
        add(
            Error,
            "log_bin",
            message,
            Some("log_bin = binlog in the server's configuration under [mysqld], and a restart"),
        );
    }
    if settings.is("server_id", "0") {
        let message = "a server with the id 0 sends its binlog to nobody".to_owned();
        add(Error, "server_id", message, Some("SET GLOBAL server_id = 1; -- and in the configuration"));
    }
    if settings.is_not("binlog_format", "ROW") {
        let is = settings.get("binlog_format").unwrap_or_default();
        let message =
            format!("it is {is}: only row events carry the values. Sessions that are open keep the old format");
        add(Error, "binlog_format", message, Some("SET GLOBAL binlog_format = 'ROW'; -- and in the configuration"));
    }
    let partial_image = settings.is_not("binlog_row_image", "FULL");
    if partial_image {
        let is = settings.get("binlog_row_image").unwrap_or_default();
        let message = format!("it is {is}: changes carry only some of the columns");
        let severity = if wants.needs_full_rows { Error } else { Warning };
        add(
            severity,
            "binlog_row_image",
            message,
            Some("SET GLOBAL binlog_row_image = 'FULL'; -- and in the configuration"),
        );
    }
    if settings.get("binlog_row_value_options").is_some_and(|v| v.to_ascii_uppercase().contains("PARTIAL_JSON")) {
        if partial_image {
            let message =
                "PARTIAL_JSON needs the old document, which is not in the binlog unless binlog_row_image is FULL";
            add(
                Error,
                "binlog_row_value_options",
                message.to_owned(),
                Some("SET GLOBAL binlog_row_value_options = '';"),
            );
        } else {
            let message = "PARTIAL_JSON: documents are rebuilt from the old ones and the changes to them";
            add(Note, "binlog_row_value_options", message.to_owned(), None);
        }
    }
    if settings.is_not("binlog_row_metadata", "FULL") {
        let message =
            "the binlog does not name its columns: a schema change that was missed is found by the number and \
                       types of the columns only"
                .to_owned();
        add(
            Warning,
            "binlog_row_metadata",
            message,
            Some("SET GLOBAL binlog_row_metadata = 'FULL'; -- and in the configuration"),
        );
    }
    let number = |name: &str| settings.get(name).and_then(|v| v.parse::<f64>().ok()).filter(|n| *n > 0.0);
    // Where both are set the seconds count; 0 means that files are kept for ever.
    let kept = match number("binlog_expire_logs_seconds") {
        Some(seconds) => Some(("binlog_expire_logs_seconds", seconds)),
        None => number("expire_logs_days").map(|days| ("expire_logs_days", days * 86_400.0)),
    };
    if let Some((name, seconds)) = kept
        && seconds < wants.retention.as_secs_f64()
    {
        let message = format!(
            "the binlog is kept for {:.1} hours only: if the pipeline stands still for longer, changes are lost",
            seconds / 3600.0
        );
        let remedy = if name == "expire_logs_days" {
            "SET GLOBAL expire_logs_days = 3;"
        } else {
            "SET GLOBAL binlog_expire_logs_seconds = 259200;"
        };
        add(Warning, name, message, Some(remedy));
    }
    if settings.is_not("gtid_mode", "ON") {
        let message = "without GTIDs reading cannot go on at another server after a fail-over".to_owned();
        let remedy = if server.mysql_since(50_706) {
            "SET GLOBAL enforce_gtid_consistency = ON; SET GLOBAL gtid_mode = OFF_PERMISSIVE; \
             SET GLOBAL gtid_mode = ON_PERMISSIVE; SET GLOBAL gtid_mode = ON;"
        } else {
            "gtid_mode = ON and enforce_gtid_consistency = ON in the server's configuration, and a restart"
        };
        add(Note, "gtid_mode", message, Some(remedy));
    }
}

/// The session is in UTC: the server's own zone is looked at in a moment of its own.
fn check_zone(
    connection: &mut Connection,
    wants: &PreflightWants,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    const TOLERANCE: i32 = 30 * 60;
    let Some(configured) = wants.zone_offset else { return Ok(()) };
    connection.execute("SET SESSION time_zone = @@GLOBAL.time_zone")?;
    let row = connection.query_first(
        "SELECT TIME_TO_SEC(TIMEDIFF(NOW(), UTC_TIMESTAMP())) AS o, @@GLOBAL.time_zone AS z, @@system_time_zone AS s",
    );
    connection.execute("SET SESSION time_zone = '+00:00'")?;
    let Some(row) = row? else { return Ok(()) };
    // NOW() and UTC_TIMESTAMP() are of one moment in a statement; the value may come with a fraction.
    let actual = row.require("o")?.parse::<f64>().unwrap_or_default() as i32;
    if (actual - configured).abs() > TOLERANCE {
        let zone = match (row.get("z"), row.get("s")) {
            (Some("SYSTEM"), Some(system)) => system,
            (zone, _) => zone.unwrap_or_default(),
        };
        findings.push(Finding::new(
            Severity::Error,
            "server-time-zone",
            format!(
                "the server's clock is {} from UTC (its zone is {zone}), that of `server-time-zone` {}",
                hours(actual),
                hours(configured)
            ),
            format!("server-time-zone: the zone of the server, for example {}", hours(actual)),
        ));
    }
    Ok(())
}

/// An offset as `+08:00`.
fn hours(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// `binlog_do_db` and `binlog_ignore_db` leave databases out of the binlog without a word.
fn check_filters(
    connection: &mut Connection,
    wants: &PreflightWants,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    let sql = if connection.server().mysql_since(80_200) { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
    let row = match connection.query_first(sql) {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(()),
        // For want of a privilege: that is told elsewhere.
        Err(WireError::Server(_)) => return Ok(()),
        Err(e) => return Err(e),
    };
    let list = |name: &str| -> Vec<String> {
        row.get(name).unwrap_or_default().split(',').filter(|d| !d.is_empty()).map(str::to_owned).collect()
    };
    let (only, ignored) = (list("Binlog_Do_DB"), list("Binlog_Ignore_DB"));
    let mut databases: Vec<&str> = wants.tables.iter().map(|t| t.database()).collect();
    databases.sort_unstable();
    databases.dedup();
    for database in databases {
        let left_out = !only.is_empty() && !only.iter().any(|d| d == database);
        if left_out || ignored.iter().any(|d| d == database) {
            let subject = if left_out { "binlog_do_db" } else { "binlog_ignore_db" };
            findings.push(Finding::new(
                Severity::Error,
                subject,
                format!("changes to database `{database}` are not written to the binlog"),
                format!("{subject} in the server's configuration, so that `{database}` is written, and a restart"),
            ));
        }
    }
    Ok(())
}

/// A replica that does not log what it applies has a binlog without those changes.
fn check_replica(
    connection: &mut Connection,
    settings: &Settings,
    findings: &mut Vec<Finding>,
) -> Result<(), WireError> {
    if !settings.is("log_slave_updates", "OFF") && !settings.is("log_replica_updates", "OFF") {
        return Ok(());
    }
    let sql = if connection.server().mysql_since(80_022) { "SHOW REPLICA STATUS" } else { "SHOW SLAVE STATUS" };
    match connection.query(sql) {
        Ok(rows) if rows.is_empty() => {}
        Ok(_) => findings.push(Finding::new(
            Severity::Error,
            "log_slave_updates",
            "this server is a replica that does not write what it applies to its own binlog",
            "log_slave_updates = ON in the server's configuration, and a restart; or read from its source".to_owned(),
        )),
        // Only somebody with the privilege can tell; it is not worth asking for.
        Err(WireError::Server(_)) => {}
        Err(e) => return Err(e),
    }
    Ok(())
}
