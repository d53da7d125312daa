//! From a change and what is there to the statements that are missing.

use super::super::catalog::{TargetColumn, TargetTable};
use super::super::config::Config;
use super::super::ddl::{self, ColumnClause};
use super::super::default_value::{default_sql, implied_sql};
use super::super::row_plan::{check_column_name, row_plan, target_type};
use super::super::target_type::TargetType;
use crate::SinkError;
use crate::olap::mysql::SqlError;
use crate::olap::renames::{Present, renames};
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, SchemaChange, TableId, TableSchema};

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Creates the database or the table.
    Create(String),
    /// Changes columns, maybe by a job.
    Alter(String),
    /// Gives a column another name.
    Rename {
        /// The statement.
        sql: String,
    },
    /// Has its effect each time, and can't be told to be done.
    Final(String),
}

impl Step {
    /// The statement.
    pub(super) fn sql(&self) -> &str {
        match self {
            Self::Create(sql) | Self::Alter(sql) | Self::Rename { sql } | Self::Final(sql) => sql,
        }
    }

    /// Whether another job of the table can be in the way.
    pub(super) fn is_alter(&self) -> bool {
        !matches!(self, Self::Create(_))
    }

    /// Whether the change is done with it.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Final(_))
    }

    /// The server's refusal.
    pub(super) fn refused(&self, table: &TableId, error: &SqlError) -> SinkError {
        let text = format!("StarRocks refuses a change of {table}: {error}; the statement was: {}", self.sql());
        let SqlError::Server { code, message, .. } = error else { return SinkError::transient(text) };
        let beyond_it = [
            "Can not change",
            "Can not modify key column",
            "Can not drop key column",
            "Can not drop sort column",
            "Cannot shorten string length",
            "already exists in column id",
            "do not support",
            "needs minimum length",
        ];
        if *code == 5203 {
            SinkError::permanent(text).hint("the user lacks a privilege, see docs/sinks/starrocks.md")
        } else if beyond_it.iter().any(|part| message.contains(part)) {
            SinkError::unsupported(text)
        } else {
            SinkError::permanent(text)
        }
    }
}

/// The statements that are missing, in order.
///
/// # Errors
/// StarRocks can't do it, or what is there contradicts the change.
pub(super) fn steps(
    config: &Config,
    change: &SchemaChange,
    after: Option<&TableSchema>,
    present: Option<&TargetTable>,
) -> Result<Vec<Step>, SinkError> {
    let table = change.table();
    match (change, present) {
        (SchemaChange::CreateTable { schema, .. }, None) => create(config, table, schema),
        (SchemaChange::CreateTable { schema, .. }, Some(present)) => {
            compare(config, table, schema, present).map(|()| Vec::new())
        }
        (SchemaChange::DropTable { .. }, None) => Ok(Vec::new()),
        (SchemaChange::DropTable { .. }, Some(_)) => Ok(vec![Step::Final(ddl::drop_table(table))]),
        // Truncated before a crash and dropped since.
        (SchemaChange::TruncateTable { .. }, None) => Ok(Vec::new()),
        (SchemaChange::TruncateTable { .. }, Some(_)) => Ok(vec![Step::Final(ddl::truncate_table(table))]),
        (_, None) => Err(SinkError::permanent(format!("{table} is changed, but StarRocks has no such table"))
            .hint("was it dropped by hand? Then snapshot it again")),
        (SchemaChange::AlterTableComment { comment, .. }, Some(_)) => {
            Ok(vec![Step::Final(ddl::comment_table(table, comment.as_deref().unwrap_or_default()))])
        }
        (SchemaChange::AddColumns { columns, .. }, Some(present)) => add(config, table, columns, after, present),
        (SchemaChange::DropColumns { names, .. }, Some(present)) => drop(config, table, names, present),
        (SchemaChange::RenameColumns { names, .. }, Some(present)) => {
            for (_, new) in names {
                check_column_name(table, new)?;
            }
            let shape = Shape { config, present, after };
            Ok(renames("StarRocks", table, names, &shape)?
                .into_iter()
                .map(|(from, to)| Step::Rename { sql: ddl::rename_column(table, &from, &to) })
                .collect())
        }
        (SchemaChange::AlterColumns { columns, .. }, Some(present)) => alter(config, table, columns, after, present),
    }
}

/// A table as renames see it.
struct Shape<'a> {
    config: &'a Config,
    present: &'a TargetTable,
    after: Option<&'a TableSchema>,
}

impl Present for Shape<'_> {
    fn has(&self, name: &str) -> bool {
        self.present.column(name).is_some()
    }

    fn fits(&self, there: &str, wanted: &str) -> bool {
        match (self.present.column(there), self.after.and_then(|s| s.column(wanted))) {
            (Some(there), Some(column)) => there.target.holds(&wanted_type(self.config, self.after, column)),
            _ => false,
        }
    }
}

fn wanted_type(config: &Config, schema: Option<&TableSchema>, column: &Column) -> TargetType {
    let key = schema.is_some_and(|s| s.primary_key.contains(&column.name));
    target_type(column, key, config.char_bytes)
}

fn create(config: &Config, table: &TableId, schema: &TableSchema) -> Result<Vec<Step>, SinkError> {
    // What rows of the table would need is checked before it exists.
    row_plan(table, schema, config.char_bytes, config.has_own_columns())?;
    let keys = schema.key_indices();
    let others = (0..schema.columns.len()).filter(|i| !keys.contains(i));
    let clauses: Vec<ColumnClause> = keys
        .iter()
        .copied()
        .chain(others)
        .filter_map(|i| schema.columns.get(i).map(|c| (keys.contains(&i), c)))
        .map(|(key, column)| {
            let target = target_type(column, key, config.char_bytes);
            let default = if key { None } else { default_or_warn(table, column, &target) };
            ColumnClause {
                name: column.name.clone(),
                default,
                nullable: column.nullable && !key,
                comment: column.comment.clone(),
                target,
            }
        })
        .collect();
    let names: Vec<String> = keys.iter().filter_map(|i| schema.columns.get(*i)).map(|c| c.name.clone()).collect();
    let mut properties = config.table_properties.clone();
    for (key, value) in &schema.options {
        let key = key.strip_prefix("table.create.properties.").unwrap_or(key).to_ascii_lowercase();
        properties.retain(|(k, _)| *k != key);
        properties.push((key, value.clone()));
    }
    Ok(vec![
        Step::Create(ddl::create_database(table.database())),
        Step::Create(ddl::create_table(
            table,
            &clauses,
            &names,
            schema.comment.as_deref(),
            config.buckets,
            &properties,
        )),
    ])
}

fn default_or_warn(table: &TableId, column: &Column, target: &TargetType) -> Option<String> {
    let sql = default_sql(column, target);
    if sql.is_none()
        && let Some(text) = &column.default
    {
        tracing::warn!("starrocks: `{}` of {table} gets no default: {target} can't have `{text}`", column.name);
    }
    sql
}

/// Whether rows of a schema can go into a table that is there.
fn compare(config: &Config, table: &TableId, schema: &TableSchema, present: &TargetTable) -> Result<(), SinkError> {
    row_plan(table, schema, config.char_bytes, config.has_own_columns())?;
    if !present.primary {
        return Err(SinkError::permanent(format!(
            "{table} exists in StarRocks, but not as a primary key table: it takes no updates"
        ))
        .hint("create it with PRIMARY KEY, or drop it so that the sink creates it"));
    }
    let keys: Vec<&str> = present.columns.iter().filter(|c| c.key).map(|c| c.name.as_str()).collect();
    if keys != schema.primary_key {
        return Err(SinkError::permanent(format!(
            "{table} exists in StarRocks with the key ({}), but its rows have the key ({})",
            keys.join(", "),
            schema.primary_key.join(", ")
        ))
        .hint(
            "drop the table so that the sink creates it, or give the stream that key by a transform's `primary-keys`",
        ));
    }
    for column in &schema.columns {
        let Some(there) = present.column(&column.name) else {
            return Err(SinkError::permanent(format!(
                "{table} exists in StarRocks without the column `{}`: its values would be lost without a word",
                column.name
            ))
            .hint("add the column, or leave it out by a transform's projection"));
        };
        warn_if_narrow(config, table, column, Some(schema), there);
    }
    Ok(())
}

/// A column that is there may be narrower than the sink would make it: what does not fit is refused when it comes.
fn warn_if_narrow(
    config: &Config,
    table: &TableId,
    column: &Column,
    schema: Option<&TableSchema>,
    there: &TargetColumn,
) {
    let wanted = wanted_type(config, schema, column);
    if !there.target.holds(&wanted) {
        tracing::warn!(
            "starrocks: `{}` of {table} is {}, the sink would make it {wanted}: values that don't fit are refused",
            column.name,
            there.target
        );
    }
}

fn add(
    config: &Config,
    table: &TableId,
    columns: &[AddedColumn],
    after: Option<&TableSchema>,
    present: &TargetTable,
) -> Result<Vec<Step>, SinkError> {
    let mut clauses = Vec::new();
    for added in columns {
        let column = &added.column;
        check_column_name(table, &column.name)?;
        if let Some(there) = present.column_any_case(&column.name) {
            if there.name != column.name {
                return Err(SinkError::unsupported(format!(
                    "`{}` of {table} is added, but StarRocks has `{}` and takes the two names for one",
                    column.name, there.name
                ))
                .hint("drop the old column in StarRocks, or rename the new one by a transform"));
            }
            warn_if_narrow(config, table, column, after, there);
            continue;
        }
        if after.is_some_and(|s| s.primary_key.contains(&column.name)) {
            return Err(SinkError::unsupported(format!(
                "`{}` of {table} is added to the key, which StarRocks can't do",
                column.name
            ))
            .hint("snapshot the table again into a new one"));
        }
        let target = target_type(column, false, config.char_bytes);
        // Rows that are there get in MySQL what the default says, or the type's zero.
        let default = match default_or_warn(table, column, &target) {
            None if !column.nullable && column.default.is_none() => implied_sql(&target),
            default => default,
        };
        let behind = neighbour(added, present, &clauses);
        clauses.push((
            ColumnClause {
                name: column.name.clone(),
                target,
                nullable: true,
                default,
                comment: column.comment.clone(),
            },
            behind,
        ));
    }
    Ok(if clauses.is_empty() {
        Vec::new()
    } else {
        vec![Step::Alter(ddl::add_columns(table, &clauses, config.schema_change_timeout))]
    })
}

/// The column that a new one comes behind; `None`: the last.
fn neighbour(added: &AddedColumn, present: &TargetTable, before: &[(ColumnClause, Option<String>)]) -> Option<String> {
    // No column can come before or among the key's.
    let behind_key = || present.last_key().map(|c| c.name.clone());
    match &added.position {
        ColumnPosition::Last => None,
        ColumnPosition::First => behind_key(),
        ColumnPosition::After(name) => match present.column_any_case(name) {
            Some(column) if column.key => behind_key(),
            Some(column) => Some(column.name.clone()),
            None => before.iter().find(|(c, _)| c.name == *name).map(|(c, _)| c.name.clone()),
        },
        ColumnPosition::Before(name) => {
            let at = present.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))?;
            match at.checked_sub(1).and_then(|i| present.columns.get(i)) {
                Some(column) if !column.key => Some(column.name.clone()),
                _ => behind_key(),
            }
        }
    }
}

fn drop(config: &Config, table: &TableId, names: &[String], present: &TargetTable) -> Result<Vec<Step>, SinkError> {
    let mut there = Vec::new();
    for name in names {
        match present.column_any_case(name) {
            None => {}
            Some(column) if column.key => {
                return Err(SinkError::unsupported(format!(
                    "`{name}` of {table} is dropped, but is part of its key in StarRocks"
                ))
                .hint("snapshot the table again into a new one"));
            }
            Some(column) => there.push(column.name.clone()),
        }
    }
    Ok(if there.is_empty() {
        Vec::new()
    } else {
        vec![Step::Alter(ddl::drop_columns(table, &there, config.schema_change_timeout))]
    })
}

fn alter(
    config: &Config,
    table: &TableId,
    columns: &[AlteredColumn],
    after: Option<&TableSchema>,
    present: &TargetTable,
) -> Result<Vec<Step>, SinkError> {
    let mut modified = Vec::new();
    let mut steps = Vec::new();
    for altered in columns {
        let Some(there) = present.column_any_case(&altered.name) else {
            return Err(SinkError::permanent(format!(
                "column `{}` of {table} is changed, but StarRocks has no such column",
                altered.name
            )));
        };
        let described = after.and_then(|s| s.column(&altered.name)).cloned().unwrap_or_else(|| {
            let mut column = Column::new(&altered.name, altered.data_type);
            column.nullable = altered.nullable;
            column
        });
        let key = there.key || after.is_some_and(|s| s.primary_key.contains(&altered.name));
        let target = widened(&there.target, target_type(&described, key, config.char_bytes));
        // A column that takes NULL takes everything that is not.
        let nullable = there.nullable || (altered.nullable && !key);
        let comment = altered.comment.clone().unwrap_or_else(|| there.comment.clone());
        if target == there.target && nullable == there.nullable {
            if comment != there.comment {
                steps.push(Step::Alter(ddl::comment_column(table, &there.name, &comment)));
            }
            continue;
        }
        if there.key {
            return Err(SinkError::unsupported(format!(
                "`{}` of {table} becomes {target}, but is part of its key in StarRocks ({}), which can't be changed",
                there.name, there.target
            ))
            .hint("snapshot the table again into a new one"));
        }
        modified.push(redefined(there, target, nullable, comment));
    }
    if !modified.is_empty() {
        // One job for all of them, before the comments: a job and a comment in one statement lose the job.
        steps.insert(0, Step::Alter(ddl::modify_columns(table, &modified, config.schema_change_timeout)));
    }
    Ok(steps)
}

fn redefined(there: &TargetColumn, target: TargetType, nullable: bool, comment: String) -> ColumnClause {
    // A default can't be changed, and must be said again.
    ColumnClause { name: there.name.clone(), default: there.default.clone(), nullable, comment: Some(comment), target }
}

/// The type that a column of one type gets so that it holds another's values.
fn widened(from: &TargetType, to: TargetType) -> TargetType {
    if from.holds(&to) {
        return from.clone();
    }
    match &to {
        // StarRocks makes no decimal of an integer, but a wider integer.
        TargetType::Decimal(_, 0) if from.is_integer() && TargetType::LargeInt.holds(&to) => TargetType::LargeInt,
        _ => to,
    }
}
