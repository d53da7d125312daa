//! Statements in the log: transactions, DDL, and what must not be there.

use super::history::Ddl;
use super::look_back::{Prepared, look_back};
use super::stream::BinlogReader;
use crate::error::{Error, Result};
use crate::mysql::binlog::QueryEvent;
use crate::mysql::catalog;
use crate::mysql::wire::{Connection, DumpRequest};
use rowferry_model::TableId;
use rowferry_sql::ddl::{Classified, DdlContext, SqlMode, StatementKind, Touched, classify};
use rowferry_sql::{CharSet, TableDef};

impl BinlogReader {
    pub(super) fn query(&mut self, query: QueryEvent<'_>) -> Result<()> {
        match &*query.sql {
            b"BEGIN" => {
                self.in_transaction = true;
                self.begun = true;
                self.skip.begin();
                return Ok(());
            }
            b"COMMIT" => {
                self.commit();
                return Ok(());
            }
            _ => {}
        }
        let text = query.sql_text().unwrap_or_else(|_| String::from_utf8_lossy(&query.sql).into_owned());
        let context = self.context_of(&query);
        let Classified { kind, touched } = classify(&text, &context);
        match kind {
            StatementKind::Transaction(_) => return self.transaction_statement(&text),
            StatementKind::Ddl => self.ddl(&text, &context, &touched)?,
            StatementKind::Dml(_) => {
                if let Some(table) = self.captured(&touched) {
                    return Err(Error::permanent("RF-SRC-037", "a change was logged as a statement instead of as rows")
                        .with("table", table)
                        .with("position", &self.at)
                        .hint("SET GLOBAL binlog_format = 'ROW', and no session may change it; then start with a new snapshot"));
                }
            }
            StatementKind::Unknown => self.ddl(&text, &context, &touched)?,
            StatementKind::OtherDdl(_) | StatementKind::Admin(_) | StatementKind::Session(_) | StatementKind::Empty => {
            }
        }
        // A statement outside BEGIN is a transaction of its own; inside, as in CREATE TABLE … SELECT, it is not.
        if !self.begun {
            self.commit();
        }
        // Rows of the same transaction come behind the DDL.
        if self.ddl.is_some() { self.seal(false) } else { Ok(()) }
    }

    /// The session in which a statement ran.
    pub(super) fn context_of(&self, query: &QueryEvent<'_>) -> DdlContext {
        session_of(&self.context, query)
    }

    /// Follows a DDL. What it means to captured tables waits for the end of its transaction.
    fn ddl(&mut self, text: &str, context: &DdlContext, touched: &Touched) -> Result<()> {
        let connect = &self.options.connect;
        let mut ask = |tables: &[TableId]| -> Result<Vec<(TableId, TableDef)>> {
            let mut connection = Connection::connect(connect)?;
            let mut found = Vec::new();
            for table in tables {
                match catalog::table_defs(&mut connection, std::slice::from_ref(table)) {
                    Ok(defs) => found.extend(defs),
                    Err(catalog::CatalogError::NoTable(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(found)
        };
        let concerns =
            touched.concerns(|t| self.history.tables().get(t).is_some(), |d| self.history.tables().has_database(d));
        let changes = self.history.apply(text, context, &self.at, &mut ask)?;
        if changes.is_empty() {
            tracing::debug!(statement = text.trim(), position = %self.at, concerns, "DDL that changes no captured table");
            return Ok(());
        }
        let ddl = Ddl { statement: text.trim().to_owned(), position: self.at.clone(), tables: changes };
        tracing::info!(statement = %ddl.statement, position = %ddl.position, "DDL on captured tables");
        self.numbers.clear();
        self.seal_before_ddl()?;
        self.ddl = Some(ddl);
        Ok(())
    }

    /// BEGIN, COMMIT, ROLLBACK, SAVEPOINT and the XA statements.
    fn transaction_statement(&mut self, text: &str) -> Result<()> {
        let upper = text.trim().to_ascii_uppercase();
        let words: Vec<&str> = upper.split_ascii_whitespace().take(3).collect();
        match words.as_slice() {
            ["XA", "START" | "BEGIN", ..] => {
                self.seal(false)?;
                self.in_transaction = true;
                self.begun = true;
                self.xa = true;
            }
            ["XA", "COMMIT", ..] => {
                // `ONE PHASE` ends a transaction that was never prepared on its own: its rows stand before it.
                if !upper.contains("ONE PHASE") {
                    let name = xid(text);
                    match self.prepared.remove(&name) {
                        Some(groups) => {
                            self.seal(false)?;
                            self.groups = groups;
                        }
                        None if self.prepared_elsewhere.remove(&name) => {}
                        None => self.prepared_before(&name, text)?,
                    }
                }
                self.commit();
            }
            ["XA", "ROLLBACK", ..] => {
                let name = xid(text);
                self.prepared.remove(&name);
                self.prepared_elsewhere.remove(&name);
                self.commit();
            }
            ["BEGIN", ..] | ["START", ..] => {
                self.in_transaction = true;
                self.begun = true;
            }
            ["COMMIT", ..] => self.commit(),
            ["ROLLBACK", ..] => {
                if self.taken > 0 {
                    return Err(Error::permanent("RF-SRC-042", "a transaction that changed rows of captured tables is rolled back in the log")
                        .with("statement", text.trim())
                        .with("position", &self.at)
                        .hint("this comes of transactions over tables of InnoDB and of an engine without transactions; start again with a new snapshot"));
                }
                if words.len() == 1 {
                    self.commit();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An XA transaction is committed that was prepared before reading began: of no matter if it changed no captured table.
    fn prepared_before(&self, name: &str, text: &str) -> Result<()> {
        // Another replica's number: two of the same number push each other off the server.
        let server_id = self.options.server_id.wrapping_add(1_000_000).max(1);
        let request = DumpRequest { server_id, replica_uuid: None, ..self.request() };
        let tables = self.history.tables();
        let connect = &self.options.connect;
        match look_back(connect, &request, &self.boundary, name, tables, xid_of)? {
            Prepared::Foreign => Ok(()),
            Prepared::Captured | Prepared::Unknown => Err(Error::permanent(
                "RF-SRC-043",
                "an XA transaction is committed whose rows stand before the place where reading began",
            )
            .with("statement", text.trim())
            .with("position", &self.at)
            .hint("start again with a new snapshot, at a time when `XA RECOVER` lists nothing")),
        }
    }

    fn captured(&self, touched: &Touched) -> Option<String> {
        match touched {
            Touched::Tables(tables) => {
                tables.iter().find_map(|t| self.history.tables().get(t)).map(|t| t.table.to_string())
            }
            Touched::Database(database) => {
                self.history.tables().has_database(database).then(|| format!("{database}.*"))
            }
            Touched::None => None,
            Touched::Unknown => Some("(the statement could not be read)".to_owned()),
        }
    }
}

/// A server's context with what a Query event tells of its session.
pub(super) fn session_of(server_context: &DdlContext, query: &QueryEvent<'_>) -> DdlContext {
    let mut context = server_context.clone();
    context.default_database = String::from_utf8_lossy(query.database).into_owned();
    if let Some(mode) = query.sql_mode {
        context.sql_mode = SqlMode(mode);
    }
    let server = context.server;
    if let Some((_, connection, server_collation)) = query.charsets {
        if let Some(charset) = CharSet::of_id(connection, server) {
            context.connection_charset = charset.name.to_string();
        }
        if let Some(charset) = CharSet::of_id(server_collation, server) {
            context.server_charset = charset;
        }
    }
    if let Some(charset) = query.utf8mb4_collation.and_then(|id| CharSet::of_id(id, server)) {
        context.utf8mb4_collation = Some(charset.collation.to_string());
    }
    context
}

/// The name of an XA transaction as the log writes it: what stands behind `XA START`.
fn xid(text: &str) -> String {
    text.trim().splitn(3, char::is_whitespace).nth(2).unwrap_or_default().replace(' ', "").to_ascii_uppercase()
}

/// The same name from the parts that the XA PREPARE event has.
pub(super) fn xid_of(format_id: u32, gtrid: &[u8], bqual: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02X}")).collect::<String>();
    format!("X'{}',X'{}',{format_id}", hex(gtrid), hex(bqual))
}
