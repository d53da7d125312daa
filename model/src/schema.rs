//! The shape of a table.

use crate::{AlteredColumn, ColumnPosition, DataType, SchemaChange};
use arrow_schema::{Field, Schema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    /// The name as the server spells it.
    pub name: String,
    /// The logical type.
    pub data_type: DataType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The comment, when the source was asked for comments.
    pub comment: Option<String>,
    /// The default as text, as `information_schema` shows it; `None` for no default or NULL.
    pub default: Option<String>,
    /// The greatest length of a value in bytes in its source charset, for character columns where it is known:
    /// what a sink with byte lengths should use instead of a guess.
    pub max_bytes: Option<u64>,
}

impl Column {
    /// A nullable column without comment or default.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, nullable: true, comment: None, default: None, max_bytes: None }
    }

    /// The same column, refusing NULL.
    pub fn not_null(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// Whether this is its name; case does not matter, as with MySQL.
    fn has_name(&self, name: &str) -> bool {
        self.name == name || self.name.to_lowercase() == name.to_lowercase()
    }
}

/// The shape of a table at one moment. Immutable in the stream: shared as `Arc<TableSchema>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableSchema {
    /// Columns in the order of the table.
    pub columns: Vec<Column>,
    /// Names of the key's columns in key order; empty for a table without a key.
    pub primary_key: Vec<String>,
    /// Names of the partition columns of the target; empty at the source.
    pub partition_key: Vec<String>,
    /// The table's comment, when the source was asked for comments.
    pub comment: Option<String>,
    /// Options of the target table, from a transform's `table-options`.
    pub options: Vec<(String, String)>,
}

impl TableSchema {
    /// Where a column is; names are compared without case, as MySQL does.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name).or_else(|| {
            let name = name.to_lowercase();
            self.columns.iter().position(|c| c.name.to_lowercase() == name)
        })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.index_of(name).map(|i| &self.columns[i])
    }

    /// The indices of the key's columns in key order.
    pub fn key_indices(&self) -> Vec<usize> {
        self.primary_key.iter().filter_map(|k| self.index_of(k)).collect()
    }

    /// The Arrow schema of batches of this table. Every field is nullable there: a before image may lack values.
    pub fn arrow(&self) -> Arc<Schema> {
        Arc::new(Schema::new(
            self.columns.iter().map(|c| Field::new(&c.name, c.data_type.arrow(), true)).collect::<Vec<_>>(),
        ))
    }

    /// The schema after a change; `None` when the table no longer exists.
    ///
    /// # Errors
    /// The change names a column that is not there, or adds one that is, or gives a name that is taken.
    pub fn apply(&self, change: &SchemaChange) -> Result<Option<Self>, SchemaError> {
        let mut next = self.clone();
        match change {
            SchemaChange::CreateTable { schema, .. } => return Ok(Some(schema.as_ref().clone())),
            SchemaChange::DropTable { .. } => return Ok(None),
            SchemaChange::TruncateTable { .. } => {}
            SchemaChange::AlterTableComment { comment, .. } => next.comment = comment.clone(),
            SchemaChange::AddColumns { columns, .. } => {
                for added in columns {
                    if next.column(&added.column.name).is_some() {
                        return Err(SchemaError::Duplicate(added.column.name.clone()));
                    }
                    let at = match &added.position {
                        ColumnPosition::Last => next.columns.len(),
                        ColumnPosition::First => 0,
                        ColumnPosition::After(c) => next.position(c)? + 1,
                        ColumnPosition::Before(c) => next.position(c)?,
                    };
                    next.columns.insert(at, added.column.clone());
                }
            }
            SchemaChange::AlterColumns { columns, .. } => {
                for AlteredColumn { name, data_type, nullable, comment, .. } in columns {
                    let at = next.position(name)?;
                    let column = &mut next.columns[at];
                    if column.data_type != *data_type {
                        // Known for the former length and charset only.
                        column.max_bytes = None;
                    }
                    column.data_type = *data_type;
                    column.nullable = *nullable;
                    if comment.is_some() {
                        column.comment.clone_from(comment);
                    }
                }
            }
            SchemaChange::RenameColumns { names, .. } => {
                // All at once: `a` and `b` may swap.
                let at = names.iter().map(|(old, _)| next.position(old)).collect::<Result<Vec<_>, _>>()?;
                for ((_, new), at) in names.iter().zip(&at) {
                    next.columns[*at].name.clone_from(new);
                }
                for key in next.primary_key.iter_mut().chain(next.partition_key.iter_mut()) {
                    if let Some(index) = self.index_of(key) {
                        key.clone_from(&next.columns[index].name);
                    }
                }
                if let Some((_, new)) = names.iter().zip(&at).find_map(|(name, at)| {
                    let taken = next.columns.iter().enumerate().any(|(i, c)| i != *at && c.has_name(&name.1));
                    taken.then_some(name)
                }) {
                    return Err(SchemaError::Duplicate(new.clone()));
                }
            }
            SchemaChange::DropColumns { names, .. } => {
                for name in names {
                    let at = next.position(name)?;
                    next.columns.remove(at);
                }
                next.primary_key.retain(|k| next.columns.iter().any(|c| c.has_name(k)));
            }
        }
        Ok(Some(next))
    }

    fn position(&self, name: &str) -> Result<usize, SchemaError> {
        self.index_of(name).ok_or_else(|| SchemaError::Missing(name.to_owned()))
    }
}

/// A schema change does not fit the schema that it is applied to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The change names a column that is not there.
    #[error("there is no column `{0}`")]
    Missing(String),
    /// The change adds a column that is already there.
    #[error("there is already a column `{0}`")]
    Duplicate(String),
}

#[cfg(test)]
mod tests;
