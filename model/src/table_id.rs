//! The identity of a table.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The identity of a table: a database (MySQL's "schema") and a table name, exactly as the server spells them.
///
/// Cheap to clone. Its text form is `database.table`, as Flink CDC prints it; a name with dots in it is ambiguous
/// there, so never parse that text to find the parts again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableId {
    database: Arc<str>,
    table: Arc<str>,
}

impl TableId {
    /// A table of a database.
    pub fn new(database: impl Into<Arc<str>>, table: impl Into<Arc<str>>) -> Self {
        Self { database: database.into(), table: table.into() }
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The name of the table alone.
    pub fn table(&self) -> &str {
        &self.table
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.database.is_empty() { f.write_str(&self.table) } else { write!(f, "{}.{}", self.database, self.table) }
    }
}
