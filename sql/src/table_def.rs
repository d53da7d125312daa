//! A table as the server defines it: what is tracked through DDL, and what the binlog decoder needs.

use crate::ColumnType;
use serde::{Deserialize, Serialize};

/// How a generated column is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Generated {
    /// Computed when read; the binlog carries it all the same.
    Virtual,
    /// Computed when written.
    Stored,
}

/// A column's default.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DefaultValue {
    /// A literal, as `information_schema.columns.column_default` shows it.
    Literal(String),
    /// An expression, as `information_schema` shows it, for example `CURRENT_TIMESTAMP(6)` or `uuid()`.
    Expression(String),
}

/// A column as the server defines it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnDef {
    /// The name as written.
    pub name: String,
    /// The type with its charset.
    pub column_type: ColumnType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The default; `None`: no default, or NULL.
    pub default: Option<DefaultValue>,
    /// `ON UPDATE CURRENT_TIMESTAMP`.
    pub on_update: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// The comment; empty for none.
    pub comment: String,
    /// Whether and how it is generated.
    pub generated: Option<Generated>,
    /// Not shown by `SELECT *`.
    pub invisible: bool,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The index' name; `PRIMARY` for the primary key.
    pub name: String,
    /// Whether it is unique.
    pub unique: bool,
    /// The columns in key order; `None` for a functional part. With the prefix length of a prefix part.
    pub parts: Vec<(Option<String>, Option<u32>)>,
}

/// A table as the server defines it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableDef {
    /// Columns in order, invisible ones included: the order of the binlog's rows.
    pub columns: Vec<ColumnDef>,
    /// The primary key's columns in key order; empty: none.
    pub primary_key: Vec<String>,
    /// All other keys in order of creation.
    pub keys: Vec<Key>,
    /// The default charset's name of new columns.
    pub charset: String,
    /// The default collation's name of new columns.
    pub collation: String,
    /// The table's comment; empty for none.
    pub comment: String,
}

impl TableDef {
    /// Where a column is; names are compared without case, as MySQL does.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.columns.iter().position(|c| c.name.to_lowercase() == name)
    }
}
