//! CREATE, ALTER and DROP DATABASE.

use super::ast::{CharsetOptions, DdlStatement};
use super::attribute::value;
use super::cursor::{Cursor, Parsed};
use super::option::charset;

fn options(cursor: &mut Cursor<'_>) -> Parsed<CharsetOptions> {
    let mut options = CharsetOptions::default();
    loop {
        if charset(cursor, &mut options)? {
            continue;
        }
        let ahead = usize::from(cursor.is("DEFAULT"));
        if cursor.is_at(ahead, "ENCRYPTION") || cursor.is_at(ahead, "COMMENT") {
            cursor.at += ahead + 1;
        } else if cursor.are(&["READ", "ONLY"]) {
            cursor.at += 2;
        } else {
            return Ok(options);
        }
        cursor.equals();
        value(cursor)?;
    }
}

/// What follows `CREATE DATABASE`.
pub(crate) fn create_database(cursor: &mut Cursor<'_>) -> Parsed<DdlStatement> {
    let if_not_exists = cursor.if_not_exists();
    let name = cursor.context.database(&cursor.name()?);
    Ok(DdlStatement::CreateDatabase { name, charset: options(cursor)?, if_not_exists })
}

/// The name that follows `ALTER DATABASE`: without one it is the current database.
pub(crate) fn altered_database(cursor: &mut Cursor<'_>) -> Parsed<String> {
    let option = ["DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ", "COMMENT"];
    let name =
        if option.iter().any(|k| cursor.is(k)) { cursor.context.default_database.clone() } else { cursor.name()? };
    Ok(cursor.context.database(&name))
}

/// What follows `ALTER DATABASE`.
pub(crate) fn alter_database(cursor: &mut Cursor<'_>) -> Parsed<DdlStatement> {
    let name = altered_database(cursor)?;
    if cursor.accept_all(&["UPGRADE", "DATA", "DIRECTORY", "NAME"]) {
        return Ok(DdlStatement::AlterDatabase { name, charset: CharsetOptions::default() });
    }
    Ok(DdlStatement::AlterDatabase { name, charset: options(cursor)? })
}

/// What follows `DROP DATABASE`.
pub(crate) fn drop_database(cursor: &mut Cursor<'_>) -> Parsed<DdlStatement> {
    cursor.if_exists();
    let name = cursor.name()?;
    Ok(DdlStatement::DropDatabase(cursor.context.database(&name)))
}
