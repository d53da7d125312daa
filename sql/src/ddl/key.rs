//! Keys and constraints.

use super::ast::{KeyKind, KeyPart, KeySpec};
use super::attribute::{check, value};
use super::cursor::{Cursor, Parsed};

/// Whether a key or constraint comes next, not a column of that name.
pub(crate) fn at_key(cursor: &Cursor<'_>) -> bool {
    let reserved = ["PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "CONSTRAINT"];
    let mariadb = cursor.context.server.is_mariadb();
    reserved.iter().any(|k| cursor.is(k))
        || mariadb && cursor.are(&["PERIOD", "FOR"])
        || mariadb && cursor.is("VECTOR") && (cursor.is_at(1, "KEY") || cursor.is_at(1, "INDEX"))
}

/// A key or constraint; `None` for a constraint that makes no key. The flag says IF NOT EXISTS.
pub(crate) fn key(cursor: &mut Cursor<'_>) -> Parsed<(Option<KeySpec>, bool)> {
    let mut constraint = None;
    let mut if_not_exists = false;
    if cursor.accept("CONSTRAINT") {
        if_not_exists |= cursor.if_not_exists();
        let kinds = ["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"];
        if !kinds.iter().any(|k| cursor.is(k)) {
            constraint = Some(cursor.name()?);
        }
    }
    let kind = if cursor.accept("PRIMARY") {
        cursor.expect("KEY")?;
        KeyKind::Primary
    } else if cursor.accept("UNIQUE") {
        cursor.accept_any(&["KEY", "INDEX"]);
        KeyKind::Unique
    } else if cursor.accept_any(&["FULLTEXT", "SPATIAL", "VECTOR"]) {
        cursor.accept_any(&["KEY", "INDEX"]);
        KeyKind::Plain
    } else if cursor.accept_any(&["KEY", "INDEX"]) {
        KeyKind::Plain
    } else if cursor.accept_all(&["FOREIGN", "KEY"]) {
        KeyKind::Foreign
    } else if cursor.is("CHECK") {
        check(cursor)?;
        return Ok((None, if_not_exists));
    } else if cursor.accept_all(&["PERIOD", "FOR"]) {
        cursor.name()?;
        cursor.parenthesis()?;
        return Ok((None, if_not_exists));
    } else {
        return Err(cursor.error("a key"));
    };
    if_not_exists |= cursor.if_not_exists();
    let mut name = None;
    if !cursor.is_symbol('(') && !key_type(cursor)? {
        name = Some(cursor.name()?);
    }
    key_type(cursor)?;
    let parts = parts(cursor)?;
    if kind == KeyKind::Foreign {
        references(cursor)?;
        // The key that serves a foreign key bears the constraint's name.
        name = constraint.or(name);
    } else {
        key_options(cursor)?;
        name = name.or(constraint);
    }
    if kind == KeyKind::Primary {
        name = None;
    }
    Ok((Some(KeySpec { kind, name, parts }), if_not_exists))
}

/// `USING BTREE`, `TYPE BTREE`
pub(crate) fn key_type(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    let types = ["BTREE", "HASH", "RTREE"];
    let taken = (cursor.is("USING") || cursor.is("TYPE")) && types.iter().any(|t| cursor.is_at(1, t));
    if taken {
        cursor.at += 2;
    }
    Ok(taken)
}

/// The parts of a key in parentheses.
pub(crate) fn parts(cursor: &mut Cursor<'_>) -> Parsed<Vec<KeyPart>> {
    cursor.expect_symbol('(', "(")?;
    let mut parts = vec![];
    loop {
        let mut part = KeyPart { column: None, prefix: None };
        if cursor.is_symbol('(') {
            cursor.parenthesis()?;
        } else {
            part.column = Some(cursor.column()?);
            if cursor.symbol('(') {
                part.prefix = u32::try_from(cursor.number()?).ok();
                cursor.expect_symbol(')', ")")?;
            }
        }
        cursor.accept_any(&["ASC", "DESC"]);
        parts.push(part);
        if !cursor.symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')', ")")?;
    Ok(parts)
}

/// What follows a key's parts.
pub(crate) fn key_options(cursor: &mut Cursor<'_>) -> Parsed<()> {
    loop {
        if key_type(cursor)? {
        } else if cursor.accept_any(&[
            "KEY_BLOCK_SIZE",
            "COMMENT",
            "ENGINE_ATTRIBUTE",
            "SECONDARY_ENGINE_ATTRIBUTE",
            "CLUSTERING",
        ]) {
            cursor.equals();
            value(cursor)?;
        } else if cursor.accept_all(&["WITH", "PARSER"]) {
            cursor.name()?;
        } else if cursor.accept_any(&["VISIBLE", "INVISIBLE", "IGNORED"]) || cursor.accept_all(&["NOT", "IGNORED"]) {
        } else if cursor.context.server.is_mariadb() && cursor.at_name() && cursor.is_symbol_at(1, '=') {
            cursor.at += 2;
            value(cursor)?;
        } else {
            return Ok(());
        }
    }
}

/// `REFERENCES table [(columns)] …`
pub(crate) fn references(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.expect("REFERENCES")?;
    cursor.table()?;
    if cursor.is_symbol('(') {
        cursor.parenthesis()?;
    }
    loop {
        if cursor.accept("MATCH") {
            cursor.name()?;
        } else if (cursor.is("ON") && (cursor.is_at(1, "DELETE") || cursor.is_at(1, "UPDATE")))
            && ["RESTRICT", "CASCADE", "SET", "NO"].iter().any(|k| cursor.is_at(2, k))
        {
            let two = cursor.is_at(2, "SET") || cursor.is_at(2, "NO");
            cursor.at += if two { 4 } else { 3 };
        } else {
            return Ok(());
        }
    }
}
