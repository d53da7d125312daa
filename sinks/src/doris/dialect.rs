//! What is Doris' own: its statements, and what it can't do.

use super::config::Config;
use super::literal;
use super::load_client::LoadClient;
use super::partition::Partition;
use super::row_plan::{check_column_name, check_table, load_plan, target_type};
use super::shown::{self, Model, TableKind};
use super::target_type::TargetType;
use crate::SinkError;
use crate::olap::applier::{ColumnClause, Dialect, Version, list, properties, table_name, table_properties};
use crate::olap::default_value::{DefaultValue, now};
use crate::olap::quote;
use rowferry_model::{Column, SchemaChange, TableId, TableSchema};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The first version with light schema changes and the types that the sink makes.
const OLDEST: Version = (1, 2, 0);
/// The first version that makes tables without a sort key.
const KEYLESS_SINCE: Version = (2, 0, 0);
/// Makes a table whose columns are no sort key, so that each can be of any type and be changed.
const WITHOUT_KEYS: &str = "enable_duplicate_without_keys_by_default";

/// Doris, as a sink's options want it.
pub(super) struct Doris {
    config: Arc<Config>,
}

impl Doris {
    /// With a sink's options.
    pub(super) fn new(config: Arc<Config>) -> Self {
        Self { config }
    }
}

impl Dialect for Doris {
    const SERVER: &'static str = "Doris";
    const TIMEOUT_OPTION: &'static str = "schema.evolution.timeout";
    const RIGHTS: &'static str = "SELECT, LOAD, ALTER, CREATE and DROP on the target databases";
    const UNSUPPORTED: &'static [&'static str] = &[
        "Can not change",
        "Can not drop",
        "can not drop",
        "Can not modify",
        "Shorten type length is prohibited",
        "is prohibited",
        "not implemented for table without column unique id",
        "forbidden in current Doris version",
        "Can't add value column",
        "Can not add key column",
    ];
    const VERSION: (&'static str, usize) = ("SHOW VARIABLES LIKE \"version_comment\"", 1);
    /// As in Flink CDC: all take NULL.
    const NOT_NULL: bool = false;
    const CHANGES_KEYS: bool = true;

    type Client = LoadClient;
    type Type = TargetType;
    type TableKind = TableKind;

    fn timeout(&self) -> Duration {
        self.config.schema_change_timeout
    }

    fn parse_version(text: &str) -> Option<Version> {
        shown::parse_version(text)
    }

    fn needs_version(change: &SchemaChange) -> bool {
        matches!(change, SchemaChange::CreateTable { .. })
    }

    fn check_version(v: Version, change: &SchemaChange) -> Result<(), SinkError> {
        let table = change.table();
        let keyless = matches!(change, SchemaChange::CreateTable { schema, .. } if schema.primary_key.is_empty());
        let (oldest, what) = if keyless { (KEYLESS_SINCE, "without a key ") } else { (OLDEST, "") };
        if v >= oldest {
            return Ok(());
        }
        Err(SinkError::permanent(format!(
            "{table} can't be made {what}by Doris {}.{}.{}: {}.{} is the oldest that can",
            v.0, v.1, v.2, oldest.0, oldest.1
        )))
    }

    fn check_server(v: Version) -> Result<(), SinkError> {
        if v >= OLDEST {
            return Ok(());
        }
        Err(SinkError::permanent(format!("Doris {}.{}.{} is too old: 1.2 is the oldest", v.0, v.1, v.2)))
    }

    fn check_table(table: &TableId) -> Result<(), SinkError> {
        check_table(table)
    }

    fn check_column(table: &TableId, name: &str) -> Result<(), SinkError> {
        check_column_name(table, name)
    }

    fn shape<'a>(&self, table: &TableId, schema: &'a TableSchema) -> Cow<'a, TableSchema> {
        self.config.partitions.shape(table, schema)
    }

    fn check_schema(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        self.config.partitions.check(table, schema)?;
        load_plan(&self.config, table, schema).map(|_| ())
    }

    fn check_kind(table: &TableId, schema: &TableSchema, kind: &TableKind) -> Result<(), SinkError> {
        let (is, wanted) = match (kind.model, schema.primary_key.is_empty()) {
            (Model::Unique, false) | (Model::Duplicate, true) => return Ok(()),
            (Model::Unique, true) => ("with UNIQUE KEY", "its rows have no key"),
            (Model::Duplicate, false) => ("without UNIQUE KEY", "its rows are changed and deleted by their key"),
            (Model::Aggregate, _) => ("with AGGREGATE KEY", "that adds rows up"),
        };
        Err(SinkError::permanent(format!("{table} exists in Doris {is}, but {wanted}"))
            .hint("drop the table so that the sink creates it"))
    }

    fn check_rename(table: &TableId, kind: &TableKind) -> Result<(), SinkError> {
        if kind.light {
            return Ok(());
        }
        Err(SinkError::unsupported(format!(
            "a column of {table} is renamed, which Doris can't do in a table without `light_schema_change`"
        ))
        .hint(
            "make the table with `light_schema_change` = true (the default since 2.0), or use `schema.change.behavior: \
             lenient`",
        ))
    }

    fn target_type(&self, column: &Column, key: bool) -> TargetType {
        target_type(column, key)
    }

    fn default_literal(value: DefaultValue) -> Option<String> {
        match value {
            DefaultValue::Now(0) => Some("CURRENT_TIMESTAMP".to_owned()),
            DefaultValue::Now(digits) => Some(format!("CURRENT_TIMESTAMP({digits})")),
            DefaultValue::Text(text) => literal::raw(&text),
        }
    }

    fn shown_default(_created: &str, _column: &str, _target: &TargetType, shown: &str) -> String {
        shown.to_owned()
    }

    fn restated_default(default: &str, target: &TargetType) -> Option<String> {
        let is_function = matches!(target, TargetType::DateTime(_)) && now(default).is_some()
            || *target == TargetType::Date && default.eq_ignore_ascii_case("CURRENT_DATE");
        if is_function { Some(default.to_owned()) } else { literal::raw(default) }
    }

    fn shown_comment(shown: &str) -> String {
        shown.to_owned()
    }

    fn is_comment(there: &str, wanted: &str) -> bool {
        there == literal::changed_comment_stored(wanted) || there == literal::new_comment_stored(wanted)
    }

    fn comment_literal(comment: &str) -> String {
        literal::new_comment(comment)
    }

    fn keeps_comment(comment: &str) -> bool {
        literal::new_comment_stored(comment) == comment
    }

    fn table_kind(created: &str) -> TableKind {
        shown::table_kind(created)
    }

    /// With keys: one row a key. Without: all rows that come.
    fn create_table(&self, table: &TableId, schema: &TableSchema, columns: &[ColumnClause], keys: &[String]) -> String {
        let mut all = table_properties(&self.config.table_properties, &schema.options, str::to_owned);
        if keys.is_empty() && !all.iter().any(|(k, _)| k == WITHOUT_KEYS) {
            all.push((WITHOUT_KEYS.to_owned(), "true".to_owned()));
        }
        let partition = self.config.partitions.of(table, schema);
        let is_partition = |name: &String| partition.as_ref().is_some_and(|p| p.column == *name);
        // One that was put into the key only because Doris wants it there says nothing of where rows are to lie.
        let hash: Vec<String> = keys.iter().filter(|k| !is_partition(k)).cloned().collect();
        let hash = list(if hash.is_empty() { keys } else { &hash }, |k| quote::name(k));
        let keys = list(keys, |k| quote::name(k));
        let described = list(columns, |column| {
            let takes_null = !is_partition(&column.name);
            ColumnClause { nullable: column.nullable && takes_null, ..column.clone() }.sql()
        });
        let mut sql = format!("CREATE TABLE IF NOT EXISTS {} ({described})", table_name(table));
        if !keys.is_empty() {
            sql.push_str(&format!(" UNIQUE KEY ({keys})"));
        }
        if let Some(comment) = schema.comment.as_deref().filter(|c| !c.is_empty()) {
            // Here, and only here, escapes work.
            sql.push_str(&format!(" COMMENT {}", quote::string(comment)));
        }
        if let Some(Partition { column, unit }) = &partition {
            sql.push_str(&format!(" AUTO PARTITION BY RANGE (date_trunc({}, '{unit}'))()", quote::name(column)));
        }
        if keys.is_empty() {
            sql.push_str(" DISTRIBUTED BY RANDOM BUCKETS AUTO");
        } else {
            sql.push_str(&format!(" DISTRIBUTED BY HASH ({hash}) BUCKETS AUTO"));
        }
        sql + &properties(&all)
    }

    fn alter_options(&self) -> String {
        String::new()
    }

    fn comment_column(table: &TableId, name: &str, comment: &str) -> String {
        let (name, comment) = (quote::name(name), literal::changed_comment(comment));
        format!("ALTER TABLE {} MODIFY COLUMN {name} COMMENT {comment}", table_name(table))
    }

    /// Doris takes one a statement, and no `TO`.
    fn rename_column(table: &TableId, from: &str, to: &str) -> String {
        format!("ALTER TABLE {} RENAME COLUMN {} {}", table_name(table), quote::name(from), quote::name(to))
    }

    fn comment_table(table: &TableId, comment: &str) -> String {
        format!("ALTER TABLE {} MODIFY COMMENT {}", table_name(table), literal::changed_comment(comment))
    }

    fn list_jobs(table: &TableId) -> String {
        let mut sql = format!("SHOW ALTER TABLE COLUMN FROM {}", quote::name(table.database()));
        let name = table.table();
        // A name that is no plain literal is looked for in what comes.
        if !name.contains(['"', '\'', '\\']) {
            sql.push_str(&format!(" WHERE TableName = \"{name}\""));
        }
        sql
    }
}
