//! The five values of `schema.change.behavior`: what each makes of a schema change.
//!
//! As Flink CDC does it (recordings `03` to `07`), but never with a result that loses values or that no sink can take;
//! `docs/differences.md` has the list.

use super::EvolveError;
use super::lattice::{altered_column, holds, widened};
use crate::config::SchemaChangeBehavior;
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, SchemaChange, TableId, TableSchema};

/// What a change becomes. `change` names the target; `evolved` is the schema that the target has.
///
/// The result can always be applied to `evolved`: what concerns a column that the target does not have, because its
/// addition was left out, is left out as well, and a column that it has already is not added again.
///
/// # Errors
/// LENIENT can't keep a key's column that the source no longer has.
pub fn rewrite(
    behavior: SchemaChangeBehavior,
    change: &SchemaChange,
    evolved: &TableSchema,
) -> Result<Vec<SchemaChange>, EvolveError> {
    let lenient = match behavior {
        SchemaChangeBehavior::Ignore => {
            return Ok(match change {
                SchemaChange::CreateTable { .. } => vec![change.clone()],
                _ => Vec::new(),
            });
        }
        SchemaChangeBehavior::Lenient => true,
        SchemaChangeBehavior::TryEvolve | SchemaChangeBehavior::Evolve | SchemaChangeBehavior::Exception => false,
    };
    let mut to = Rewriting { evolved, lenient, out: Rewritten::default() };
    match change {
        SchemaChange::AddColumns { columns, .. } => to.add(columns),
        SchemaChange::AlterColumns { columns, .. } => to.alter(columns),
        SchemaChange::RenameColumns { table, names } => to.rename(table, names)?,
        SchemaChange::DropColumns { table, names } => to.drop(table, names)?,
        SchemaChange::CreateTable { .. }
        | SchemaChange::DropTable { .. }
        | SchemaChange::TruncateTable { .. }
        | SchemaChange::AlterTableComment { .. } => return Ok(vec![change.clone()]),
    }
    Ok(to.out.into_changes(change.table()))
}

/// What the target needs when a change is not made after all, by the sink's lists or because the sink can't: columns that
/// the source no longer has, or has under another name, get NULL from now on and must be nullable. Columns of the key
/// stay as they are. `None`: nothing.
pub fn left_behind(change: &SchemaChange, evolved: &TableSchema) -> Option<SchemaChange> {
    let (table, gone): (_, Vec<&str>) = match change {
        SchemaChange::DropColumns { table, names } => (table, names.iter().map(String::as_str).collect()),
        SchemaChange::RenameColumns { table, names } => {
            let goes_on = |old: &str| names.iter().any(|(_, new)| evolved.index_of(new) == evolved.index_of(old));
            (table, names.iter().map(|(old, _)| old.as_str()).filter(|old| !goes_on(old)).collect())
        }
        _ => return None,
    };
    let key = evolved.key_indices();
    let columns: Vec<AlteredColumn> = gone
        .into_iter()
        .filter_map(|name| evolved.index_of(name))
        .filter(|index| !key.contains(index))
        .filter_map(|index| evolved.columns.get(index))
        .filter_map(|column| altered_column(column, column.data_type, true))
        .collect();
    (!columns.is_empty()).then(|| SchemaChange::AlterColumns { table: table.clone(), columns })
}

/// The parts of a rewritten change. Renames come first, as they take names away; columns are added before others are
/// altered, as Flink CDC does it.
#[derive(Default)]
struct Rewritten {
    renamed: Vec<(String, String)>,
    added: Vec<AddedColumn>,
    altered: Vec<AlteredColumn>,
    dropped: Vec<String>,
}

impl Rewritten {
    fn into_changes(self, table: &TableId) -> Vec<SchemaChange> {
        let mut changes = Vec::new();
        let table = || table.clone();
        if !self.renamed.is_empty() {
            changes.push(SchemaChange::RenameColumns { table: table(), names: self.renamed });
        }
        if !self.added.is_empty() {
            changes.push(SchemaChange::AddColumns { table: table(), columns: self.added });
        }
        if !self.altered.is_empty() {
            changes.push(SchemaChange::AlterColumns { table: table(), columns: self.altered });
        }
        if !self.dropped.is_empty() {
            changes.push(SchemaChange::DropColumns { table: table(), names: self.dropped });
        }
        changes
    }
}

struct Rewriting<'a> {
    evolved: &'a TableSchema,
    lenient: bool,
    out: Rewritten,
}

impl Rewriting<'_> {
    fn add(&mut self, columns: &[AddedColumn]) {
        for AddedColumn { column, position } in columns {
            if let Some(there) = self.evolved.column(&column.name) {
                self.widen(there, column);
            } else if self.lenient {
                self.add_last(column.clone());
            } else {
                let position = match position {
                    ColumnPosition::After(other) | ColumnPosition::Before(other) if !self.will_have(other) => {
                        ColumnPosition::Last
                    }
                    position => position.clone(),
                };
                self.out.added.push(AddedColumn { column: column.clone(), position });
            }
        }
    }

    fn alter(&mut self, columns: &[AlteredColumn]) {
        for altered in columns {
            let Some(there) = self.evolved.column(&altered.name) else { continue };
            let (data_type, nullable) = if self.lenient {
                // What was NOT NULL at the source before as well is not being tightened: the target's column is
                // nullable because older rows lack it.
                let stays_not_null = matches!(altered.old, Some((_, false)));
                let nullable = altered.nullable || (stays_not_null && there.nullable);
                // The wider type that the target has holds the new values as well as the old ones.
                let narrows = holds(there.data_type, altered.data_type);
                (if narrows { there.data_type } else { altered.data_type }, nullable)
            } else {
                (altered.data_type, altered.nullable)
            };
            let new_comment = altered.comment.is_some() && altered.comment != there.comment;
            if data_type != there.data_type || nullable != there.nullable || new_comment {
                self.out.altered.push(AlteredColumn {
                    name: there.name.clone(),
                    data_type,
                    nullable,
                    old: Some((there.data_type, there.nullable)),
                    comment: altered.comment.clone(),
                });
            }
        }
    }

    fn rename(&mut self, table: &TableId, names: &[(String, String)]) -> Result<(), EvolveError> {
        // Those whose column the target has, with its index.
        let mut known: Vec<(usize, &str)> = names
            .iter()
            .filter_map(|(old, new)| self.evolved.index_of(old).map(|index| (index, new.as_str())))
            .collect();
        if self.lenient {
            // Another spelling of the same name finds its column; a key's column can't be left behind.
            let key = self.evolved.key_indices();
            let (in_key, others): (Vec<_>, Vec<_>) = known
                .into_iter()
                .filter(|(index, new)| self.evolved.index_of(new) != Some(*index))
                .partition(|(index, _)| key.contains(index));
            for (index, new) in in_key {
                let Some(column) = self.evolved.columns.get(index) else { continue };
                if self.evolved.column(new).is_some() {
                    return Err(EvolveError::KeyColumn { table: table.clone(), column: column.name.clone() });
                }
                self.out.renamed.push((column.name.clone(), new.to_owned()));
            }
            self.leave_behind(&others, names);
        } else {
            // A name that is taken, by a column whose dropping was left out, can't be given: such a column and those
            // that wait for its name stay.
            let mut staying = Vec::new();
            loop {
                let freed: Vec<usize> = known.iter().map(|(index, _)| *index).collect();
                let (go, stay): (Vec<_>, Vec<_>) = known
                    .into_iter()
                    .partition(|(_, new)| self.evolved.index_of(new).is_none_or(|taken| freed.contains(&taken)));
                known = go;
                if stay.is_empty() {
                    break;
                }
                staying.extend(stay);
            }
            for (index, new) in known {
                if let Some(column) = self.evolved.columns.get(index) {
                    self.out.renamed.push((column.name.clone(), new.to_owned()));
                }
            }
            self.leave_behind(&staying, names);
        }
        Ok(())
    }

    /// Renames by a new column beside the old one, which gets NULL from now on.
    fn leave_behind(&mut self, renames: &[(usize, &str)], all: &[(String, String)]) {
        let evolved = self.evolved;
        for (index, new) in renames {
            let Some(old) = evolved.columns.get(*index) else { continue };
            match evolved.column(new) {
                Some(there) => self.widen(there, old),
                None => self.add_last(Column { name: (*new).to_owned(), ..old.clone() }),
            }
        }
        for (index, _) in renames {
            // Where names are swapped, the old name goes on with other values.
            let goes_on = all.iter().any(|(_, new)| evolved.index_of(new) == Some(*index));
            if let Some(old) = evolved.columns.get(*index).filter(|_| !goes_on) {
                self.out.altered.extend(altered_column(old, old.data_type, true));
            }
        }
    }

    fn drop(&mut self, table: &TableId, names: &[String]) -> Result<(), EvolveError> {
        let key = self.evolved.key_indices();
        for name in names {
            let Some(index) = self.evolved.index_of(name) else { continue };
            let Some(column) = self.evolved.columns.get(index) else { continue };
            if !self.lenient {
                self.out.dropped.push(column.name.clone());
            } else if key.contains(&index) {
                return Err(EvolveError::KeyColumn { table: table.clone(), column: column.name.clone() });
            } else {
                self.out.altered.extend(altered_column(column, column.data_type, true));
            }
        }
        Ok(())
    }

    fn add_last(&mut self, column: Column) {
        self.out
            .added
            .push(AddedColumn { column: Column { nullable: true, ..column }, position: ColumnPosition::Last });
    }

    /// Lets a column that is there take the values of another one, too.
    fn widen(&mut self, there: &Column, other: &Column) {
        let data_type = widened(there.data_type, other.data_type);
        self.out.altered.extend(altered_column(there, data_type, there.nullable || other.nullable));
    }

    fn will_have(&self, name: &str) -> bool {
        self.evolved.column(name).is_some()
            || self.out.added.iter().any(|added| added.column.name.to_lowercase() == name.to_lowercase())
    }
}
