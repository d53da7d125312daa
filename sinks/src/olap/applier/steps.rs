//! From a change and what is there to the statements that are missing.

use super::columns::Columns;
use super::ddl::{self, ColumnClause};
use super::dialect::Dialect;
use super::renames::check_not_parked;
use super::table::TargetTable;
use crate::SinkError;
use rowferry_model::{SchemaChange, TableId, TableSchema};

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Creates the database or the table.
    Create(String),
    /// Changes columns, maybe by a job.
    Alter(String),
    /// Has its effect each time, and can't be told to be done.
    Final(String),
}

impl Step {
    /// The statement.
    pub(super) fn sql(&self) -> &str {
        match self {
            Self::Create(sql) | Self::Alter(sql) | Self::Final(sql) => sql,
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
}

/// The statements that are missing, in order.
///
/// # Errors
/// The server can't do it, or what is there contradicts the change.
pub(super) fn steps<D: Dialect>(
    dialect: &D,
    change: &SchemaChange,
    after: Option<&TableSchema>,
    present: Option<&TargetTable<D>>,
) -> Result<Vec<Step>, SinkError> {
    let table = change.table();
    let after = after.map(|schema| dialect.shape(table, schema));
    let after = after.as_deref();
    if let SchemaChange::CreateTable { schema, .. } = change {
        // What rows of the table would need is checked before it exists.
        dialect.check_schema(table, schema)?;
        schema.columns.iter().try_for_each(|c| check_not_parked(table, &c.name))?;
    }
    let Some(present) = present else {
        return match change {
            SchemaChange::CreateTable { schema, .. } => Ok(create(dialect, table, &dialect.shape(table, schema))),
            // Truncated before a crash and dropped since.
            SchemaChange::DropTable { .. } | SchemaChange::TruncateTable { .. } => Ok(Vec::new()),
            _ => Err(SinkError::permanent(format!("{table} is changed, but {} has no such table", D::SERVER))
                .hint("was it dropped by hand? Then snapshot it again")),
        };
    };
    let columns = Columns { dialect, table, after, present };
    match change {
        SchemaChange::CreateTable { schema, .. } => {
            compare(dialect, table, &dialect.shape(table, schema), present).map(|()| Vec::new())
        }
        SchemaChange::DropTable { .. } => Ok(vec![Step::Final(ddl::drop_table(table))]),
        SchemaChange::TruncateTable { .. } => Ok(vec![Step::Final(ddl::truncate_table(table))]),
        SchemaChange::AlterTableComment { comment, .. } => {
            Ok(vec![Step::Final(D::comment_table(table, comment.as_deref().unwrap_or_default()))])
        }
        SchemaChange::AddColumns { columns: added, .. } => columns.add(added),
        SchemaChange::DropColumns { names, .. } => columns.drop(names),
        SchemaChange::RenameColumns { names, .. } => columns.rename(names),
        SchemaChange::AlterColumns { columns: altered, .. } => columns.alter(altered),
    }
}

fn create<D: Dialect>(dialect: &D, table: &TableId, schema: &TableSchema) -> Vec<Step> {
    let keys = schema.key_indices();
    let others = (0..schema.columns.len()).filter(|i| !keys.contains(i));
    let clauses: Vec<ColumnClause> = keys
        .iter()
        .copied()
        .chain(others)
        .filter_map(|i| schema.columns.get(i).map(|c| (keys.contains(&i), c)))
        .map(|(key, column)| {
            let target = dialect.target_type(column, key);
            ColumnClause {
                name: column.name.clone(),
                key: false,
                // A key always comes with its value.
                default: if key { None } else { super::columns::default_or_warn::<D>(table, column, &target) },
                nullable: !D::NOT_NULL || (column.nullable && !key),
                comment: super::columns::comment::<D>(column.comment.as_deref()),
                target: target.to_string(),
            }
        })
        .collect();
    let names: Vec<String> = keys.iter().filter_map(|i| schema.columns.get(*i)).map(|c| c.name.clone()).collect();
    vec![
        Step::Create(ddl::create_database(table.database())),
        Step::Create(dialect.create_table(table, schema, &clauses, &names)),
    ]
}

/// Whether rows of a schema can go into a table that is there.
fn compare<D: Dialect>(
    dialect: &D,
    table: &TableId,
    schema: &TableSchema,
    present: &TargetTable<D>,
) -> Result<(), SinkError> {
    D::check_kind(table, schema, &present.kind)?;
    let there: Vec<&str> = present.columns.iter().filter(|c| c.key).map(|c| c.name.as_str()).collect();
    // Their order decides how rows lie, not which rows are one.
    let same =
        there.len() == schema.primary_key.len() && schema.primary_key.iter().all(|k| there.contains(&k.as_str()));
    if !schema.primary_key.is_empty() && !same {
        return Err(SinkError::permanent(format!(
            "{table} exists in {} with the key ({}), but its rows have the key ({})",
            D::SERVER,
            there.join(", "),
            schema.primary_key.join(", ")
        ))
        .hint(
            "drop the table so that the sink creates it, or give the stream that key by a transform's `primary-keys`",
        ));
    }
    let columns = Columns { dialect, table, after: Some(schema), present };
    for column in &schema.columns {
        let Some(there) = present.column(&column.name) else {
            return Err(SinkError::permanent(format!(
                "{table} exists in {} without the column `{}`: its values would be lost without a word",
                D::SERVER,
                column.name
            ))
            .hint("add the column, or leave it out by a transform's projection"));
        };
        columns.warn_if_narrow(column, there);
    }
    Ok(())
}
