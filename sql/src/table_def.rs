//! A table as the server defines it: what is tracked through DDL, and what the binlog decoder needs.

use crate::{ColumnType, ServerVersion};
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

impl DefaultValue {
    /// The default's text, without quotes.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Expression(text) => text,
        }
    }

    /// Reads `information_schema.COLUMNS.COLUMN_DEFAULT` and `EXTRA`. MySQL shows literals bare, and marks expressions
    /// in EXTRA (from version 8 on); MariaDB (from 10.2.7 on) shows an SQL expression: a quoted literal, a number, NULL.
    /// The current time is spelled `CURRENT_TIMESTAMP`, with its precision, for every server.
    pub fn from_information_schema(
        default: Option<&str>,
        extra: &str,
        column_type: &ColumnType,
        server: ServerVersion,
    ) -> Option<Self> {
        let text = default?;
        if let ColumnType::DateTime(p) | ColumnType::Timestamp(p) = column_type
            && text.to_ascii_lowercase().starts_with("current_timestamp")
        {
            return Some(Self::current_timestamp(*p));
        }
        if !server.mariadb_since(100_207) {
            let expression = extra.split(' ').any(|word| word.eq_ignore_ascii_case("DEFAULT_GENERATED"));
            return Some(if expression { Self::Expression(text.into()) } else { Self::Literal(text.into()) });
        }
        if text == "NULL" {
            return None;
        }
        if let Some(quoted) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''))
            && let Some(literal) = unquote(quoted)
        {
            return Some(Self::Literal(literal));
        }
        let number = text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if text.parse::<f64>().is_ok() && number || text.starts_with("b'") {
            return Some(Self::Literal(text.into()));
        }
        Some(Self::Expression(text.into()))
    }

    /// `CURRENT_TIMESTAMP` with that many digits of a second's fraction.
    pub fn current_timestamp(precision: u8) -> Self {
        Self::Expression(match precision {
            0 => "CURRENT_TIMESTAMP".to_owned(),
            p => format!("CURRENT_TIMESTAMP({p})"),
        })
    }
}

/// What stands between the quotes of a literal; `None` when a quote in it is not doubled: it was not one literal.
fn unquote(quoted: &str) -> Option<String> {
    let mut out = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\'' if chars.next()? == '\'' => '\'',
            '\'' => return None,
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                '0' => '\0',
                other => other,
            },
            other => other,
        });
    }
    Some(out)
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

#[cfg(test)]
mod tests;
