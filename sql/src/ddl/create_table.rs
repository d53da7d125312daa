//! CREATE TABLE.

use super::ast::{CreateTable, DdlStatement, TableOptions};
use super::column::column;
use super::cursor::{Cursor, Parsed};
use super::key::{at_key, key};
use super::option::{partition_by, table_option};
use super::statement::Read;

/// What follows `CREATE [OR REPLACE] [TEMPORARY] TABLE`.
pub(crate) fn create_table(cursor: &mut Cursor<'_>, or_replace: bool) -> Parsed<Read> {
    let if_not_exists = cursor.if_not_exists();
    let table = cursor.table()?;
    let parenthesized = cursor.is_symbol('(') && cursor.is_at(1, "LIKE");
    if parenthesized || cursor.is("LIKE") {
        cursor.at += 1 + usize::from(parenthesized);
        let like = cursor.table()?;
        if parenthesized {
            cursor.expect_symbol(')', ")")?;
        }
        return Ok(Read::Statement(DdlStatement::CreateTableLike { table, like, if_not_exists, or_replace }));
    }
    let mut create = CreateTable {
        table,
        if_not_exists,
        or_replace,
        columns: vec![],
        keys: vec![],
        options: TableOptions::default(),
    };
    if cursor.is_symbol('(') && !at_query(cursor, 1) {
        cursor.at += 1;
        loop {
            if at_key(cursor) {
                create.keys.extend(key(cursor)?.0);
            } else {
                create.columns.push(column(cursor)?);
            }
            if !cursor.symbol(',') {
                break;
            }
        }
        cursor.expect_symbol(')', ")")?;
    }
    loop {
        if !table_option(cursor, &mut create.options)? && !partition_by(cursor)? {
            // Commas between options are allowed.
            if !(create.columns.is_empty() && create.keys.is_empty()) && cursor.is_symbol(',') {
                cursor.at += 1;
                continue;
            }
            break;
        }
    }
    if cursor.at_end() && !create.columns.is_empty() {
        return Ok(Read::Statement(DdlStatement::CreateTable(create)));
    }
    if !cursor.accept("IGNORE") {
        cursor.accept("REPLACE");
    }
    cursor.accept("AS");
    if at_query(cursor, 0) {
        return Ok(Read::AskServer("its columns come from a query"));
    }
    Err(cursor.error("the end of CREATE TABLE"))
}

/// Whether a query comes next.
fn at_query(cursor: &Cursor<'_>, mut ahead: usize) -> bool {
    while cursor.is_symbol_at(ahead, '(') {
        ahead += 1;
    }
    ["SELECT", "WITH", "VALUES", "TABLE"].iter().any(|k| cursor.is_at(ahead, k))
}
