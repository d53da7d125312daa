//! Whole statements.

use super::DdlContext;
use super::alter_table::{alter_table, create_index, drop_index};
use super::ast::{DdlStatement, KeyKind};
use super::classify::{Classified, StatementKind, Touched, classify_tokens};
use super::create_table::create_table;
use super::cursor::{Cursor, Parsed};
use super::database::{alter_database, create_database, drop_database};
use super::lexer::{LexError, tokenize};

/// What a statement means to tracked tables. The three are never confused: what is not understood is `Unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdlOutcome {
    /// It changes tables or databases.
    Changes(DdlStatement),
    /// It changes no table's definition.
    Ignored(String),
    /// It may change tables, but how is not known from its text: ask the server.
    Unknown {
        /// Why it is not known.
        reason: String,
        /// What it may change.
        touched: Touched,
    },
}

/// What a grammar rule for statements finds.
pub(crate) enum Read {
    Statement(DdlStatement),
    /// Understood, but the text does not say what the table becomes.
    AskServer(&'static str),
}

/// Reads a statement.
pub fn parse_ddl(text: &str, context: &DdlContext) -> DdlOutcome {
    let tokens = match tokenize(text, context) {
        Ok(tokens) => tokens,
        Err(LexError { what, at }) => {
            return DdlOutcome::Unknown { reason: format!("{what} at byte {at}"), touched: Touched::Unknown };
        }
    };
    let mut cursor = Cursor::new(text, &tokens, context);
    let Classified { kind, touched } = classify_tokens(&mut cursor.clone());
    match kind {
        StatementKind::Ddl => {}
        StatementKind::Unknown => {
            return DdlOutcome::Unknown { reason: "the kind of statement is not known".to_owned(), touched };
        }
        other => return DdlOutcome::Ignored(format!("{other} changes no table's definition")),
    }
    match statement(&mut cursor) {
        Ok(Read::Statement(statement)) => DdlOutcome::Changes(statement),
        Ok(Read::AskServer(reason)) => DdlOutcome::Unknown { reason: reason.to_owned(), touched },
        Err(error) => DdlOutcome::Unknown { reason: error.to_string(), touched },
    }
}

fn statement(cursor: &mut Cursor<'_>) -> Parsed<Read> {
    let read = if cursor.accept("CREATE") {
        create(cursor)?
    } else if cursor.accept("ALTER") {
        cursor.accept_any(&["ONLINE", "OFFLINE"]);
        cursor.accept("IGNORE");
        if cursor.accept("TABLE") {
            Read::Statement(DdlStatement::AlterTable(alter_table(cursor)?))
        } else if cursor.accept_any(&["DATABASE", "SCHEMA"]) {
            Read::Statement(alter_database(cursor)?)
        } else {
            return Err(cursor.error("TABLE or DATABASE"));
        }
    } else if cursor.accept("DROP") {
        Read::Statement(drop(cursor)?)
    } else if cursor.accept("RENAME") {
        Read::Statement(rename(cursor)?)
    } else if cursor.accept("TRUNCATE") {
        cursor.accept("TABLE");
        let table = cursor.table()?;
        cursor.wait()?;
        Read::Statement(DdlStatement::TruncateTable(table))
    } else {
        return Err(cursor.error("a DDL"));
    };
    if matches!(read, Read::Statement(_)) && !cursor.at_end() {
        return Err(cursor.error("the end of the statement"));
    }
    Ok(read)
}

fn create(cursor: &mut Cursor<'_>) -> Parsed<Read> {
    let or_replace = cursor.accept_all(&["OR", "REPLACE"]);
    if cursor.accept("TABLE") {
        return create_table(cursor, or_replace);
    }
    if cursor.accept_any(&["DATABASE", "SCHEMA"]) {
        return create_database(cursor).map(Read::Statement);
    }
    cursor.accept_any(&["ONLINE", "OFFLINE"]);
    let kind = if cursor.accept("UNIQUE") { KeyKind::Unique } else { KeyKind::Plain };
    cursor.accept_any(&["FULLTEXT", "SPATIAL", "VECTOR"]);
    cursor.expect("INDEX")?;
    create_index(cursor, kind, or_replace).map(|alter| Read::Statement(DdlStatement::AlterTable(alter)))
}

fn drop(cursor: &mut Cursor<'_>) -> Parsed<DdlStatement> {
    if cursor.accept_any(&["DATABASE", "SCHEMA"]) {
        return drop_database(cursor);
    }
    cursor.accept_any(&["ONLINE", "OFFLINE"]);
    if cursor.accept("INDEX") {
        return drop_index(cursor).map(DdlStatement::AlterTable);
    }
    if !cursor.accept_any(&["TABLE", "TABLES"]) {
        return Err(cursor.error("TABLE"));
    }
    cursor.if_exists();
    let mut tables = vec![cursor.table()?];
    while cursor.symbol(',') {
        tables.push(cursor.table()?);
    }
    cursor.wait()?;
    cursor.accept_any(&["RESTRICT", "CASCADE"]);
    Ok(DdlStatement::DropTables(tables))
}

fn rename(cursor: &mut Cursor<'_>) -> Parsed<DdlStatement> {
    if !cursor.accept_any(&["TABLE", "TABLES"]) {
        return Err(cursor.error("TABLE"));
    }
    cursor.if_exists();
    let mut pairs = vec![];
    loop {
        let old = cursor.table()?;
        cursor.wait()?;
        cursor.expect("TO")?;
        pairs.push((old, cursor.table()?));
        if !cursor.symbol(',') {
            return Ok(DdlStatement::RenameTables(pairs));
        }
    }
}

/// The text of bytes in a character set: of a Query event's statement, whose bytes are in the session's
/// `character_set_client`, or of a literal. What can't be decoded becomes
/// U+FFFD, so that a broken comment doesn't hide a statement; names with it match nothing.
pub fn decode_statement(bytes: &[u8], charset: &str) -> String {
    let encoding = match charset.to_ascii_lowercase().as_str() {
        "latin1" => encoding_rs::WINDOWS_1252,
        "gbk" | "gb2312" => encoding_rs::GBK,
        "gb18030" => encoding_rs::GB18030,
        "big5" => encoding_rs::BIG5,
        "sjis" | "cp932" => encoding_rs::SHIFT_JIS,
        "ujis" | "eucjpms" => encoding_rs::EUC_JP,
        "euckr" => encoding_rs::EUC_KR,
        "koi8r" => encoding_rs::KOI8_R,
        "koi8u" => encoding_rs::KOI8_U,
        "latin2" => encoding_rs::ISO_8859_2,
        "latin5" => encoding_rs::WINDOWS_1254,
        "greek" => encoding_rs::ISO_8859_7,
        "hebrew" => encoding_rs::ISO_8859_8,
        "cp1250" => encoding_rs::WINDOWS_1250,
        "cp1251" => encoding_rs::WINDOWS_1251,
        "cp1256" => encoding_rs::WINDOWS_1256,
        "cp1257" => encoding_rs::WINDOWS_1257,
        "cp866" => encoding_rs::IBM866,
        "ucs2" | "utf16" => encoding_rs::UTF_16BE,
        "utf16le" => encoding_rs::UTF_16LE,
        "tis620" => encoding_rs::WINDOWS_874,
        _ => encoding_rs::UTF_8,
    };
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

#[cfg(test)]
mod tests;
