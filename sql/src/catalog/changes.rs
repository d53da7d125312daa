//! From effects to the schema changes of the stream.

use super::{AlterStep, Effect};
use crate::{ColumnDef, MappingOptions, TableDef, UnsupportedType};
use rowferry_model::{AddedColumn, AlteredColumn, SchemaChange, TableId, TableSchema};
use std::sync::Arc;

impl Effect {
    /// The schema changes that carry this effect into the stream, in order.
    ///
    /// They are Flink CDC's: one for each clause of an ALTER TABLE, in the clauses' order, as long as that leads from
    /// the old columns to the new ones. Where it does not (two columns swap their names, a clause uses a name that
    /// another clause makes) the order is: drop, alter, rename all at once, add.
    ///
    /// Nothing comes of renamed tables and of dropped databases, as in Flink CDC, nor of changed defaults, keys,
    /// charsets and partitions. A column that is only moved changes nothing in the stream either: there, values follow
    /// their names.
    ///
    /// # Errors
    /// A new column's type has no counterpart in the stream.
    pub fn schema_changes(&self, options: &MappingOptions) -> Result<Vec<SchemaChange>, UnsupportedType> {
        Ok(match self {
            Self::Created { table, def } => {
                vec![SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(def.to_schema(options)?) }]
            }
            Self::Altered { table, before, after, steps } => altered(table, before, after, steps, options)?,
            Self::Dropped { table, with_database: false } => vec![SchemaChange::DropTable { table: table.clone() }],
            Self::Truncated { table } => vec![SchemaChange::TruncateTable { table: table.clone() }],
            Self::Dropped { with_database: true, .. } | Self::Renamed { .. } | Self::PartitionsChanged { .. } => {
                vec![]
            }
        })
    }
}

fn altered(
    table: &TableId,
    before: &TableDef,
    after: &TableDef,
    steps: &[AlterStep],
    options: &MappingOptions,
) -> Result<Vec<SchemaChange>, UnsupportedType> {
    let old = before.to_schema(options)?;
    let new = after.to_schema(options)?;
    let comment = steps.iter().any(|s| matches!(s, AlterStep::Comment(_))) && old.comment != new.comment;
    let in_order = in_clause_order(table, before, steps, options)?;
    let mut changes = if leads(&old, &new, &in_order) { in_order } else { regrouped(table, before, steps, options)? };
    if comment {
        changes.push(SchemaChange::AlterTableComment { table: table.clone(), comment: new.comment });
    }
    Ok(changes)
}

/// Whether the changes lead from one schema to the other, the order of columns aside.
fn leads(old: &TableSchema, new: &TableSchema, changes: &[SchemaChange]) -> bool {
    let mut schema = old.clone();
    for change in changes {
        match schema.apply(change) {
            Ok(Some(next)) => schema = next,
            _ => return false,
        }
    }
    schema.columns.len() == new.columns.len()
        && schema.columns.iter().all(|c| new.columns.iter().any(|n| n.name == c.name && n.data_type == c.data_type))
}

/// One column's new type, if type, nullability or (where comments are carried) comment differ.
fn alter(
    before: &TableDef,
    old: &str,
    column: &ColumnDef,
    options: &MappingOptions,
) -> Result<Option<AlteredColumn>, UnsupportedType> {
    let new = column.to_column(options)?;
    let Some(was) = before.index_of(old).map(|i| before.columns[i].to_column(options)).transpose()? else {
        return Ok(None);
    };
    let same = (was.data_type, was.nullable, &was.comment) == (new.data_type, new.nullable, &new.comment);
    Ok((!same).then(|| AlteredColumn {
        name: was.name.clone(),
        data_type: new.data_type,
        nullable: new.nullable,
        old: Some((was.data_type, was.nullable)),
        comment: new.comment.or_else(|| was.comment.map(|_| String::new())),
    }))
}

fn in_clause_order(
    table: &TableId,
    before: &TableDef,
    steps: &[AlterStep],
    options: &MappingOptions,
) -> Result<Vec<SchemaChange>, UnsupportedType> {
    let mut changes = vec![];
    for step in steps {
        match step {
            AlterStep::Add(columns) => changes.push(add(table, columns, options)?),
            AlterStep::Change { old, column } => {
                let altered = alter(before, old, column, options)?;
                changes.extend(altered.map(|c| SchemaChange::AlterColumns { table: table.clone(), columns: vec![c] }));
                if *old != column.name {
                    let names = vec![(old.clone(), column.name.clone())];
                    changes.push(SchemaChange::RenameColumns { table: table.clone(), names });
                }
            }
            AlterStep::Rename { old, new } => {
                let names = vec![(old.clone(), new.clone())];
                changes.push(SchemaChange::RenameColumns { table: table.clone(), names });
            }
            AlterStep::Drop(name) => {
                changes.push(SchemaChange::DropColumns { table: table.clone(), names: vec![name.clone()] });
            }
            AlterStep::Comment(_) => {}
        }
    }
    Ok(changes)
}

fn add(
    table: &TableId,
    columns: &[(ColumnDef, rowferry_model::ColumnPosition)],
    options: &MappingOptions,
) -> Result<SchemaChange, UnsupportedType> {
    let columns = columns
        .iter()
        .map(|(column, position)| Ok(AddedColumn { column: column.to_column(options)?, position: position.clone() }))
        .collect::<Result<_, _>>()?;
    Ok(SchemaChange::AddColumns { table: table.clone(), columns })
}

/// Drop, alter, rename all at once, add.
fn regrouped(
    table: &TableId,
    before: &TableDef,
    steps: &[AlterStep],
    options: &MappingOptions,
) -> Result<Vec<SchemaChange>, UnsupportedType> {
    let (mut dropped, mut altered, mut renamed, mut added) = (vec![], vec![], vec![], vec![]);
    for step in steps {
        match step {
            AlterStep::Drop(name) => dropped.push(name.clone()),
            AlterStep::Change { old, column } => {
                altered.extend(alter(before, old, column, options)?);
                if *old != column.name {
                    renamed.push((old.clone(), column.name.clone()));
                }
            }
            AlterStep::Rename { old, new } => renamed.push((old.clone(), new.clone())),
            AlterStep::Add(columns) => added.push(add(table, columns, options)?),
            AlterStep::Comment(_) => {}
        }
    }
    let mut changes = vec![];
    let table = || table.clone();
    if !dropped.is_empty() {
        changes.push(SchemaChange::DropColumns { table: table(), names: dropped });
    }
    if !altered.is_empty() {
        changes.push(SchemaChange::AlterColumns { table: table(), columns: altered });
    }
    if !renamed.is_empty() {
        changes.push(SchemaChange::RenameColumns { table: table(), names: renamed });
    }
    changes.extend(added);
    Ok(changes)
}
