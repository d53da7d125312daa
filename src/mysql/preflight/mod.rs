//! What must be right before the first row is read: all of it is looked at, and all that is wrong is told at once,
//! each with what mends it.

mod grants;
mod report;
mod settings;

pub use report::{Finding, PreflightReport, Severity};

use crate::mysql::wire::{Connection, WireError};
use rowferry_model::TableId;
use std::time::Duration;

/// What the pipeline is going to do: it decides what is looked at.
#[derive(Clone, Debug)]
pub struct PreflightWants {
    /// The captured tables.
    pub tables: Vec<TableId>,
    /// Those among them without a key: their snapshot wants a short lock.
    pub tables_without_key: Vec<TableId>,
    /// Whether the binlog is read. A one-shot copy needs none of its settings and privileges.
    pub reads_binlog: bool,
    /// Whether the sink needs whole rows: then `binlog_row_image` must be FULL.
    pub needs_full_rows: bool,
    /// The offset that `server-time-zone` has now, in seconds east of UTC; `None`: the option is not set.
    pub zone_offset: Option<i32>,
    /// A retention of the binlog shorter than this draws a warning.
    pub retention: Duration,
}

impl PreflightWants {
    /// Snapshot and binlog of these tables, whole rows, a day of retention.
    pub fn new(tables: Vec<TableId>) -> Self {
        Self {
            tables,
            tables_without_key: Vec::new(),
            reads_binlog: true,
            needs_full_rows: true,
            zone_offset: None,
            retention: Duration::from_secs(24 * 3600),
        }
    }
}

/// Looks at everything and lists what is wrong. Nothing is changed, but while it runs the connection counts as a
/// replica of the server.
///
/// # Errors
/// The connection fails. What the server refuses for want of a privilege is a finding.
pub fn preflight(connection: &mut Connection, wants: &PreflightWants) -> Result<PreflightReport, WireError> {
    let mut findings = Vec::new();
    settings::check(connection, wants, &mut findings)?;
    grants::check(connection, wants, &mut findings)?;
    // The gravest first; in the order in which they were looked at among equals.
    findings.sort_by_key(|f| f.severity);
    Ok(PreflightReport { server: connection.server(), findings })
}

#[cfg(test)]
mod tests;
