//! The statements' text.

use super::target_type::TargetType;
use crate::olap::quote;
use rowferry_model::TableId;
use std::time::Duration;

/// A column as a statement describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnClause {
    pub(super) name: String,
    pub(super) target: TargetType,
    pub(super) nullable: bool,
    /// What is behind `DEFAULT`.
    pub(super) default: Option<String>,
    pub(super) comment: Option<String>,
}

impl ColumnClause {
    fn sql(&self) -> String {
        let mut sql =
            format!("{} {} {}", quote::name(&self.name), self.target, if self.nullable { "NULL" } else { "NOT NULL" });
        if let Some(default) = &self.default {
            sql.push_str(" DEFAULT ");
            sql.push_str(default);
        }
        if let Some(comment) = self.comment.as_deref().filter(|c| !c.is_empty()) {
            sql.push_str(" COMMENT ");
            sql.push_str(&quote::string(comment));
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

/// A new table: the key's columns come first.
pub(super) fn create_table(
    table: &TableId,
    columns: &[ColumnClause],
    keys: &[String],
    comment: Option<&str>,
    buckets: Option<u32>,
    properties: &[(String, String)],
) -> String {
    let clauses = columns.iter().map(ColumnClause::sql).collect::<Vec<_>>().join(", ");
    let keys = keys.iter().map(|k| quote::name(k)).collect::<Vec<_>>().join(", ");
    let mut sql = format!("CREATE TABLE IF NOT EXISTS {} ({clauses}) PRIMARY KEY ({keys})", table_name(table));
    if let Some(comment) = comment.filter(|c| !c.is_empty()) {
        sql.push_str(" COMMENT ");
        sql.push_str(&quote::string(comment));
    }
    sql.push_str(&format!(" DISTRIBUTED BY HASH ({keys})"));
    if let Some(buckets) = buckets {
        sql.push_str(&format!(" BUCKETS {buckets}"));
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

/// How long a job of the server's may take, for the statements that start one.
fn timeout_clause(timeout: Duration) -> String {
    format!(" PROPERTIES (\"timeout\" = \"{}\")", timeout.as_secs().max(1))
}

/// New columns, each with the column that it comes behind.
pub(super) fn add_columns(table: &TableId, columns: &[(ColumnClause, Option<String>)], timeout: Duration) -> String {
    let clauses = columns
        .iter()
        .map(|(column, after)| {
            let position = after.as_ref().map(|a| format!(" AFTER {}", quote::name(a))).unwrap_or_default();
            format!("ADD COLUMN {}{position}", column.sql())
        })
        .collect::<Vec<_>>()
        .join(", ");
    format!("ALTER TABLE {} {clauses}{}", table_name(table), timeout_clause(timeout))
}

pub(super) fn drop_columns(table: &TableId, names: &[String], timeout: Duration) -> String {
    let clauses = names.iter().map(|n| format!("DROP COLUMN {}", quote::name(n))).collect::<Vec<_>>().join(", ");
    format!("ALTER TABLE {} {clauses}{}", table_name(table), timeout_clause(timeout))
}

/// A change is a full redefinition: what is not restated is lost.
pub(super) fn modify_columns(table: &TableId, columns: &[ColumnClause], timeout: Duration) -> String {
    let clauses = columns.iter().map(|c| format!("MODIFY COLUMN {}", c.sql())).collect::<Vec<_>>().join(", ");
    format!("ALTER TABLE {} {clauses}{}", table_name(table), timeout_clause(timeout))
}

/// One column's comment. Never together with other clauses: StarRocks would drop those without a word.
pub(super) fn comment_column(table: &TableId, name: &str, comment: &str) -> String {
    format!("ALTER TABLE {} MODIFY COLUMN {} COMMENT {}", table_name(table), quote::name(name), quote::string(comment))
}

/// One column's name; StarRocks takes one a statement.
pub(super) fn rename_column(table: &TableId, from: &str, to: &str) -> String {
    format!("ALTER TABLE {} RENAME COLUMN {} TO {}", table_name(table), quote::name(from), quote::name(to))
}

pub(super) fn comment_table(table: &TableId, comment: &str) -> String {
    format!("ALTER TABLE {} COMMENT = {}", table_name(table), quote::string(comment))
}

pub(super) fn truncate_table(table: &TableId) -> String {
    format!("TRUNCATE TABLE {}", table_name(table))
}

pub(super) fn drop_table(table: &TableId) -> String {
    format!("DROP TABLE IF EXISTS {}", table_name(table))
}
