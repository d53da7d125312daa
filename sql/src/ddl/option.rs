//! Options of tables, and PARTITION BY.

use super::ast::{CharsetOptions, TableOptions};
use super::attribute::value;
use super::cursor::{Cursor, Parsed};

/// Options that are a word and one value.
const PLAIN: &[&str] = &[
    "ENGINE",
    "TYPE",
    "AUTO_INCREMENT",
    "AUTOEXTEND_SIZE",
    "AVG_ROW_LENGTH",
    "CHECKSUM",
    "COMPRESSION",
    "CONNECTION",
    "DELAY_KEY_WRITE",
    "ENCRYPTION",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "INSERT_METHOD",
    "KEY_BLOCK_SIZE",
    "MAX_ROWS",
    "MIN_ROWS",
    "PACK_KEYS",
    "PASSWORD",
    "ROW_FORMAT",
    "STATS_AUTO_RECALC",
    "STATS_PERSISTENT",
    "STATS_SAMPLE_PAGES",
    "TABLE_CHECKSUM",
    "TABLESPACE",
    "STORAGE",
    "PAGE_CHECKSUM",
    "TRANSACTIONAL",
    "SEQUENCE",
    "IETF_QUOTES",
];

/// `CHARACTER SET x` and its spellings; false when it isn't next.
pub(crate) fn charset(cursor: &mut Cursor<'_>, options: &mut CharsetOptions) -> Parsed<bool> {
    let ahead = usize::from(cursor.is("DEFAULT"));
    if cursor.is_at(ahead, "CHARSET") {
        cursor.at += ahead + 1;
    } else if (cursor.is_at(ahead, "CHARACTER") || cursor.is_at(ahead, "CHAR")) && cursor.is_at(ahead + 1, "SET") {
        cursor.at += ahead + 2;
    } else if cursor.is_at(ahead, "COLLATE") {
        cursor.at += ahead + 1;
        cursor.equals();
        options.collation = Some(cursor.name_or_text()?);
        return Ok(true);
    } else {
        return Ok(false);
    }
    cursor.equals();
    // A charset without a collation takes back a collation that was named before it only where both differ; the last
    // one of each is what counts.
    options.charset = Some(cursor.name_or_text()?);
    Ok(true)
}

/// One option of a table; false when none is next.
pub(crate) fn table_option(cursor: &mut Cursor<'_>, options: &mut TableOptions) -> Parsed<bool> {
    if charset(cursor, &mut options.charset)? {
        return Ok(true);
    }
    if cursor.accept("COMMENT") {
        cursor.equals();
        options.comment = Some(cursor.comment()?);
    } else if cursor.accept_all(&["DATA", "DIRECTORY"]) || cursor.accept_all(&["INDEX", "DIRECTORY"]) {
        cursor.equals();
        value(cursor)?;
    } else if cursor.accept("UNION") {
        cursor.equals();
        cursor.parenthesis()?;
    } else if cursor.accept_all(&["START", "TRANSACTION"])
        || cursor.accept_all(&["WITH", "SYSTEM", "VERSIONING"])
        || cursor.accept_all(&["WITHOUT", "SYSTEM", "VERSIONING"])
    {
    } else if let Some(_option) = PLAIN.iter().find(|o| cursor.is(o)) {
        cursor.at += 1;
        cursor.equals();
        value(cursor)?;
    } else if cursor.context.server.is_mariadb() && cursor.at_name() && cursor.is_symbol_at(1, '=') {
        cursor.at += 2;
        value(cursor)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// `PARTITION BY …` up to the end, or to the SELECT of a CREATE TABLE … SELECT; false when it isn't next.
pub(crate) fn partition_by(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    if !cursor.accept_all(&["PARTITION", "BY"]) {
        return Ok(false);
    }
    while !cursor.at_end() && !["AS", "IGNORE", "REPLACE", "SELECT", "WITH"].iter().any(|k| cursor.is(k)) {
        if cursor.is_symbol('(') {
            cursor.parenthesis()?;
        } else {
            cursor.at += 1;
        }
    }
    Ok(true)
}
