//! Renames that happen all at once, as statements that each do one.

use crate::SinkError;
use rowferry_model::TableId;

/// What a name that is parked begins with.
const PARKED: &str = "__rowferry_rename_";

/// What a name is parked under while two columns swap theirs.
fn parked(name: &str) -> String {
    format!("{PARKED}{name}")
}

/// Whether a name can't be taken for one that is parked.
///
/// # Errors
/// It can.
pub(super) fn check_not_parked(table: &TableId, name: &str) -> Result<(), SinkError> {
    if !name.starts_with(PARKED) {
        return Ok(());
    }
    Err(SinkError::permanent(format!("column `{name}` of {table} has a prefix that the sink keeps for itself"))
        .hint("rename it by a transform's projection"))
}

/// What a rename must know of a table that is there.
pub(super) trait Present {
    /// Whether there is a column of exactly that name.
    fn has(&self, name: &str) -> bool;

    /// Whether the column of one name could have the values that the column of another name has behind the change;
    /// tells a swap that is done from one that is not.
    fn fits(&self, there: &str, wanted: &str) -> bool;
}

/// Old and new name of each single rename that is missing, in order.
///
/// # Errors
/// A column is missing, or whether a swap has been done can't be told.
pub(super) fn renames(
    server: &str,
    table: &TableId,
    names: &[(String, String)],
    present: &dyn Present,
) -> Result<Vec<(String, String)>, SinkError> {
    let mut todo: Vec<(String, String)> = Vec::new();
    let in_cycle = |name: &String| names.iter().any(|(_, new)| new == name);
    let cyclic: Vec<&(String, String)> = names.iter().filter(|(old, new)| old != new && in_cycle(old)).collect();
    let resumed = names.iter().any(|(old, _)| present.has(&parked(old)));
    // In a chain, the names that nobody takes over tell whether it has been done.
    let mut left = names.iter().map(|(old, _)| old).filter(|old| !in_cycle(old)).peekable();
    if left.peek().is_some()
        && !resumed
        && left.all(|old| !present.has(old))
        && names.iter().all(|(_, new)| present.has(new))
    {
        return Ok(Vec::new());
    }
    if !cyclic.is_empty() && !resumed && cyclic.iter().all(|(_, new)| names.iter().any(|(old, _)| old == new)) {
        // Every name is there before and behind the change.
        let is_done = cyclic.iter().all(|(_, new)| present.fits(new, new));
        let is_ahead = cyclic.iter().all(|(old, new)| present.fits(old, new));
        match (is_done, is_ahead) {
            (true, false) => return Ok(Vec::new()),
            (false, true) => {}
            _ => {
                return Err(SinkError::unsupported(format!(
                    "columns of {table} swap their names and look alike, so that after a crash nothing would tell \
                     whether it has been done"
                ))
                .hint("rename them one after another at the source, or in the target by hand"));
            }
        }
    }
    // Names that another column must leave first are taken by way of a parking name.
    for (old, new) in names {
        if old == new {
            continue;
        }
        let park = parked(old);
        if present.has(&park) {
            continue;
        }
        if !present.has(old) {
            if present.has(new) {
                continue;
            }
            return Err(SinkError::permanent(format!(
                "column `{old}` of {table} is renamed to `{new}`, but {server} has neither"
            )));
        }
        // Servers take names that differ in case for the same.
        let only_case = old.to_lowercase() == new.to_lowercase();
        if only_case || in_cycle(old) || present.has(new) {
            todo.push((old.clone(), park));
        } else {
            todo.push((old.clone(), new.clone()));
        }
    }
    for (old, new) in names {
        let park = parked(old);
        if present.has(&park) || todo.iter().any(|(_, to)| *to == park) {
            todo.push((park, new.clone()));
        }
    }
    Ok(todo)
}
