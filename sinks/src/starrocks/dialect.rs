//! What is StarRocks' own: its statements, and what it can't do.

use super::config::Config;
use super::load_client::LoadClient;
use super::row_plan::{check_column_name, check_table, row_plan, target_type};
use super::shown;
use super::target_type::TargetType;
use crate::SinkError;
use crate::olap::applier::{ColumnClause, Dialect, Version, list, properties, table_name, table_properties};
use crate::olap::default_value::DefaultValue;
use crate::olap::quote;
use rowferry_model::{Column, SchemaChange, TableId, TableSchema};
use std::sync::Arc;
use std::time::Duration;

/// Renames need this version.
const RENAME_SINCE: Version = (3, 3, 2);

/// StarRocks, as a sink's options want it.
pub(super) struct StarRocks {
    config: Arc<Config>,
}

impl StarRocks {
    /// With a sink's options.
    pub(super) fn new(config: Arc<Config>) -> Self {
        Self { config }
    }
}

impl Dialect for StarRocks {
    const SERVER: &'static str = "StarRocks";
    const TIMEOUT_OPTION: &'static str = "table.schema-change.timeout";
    const RIGHTS: &'static str =
        "CREATE DATABASE, CREATE TABLE, ALTER, DROP, SELECT and INSERT on the target databases";
    const UNSUPPORTED: &'static [&'static str] = &[
        "Can not change",
        "Can not modify key column",
        "Can not drop key column",
        "Can not drop sort column",
        "Cannot shorten string length",
        "already exists in column id",
        "do not support",
        "needs minimum length",
    ];
    const VERSION: (&'static str, usize) = ("SELECT current_version()", 0);
    const NOT_NULL: bool = true;
    const CHANGES_KEYS: bool = false;

    type Client = LoadClient;
    type Type = TargetType;
    /// Whether it is a table of primary keys, which alone take updates and deletions.
    type TableKind = bool;

    fn timeout(&self) -> Duration {
        self.config.schema_change_timeout
    }

    fn parse_version(text: &str) -> Option<Version> {
        shown::parse_version(text)
    }

    fn needs_version(change: &SchemaChange) -> bool {
        matches!(change, SchemaChange::RenameColumns { .. })
    }

    fn check_version(v: Version, change: &SchemaChange) -> Result<(), SinkError> {
        if v >= RENAME_SINCE {
            return Ok(());
        }
        let table = change.table();
        Err(SinkError::unsupported(format!(
            "a column of {table} is renamed, which StarRocks {}.{}.{} can't do",
            v.0, v.1, v.2
        ))
        .hint("StarRocks can since 3.3.2; or use `schema.change.behavior: lenient`"))
    }

    fn check_server(v: Version) -> Result<(), SinkError> {
        if v < RENAME_SINCE {
            tracing::warn!(
                "starrocks: version {}.{}.{} can't rename columns (3.3.2 can), and may not show microseconds (3.3.5 does)",
                v.0,
                v.1,
                v.2
            );
        }
        Ok(())
    }

    fn check_table(table: &TableId) -> Result<(), SinkError> {
        check_table(table)
    }

    fn check_column(table: &TableId, name: &str) -> Result<(), SinkError> {
        check_column_name(table, name)
    }

    fn check_schema(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        row_plan(&self.config, table, schema).map(|_| ())
    }

    fn check_kind(table: &TableId, _schema: &TableSchema, primary: &bool) -> Result<(), SinkError> {
        if *primary {
            return Ok(());
        }
        Err(SinkError::permanent(format!(
            "{table} exists in StarRocks, but not as a primary key table: it takes no updates"
        ))
        .hint("create it with PRIMARY KEY, or drop it so that the sink creates it"))
    }

    fn check_rename(_table: &TableId, _primary: &bool) -> Result<(), SinkError> {
        Ok(())
    }

    fn target_type(&self, column: &Column, key: bool) -> TargetType {
        target_type(column, key, self.config.char_bytes)
    }

    fn default_literal(value: DefaultValue) -> Option<String> {
        Some(match value {
            // With as many digits as there are: it takes no number.
            DefaultValue::Now(_) => "CURRENT_TIMESTAMP".to_owned(),
            DefaultValue::Text(text) => quote::string(&text),
        })
    }

    fn shown_default(created: &str, column: &str, target: &TargetType, shown: &str) -> String {
        shown::default(created, column, target, shown)
    }

    fn restated_default(default: &str, _target: &TargetType) -> Option<String> {
        Some(default.to_owned())
    }

    fn shown_comment(shown: &str) -> String {
        shown::unescape(shown)
    }

    fn is_comment(there: &str, wanted: &str) -> bool {
        there == wanted
    }

    fn comment_literal(comment: &str) -> String {
        quote::string(comment)
    }

    fn keeps_comment(_comment: &str) -> bool {
        true
    }

    fn table_kind(created: &str) -> bool {
        created.lines().any(|line| line.starts_with("PRIMARY KEY"))
    }

    fn create_table(&self, table: &TableId, schema: &TableSchema, columns: &[ColumnClause], keys: &[String]) -> String {
        let keys = list(keys, |k| quote::name(k));
        let mut sql = format!(
            "CREATE TABLE IF NOT EXISTS {} ({}) PRIMARY KEY ({keys})",
            table_name(table),
            list(columns, ColumnClause::sql)
        );
        if let Some(comment) = schema.comment.as_deref().filter(|c| !c.is_empty()) {
            sql.push_str(&format!(" COMMENT {}", quote::string(comment)));
        }
        sql.push_str(&format!(" DISTRIBUTED BY HASH ({keys})"));
        if let Some(buckets) = self.config.buckets {
            sql.push_str(&format!(" BUCKETS {buckets}"));
        }
        let all = table_properties(&self.config.table_properties, &schema.options, str::to_ascii_lowercase);
        sql + &properties(&all)
    }

    /// How long a job of the server's may take, for the statements that start one.
    fn alter_options(&self) -> String {
        format!(" PROPERTIES (\"timeout\" = \"{}\")", self.timeout().as_secs().max(1))
    }

    /// Never together with other clauses: StarRocks would drop those without a word.
    fn comment_column(table: &TableId, name: &str, comment: &str) -> String {
        let (name, comment) = (quote::name(name), quote::string(comment));
        format!("ALTER TABLE {} MODIFY COLUMN {name} COMMENT {comment}", table_name(table))
    }

    /// StarRocks takes one a statement.
    fn rename_column(table: &TableId, from: &str, to: &str) -> String {
        format!("ALTER TABLE {} RENAME COLUMN {} TO {}", table_name(table), quote::name(from), quote::name(to))
    }

    fn comment_table(table: &TableId, comment: &str) -> String {
        format!("ALTER TABLE {} COMMENT = {}", table_name(table), quote::string(comment))
    }

    fn list_jobs(table: &TableId) -> String {
        format!(
            "SHOW ALTER TABLE COLUMN FROM {} WHERE TableName = {} ORDER BY JobId DESC LIMIT 1",
            quote::name(table.database()),
            quote::string(table.table())
        )
    }
}
