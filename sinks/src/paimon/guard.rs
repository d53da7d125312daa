//! Table options that this sink refuses, because rows would be invisible or wrong without a word.

use crate::SinkError;

/// Refuses options of a table.
///
/// # Errors
/// An option would make rows invisible or wrong; the error says which, where it stands, why, and the way out.
pub(super) fn refuse_options<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
    place: &str,
) -> Result<(), SinkError> {
    for (key, value) in options {
        if let Some((why, way_out)) = refusal(key, value.trim()) {
            return Err(SinkError::permanent(format!(
                "paimon sink: table option `{key}: {value}` of {place} is refused: {why}"
            ))
            .hint(way_out));
        }
    }
    Ok(())
}

/// Why an option is refused, and the way out.
fn refusal(key: &str, value: &str) -> Option<(&'static str, &'static str)> {
    let is = |wanted: &str| value.eq_ignore_ascii_case(wanted);
    match key {
        "deletion-vectors.enabled" if is("true") => Some((
            "readers of such a table skip new files until another engine has compacted it, so fresh rows would be \
             invisible",
            "leave it out; rows are merged when they are read",
        )),
        "bucket" if is("-2") => Some((
            "rows in postponed buckets are invisible until another engine has compacted the table",
            "use `bucket: -1` (dynamic) or a fixed number of buckets such as `bucket: 4`",
        )),
        "merge-engine" if is("first-row") => Some((
            "readers of such a table skip new files until another engine has compacted it, and updates are dropped",
            "use `merge-engine: deduplicate`, the default",
        )),
        "rowkind.field" if !value.is_empty() => Some((
            "the kind of a change would be read from a column and deletes of the source would be lost",
            "leave it out",
        )),
        "type" if !is("table") => Some((
            "such a table has no snapshots, so a commit could not be repeated safely after a crash",
            "leave it out",
        )),
        "branch" if !is("main") => {
            Some(("rows would be written where readers of the table do not look", "leave it out"))
        }
        "query-auth.enabled" if is("true") => Some(("the table could not be read back", "leave it out")),
        _ => None,
    }
}
