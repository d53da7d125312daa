//! From MySQL's column types to the stream's types.

use crate::{ColumnType, TableDef};
use rowferry_model::{DataType, TableSchema};

/// The options of the source that change how types are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingOptions {
    /// `treat-tinyint1-as-boolean.enabled`: TINYINT(1) is BOOLEAN.
    pub tinyint1_as_boolean: bool,
    /// `include-comments.enabled`: comments of tables and columns are carried.
    pub include_comments: bool,
}

impl Default for MappingOptions {
    fn default() -> Self {
        Self { tinyint1_as_boolean: true, include_comments: false }
    }
}

/// A column's type has no counterpart in the stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}`: MySQL type {column_type} is not supported")]
pub struct UnsupportedType {
    /// The column.
    pub column: String,
    /// Its type as the server writes it.
    pub column_type: String,
}

impl ColumnType {
    /// The stream's type of this column type, `None` where it has none.
    pub fn data_type(&self, options: &MappingOptions) -> Option<DataType> {
        let _ = options;
        None
    }
}

impl TableDef {
    /// The stream's schema of this table. The key is the primary key or else the first unique key whose columns are
    /// all NOT NULL and whole.
    ///
    /// # Errors
    /// A column's type has no counterpart.
    pub fn to_schema(&self, options: &MappingOptions) -> Result<TableSchema, UnsupportedType> {
        let _ = options;
        Ok(TableSchema::default())
    }
}
