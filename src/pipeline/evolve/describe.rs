//! Schema changes in words, for logs and errors.

use rowferry_model::SchemaChange;

/// A change in a few words, for example ``add.column `a` INT``.
pub(super) fn change(change: &SchemaChange) -> String {
    let tag = change.kind().tag();
    let what: Vec<String> = match change {
        SchemaChange::AddColumns { columns, .. } => columns
            .iter()
            .map(|added| {
                let not_null = if added.column.nullable { "" } else { " NOT NULL" };
                format!("`{}` {}{not_null}", added.column.name, added.column.data_type)
            })
            .collect(),
        SchemaChange::AlterColumns { columns, .. } => columns
            .iter()
            .map(|altered| {
                let not_null = if altered.nullable { "" } else { " NOT NULL" };
                format!("`{}` {}{not_null}", altered.name, altered.data_type)
            })
            .collect(),
        SchemaChange::RenameColumns { names, .. } => {
            names.iter().map(|(old, new)| format!("`{old}` to `{new}`")).collect()
        }
        SchemaChange::DropColumns { names, .. } => names.iter().map(|name| format!("`{name}`")).collect(),
        SchemaChange::CreateTable { .. }
        | SchemaChange::DropTable { .. }
        | SchemaChange::TruncateTable { .. }
        | SchemaChange::AlterTableComment { .. } => Vec::new(),
    };
    if what.is_empty() { tag.to_owned() } else { format!("{tag} {}", what.join(", ")) }
}

/// What a target goes on without when it can't make a change.
pub(super) fn lacking(change: &SchemaChange) -> String {
    let target = change.table();
    match change {
        SchemaChange::CreateTable { .. } => format!("{target} is not created"),
        SchemaChange::AddColumns { columns, .. } => {
            let names: Vec<_> = columns.iter().map(|added| format!("`{}`", added.column.name)).collect();
            format!("{target} does not get {}: the values are left out", names.join(", "))
        }
        SchemaChange::AlterColumns { columns, .. } => {
            let names: Vec<_> = columns.iter().map(|altered| format!("`{}`", altered.name)).collect();
            format!("{target} keeps the type of {}: a value that does not fit it will stop the run", names.join(", "))
        }
        SchemaChange::RenameColumns { names, .. } => {
            let names: Vec<_> = names.iter().map(|(old, new)| format!("`{old}` (now `{new}`)")).collect();
            format!("{target} keeps {}: NULL from now on, and the new name's values are left out", names.join(", "))
        }
        SchemaChange::DropColumns { names, .. } => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("{target} keeps {}: NULL from now on", names.join(", "))
        }
        SchemaChange::DropTable { .. } => format!("{target} is kept, with its rows"),
        SchemaChange::TruncateTable { .. } => format!("{target} keeps the rows that the source has removed"),
        SchemaChange::AlterTableComment { .. } => format!("{target} keeps its comment"),
    }
}
