//! The statements' text, as far as the servers have it in common.

use super::super::quote;
use rowferry_model::TableId;

/// A column as a statement describes it. All of it is as it is written, but for the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnClause {
    pub(crate) name: String,
    pub(crate) target: String,
    /// Whether `KEY` is said, as a change of a key's column must.
    pub(crate) key: bool,
    pub(crate) nullable: bool,
    /// What is behind `DEFAULT`.
    pub(crate) default: Option<String>,
    /// What is behind `COMMENT`.
    pub(crate) comment: Option<String>,
}

impl ColumnClause {
    /// The description. The order of its parts is fixed.
    pub(crate) fn sql(&self) -> String {
        let mut sql = format!("{} {}", quote::name(&self.name), self.target);
        if self.key {
            sql.push_str(" KEY");
        }
        sql.push_str(if self.nullable { " NULL" } else { " NOT NULL" });
        for (word, part) in [("DEFAULT", &self.default), ("COMMENT", &self.comment)] {
            if let Some(part) = part {
                sql.push_str(&format!(" {word} {part}"));
            }
        }
        sql
    }
}

/// A list with commas.
pub(crate) fn list<T>(items: &[T], sql: impl Fn(&T) -> String) -> String {
    items.iter().map(sql).collect::<Vec<_>>().join(", ")
}

/// A table's name with its database.
pub(crate) fn table_name(table: &TableId) -> String {
    format!("{}.{}", quote::name(table.database()), quote::name(table.table()))
}

/// `PROPERTIES` with a blank before it; nothing where there are none.
pub(crate) fn properties(properties: &[(String, String)]) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let list = list(properties, |(k, v)| format!("{} = {}", quote::string(k), quote::string(v)));
    format!(" PROPERTIES ({list})")
}

/// The properties of a new table: `of_sink` for all tables, and over them `of_table`, whose keys may have the option's
/// prefix.
pub(crate) fn table_properties(
    of_sink: &[(String, String)],
    of_table: &[(String, String)],
    key: impl Fn(&str) -> String,
) -> Vec<(String, String)> {
    let mut properties = of_sink.to_vec();
    for (name, value) in of_table {
        let name = key(name.strip_prefix("table.create.properties.").unwrap_or(name));
        properties.retain(|(k, _)| *k != name);
        properties.push((name, value.clone()));
    }
    properties
}

pub(super) fn create_database(database: &str) -> String {
    format!("CREATE DATABASE IF NOT EXISTS {}", quote::name(database))
}

/// New columns, each with the column that it comes behind.
pub(super) fn add_columns(columns: &[(ColumnClause, Option<String>)]) -> String {
    list(columns, |(column, after)| {
        let position = after.as_ref().map(|a| format!(" AFTER {}", quote::name(a))).unwrap_or_default();
        format!("ADD COLUMN {}{position}", column.sql())
    })
}

pub(super) fn drop_columns(names: &[String]) -> String {
    list(names, |name| format!("DROP COLUMN {}", quote::name(name)))
}

/// A change is a full redefinition: what is not restated is lost.
pub(super) fn modify_columns(columns: &[ColumnClause]) -> String {
    list(columns, |column| format!("MODIFY COLUMN {}", column.sql()))
}

pub(super) fn alter_table(table: &TableId, clauses: &str, options: &str) -> String {
    format!("ALTER TABLE {} {clauses}{options}", table_name(table))
}

pub(super) fn truncate_table(table: &TableId) -> String {
    format!("TRUNCATE TABLE {}", table_name(table))
}

pub(super) fn drop_table(table: &TableId) -> String {
    format!("DROP TABLE IF EXISTS {}", table_name(table))
}
