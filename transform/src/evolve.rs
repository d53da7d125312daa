//! Schema changes of the source as schema changes of the target.

use crate::error::RuleErrors;
use crate::plan::TablePlan;
use crate::rule::Transforms;
use rowferry_model::{AddedColumn, AlteredColumn, ColumnPosition, SchemaChange, TableSchema};
use std::sync::Arc;

/// What a schema change of the source means for the target.
#[derive(Debug)]
pub struct Evolved {
    /// The plan for the rows that follow.
    pub plan: Arc<TablePlan>,
    /// The changes of the target, in order; empty where the projection does not show the change.
    pub changes: Vec<SchemaChange>,
}

impl Transforms {
    /// Takes a schema change of a transformed table through its projection. `after`: the source's schema behind the change
    /// (for [`SchemaChange::DropTable`] and [`SchemaChange::TruncateTable`]: the one that it has).
    ///
    /// The target's columns keep their order, and new ones go where the change puts them: `ADD COLUMN` without a place adds
    /// behind all columns of the target, computed ones too (recording `11d`).
    ///
    /// # Errors
    /// The rule does not fit the new schema: it uses a column that is gone.
    pub fn evolve(
        &self,
        before: &TablePlan,
        change: &SchemaChange,
        after: &Arc<TableSchema>,
    ) -> Result<Evolved, RuleErrors> {
        let table = change.table();
        let fresh = |known: Option<&TableSchema>| -> Result<Arc<TablePlan>, RuleErrors> {
            let plan = self.for_table_like(table, after, known)?;
            // The rules did not change, so one still means the table.
            plan.ok_or_else(|| RuleErrors { table: table.to_string(), errors: Vec::new() })
        };
        match change {
            SchemaChange::CreateTable { table, .. } => {
                let plan = fresh(None)?;
                let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(plan.schema()) };
                Ok(Evolved { plan, changes: vec![change] })
            }
            SchemaChange::DropTable { .. }
            | SchemaChange::TruncateTable { .. }
            | SchemaChange::AlterTableComment { .. } => {
                Ok(Evolved { plan: fresh(Some(before.schema()))?, changes: vec![change.clone()] })
            }
            SchemaChange::AddColumns { .. }
            | SchemaChange::AlterColumns { .. }
            | SchemaChange::RenameColumns { .. }
            | SchemaChange::DropColumns { .. } => {
                let target = fresh(Some(before.schema()))?;
                let changes = difference(before.schema(), target.schema(), change);
                let mut order = before.schema().as_ref().clone();
                for change in &changes {
                    if let Ok(Some(next)) = order.apply(change) {
                        order = next;
                    }
                }
                Ok(Evolved { plan: fresh(Some(&order))?, changes })
            }
        }
    }
}

/// The changes that lead from one schema of the target to the next; `cause` says what was renamed and where columns go.
fn difference(from: &TableSchema, to: &TableSchema, cause: &SchemaChange) -> Vec<SchemaChange> {
    let table = cause.table();
    let mut changes = Vec::new();
    let mut now = from.clone();
    if let SchemaChange::RenameColumns { names, .. } = cause {
        let names: Vec<(String, String)> = names
            .iter()
            .filter(|(old, new)| has(from, old) && has(to, new) && (!has(to, old) || renamed_to(names, old)))
            .cloned()
            .collect();
        if !names.is_empty() {
            let change = SchemaChange::RenameColumns { table: table.clone(), names };
            if let Ok(Some(next)) = now.apply(&change) {
                now = next;
                changes.push(change);
            }
        }
    }
    let dropped: Vec<String> = now.columns.iter().filter(|c| !has(to, &c.name)).map(|c| c.name.clone()).collect();
    if !dropped.is_empty() {
        changes.push(SchemaChange::DropColumns { table: table.clone(), names: dropped });
    }
    let wanted = |name: &str| match cause {
        SchemaChange::AddColumns { columns, .. } => columns.iter().find(|added| added.column.name == name),
        _ => None,
    };
    let mut added: Vec<AddedColumn> = Vec::new();
    let order: Vec<&str> = match cause {
        SchemaChange::AddColumns { columns, .. } => columns.iter().map(|added| added.column.name.as_str()).collect(),
        _ => Vec::new(),
    };
    let mut new: Vec<_> = to.columns.iter().filter(|column| !has(&now, &column.name)).collect();
    new.sort_by_key(|column| order.iter().position(|name| *name == column.name).unwrap_or(usize::MAX));
    for column in new {
        let position = match wanted(&column.name).map(|added| &added.position) {
            None | Some(ColumnPosition::Last) => ColumnPosition::Last,
            Some(ColumnPosition::First) => ColumnPosition::First,
            Some(ColumnPosition::After(other)) if has(to, other) => ColumnPosition::After(other.clone()),
            Some(ColumnPosition::Before(other)) if has(to, other) => ColumnPosition::Before(other.clone()),
            Some(ColumnPosition::After(_) | ColumnPosition::Before(_)) => ColumnPosition::Last,
        };
        added.push(AddedColumn { column: column.clone(), position });
    }
    if !added.is_empty() {
        changes.push(SchemaChange::AddColumns { table: table.clone(), columns: added });
    }
    let altered: Vec<AlteredColumn> = to
        .columns
        .iter()
        .filter_map(|column| {
            let old = now.columns.iter().find(|old| old.name == column.name)?;
            let same =
                old.data_type == column.data_type && old.nullable == column.nullable && old.comment == column.comment;
            (!same).then(|| AlteredColumn {
                name: column.name.clone(),
                data_type: column.data_type,
                nullable: column.nullable,
                old: Some((old.data_type, old.nullable)),
                comment: column.comment.clone(),
            })
        })
        .collect();
    if !altered.is_empty() {
        changes.push(SchemaChange::AlterColumns { table: table.clone(), columns: altered });
    }
    changes
}

fn has(schema: &TableSchema, name: &str) -> bool {
    schema.columns.iter().any(|column| column.name == name)
}

/// Whether something else takes a name: two columns that swap theirs.
fn renamed_to(names: &[(String, String)], name: &str) -> bool {
    names.iter().any(|(_, new)| new == name)
}
