//! The statements' text. The order of clauses is fixed in Doris: type, KEY, NULL, DEFAULT, COMMENT; key, comment,
//! distribution, properties.

use super::literal;
use super::target_type::TargetType;
use crate::olap::quote;
use rowferry_model::TableId;

/// A column as a statement describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnClause {
    pub(super) name: String,
    pub(super) target: TargetType,
    /// Whether `KEY` is said, as a change of a key's column must.
    pub(super) key: bool,
    pub(super) nullable: bool,
    /// What is behind `DEFAULT`.
    pub(super) default: Option<String>,
    pub(super) comment: Option<String>,
}

impl ColumnClause {
    fn sql(&self) -> String {
        let mut sql = format!("{} {}", quote::name(&self.name), self.target);
        if self.key {
            sql.push_str(" KEY");
        }
        sql.push_str(if self.nullable { " NULL" } else { " NOT NULL" });
        if let Some(default) = &self.default {
            sql.push_str(" DEFAULT ");
            sql.push_str(default);
        }
        if let Some(comment) = self.comment.as_deref().filter(|c| !c.is_empty()) {
            sql.push_str(" COMMENT ");
            sql.push_str(&literal::new_comment(comment));
        }
        sql
    }
}

/// A table's name with its database.
pub(super) fn table_name(table: &TableId) -> String {
    format!("{}.{}", quote::name(table.database()), quote::name(table.table()))
}

pub(super) fn create_database(database: &str) -> String {
    format!("CREATE DATABASE IF NOT EXISTS {}", quote::name(database))
}

/// A new table. With keys, whose columns come first: one row a key. Without: all rows that come.
pub(super) fn create_table(
    table: &TableId,
    columns: &[ColumnClause],
    keys: &[String],
    comment: Option<&str>,
    properties: &[(String, String)],
) -> String {
    let clauses = columns.iter().map(ColumnClause::sql).collect::<Vec<_>>().join(", ");
    let mut sql = format!("CREATE TABLE IF NOT EXISTS {} ({clauses})", table_name(table));
    let keys = keys.iter().map(|k| quote::name(k)).collect::<Vec<_>>().join(", ");
    if !keys.is_empty() {
        sql.push_str(&format!(" UNIQUE KEY ({keys})"));
    }
    if let Some(comment) = comment.filter(|c| !c.is_empty()) {
        // Here, and only here, escapes work.
        sql.push_str(&format!(" COMMENT {}", quote::string(comment)));
    }
    if keys.is_empty() {
        sql.push_str(" DISTRIBUTED BY RANDOM BUCKETS AUTO");
    } else {
        sql.push_str(&format!(" DISTRIBUTED BY HASH ({keys}) BUCKETS AUTO"));
    }
    if !properties.is_empty() {
        let list = properties
            .iter()
            .map(|(k, v)| format!("{} = {}", quote::string(k), quote::string(v)))
            .collect::<Vec<_>>()
            .join(", ");
        sql.push_str(&format!(" PROPERTIES ({list})"));
    }
    sql
}

/// New columns, each with the column that it comes behind.
pub(super) fn add_columns(table: &TableId, columns: &[(ColumnClause, Option<String>)]) -> String {
    let clauses = columns
        .iter()
        .map(|(column, after)| {
            let position = after.as_ref().map(|a| format!(" AFTER {}", quote::name(a))).unwrap_or_default();
            format!("ADD COLUMN {}{position}", column.sql())
        })
        .collect::<Vec<_>>()
        .join(", ");
    format!("ALTER TABLE {} {clauses}", table_name(table))
}

pub(super) fn drop_columns(table: &TableId, names: &[String]) -> String {
    let clauses = names.iter().map(|n| format!("DROP COLUMN {}", quote::name(n))).collect::<Vec<_>>().join(", ");
    format!("ALTER TABLE {} {clauses}", table_name(table))
}

/// A change is a full redefinition: what is not restated is lost.
pub(super) fn modify_columns(table: &TableId, columns: &[ColumnClause]) -> String {
    let clauses = columns.iter().map(|c| format!("MODIFY COLUMN {}", c.sql())).collect::<Vec<_>>().join(", ");
    format!("ALTER TABLE {} {clauses}", table_name(table))
}

pub(super) fn comment_column(table: &TableId, name: &str, comment: &str) -> String {
    format!(
        "ALTER TABLE {} MODIFY COLUMN {} COMMENT {}",
        table_name(table),
        quote::name(name),
        literal::changed_comment(comment)
    )
}

/// One column's name; Doris takes one a statement, and no `TO`.
pub(super) fn rename_column(table: &TableId, from: &str, to: &str) -> String {
    format!("ALTER TABLE {} RENAME COLUMN {} {}", table_name(table), quote::name(from), quote::name(to))
}

pub(super) fn comment_table(table: &TableId, comment: &str) -> String {
    format!("ALTER TABLE {} MODIFY COMMENT {}", table_name(table), literal::changed_comment(comment))
}

pub(super) fn truncate_table(table: &TableId) -> String {
    format!("TRUNCATE TABLE {}", table_name(table))
}

pub(super) fn drop_table(table: &TableId) -> String {
    format!("DROP TABLE IF EXISTS {}", table_name(table))
}
