//! What kind of statement a text is and which tables it may touch, from its first words: always right, because it
//! needs none of the grammar behind them.

use super::DdlContext;
use super::cursor::{Cursor, Parsed};
use super::database::altered_database;
use super::lexer::tokenize;
use rowferry_model::TableId;
use std::fmt;

/// The kinds of statements that a binlog holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// It may change tables or databases.
    Ddl,
    /// Views, routines, triggers, events, users and the like.
    OtherDdl(&'static str),
    /// It changes rows by statement: the rows themselves are not in the binlog.
    Dml(&'static str),
    /// A transaction's start, end, savepoint.
    Transaction(&'static str),
    /// ANALYZE, OPTIMIZE, FLUSH and the like.
    Admin(&'static str),
    /// It reads, or sets something for the session.
    Session(&'static str),
    /// Nothing but comments.
    Empty,
    /// Not one of these.
    Unknown,
}

impl fmt::Display for StatementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ddl => f.write_str("a DDL"),
            Self::OtherDdl(what)
            | Self::Dml(what)
            | Self::Transaction(what)
            | Self::Admin(what)
            | Self::Session(what) => f.write_str(what),
            Self::Empty => f.write_str("an empty statement"),
            Self::Unknown => f.write_str("a statement of an unknown kind"),
        }
    }
}

/// What a statement may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These tables at most: their definitions, their names or (TRUNCATE, DML) their rows.
    Tables(Vec<TableId>),
    /// This database and every table in it.
    Database(String),
    /// No table.
    None,
    /// It can't be told.
    Unknown,
}

impl Touched {
    /// Whether a table for which `captured` holds may be touched; `in_database` answers for a whole database.
    pub fn concerns(&self, captured: impl Fn(&TableId) -> bool, in_database: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Tables(tables) => tables.iter().any(captured),
            Self::Database(name) => in_database(name),
            Self::None => false,
            Self::Unknown => true,
        }
    }
}

/// A statement's kind and what it may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The kind.
    pub kind: StatementKind,
    /// What it may change.
    pub touched: Touched,
}

/// Classifies a text. A text that can't be taken apart is of unknown kind.
pub fn classify(text: &str, context: &DdlContext) -> Classified {
    match tokenize(text, context) {
        Ok(tokens) => classify_tokens(&mut Cursor::new(text, &tokens, context)),
        Err(_) => Classified { kind: StatementKind::Unknown, touched: Touched::Unknown },
    }
}

/// What a text may change.
pub fn touched_tables(text: &str, context: &DdlContext) -> Touched {
    classify(text, context).touched
}

const TRANSACTION: &[&str] = &["BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA", "END"];
const ADMIN: &[&str] = &[
    "ANALYZE",
    "OPTIMIZE",
    "REPAIR",
    "CHECK",
    "CHECKSUM",
    "FLUSH",
    "RESET",
    "KILL",
    "INSTALL",
    "UNINSTALL",
    "LOCK",
    "UNLOCK",
    "CACHE",
    "PURGE",
    "CHANGE",
    "SHUTDOWN",
    "RESTART",
    "BACKUP",
    "CLONE",
    "BINLOG",
    "STOP",
    "SIGNAL",
];
const SESSION: &[&str] = &[
    "SET",
    "USE",
    "SELECT",
    "SHOW",
    "EXPLAIN",
    "DESCRIBE",
    "DESC",
    "DO",
    "HELP",
    "PREPARE",
    "EXECUTE",
    "DEALLOCATE",
    "VALUES",
    "TABLE",
    "HANDLER",
    "GET",
];
/// What follows CREATE, ALTER or DROP (behind DEFINER and the like) and is no table.
const OTHER: &[&str] = &[
    "VIEW",
    "PROCEDURE",
    "FUNCTION",
    "TRIGGER",
    "EVENT",
    "USER",
    "ROLE",
    "SERVER",
    "TABLESPACE",
    "UNDO",
    "LOGFILE",
    "SEQUENCE",
    "PACKAGE",
    "INSTANCE",
    "RESOURCE",
    "SPATIAL",
    "AGGREGATE",
    "LIBRARY",
    "MATERIALIZED",
    "PREPARE",
    "TEMPORARY",
    "STAGE",
    "MASKING",
];

pub(crate) fn classify_tokens(cursor: &mut Cursor<'_>) -> Classified {
    let none = |kind| Classified { kind, touched: Touched::None };
    if cursor.at_end() {
        return none(StatementKind::Empty);
    }
    let find = |cursor: &Cursor<'_>, words: &[&'static str]| words.iter().copied().find(|w| cursor.is(w));
    if let Some(word) = find(cursor, &["CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE"]) {
        cursor.at += 1;
        return ddl(cursor, word);
    }
    if let Some(word) = find(cursor, &["INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "WITH", "CALL", "IMPORT"]) {
        cursor.at += 1;
        let touched = dml(cursor, word).map_or(Touched::Unknown, |table| Touched::Tables(vec![table]));
        return Classified { kind: StatementKind::Dml(word), touched };
    }
    if cursor.accept_any(&["GRANT", "REVOKE"]) {
        return none(StatementKind::OtherDdl("GRANT or REVOKE"));
    }
    if let Some(word) = find(cursor, TRANSACTION) {
        return none(StatementKind::Transaction(word));
    }
    if let Some(word) = find(cursor, ADMIN) {
        return none(StatementKind::Admin(word));
    }
    if let Some(word) = find(cursor, SESSION) {
        return none(StatementKind::Session(word));
    }
    if cursor.is_symbol('(') {
        return none(StatementKind::Session("a query"));
    }
    Classified { kind: StatementKind::Unknown, touched: Touched::Unknown }
}

fn ddl(cursor: &mut Cursor<'_>, verb: &'static str) -> Classified {
    // What may stand between the verb and the object's kind.
    let mut temporary = false;
    loop {
        if cursor.accept_all(&["OR", "REPLACE"])
            || cursor.accept_any(&["ONLINE", "OFFLINE", "IGNORE", "UNIQUE", "FULLTEXT", "VECTOR"])
            || cursor.is("SPATIAL") && cursor.is_at(1, "INDEX") && cursor.accept("SPATIAL")
        {
            continue;
        }
        if cursor.accept_any(&["TEMPORARY", "TEMP"]) {
            temporary = true;
            continue;
        }
        break;
    }
    if temporary {
        // Only one session sees it, and its rows are not in the binlog.
        return Classified { kind: StatementKind::OtherDdl("a temporary table"), touched: Touched::None };
    }
    let touched = if cursor.accept_any(&["DATABASE", "SCHEMA"]) {
        let name = match verb {
            "ALTER" => altered_database(cursor),
            _ => {
                let _ = cursor.if_exists() || cursor.if_not_exists();
                cursor.name().map(|name| cursor.context.database(&name))
            }
        };
        name.map(Touched::Database)
    } else if cursor.accept_any(&["TABLE", "TABLES"]) || verb == "TRUNCATE" {
        tables(cursor, verb).map(Touched::Tables)
    } else if cursor.accept("INDEX") {
        index(cursor).map(|table| Touched::Tables(vec![table]))
    } else {
        // DEFINER = …, ALGORITHM = …, SQL SECURITY …, OR REPLACE stand before the kind.
        while let Some(token) = cursor.token(0) {
            if OTHER.iter().any(|w| cursor.is(w)) {
                return Classified { kind: StatementKind::OtherDdl("another kind of object"), touched: Touched::None };
            }
            if token.kind == super::lexer::TokenKind::Symbol('(') {
                break;
            }
            cursor.at += 1;
        }
        return Classified { kind: StatementKind::Unknown, touched: Touched::Unknown };
    };
    Classified { kind: StatementKind::Ddl, touched: touched.unwrap_or(Touched::Unknown) }
}

/// The tables of a CREATE, ALTER, DROP, RENAME or TRUNCATE TABLE.
fn tables(cursor: &mut Cursor<'_>, verb: &str) -> Parsed<Vec<TableId>> {
    let _ = cursor.if_exists() || cursor.if_not_exists();
    let mut tables = vec![cursor.table()?];
    match verb {
        "DROP" => {
            while cursor.symbol(',') {
                tables.push(cursor.table()?);
            }
        }
        "RENAME" => loop {
            cursor.wait()?;
            cursor.expect("TO")?;
            tables.push(cursor.table()?);
            if !cursor.symbol(',') {
                break;
            }
            tables.push(cursor.table()?);
        },
        "ALTER" => {
            cursor.wait()?;
            let mut clause_start = true;
            while cursor.token(0).is_some() {
                if clause_start && cursor.accept("RENAME") {
                    if !["COLUMN", "INDEX", "KEY"].iter().any(|k| cursor.is(k)) {
                        if !cursor.accept_any(&["TO", "AS"]) {
                            cursor.equals();
                        }
                        tables.push(cursor.table()?);
                    }
                } else if cursor.are(&["WITH", "TABLE"]) || cursor.are(&["TO", "TABLE"]) {
                    // EXCHANGE PARTITION p WITH TABLE t, CONVERT PARTITION p TO TABLE t
                    cursor.at += 2;
                    tables.push(cursor.table()?);
                } else if clause_start && cursor.accept_all(&["CONVERT", "TABLE"]) {
                    tables.push(cursor.table()?);
                }
                clause_start = cursor.is_symbol(',');
                if cursor.is_symbol('(') {
                    cursor.parenthesis()?;
                } else if cursor.token(0).is_some() {
                    cursor.at += 1;
                }
            }
        }
        _ => {}
    }
    Ok(tables)
}

/// The table of a CREATE or DROP INDEX.
fn index(cursor: &mut Cursor<'_>) -> Parsed<TableId> {
    let _ = cursor.if_exists() || cursor.if_not_exists();
    cursor.name()?;
    super::key::key_type(cursor)?;
    cursor.expect("ON")?;
    cursor.table()
}

/// The table of a DML on a single table.
fn dml(cursor: &mut Cursor<'_>, verb: &str) -> Option<TableId> {
    while cursor.accept_any(&["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE", "CONCURRENT", "LOCAL"]) {}
    match verb {
        "INSERT" | "REPLACE" => {
            cursor.accept("INTO");
            cursor.table().ok()
        }
        "UPDATE" => {
            let table = cursor.table().ok()?;
            cursor.is("SET").then_some(table)
        }
        "DELETE" => {
            cursor.accept("FROM").then_some(())?;
            let table = cursor.table().ok()?;
            (cursor.at_end() || ["WHERE", "ORDER", "LIMIT", "PARTITION"].iter().any(|k| cursor.is(k))).then_some(table)
        }
        "LOAD" => {
            while !cursor.are(&["INTO", "TABLE"]) {
                cursor.token(0)?;
                cursor.at += 1;
            }
            cursor.at += 2;
            cursor.table().ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
