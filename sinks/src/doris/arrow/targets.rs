//! The column types of tables that are there.

use super::super::sql::SqlClient;
use super::super::target_type::TargetType;
use crate::olap::applier::{Failure, table_name};
use crate::olap::column_type::ColumnType;
use crate::olap::load_error::{Cause, LoadError};
use rowferry_model::TableId;
use std::thread::sleep;
use std::time::Duration;

/// How often a table is looked at before a failure is told. A frontend that is not the master may learn of a new table a
/// little later.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// A column that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) target: TargetType,
}

/// A table's columns. Blocking.
///
/// # Errors
/// There is no such table, the server refuses to tell, or no frontend can be reached.
pub(super) fn read(sql: &SqlClient, table: &TableId) -> Result<Vec<Target>, LoadError> {
    let doing = format!("looking at the columns of {table}");
    let show = format!("SHOW FULL COLUMNS FROM {}", table_name(table));
    let mut left = TRIES;
    let mut pause = FIRST_PAUSE;
    let rows = loop {
        left -= 1;
        match sql.run(&show) {
            Err(Failure::Denied(words)) => return Err(failed(&doing, Failure::Denied(words))),
            Err(_) if left > 0 => {
                sleep(pause);
                pause *= 4;
            }
            result => break result.map_err(|e| failed(&doing, e))?,
        }
    };
    let columns = rows.rows.iter().map(|row| {
        let text = |column| rows.get(row, column).unwrap_or_default();
        Target { name: text("Field").to_owned(), target: TargetType::parse(text("Type")) }
    });
    Ok(columns.collect())
}

/// The column of a name, or else one whose name differs in case only: Doris takes the two for one.
pub(super) fn find<'a>(targets: &'a [Target], name: &str) -> Option<&'a Target> {
    targets.iter().find(|t| t.name == name).or_else(|| {
        let lower = name.to_lowercase();
        targets.iter().find(|t| t.name.to_lowercase() == lower)
    })
}

/// A statement that Arrow needs failed.
pub(super) fn failed(doing: &str, failure: Failure) -> LoadError {
    let cause = match failure {
        Failure::Lost(_) | Failure::Busy(_) => Cause::Busy,
        Failure::Denied(_) | Failure::Missing(_) | Failure::Refused(_) => Cause::Refused,
    };
    let mut error = LoadError::new(cause, format!("Doris fails while {doing}: {failure}"));
    if matches!(failure, Failure::Denied(_)) {
        error.hint = Some("the user needs SELECT, CREATE and DROP there, see docs/sinks/doris.md");
    }
    error
}
