//! What can go wrong between a source table and its targets.

use crate::error::Error;
use rowferry_model::{BatchError, SchemaError, TableId};
use std::fmt;

/// Where a value was to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The table that the row comes from.
    pub table: TableId,
    /// The target's column.
    pub column: String,
    /// The row's key, for example `id=7`; empty for a table without a key.
    pub key: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column `{}` of {}", self.column, self.table)?;
        if !self.key.is_empty() {
            write!(f, ", row {}", self.key)?;
        }
        Ok(())
    }
}

/// A schema change or a row can't get to its target.
#[derive(Debug, thiserror::Error)]
pub enum EvolveError {
    /// Rows or a change of a table that was never registered: a fault in rowferry.
    #[error("{0} is not a table of this pipeline")]
    UnknownTable(TableId),
    /// A change does not fit what is known of the source table: a fault in rowferry.
    #[error("the change of {table} ({change}) does not fit the schema that is known")]
    Upstream {
        /// The table.
        table: TableId,
        /// The change.
        change: String,
        /// What does not fit.
        source: SchemaError,
    },
    /// A schema change reached a pipeline whose behaviour is EXCEPTION.
    #[error("{table} has changed ({change}), and schema.change.behavior is EXCEPTION")]
    Exception {
        /// The target.
        table: TableId,
        /// The change.
        change: String,
    },
    /// LENIENT can't keep a column that is part of the target's key: no row would have it any more.
    #[error("column `{column}` is part of the key of {table} and goes away, which LENIENT can't follow")]
    KeyColumn {
        /// The target.
        table: TableId,
        /// The column.
        column: String,
    },
    /// A table was created anew with another key than its target has.
    #[error("{table} was created anew with the key ({after}), but the target {target} has the key ({before})")]
    KeyChanged {
        /// The source table.
        table: TableId,
        /// The target.
        target: TableId,
        /// The target's key.
        before: String,
        /// The new key.
        after: String,
    },
    /// Rows for a target that has not been created: a fault in rowferry.
    #[error("rows of {table} go to {target}, which has not been created")]
    NotCreated {
        /// The source table.
        table: TableId,
        /// The target.
        target: TableId,
    },
    /// A value does not fit the target's type.
    #[error("a {from} value does not fit the target's {to} ({place})")]
    Value {
        /// Where.
        place: Box<Place>,
        /// The source's type.
        from: String,
        /// The target's type.
        to: String,
    },
    /// NULL for a column that the target has as NOT NULL.
    #[error("the target's column is NOT NULL, and the row has {what} ({place})")]
    Null {
        /// Where.
        place: Box<Place>,
        /// `no such column` or `NULL`.
        what: &'static str,
    },
    /// Columns could not be put together: a fault in rowferry.
    #[error("rows can't be brought into the shape of their target")]
    Batch(#[from] BatchError),
    /// Columns could not be put together: a fault in rowferry.
    #[error("rows can't be brought into the shape of their target")]
    Arrow(#[from] arrow_schema::ArrowError),
}

impl From<EvolveError> for Error {
    fn from(error: EvolveError) -> Self {
        let message = error.to_string();
        let (code, hint) = match &error {
            EvolveError::UnknownTable(_) => ("RF-EVO-001", None),
            EvolveError::Upstream { .. } => ("RF-EVO-002", None),
            EvolveError::Exception { .. } => (
                "RF-EVO-003",
                Some("choose another schema.change.behavior, or leave the change out with exclude.schema.changes"),
            ),
            EvolveError::KeyColumn { .. } => {
                ("RF-EVO-004", Some("create the target anew with the new key and start with a new state directory"))
            }
            EvolveError::KeyChanged { .. } => {
                ("RF-EVO-005", Some("create the target anew with the new key and start with a new state directory"))
            }
            EvolveError::NotCreated { .. } => ("RF-EVO-006", None),
            EvolveError::Value { .. } => (
                "RF-EVO-007",
                Some(
                    "let the target follow the source: schema.change.behavior LENIENT or EVOLVE, \
                     without alter.column.type in exclude.schema.changes",
                ),
            ),
            EvolveError::Null { .. } => (
                "RF-EVO-008",
                Some(
                    "schema.change.behavior LENIENT makes such a column nullable in the target, \
                     unless exclude.schema.changes has alter.column.type",
                ),
            ),
            EvolveError::Batch(_) | EvolveError::Arrow(_) => ("RF-EVO-009", None),
        };
        let mut out = Self::permanent(code, message);
        if let Some(hint) = hint {
            out = out.hint(hint);
        }
        match error {
            EvolveError::Upstream { source, .. } => out.caused_by(source),
            EvolveError::Batch(source) => out.caused_by(source),
            EvolveError::Arrow(source) => out.caused_by(source),
            _ => out,
        }
    }
}
