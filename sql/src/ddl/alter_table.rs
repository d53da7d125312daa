//! ALTER TABLE, CREATE INDEX and DROP INDEX.

use super::ast::{AlterAction, AlterTable, CharsetOptions, KeyKind, KeySpec, Place, TableOptions};
use super::column::column;
use super::cursor::{Cursor, Parsed};
use super::default::default;
use super::key::{at_key, key, key_options, key_type, parts};
use super::option::{charset, partition_by, table_option};

/// What follows `ALTER [ONLINE | IGNORE] TABLE`.
pub(crate) fn alter_table(cursor: &mut Cursor<'_>) -> Parsed<AlterTable> {
    let if_exists = cursor.if_exists();
    let mut alter = AlterTable { table: cursor.table()?, if_exists, actions: vec![] };
    cursor.wait()?;
    let mut clause = 0;
    while !cursor.at_end() {
        // PARTITION BY follows without a comma.
        if partition_by(cursor)? || cursor.accept_all(&["REMOVE", "PARTITIONING"]) {
            alter.actions.push(AlterAction::Nothing);
            continue;
        }
        action(cursor, &mut alter.actions, clause)?;
        clause += 1;
        if !(cursor.symbol(',') || cursor.at_end() || cursor.is("PARTITION") || cursor.is("REMOVE")) {
            return Err(cursor.error("`,` or the end of ALTER TABLE"));
        }
    }
    Ok(alter)
}

/// `FIRST`, `AFTER c`
fn place(cursor: &mut Cursor<'_>) -> Parsed<Place> {
    if cursor.accept("FIRST") {
        return Ok(Place::First);
    }
    if cursor.accept("AFTER") {
        return Ok(Place::After(cursor.column()?));
    }
    Ok(Place::Unsaid)
}

/// One clause.
fn action(cursor: &mut Cursor<'_>, actions: &mut Vec<AlterAction>, clause: usize) -> Parsed<()> {
    if maintenance(cursor, actions)? {
        return Ok(());
    }
    let action = if cursor.accept("ADD") {
        return add(cursor, actions, clause);
    } else if cursor.accept("MODIFY") {
        cursor.accept("COLUMN");
        let if_exists = cursor.if_exists();
        let column = column(cursor)?;
        AlterAction::ChangeColumn { old: column.name.clone(), column, place: place(cursor)?, if_exists }
    } else if cursor.accept("CHANGE") {
        cursor.accept("COLUMN");
        let if_exists = cursor.if_exists();
        let old = cursor.column()?;
        let column = column(cursor)?;
        AlterAction::ChangeColumn { old, column, place: place(cursor)?, if_exists }
    } else if cursor.accept("DROP") {
        drop(cursor)?
    } else if cursor.accept("RENAME") {
        rename(cursor)?
    } else if cursor.accept("ALTER") {
        alter_column(cursor)?
    } else if cursor.accept_all(&["CONVERT", "TO"]) {
        let mut options = CharsetOptions::default();
        while charset(cursor, &mut options)? {}
        if options == CharsetOptions::default() {
            return Err(cursor.error("CHARACTER SET"));
        }
        AlterAction::Convert(options)
    } else {
        let mut options = TableOptions::default();
        if !table_option(cursor, &mut options)? {
            return Err(cursor.error("a clause of ALTER TABLE"));
        }
        while table_option(cursor, &mut options)? {}
        AlterAction::Options(options)
    };
    actions.push(action);
    Ok(())
}

/// Clauses that change no column; false when none is next.
fn maintenance(cursor: &mut Cursor<'_>, actions: &mut Vec<AlterAction>) -> Parsed<bool> {
    let at_partition = |cursor: &Cursor<'_>| cursor.is_at(1, "PARTITION");
    if cursor.accept_any(&["ALGORITHM", "LOCK"]) {
        cursor.equals();
        cursor.name()?;
    } else if cursor.accept_any(&["FORCE", "SECONDARY_LOAD", "SECONDARY_UNLOAD"])
        || cursor.accept_all(&["ENABLE", "KEYS"])
        || cursor.accept_all(&["DISABLE", "KEYS"])
        || cursor.accept_all(&["WITH", "VALIDATION"])
        || cursor.accept_all(&["WITHOUT", "VALIDATION"])
        || cursor.accept_all(&["IMPORT", "TABLESPACE"])
        || cursor.accept_all(&["UPGRADE", "PARTITIONING"])
        || cursor.accept_all(&["ADD", "SYSTEM", "VERSIONING"])
        || cursor.accept_all(&["DROP", "SYSTEM", "VERSIONING"])
        || cursor.accept_all(&["DROP", "PERIOD", "FOR", "SYSTEM_TIME"])
    {
    } else if cursor.accept_all(&["DISCARD", "TABLESPACE"]) {
        actions.push(AlterAction::RemovesRows { clause: "DISCARD TABLESPACE", other: None });
        return Ok(true);
    } else if cursor.accept_all(&["ORDER", "BY"]) {
        loop {
            cursor.column()?;
            cursor.accept_any(&["ASC", "DESC"]);
            if !cursor.symbol(',') {
                break;
            }
        }
    } else if at_partition(cursor)
        && ["ADD", "COALESCE", "REORGANIZE", "ANALYZE", "CHECK", "OPTIMIZE", "REBUILD", "REPAIR", "IMPORT", "CONVERT"]
            .iter()
            .any(|k| cursor.is(k))
        || cursor.are(&["CONVERT", "TABLE"])
    {
        cursor.at = cursor.tokens.len();
    } else if at_partition(cursor) && ["DROP", "TRUNCATE", "EXCHANGE", "DISCARD"].iter().any(|k| cursor.is(k)) {
        let what = match cursor.raw(0).as_bytes() {
            [b'D' | b'd', b'R' | b'r', ..] => "DROP PARTITION",
            [b'T' | b't', ..] => "TRUNCATE PARTITION",
            [b'E' | b'e', ..] => "EXCHANGE PARTITION",
            _ => "DISCARD PARTITION",
        };
        let mut other = None;
        while cursor.token(0).is_some() {
            cursor.at += 1;
            if cursor.accept_all(&["WITH", "TABLE"]) {
                other = Some(cursor.table()?);
            }
        }
        actions.push(AlterAction::RemovesRows { clause: what, other });
        return Ok(true);
    } else {
        return Ok(false);
    }
    actions.push(AlterAction::Nothing);
    Ok(true)
}

/// What follows ADD.
fn add(cursor: &mut Cursor<'_>, actions: &mut Vec<AlterAction>, clause: usize) -> Parsed<()> {
    if !cursor.is("COLUMN") && at_key(cursor) {
        return add_key(cursor, actions);
    }
    cursor.accept("COLUMN");
    let if_not_exists = cursor.if_not_exists();
    if !cursor.symbol('(') {
        let column = column(cursor)?;
        let place = place(cursor)?;
        actions.push(AlterAction::AddColumn { column, place, if_not_exists, clause });
        return Ok(());
    }
    loop {
        if at_key(cursor) {
            add_key(cursor, actions)?;
        } else {
            let column = column(cursor)?;
            actions.push(AlterAction::AddColumn { column, place: Place::Unsaid, if_not_exists, clause });
        }
        if !cursor.symbol(',') {
            break;
        }
    }
    cursor.expect_symbol(')', ")")
}

fn add_key(cursor: &mut Cursor<'_>, actions: &mut Vec<AlterAction>) -> Parsed<()> {
    let (key, if_not_exists) = key(cursor)?;
    actions.push(match key {
        Some(key) => AlterAction::AddKey { key, if_not_exists },
        None => AlterAction::Nothing,
    });
    Ok(())
}

/// What follows DROP.
fn drop(cursor: &mut Cursor<'_>) -> Parsed<AlterAction> {
    if cursor.accept_all(&["PRIMARY", "KEY"]) {
        return Ok(AlterAction::DropPrimaryKey);
    }
    if cursor.accept_any(&["INDEX", "KEY"]) {
        cursor.if_exists();
        let name = cursor.name()?;
        // The primary key can be dropped by its name.
        let primary = name.eq_ignore_ascii_case("PRIMARY");
        return Ok(if primary { AlterAction::DropPrimaryKey } else { AlterAction::DropKey(name) });
    }
    if cursor.accept_all(&["FOREIGN", "KEY"]) {
        cursor.if_exists();
        return Ok(AlterAction::DropForeignKey(cursor.name()?));
    }
    if cursor.accept("CHECK") {
        return Ok(AlterAction::DropCheck(cursor.name()?));
    }
    if cursor.accept("CONSTRAINT") {
        cursor.if_exists();
        let name = cursor.name()?;
        let primary = name.eq_ignore_ascii_case("PRIMARY");
        return Ok(if primary { AlterAction::DropPrimaryKey } else { AlterAction::DropConstraint(name) });
    }
    cursor.accept("COLUMN");
    let if_exists = cursor.if_exists();
    let name = cursor.column()?;
    cursor.accept_any(&["RESTRICT", "CASCADE"]);
    Ok(AlterAction::DropColumn { name, if_exists })
}

/// What follows RENAME.
fn rename(cursor: &mut Cursor<'_>) -> Parsed<AlterAction> {
    if cursor.accept("COLUMN") {
        let if_exists = cursor.if_exists();
        let old = cursor.column()?;
        cursor.expect("TO")?;
        return Ok(AlterAction::RenameColumn { old, new: cursor.column()?, if_exists });
    }
    if cursor.accept_any(&["INDEX", "KEY"]) {
        cursor.if_exists();
        let old = cursor.name()?;
        cursor.expect("TO")?;
        return Ok(AlterAction::RenameKey { old, new: cursor.name()? });
    }
    if !cursor.accept_any(&["TO", "AS"]) {
        cursor.equals();
    }
    Ok(AlterAction::RenameTable(cursor.table()?))
}

/// What follows ALTER within ALTER TABLE.
fn alter_column(cursor: &mut Cursor<'_>) -> Parsed<AlterAction> {
    if cursor.accept_any(&["INDEX", "KEY"]) {
        cursor.if_exists();
        cursor.name()?;
        if !cursor.accept_any(&["VISIBLE", "INVISIBLE", "IGNORED"]) && !cursor.accept_all(&["NOT", "IGNORED"]) {
            return Err(cursor.error("VISIBLE or INVISIBLE"));
        }
        return Ok(AlterAction::Nothing);
    }
    if cursor.accept_any(&["CHECK", "CONSTRAINT"]) {
        cursor.name()?;
        cursor.accept("NOT");
        cursor.expect("ENFORCED")?;
        return Ok(AlterAction::Nothing);
    }
    cursor.accept("COLUMN");
    let if_exists = cursor.if_exists();
    let name = cursor.column()?;
    if cursor.accept_all(&["DROP", "DEFAULT"]) {
        return Ok(AlterAction::SetDefault { name, default: None, if_exists });
    }
    cursor.expect("SET")?;
    if cursor.accept("DEFAULT") {
        return Ok(AlterAction::SetDefault { name, default: Some(default(cursor)?), if_exists });
    }
    let invisible = cursor.accept("INVISIBLE");
    if !invisible {
        cursor.expect("VISIBLE")?;
    }
    Ok(AlterAction::SetInvisible { name, invisible })
}

/// What follows `CREATE [UNIQUE …] INDEX`.
pub(crate) fn create_index(cursor: &mut Cursor<'_>, kind: KeyKind, or_replace: bool) -> Parsed<AlterTable> {
    let if_not_exists = cursor.if_not_exists();
    let name = cursor.name()?;
    key_type(cursor)?;
    cursor.expect("ON")?;
    let table = cursor.table()?;
    cursor.wait()?;
    let key = KeySpec { kind, name: Some(name.clone()), parts: parts(cursor)? };
    // In any order.
    loop {
        let start = cursor.at;
        key_options(cursor)?;
        tail(cursor)?;
        if cursor.at == start {
            break;
        }
    }
    let mut actions = if or_replace { vec![AlterAction::DropKey(name)] } else { vec![] };
    actions.push(AlterAction::AddKey { key, if_not_exists });
    Ok(AlterTable { table, if_exists: false, actions })
}

/// What follows `DROP INDEX`.
pub(crate) fn drop_index(cursor: &mut Cursor<'_>) -> Parsed<AlterTable> {
    let if_exists = cursor.if_exists();
    let name = cursor.name()?;
    cursor.expect("ON")?;
    let table = cursor.table()?;
    tail(cursor)?;
    let primary = name.eq_ignore_ascii_case("PRIMARY");
    let action = if primary { AlterAction::DropPrimaryKey } else { AlterAction::DropKey(name) };
    Ok(AlterTable { table, if_exists, actions: vec![action] })
}

/// ALGORITHM, LOCK and WAIT at the end of CREATE and DROP INDEX.
fn tail(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.wait()?;
    while cursor.accept_any(&["ALGORITHM", "LOCK"]) {
        cursor.equals();
        cursor.name()?;
    }
    Ok(())
}
