//! From tokens to statements.

use super::Failure;
use super::lexer::tokens;
use super::statement::{AlterClause, Statement};
use crate::sql::{Cursor, Position, Refusal, TableName, Token};
use std::ops::{Deref, DerefMut};

/// Words that are no names without backticks: those of the recordings.
const RESERVED: [&str; 24] = [
    "select", "order", "key", "group", "index", "table", "where", "from", "create", "drop", "alter", "insert",
    "update", "delete", "primary", "default", "null", "not", "and", "or", "column", "by", "in", "on",
];

pub(super) struct Parser(Cursor<Failure>);

/// Parses the first statement of a text.
pub fn parse(sql: &str) -> Result<Statement, Failure> {
    let mut parser = Parser(Cursor::new(tokens(sql)?, &RESERVED));
    let statement = parser.statement()?;
    match parser.peek() {
        None | Some(Token::Sign(';')) => Ok(statement),
        Some(_) => Err(parser.unexpected()),
    }
}

impl Deref for Parser {
    type Target = Cursor<Failure>;

    fn deref(&self) -> &Cursor<Failure> {
        &self.0
    }
}

impl DerefMut for Parser {
    fn deref_mut(&mut self) -> &mut Cursor<Failure> {
        &mut self.0
    }
}

impl Parser {
    pub(super) fn table(&mut self) -> Result<TableName, Failure> {
        let first = self.name()?;
        if self.eat_sign('.') {
            return Ok(TableName { database: Some(first), table: self.name()? });
        }
        Ok(TableName { database: None, table: first })
    }

    fn statement(&mut self) -> Result<Statement, Failure> {
        let Some(Token::Word(word)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        match word.to_ascii_lowercase().as_str() {
            "create" if self.eat("database") || self.eat("schema") => {
                let if_not_exists = self.if_exists(true)?;
                let name = self.name()?;
                if self.eat("default") || self.is("character") || self.is("charset") {
                    while self.peek().is_some() {
                        self.at += 1;
                    }
                }
                if self.is("properties") {
                    self.properties()?;
                }
                Ok(Statement::CreateDatabase { name, if_not_exists })
            }
            "create" if self.eat("table") => self.create_table(),
            "create" => Err(if self.is("view") || self.is("index") || self.is("external") {
                Failure::not_modelled("CREATE of other things")
            } else {
                self.unexpected()
            }),
            "drop" if self.eat("database") || self.eat("schema") => {
                let if_exists = self.if_exists(false)?;
                let name = self.name()?;
                self.eat("force");
                Ok(Statement::DropDatabase { name, if_exists })
            }
            "drop" if self.eat("table") => {
                let if_exists = self.if_exists(false)?;
                let name = self.table()?;
                self.eat("force");
                Ok(Statement::DropTable { name, if_exists })
            }
            "drop" => Err(Failure::not_modelled("DROP of other things")),
            "truncate" => {
                self.expect("table")?;
                let name = self.table()?;
                if self.is("partition") {
                    return Err(Failure::not_modelled("partitions"));
                }
                Ok(Statement::Truncate(name))
            }
            "alter" if self.eat("table") => self.alter(),
            "alter" => Err(Failure::not_modelled("ALTER of other things")),
            "cancel" => {
                for word in ["alter", "table", "column", "from"] {
                    self.expect(word)?;
                }
                Ok(Statement::CancelAlter(self.table()?))
            }
            "use" => Ok(Statement::Use(self.name()?)),
            "desc" | "describe" => Ok(Statement::Describe(self.table()?)),
            "show" => self.show(),
            "select" => {
                let rest = self.tokens[self.at..].iter().map(|t| match t {
                    Token::Word(w) => w.to_ascii_lowercase(),
                    Token::Number(n) => n.clone(),
                    Token::Sign(c) => c.to_string(),
                    Token::Name(n) | Token::Text(n) => format!("'{n}'"),
                });
                let text = rest.collect::<String>();
                self.at = self.tokens.len();
                Ok(Statement::Select(text))
            }
            "set" | "begin" | "commit" | "rollback" | "start" => {
                self.at = self.tokens.len();
                Ok(Statement::Nothing)
            }
            "insert" | "update" | "delete" | "recover" | "refresh" | "prepare" | "execute" | "admin" | "explain" => {
                Err(Failure::not_modelled(&word))
            }
            _ => Err(Failure::syntax(&word)),
        }
    }

    fn alter(&mut self) -> Result<Statement, Failure> {
        let name = self.table()?;
        let mut clauses = Vec::new();
        let mut timeout = None;
        loop {
            clauses.push(self.alter_clause()?);
            if self.is("properties") {
                timeout = self.properties()?.into_iter().find(|(k, _)| k == "timeout").map(|(_, v)| v);
            }
            if !self.eat_sign(',') {
                break;
            }
        }
        Ok(Statement::Alter { name, clauses, timeout })
    }

    fn alter_clause(&mut self) -> Result<AlterClause, Failure> {
        if self.eat("add") {
            if self.is("index") || self.is("partition") || self.is("rollup") {
                return Err(Failure::not_modelled("indexes, partitions and rollups"));
            }
            self.expect("column")?;
            if self.is("if") {
                return Err(self.unexpected());
            }
            if self.eat_sign('(') {
                let mut columns = Vec::new();
                loop {
                    columns.push((self.column()?, Position::Last));
                    if !self.eat_sign(',') {
                        break;
                    }
                }
                self.sign(')')?;
                return Ok(AlterClause::Add(columns));
            }
            let column = self.column()?;
            let position = self.position()?;
            if self.is("to") {
                return Err(Failure::not_modelled("rollups"));
            }
            return Ok(AlterClause::Add(vec![(column, position)]));
        }
        if self.eat("drop") {
            if self.is("partition") || self.is("rollup") || self.is("index") {
                return Err(Failure::not_modelled("indexes, partitions and rollups"));
            }
            self.expect("column")?;
            if self.is("if") {
                return Err(self.unexpected());
            }
            let name = self.name()?;
            if self.is("from") {
                return Err(Failure::not_modelled("rollups"));
            }
            return Ok(AlterClause::Drop(name));
        }
        if self.eat("modify") {
            self.expect("column")?;
            let start = self.at;
            let name = self.name()?;
            if self.eat("comment") {
                return Ok(AlterClause::CommentColumn(name, self.text()?));
            }
            self.at = start;
            let column = self.column()?;
            return Ok(AlterClause::Modify(column, self.position()?));
        }
        if self.eat("rename") {
            if self.eat("column") {
                let from = self.name()?;
                self.expect("to")?;
                return Ok(AlterClause::RenameColumn(from, self.name()?));
            }
            if self.is("to") || self.is("partition") || self.is("rollup") {
                return Err(self.unexpected());
            }
            return Ok(AlterClause::RenameTable(self.name()?));
        }
        if self.eat("comment") {
            self.sign('=')?;
            return Ok(AlterClause::CommentTable(self.text()?));
        }
        if ["set", "swap", "order", "distributed", "truncate", "partition"].iter().any(|w| self.is(w)) {
            return Err(Failure::not_modelled("other ALTER clauses"));
        }
        Err(self.unexpected())
    }

    fn show(&mut self) -> Result<Statement, Failure> {
        let full = self.eat("full");
        if self.eat("columns") {
            self.expect("from")?;
            return Ok(Statement::ShowColumns { name: self.table()?, full });
        }
        if self.eat("tables") {
            let database = if self.eat("from") { Some(self.name()?) } else { None };
            return if full || self.peek().is_some() {
                Err(Failure::not_modelled("SHOW FULL TABLES"))
            } else {
                Ok(Statement::ShowTables(database))
            };
        }
        if self.eat("create") {
            if self.is("database") {
                return Err(Failure::not_modelled("SHOW CREATE DATABASE"));
            }
            self.expect("table")?;
            return Ok(Statement::ShowCreate(self.table()?));
        }
        if self.eat("databases") {
            return Ok(Statement::ShowDatabases);
        }
        if self.eat("alter") {
            self.expect("table")?;
            self.expect("column")?;
            let database = if self.eat("from") { Some(self.name()?) } else { None };
            let mut table = None;
            if self.eat("where") {
                if !self.eat("tablename") {
                    return Err(Failure::not_modelled("other filters of SHOW ALTER"));
                }
                self.sign('=')?;
                table = Some(self.text()?);
            }
            let mut newest_by_id = false;
            if self.eat("order") {
                self.expect("by")?;
                newest_by_id = self.eat("jobid");
                if !newest_by_id {
                    return Err(Failure::not_modelled("other orders of SHOW ALTER"));
                }
                newest_by_id = self.eat("desc");
            }
            let limit = if self.eat("limit") { Some(self.number()?) } else { None };
            return Ok(Statement::ShowAlter { database, table, newest_by_id, limit });
        }
        Err(Failure::not_modelled("other SHOW statements"))
    }
}
