//! Table options that this sink refuses, because rows would be invisible or wrong without a word.

use crate::SinkError;
use rowferry_model::TableId;

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

/// Refuses a table without a key whose options only a table with one can have, before its first row would fail.
///
/// # Errors
/// The options ask for fixed buckets but do not say how rows are spread over them, or for a changelog.
pub(super) fn check_keyless<'a>(table: &TableId, option: impl Fn(&str) -> Option<&'a str>) -> Result<(), SinkError> {
    let fixed = option("bucket").and_then(|b| b.trim().parse::<i32>().ok()).is_some_and(|b| b > 0);
    if fixed && option("bucket-key").is_none() {
        return Err(SinkError::permanent(format!(
            "paimon sink: {table} has no primary key; with a fixed number of buckets Paimon wants a `bucket-key` for it"
        ))
        .hint("set `table-options: bucket=-1` for this table in a `transform` rule, or give it `primary-keys`"));
    }
    if option("changelog-producer").is_some_and(|p| !p.trim().eq_ignore_ascii_case("none")) {
        return Err(SinkError::permanent(format!(
            "paimon sink: {table} has no primary key, so it can't have a `changelog-producer`"
        ))
        .hint("set `table-options: changelog-producer=none` for this table in a `transform` rule, or give it `primary-keys`"));
    }
    Ok(())
}

/// Says what options make of a table that is no copy of its source.
pub(super) fn warn_of_merging(table: &TableId, engine: Option<&str>) {
    if let Some(engine) = engine.filter(|e| !e.trim().eq_ignore_ascii_case("deduplicate")) {
        tracing::warn!(%table, "`merge-engine: {engine}` merges rows of one key: the table is no copy of its source");
    }
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
