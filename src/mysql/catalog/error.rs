//! What may go wrong when a server is asked about itself.

use crate::mysql::wire::WireError;
use rowferry_model::{GtidError, TableId};
use rowferry_sql::ParseTypeError;

/// A question could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The connection failed or the server refused the statement.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The server sent a GTID set that cannot be read.
    #[error("the server's GTID set cannot be read: {0}")]
    Gtid(#[from] GtidError),
    /// The server writes no binlog.
    #[error("the server writes no binlog: start it with `log_bin`")]
    NoBinlog,
    /// A column's type is not known.
    #[error("table `{table}`, column `{column}`: {source}")]
    ColumnType {
        /// The table.
        table: TableId,
        /// The column.
        column: String,
        /// The type's text.
        source: ParseTypeError,
    },
    /// A table that was asked for is not there, or may not be seen.
    #[error("table `{0}` does not exist, or this user may not see it")]
    NoTable(TableId),
    /// A table's definition changes again and again while it is read.
    #[error("the definition of table `{0}` does not stand still")]
    Restless(TableId),
    /// The changes from the saved position on are no longer on the server, or never were.
    #[error(
        "cannot resume at {wanted}: {reason}. The changes in between cannot be read here any more: the tables need a \
         new snapshot, or point rowferry at a server that still has them. The saved state is left as it is"
    )]
    OffsetGone {
        /// The saved position.
        wanted: String,
        /// What is missing, and what is the oldest there is.
        reason: String,
    },
}

impl CatalogError {
    /// Whether a new connection may cure it.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Wire(error) => error.is_transient(),
            Self::Restless(_) => true,
            _ => false,
        }
    }
}
