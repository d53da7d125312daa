//! The attributes of a column, in any order.

use super::ast::ColumnSpec;
use super::cursor::{Cursor, Parsed};
use super::default::{default, now};
use super::key::references;
use super::lexer::TokenKind;
use crate::Generated;

/// All attributes up to what isn't one.
pub(crate) fn attributes(cursor: &mut Cursor<'_>, spec: &mut ColumnSpec) -> Parsed<()> {
    while attribute(cursor, spec)? {}
    Ok(())
}

fn attribute(cursor: &mut Cursor<'_>, spec: &mut ColumnSpec) -> Parsed<bool> {
    if cursor.accept_all(&["NOT", "NULL"]) {
        // MariaDB's `NOT NULL ENABLE`.
        cursor.accept("ENABLE");
        spec.nullable = Some(false);
    } else if cursor.accept("NULL") {
        spec.nullable = Some(true);
    } else if cursor.accept("DEFAULT") {
        spec.default = Some(default(cursor)?);
    } else if cursor.accept_all(&["ON", "UPDATE"]) {
        if now(cursor)?.is_none() {
            return Err(cursor.error("CURRENT_TIMESTAMP"));
        }
        spec.on_update = true;
    } else if cursor.accept("AUTO_INCREMENT") {
        spec.auto_increment = true;
    } else if cursor.accept_all(&["SERIAL", "DEFAULT", "VALUE"]) {
        spec.nullable = Some(false);
        spec.auto_increment = true;
        spec.unique = true;
    } else if cursor.accept("UNIQUE") {
        cursor.accept_any(&["KEY", "INDEX"]);
        spec.unique = true;
    } else if cursor.accept("PRIMARY") {
        cursor.accept("KEY");
        spec.primary = true;
    } else if cursor.accept("KEY") {
        spec.primary = true;
    } else if cursor.accept("COMMENT") {
        cursor.equals();
        spec.comment = cursor.comment()?;
    } else if cursor.accept("COLLATE") {
        cursor.equals();
        spec.column_type.charset.collation = Some(cursor.name_or_text()?);
    } else if cursor.accept("CHARSET") || cursor.accept_all(&["CHARACTER", "SET"]) {
        spec.column_type.charset.charset = Some(cursor.name_or_text()?);
    } else if cursor.accept_any(&["COLUMN_FORMAT", "STORAGE"]) {
        cursor.name()?;
    } else if cursor.accept("VISIBLE") {
        spec.invisible = false;
    } else if cursor.accept("INVISIBLE") {
        spec.invisible = true;
    } else if cursor.accept_any(&["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"]) {
        cursor.equals();
        cursor.string()?;
    } else if cursor.accept_all(&["NOT", "SECONDARY"]) {
    } else if cursor.accept_any(&["SRID", "REF_SYSTEM_ID"]) {
        cursor.equals();
        cursor.number()?;
    } else if cursor.is("AS") || cursor.is("GENERATED") {
        generated(cursor, spec)?;
    } else if cursor.is("REFERENCES") {
        references(cursor)?;
    } else if cursor.is("CHECK") || cursor.is("CONSTRAINT") {
        if cursor.accept("CONSTRAINT") && !cursor.is("CHECK") {
            cursor.name()?;
        }
        check(cursor)?;
    } else {
        return Ok(cursor.accept_all(&["WITH", "SYSTEM", "VERSIONING"])
            || cursor.accept_all(&["WITHOUT", "SYSTEM", "VERSIONING"])
            || engine_option(cursor));
    }
    Ok(true)
}

/// MariaDB lets engines define attributes: `name = value`.
fn engine_option(cursor: &mut Cursor<'_>) -> bool {
    let option = cursor.context.server.is_mariadb() && cursor.at_name() && cursor.is_symbol_at(1, '=');
    if option {
        cursor.at += 3;
    }
    option
}

/// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED]`
fn generated(cursor: &mut Cursor<'_>, spec: &mut ColumnSpec) -> Parsed<()> {
    if cursor.accept("GENERATED") {
        cursor.expect("ALWAYS")?;
    }
    cursor.expect("AS")?;
    if cursor.accept("ROW") {
        // MariaDB's system versioning: the server fills the column.
        if !cursor.accept("START") {
            cursor.expect("END")?;
        }
        spec.nullable = Some(false);
        spec.generated = Some(Generated::Stored);
        return Ok(());
    }
    cursor.parenthesis()?;
    spec.generated = Some(if cursor.accept_any(&["STORED", "PERSISTENT"]) {
        Generated::Stored
    } else {
        cursor.accept("VIRTUAL");
        Generated::Virtual
    });
    Ok(())
}

/// `CHECK (expression) [[NOT] ENFORCED]`
pub(crate) fn check(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.expect("CHECK")?;
    cursor.accept_all(&["IF", "NOT", "EXISTS"]);
    cursor.parenthesis()?;
    if !cursor.accept_all(&["NOT", "ENFORCED"]) {
        cursor.accept("ENFORCED");
    }
    Ok(())
}

/// A name or anything else that stands for one value of an option.
pub(crate) fn value(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if cursor.is_symbol('(') {
        cursor.parenthesis()?;
        return Ok(());
    }
    match cursor.token(0).map(|t| &t.kind) {
        Some(TokenKind::Symbol('-' | '+')) => cursor.at += 2,
        Some(TokenKind::Symbol(_)) | None => return Err(cursor.error("a value")),
        Some(_) => cursor.at += 1,
    }
    Ok(())
}
