//! From a change and what is there to the statements that are missing.

use super::super::catalog::{Model, TargetColumn, TargetTable};
use super::super::config::Config;
use super::super::ddl::{self, ColumnClause};
use super::super::default_value::{default_sql, implied_sql, restated};
use super::super::literal;
use super::super::row_plan::{check_column_name, row_plan, target_type};
use super::super::sql::SqlError;
use super::super::target_type::TargetType;
use crate::SinkError;
use crate::olap::renames::{Present, renames};
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, SchemaChange, TableId, TableSchema};

/// Makes a table whose columns are no sort key, so that each can be of any type and be changed.
const WITHOUT_KEYS: &str = "enable_duplicate_without_keys_by_default";

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Creates the database or the table.
    Create {
        /// The statement.
        sql: String,
        /// Whether it is a table without a key.
        keyless: bool,
    },
    /// Changes columns, maybe by a job.
    Alter(String),
    /// Has its effect each time, and can't be told to be done.
    Final(String),
}

impl Step {
    /// The statement.
    pub(super) fn sql(&self) -> &str {
        match self {
            Self::Create { sql, .. } | Self::Alter(sql) | Self::Final(sql) => sql,
        }
    }

    /// Whether another job of the table can be in the way.
    pub(super) fn is_alter(&self) -> bool {
        !matches!(self, Self::Create { .. })
    }

    /// Whether the change is done with it.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Final(_))
    }

    /// The server's refusal.
    pub(super) fn refused(&self, table: &TableId, error: &SqlError) -> SinkError {
        let text = format!("Doris refuses a change of {table}: {error}; the statement was: {}", self.sql());
        let beyond_it = [
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
        let said = error.to_string();
        if beyond_it.iter().any(|part| said.contains(part)) {
            SinkError::unsupported(text)
        } else if said.contains("replication num") {
            SinkError::permanent(text)
                .hint("with fewer than three backends set `table.create.properties.replication_num: 1`")
        } else {
            SinkError::permanent(text)
        }
    }
}

/// The statements that are missing, in order.
///
/// # Errors
/// Doris can't do it, or what is there contradicts the change.
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
        (_, None) => Err(SinkError::permanent(format!("{table} is changed, but Doris has no such table"))
            .hint("was it dropped by hand? Then snapshot it again")),
        (SchemaChange::AlterTableComment { comment, .. }, Some(_)) => {
            Ok(vec![Step::Final(ddl::comment_table(table, comment.as_deref().unwrap_or_default()))])
        }
        (SchemaChange::AddColumns { columns, .. }, Some(present)) => add(table, columns, after, present),
        (SchemaChange::DropColumns { names, .. }, Some(present)) => drop(table, names, present),
        (SchemaChange::RenameColumns { names, .. }, Some(present)) => rename(table, names, after, present),
        (SchemaChange::AlterColumns { columns, .. }, Some(present)) => alter(table, columns, after, present),
    }
}

fn wanted_type(schema: Option<&TableSchema>, column: &Column) -> TargetType {
    let key = schema.is_some_and(|s| s.primary_key.contains(&column.name));
    target_type(column, key)
}

fn create(config: &Config, table: &TableId, schema: &TableSchema) -> Result<Vec<Step>, SinkError> {
    // What rows of the table would need is checked before it exists.
    row_plan(table, schema, config.deletes)?;
    let keys = schema.key_indices();
    let others = (0..schema.columns.len()).filter(|i| !keys.contains(i));
    let clauses: Vec<ColumnClause> = keys
        .iter()
        .copied()
        .chain(others)
        .filter_map(|i| schema.columns.get(i).map(|c| (keys.contains(&i), c)))
        .map(|(key, column)| {
            let target = target_type(column, key);
            ColumnClause {
                name: column.name.clone(),
                key: false,
                // A key always comes with its value.
                default: if key { None } else { default_or_warn(table, column, &target) },
                // As in Flink CDC: all take NULL.
                nullable: true,
                comment: column.comment.clone(),
                target,
            }
        })
        .collect();
    let names: Vec<String> = keys.iter().filter_map(|i| schema.columns.get(*i)).map(|c| c.name.clone()).collect();
    let mut properties = config.table_properties.clone();
    for (key, value) in &schema.options {
        let key = key.strip_prefix("table.create.properties.").unwrap_or(key).to_owned();
        properties.retain(|(k, _)| *k != key);
        properties.push((key, value.clone()));
    }
    let keyless = names.is_empty();
    if keyless && !properties.iter().any(|(k, _)| k == WITHOUT_KEYS) {
        properties.push((WITHOUT_KEYS.to_owned(), "true".to_owned()));
    }
    Ok(vec![
        Step::Create { sql: ddl::create_database(table.database()), keyless },
        Step::Create {
            sql: ddl::create_table(table, &clauses, &names, schema.comment.as_deref(), &properties),
            keyless,
        },
    ])
}

fn default_or_warn(table: &TableId, column: &Column, target: &TargetType) -> Option<String> {
    let sql = default_sql(column, target);
    if sql.is_none()
        && let Some(text) = &column.default
    {
        tracing::warn!("doris: `{}` of {table} gets no default: {target} can't have `{text}`", column.name);
    }
    sql
}

/// Whether rows of a schema can go into a table that is there.
fn compare(config: &Config, table: &TableId, schema: &TableSchema, present: &TargetTable) -> Result<(), SinkError> {
    row_plan(table, schema, config.deletes)?;
    let keyless = schema.primary_key.is_empty();
    let fits = match present.model {
        Model::Unique => !keyless,
        Model::Duplicate => keyless,
        Model::Aggregate => false,
    };
    if !fits {
        let (is, wanted) = match (present.model, keyless) {
            (Model::Unique, _) => ("with UNIQUE KEY", "its rows have no key"),
            (Model::Duplicate, _) => ("without UNIQUE KEY", "its rows are changed and deleted by their key"),
            (Model::Aggregate, _) => ("with AGGREGATE KEY", "that adds rows up"),
        };
        return Err(SinkError::permanent(format!("{table} exists in Doris {is}, but {wanted}"))
            .hint("drop the table so that the sink creates it"));
    }
    let mut keys: Vec<&str> = present.columns.iter().filter(|c| c.key).map(|c| c.name.as_str()).collect();
    let mut wanted: Vec<&str> = schema.primary_key.iter().map(String::as_str).collect();
    keys.sort_unstable();
    wanted.sort_unstable();
    if !keyless && keys != wanted {
        return Err(SinkError::permanent(format!(
            "{table} exists in Doris with the key ({}), but its rows have the key ({})",
            keys.join(", "),
            wanted.join(", ")
        ))
        .hint(
            "drop the table so that the sink creates it, or give the stream that key by a transform's `primary-keys`",
        ));
    }
    for column in &schema.columns {
        let Some(there) = present.column(&column.name) else {
            return Err(SinkError::permanent(format!(
                "{table} exists in Doris without the column `{}`: its values would be lost without a word",
                column.name
            ))
            .hint("add the column, or leave it out by a transform's projection"));
        };
        warn_if_narrow(table, column, Some(schema), there);
    }
    Ok(())
}

/// A column that is there may be narrower than the sink would make it: what does not fit is refused when it comes.
fn warn_if_narrow(table: &TableId, column: &Column, schema: Option<&TableSchema>, there: &TargetColumn) {
    let wanted = wanted_type(schema, column);
    if !there.target.holds(&wanted) {
        tracing::warn!(
            "doris: `{}` of {table} is {}, the sink would make it {wanted}: values that don't fit are refused",
            column.name,
            there.target
        );
    }
}

fn add(
    table: &TableId,
    columns: &[AddedColumn],
    after: Option<&TableSchema>,
    present: &TargetTable,
) -> Result<Vec<Step>, SinkError> {
    let mut clauses: Vec<(ColumnClause, Option<String>)> = Vec::new();
    for added in columns {
        let column = &added.column;
        check_column_name(table, &column.name)?;
        if let Some(there) = present.column_any_case(&column.name) {
            if there.name != column.name {
                return Err(SinkError::unsupported(format!(
                    "`{}` of {table} is added, but Doris has `{}` and takes the two names for one",
                    column.name, there.name
                ))
                .hint("drop the old column in Doris, or rename the new one by a transform"));
            }
            warn_if_narrow(table, column, after, there);
            continue;
        }
        if after.is_some_and(|s| s.primary_key.contains(&column.name)) {
            return Err(SinkError::unsupported(format!(
                "`{}` of {table} is added to the key, which makes other rows of those that are there",
                column.name
            ))
            .hint("snapshot the table again into a new one"));
        }
        let target = target_type(column, false);
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
                key: false,
                nullable: true,
                default,
                comment: column.comment.clone(),
            },
            behind,
        ));
    }
    Ok(if clauses.is_empty() { Vec::new() } else { vec![Step::Alter(ddl::add_columns(table, &clauses))] })
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

fn drop(table: &TableId, names: &[String], present: &TargetTable) -> Result<Vec<Step>, SinkError> {
    let mut there = Vec::new();
    for name in names {
        match present.column_any_case(name) {
            None => {}
            Some(column) if column.key => {
                return Err(SinkError::unsupported(format!(
                    "`{name}` of {table} is dropped, but is part of its key in Doris"
                ))
                .hint("snapshot the table again into a new one"));
            }
            Some(column) => there.push(column.name.clone()),
        }
    }
    Ok(if there.is_empty() { Vec::new() } else { vec![Step::Alter(ddl::drop_columns(table, &there))] })
}

/// A table as renames see it.
struct Shape<'a> {
    present: &'a TargetTable,
    after: Option<&'a TableSchema>,
}

impl Present for Shape<'_> {
    fn has(&self, name: &str) -> bool {
        self.present.column(name).is_some()
    }

    fn fits(&self, there: &str, wanted: &str) -> bool {
        match (self.present.column(there), self.after.and_then(|s| s.column(wanted))) {
            (Some(there), Some(column)) => there.target.holds(&wanted_type(self.after, column)),
            _ => false,
        }
    }
}

fn rename(
    table: &TableId,
    names: &[(String, String)],
    after: Option<&TableSchema>,
    present: &TargetTable,
) -> Result<Vec<Step>, SinkError> {
    for (_, new) in names {
        check_column_name(table, new)?;
    }
    let todo = renames("Doris", table, names, &Shape { present, after })?;
    if !todo.is_empty() && !present.light {
        return Err(SinkError::unsupported(format!(
            "a column of {table} is renamed, which Doris can't do in a table without `light_schema_change`"
        ))
        .hint("make the table with `light_schema_change` = true (the default since 2.0), or use `schema.change.behavior: lenient`"));
    }
    Ok(todo.into_iter().map(|(from, to)| Step::Alter(ddl::rename_column(table, &from, &to))).collect())
}

fn alter(
    table: &TableId,
    columns: &[AlteredColumn],
    after: Option<&TableSchema>,
    present: &TargetTable,
) -> Result<Vec<Step>, SinkError> {
    let mut modified = Vec::new();
    let mut comments = Vec::new();
    for altered in columns {
        let Some(there) = present.column_any_case(&altered.name) else {
            return Err(SinkError::permanent(format!(
                "column `{}` of {table} is changed, but Doris has no such column",
                altered.name
            )));
        };
        let described = after.and_then(|s| s.column(&altered.name)).cloned().unwrap_or_else(|| {
            let mut column = Column::new(&altered.name, altered.data_type);
            column.nullable = altered.nullable;
            column
        });
        let key = there.key || after.is_some_and(|s| s.primary_key.contains(&altered.name));
        let target = widened(&there.target, target_type(&described, key));
        // A column that takes NULL takes everything that is not.
        let nullable = there.nullable || (altered.nullable && !key);
        if target != there.target || nullable != there.nullable {
            modified.push(redefined(table, there, target, nullable)?);
        }
        if let Some(comment) = &altered.comment
            && there.comment != literal::changed_comment_stored(comment)
            && there.comment != literal::new_comment_stored(comment)
        {
            comments.push(Step::Alter(ddl::comment_column(table, &there.name, comment)));
        }
    }
    let mut steps = Vec::new();
    if !modified.is_empty() {
        steps.push(Step::Alter(ddl::modify_columns(table, &modified)));
    }
    steps.extend(comments);
    Ok(steps)
}

/// A column with another type. A default can't be changed, and must be said again; so must the comment.
fn redefined(
    table: &TableId,
    there: &TargetColumn,
    target: TargetType,
    nullable: bool,
) -> Result<ColumnClause, SinkError> {
    let default = match &there.default {
        None => None,
        Some(text) => Some(restated(text, &target).ok_or_else(|| {
            SinkError::unsupported(format!(
                "`{}` of {table} becomes {target}, but its default `{text}` can't be written again, as Doris asks for",
                there.name
            ))
        })?),
    };
    Ok(ColumnClause {
        name: there.name.clone(),
        key: there.key,
        default,
        nullable,
        comment: Some(there.comment.clone()),
        target,
    })
}

/// The type that a column of one type gets so that it holds another's values.
fn widened(from: &TargetType, to: TargetType) -> TargetType {
    if from.holds(&to) {
        return from.clone();
    }
    match (from, &to) {
        // Doris makes no decimal of an integer, but a wider integer.
        (_, TargetType::Decimal(_, 0)) if from.is_integer() && TargetType::LargeInt.holds(&to) => TargetType::LargeInt,
        // More digits behind the point must not cost digits before it.
        (TargetType::Decimal(p, s), TargetType::Decimal(wp, ws)) => {
            let scale = *s.max(ws);
            let whole = p.saturating_sub(*s).max(wp.saturating_sub(*ws));
            if whole.saturating_add(scale) <= 38 { TargetType::Decimal(whole + scale, scale) } else { to }
        }
        _ => to,
    }
}
