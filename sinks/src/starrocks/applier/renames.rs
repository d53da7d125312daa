//! Renames that happen all at once, as statements that each do one.

use super::super::catalog::TargetTable;
use super::super::target_type::TargetType;
use crate::SinkError;
use rowferry_model::TableId;

/// What a name is parked under while two columns swap theirs.
fn parked(name: &str) -> String {
    format!("__rowferry_rename_{name}")
}

/// Old and new name of each single rename that is missing, in order. `wanted` says which type a column has behind the
/// change: it tells a swap that is done from one that is not.
///
/// # Errors
/// A column is missing, or whether a swap has been done can't be told.
pub(super) fn renames(
    table: &TableId,
    names: &[(String, String)],
    present: &TargetTable,
    wanted: &dyn Fn(&str) -> Option<TargetType>,
) -> Result<Vec<(String, String)>, SinkError> {
    let mut todo: Vec<(String, String)> = Vec::new();
    let in_cycle = |name: &String| names.iter().any(|(_, new)| new == name);
    let cyclic: Vec<&(String, String)> = names.iter().filter(|(old, new)| old != new && in_cycle(old)).collect();
    let resumed = names.iter().any(|(old, _)| present.column(&parked(old)).is_some());
    // In a chain, the names that nobody takes over tell whether it has been done.
    let mut left = names.iter().map(|(old, _)| old).filter(|old| !in_cycle(old)).peekable();
    if left.peek().is_some()
        && !resumed
        && left.all(|old| present.column(old).is_none())
        && names.iter().all(|(_, new)| present.column(new).is_some())
    {
        return Ok(Vec::new());
    }
    if !cyclic.is_empty() && !resumed && cyclic.iter().all(|(_, new)| names.iter().any(|(old, _)| old == new)) {
        // Every name is there before and behind the change.
        let fits = |there: &str, name: &str| match (present.column(there), wanted(name)) {
            (Some(column), Some(target)) => column.target.holds(&target),
            _ => false,
        };
        let is_done = cyclic.iter().all(|(_, new)| fits(new, new));
        let is_ahead = cyclic.iter().all(|(old, new)| fits(old, new));
        match (is_done, is_ahead) {
            (true, false) => return Ok(Vec::new()),
            (false, true) => {}
            _ => {
                return Err(SinkError::unsupported(format!(
                    "columns of {table} swap their names and look alike, so that after a crash nothing would tell \
                     whether it has been done"
                ))
                .hint("rename them one after another at the source, or in StarRocks by hand"));
            }
        }
    }
    // Names that another column must leave first are taken by way of a parking name.
    for (old, new) in names {
        if old == new {
            continue;
        }
        let park = parked(old);
        if present.column(&park).is_some() {
            continue;
        }
        if present.column(old).is_none() {
            if present.column(new).is_some() {
                continue;
            }
            return Err(SinkError::permanent(format!(
                "column `{old}` of {table} is renamed to `{new}`, but StarRocks has neither"
            )));
        }
        // StarRocks takes names that differ in case for the same.
        let only_case = old.to_lowercase() == new.to_lowercase();
        if only_case || in_cycle(old) || present.column(new).is_some() {
            todo.push((old.clone(), park));
        } else {
            todo.push((old.clone(), new.clone()));
        }
    }
    for (old, new) in names {
        let park = parked(old);
        if present.column(&park).is_some() || todo.iter().any(|(_, to)| *to == park) {
            todo.push((park, new.clone()));
        }
    }
    Ok(todo)
}
