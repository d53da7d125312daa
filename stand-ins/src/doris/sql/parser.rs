//! From tokens to statements. The order of clauses is fixed.

use super::super::types::Ty;
use super::lexer::{tokens, unescaped};
use super::{AlterClause, ColumnDef, Create, DefaultDef, Failure, Statement};
use crate::sql::{Cursor, Position, Refusal, TableName, Token};
use std::ops::{Deref, DerefMut};

/// Of the reserved words, those that are recorded, and three that clauses begin with.
const RESERVED: [&str; 43] = [
    "select",
    "table",
    "key",
    "order",
    "group",
    "from",
    "default",
    "values",
    "index",
    "desc",
    "row",
    "rows",
    "interval",
    "lateral",
    "match",
    "range",
    "left",
    "right",
    "limit",
    "partition",
    "system",
    "database",
    "column",
    "primary",
    "unique",
    "read",
    "write",
    "keys",
    "div",
    "regexp",
    "like",
    "in",
    "is",
    "null",
    "true",
    "false",
    "case",
    "when",
    "then",
    "else",
    "if",
    "to",
    "distributed",
];

/// Reads a statement.
pub fn parse(sql: &str) -> Result<Statement, Failure> {
    let mut tokens = tokens(sql)?;
    if let Some(at) = tokens.iter().position(|t| *t == Token::Sign(';')) {
        if at + 1 < tokens.len() {
            return Err(Failure::not_modelled("two statements in one text"));
        }
        tokens.truncate(at);
    }
    let mut parser = Parser(Cursor::new(tokens, &RESERVED));
    let statement = parser.statement()?;
    if parser.peek().is_some() {
        return Err(parser.unexpected());
    }
    Ok(statement)
}

pub(super) struct Parser(Cursor<Failure>);

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
        let mut parts = vec![self.name()?];
        while self.eat_sign('.') {
            parts.push(self.name()?);
        }
        if parts.len() == 3 && parts[0] == "internal" {
            parts.remove(0);
        }
        match parts.len() {
            1 => Ok(TableName { database: None, table: parts.remove(0) }),
            2 => Ok(TableName { table: parts.remove(1), database: Some(parts.remove(0)) }),
            _ => Err(Failure::not_modelled("other catalogs")),
        }
    }

    fn statement(&mut self) -> Result<Statement, Failure> {
        let Some(Token::Word(word)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        match word.to_ascii_lowercase().as_str() {
            "create" if self.eat("database") || self.eat("schema") => {
                let if_not_exists = self.if_exists(true)?;
                let name = self.name()?;
                if self.is("properties") {
                    return Err(Failure::not_modelled("properties of databases"));
                }
                Ok(Statement::CreateDatabase { name, if_not_exists })
            }
            "create" if self.eat("table") => self.create_table(),
            "create" if self.is("view") || self.is("index") || self.is("user") => {
                Err(Failure::not_modelled("CREATE of other things"))
            }
            "drop" if self.eat("database") || self.eat("schema") => {
                let if_exists = self.if_exists(false)?;
                let name = self.name()?;
                self.eat("force");
                Ok(Statement::DropDatabase { name, if_exists })
            }
            "drop" if self.eat("table") => {
                let if_exists = self.if_exists(false)?;
                let name = self.table()?;
                let force = self.eat("force");
                Ok(Statement::DropTable { name, if_exists, force })
            }
            "drop" if self.is("view") => Err(Failure::not_modelled("views")),
            "truncate" => {
                self.expect("table")?;
                let name = self.table()?;
                if self.is("partition") {
                    return Err(Failure::not_modelled("partitions"));
                }
                self.eat("force");
                Ok(Statement::Truncate(name))
            }
            "alter" if self.eat("table") => {
                let name = self.table()?;
                let mut clauses = vec![self.alter_clause()?];
                while self.eat_sign(',') {
                    clauses.push(self.alter_clause()?);
                }
                Ok(Statement::Alter { name, clauses })
            }
            "cancel" => {
                for word in ["alter", "table", "column", "from"] {
                    self.expect(word)?;
                }
                Ok(Statement::CancelAlter(self.table()?))
            }
            "show" => self.show(),
            "select" if matches!(self.peek(), Some(Token::Number(n)) if n == "1") && self.tokens.len() == 2 => {
                self.at += 1;
                Ok(Statement::SelectOne)
            }
            "select" => {
                let start = self.at;
                self.select().map_err(|_| {
                    self.at = start;
                    Failure::not_modelled("SELECT")
                })
            }
            "set" | "use" | "desc" | "describe" | "explain" | "insert" | "update" | "delete" | "recover" | "admin"
            | "refresh" | "grant" | "begin" | "commit" => Err(Failure::not_modelled(&word.to_uppercase())),
            _ => Err(Failure::syntax(&word)),
        }
    }

    fn create_table(&mut self) -> Result<Statement, Failure> {
        let if_not_exists = self.if_exists(true)?;
        let name = self.table()?;
        if self.is("like") || self.is("as") {
            return Err(Failure::not_modelled("CREATE TABLE LIKE and AS"));
        }
        self.sign('(')?;
        let mut columns = vec![self.column()?];
        while self.eat_sign(',') {
            if self.peek() == Some(&Token::Sign(')')) {
                // A comma at the end is taken.
                break;
            }
            if self.is("index") {
                return Err(Failure::not_modelled("indexes"));
            }
            columns.push(self.column()?);
        }
        self.sign(')')?;
        if self.eat("engine") {
            self.sign('=')?;
            if !self.name()?.eq_ignore_ascii_case("olap") {
                return Err(Failure::not_modelled("other engines"));
            }
        }
        let mut key = None;
        for model in ["UNIQUE", "DUPLICATE", "AGGREGATE"] {
            if self.eat(model) {
                self.expect("key")?;
                if model == "AGGREGATE" {
                    return Err(Failure::not_modelled("aggregate tables"));
                }
                key = Some((model.to_owned(), self.names()?));
            }
        }
        if self.is("cluster") {
            return Err(Failure::not_modelled("CLUSTER BY"));
        }
        let comment = if self.eat("comment") { unescaped(&self.text()?) } else { String::new() };
        if self.is("partition") {
            return Err(Failure::not_modelled("partitions that are listed"));
        }
        let partition = if self.eat("auto") { Some(self.auto_partition()?) } else { None };
        let (mut hash, mut buckets) = (None, None);
        if self.eat("distributed") {
            self.expect("by")?;
            if self.eat("random") {
                hash = Some(Vec::new());
            } else {
                self.expect("hash")?;
                hash = Some(self.names()?);
            }
            if self.eat("buckets") {
                buckets = Some(if self.eat("auto") { 0 } else { i64::from(self.number::<u32>()?).max(-1) });
                if buckets == Some(0) && self.tokens.get(self.at - 1) == Some(&Token::Number("0".into())) {
                    return Err(Failure::new("Number of hash distribution should be greater than zero."));
                }
            }
        }
        if self.is("rollup") {
            return Err(Failure::not_modelled("rollups"));
        }
        let properties = if self.is("properties") { self.properties()? } else { Vec::new() };
        Ok(Statement::CreateTable(Box::new(Create {
            if_not_exists,
            name,
            columns,
            key,
            comment,
            partition,
            hash,
            buckets,
            properties,
        })))
    }

    /// What stands behind `AUTO`: the column and the unit.
    fn auto_partition(&mut self) -> Result<(String, String), Failure> {
        self.expect("partition")?;
        self.expect("by")?;
        if self.is("list") {
            return Err(Failure::not_modelled("partitions by lists"));
        }
        self.expect("range")?;
        self.sign('(')?;
        if !self.eat("date_trunc") {
            let name = self.name()?;
            return Err(Failure::new(format!(
                "auto create partition only support date_trunc function of RANGE partition. `{name}`"
            )));
        }
        self.sign('(')?;
        let column = self.name()?;
        self.sign(',')?;
        let unit = self.text()?;
        self.sign(')')?;
        self.sign(')')?;
        self.sign('(')?;
        if !self.eat_sign(')') {
            return Err(Failure::not_modelled("partitions that are listed"));
        }
        Ok((column, unit))
    }

    fn properties(&mut self) -> Result<Vec<(String, String)>, Failure> {
        self.expect("properties")?;
        self.sign('(')?;
        let mut list = Vec::new();
        loop {
            let mut word = || match self.peek().cloned() {
                Some(Token::Text(t) | Token::Name(t) | Token::Word(t) | Token::Number(t)) => {
                    self.at += 1;
                    Ok(t)
                }
                _ => Err(self.unexpected()),
            };
            let key = word()?;
            self.sign('=')?;
            let value = match self.peek().cloned() {
                Some(Token::Text(t) | Token::Word(t) | Token::Number(t)) => {
                    self.at += 1;
                    t
                }
                _ => return Err(self.unexpected()),
            };
            list.push((key, value));
            if !self.eat_sign(',') {
                break;
            }
        }
        self.sign(')')?;
        Ok(list)
    }

    fn ty(&mut self) -> Result<Ty, Failure> {
        let Some(Token::Word(word)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        let lower = word.to_ascii_lowercase();
        if ["variant", "array", "map", "struct", "bitmap", "hll", "quantile_state", "ipv4", "ipv6", "agg_state"]
            .contains(&lower.as_str())
            || ["decimalv2", "datev1", "datetimev1", "timestamptz"].contains(&lower.as_str())
        {
            return Err(Failure::not_modelled("types that the sink does not make"));
        }
        let mut arguments = Vec::new();
        let mut star = false;
        if self.eat_sign('(') {
            if lower == "varchar" && self.eat_sign('*') {
                star = true;
            } else {
                arguments.push(self.number()?);
                while self.eat_sign(',') {
                    arguments.push(self.number()?);
                }
            }
            self.sign(')')?;
        }
        let count = arguments.len();
        let first = arguments.first().copied();
        let many = || Failure::syntax("(");
        match lower.as_str() {
            "boolean" if count == 0 => Ok(Ty::Boolean),
            "tinyint" if count <= 1 => Ok(Ty::TinyInt),
            "smallint" if count <= 1 => Ok(Ty::SmallInt),
            "int" | "integer" if count <= 1 => Ok(Ty::Int),
            "bigint" if count <= 1 => Ok(Ty::BigInt),
            "largeint" if count <= 1 => Ok(Ty::LargeInt),
            "float" => Ok(Ty::Float),
            "double" => Ok(Ty::Double),
            "decimal" | "decimalv3" if count <= 2 => {
                decimal(first.unwrap_or(38), arguments.get(1).copied().unwrap_or(if count == 0 { 9 } else { 0 }))
            }
            "char" | "character" if count <= 1 => match first.unwrap_or(1).max(1) {
                n if n > 255 => Err(Failure::new(format!("CHAR size must be <= 255: {n}"))),
                n => Ok(Ty::Char(n)),
            },
            "varchar" if star || count <= 1 => match first.filter(|n| *n > 0).unwrap_or(65_533) {
                n if n > 65_533 => Err(Failure::new(format!("VARCHAR size must be <= 65533: {n}"))),
                n => Ok(Ty::Varchar(n)),
            },
            "string" | "text" if count <= 1 => Ok(Ty::String),
            "date" | "datev2" if count == 0 => Ok(Ty::Date),
            "datetime" | "datetimev2" if count <= 1 => match first.unwrap_or(0) {
                p if p > 6 => {
                    Err(Failure::new(format!("Scale of Datetime/Time must between 0 and 6. Scale was set to: {p}")))
                }
                p => Ok(Ty::DateTime(p)),
            },
            "json" | "jsonb" if count == 0 => Ok(Ty::Json),
            "boolean" | "tinyint" | "smallint" | "int" | "bigint" | "largeint" | "char" | "varchar" | "string"
            | "text" | "date" | "datetime" | "decimal" | "json" => Err(many()),
            "varbinary" => Err(Failure::new("doris do not support varbinary create table, could use it by catalog")),
            "time" => Err(Failure::new("Time type is not supported for olap table")),
            _ => Err(Failure::syntax(&word)),
        }
    }

    fn column(&mut self) -> Result<ColumnDef, Failure> {
        let name = self.name()?;
        let ty = self.ty()?;
        let key = self.eat("key");
        if ["sum", "max", "min", "replace", "none", "hll_union"].iter().any(|w| self.is(w)) {
            return Err(Failure::not_modelled("aggregation"));
        }
        if self.is("as") || self.is("generated") || self.is("auto_increment") {
            return Err(Failure::not_modelled("generated columns"));
        }
        let nullable = if self.eat("not") {
            self.expect("null")?;
            Some(false)
        } else if self.eat("null") {
            Some(true)
        } else {
            None
        };
        if self.is("auto_increment") {
            return Err(Failure::not_modelled("generated columns"));
        }
        let default = if self.eat("default") { Some(self.default()?) } else { None };
        if self.is("on") {
            return Err(Failure::not_modelled("ON UPDATE"));
        }
        // A quote's backslash goes like all others.
        let comment = if self.eat("comment") { self.text()?.replace('\\', "") } else { String::new() };
        Ok(ColumnDef { name, ty, key, nullable, default, comment })
    }

    fn default(&mut self) -> Result<DefaultDef, Failure> {
        let minus = self.eat_sign('-');
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Number(n)) => Ok(DefaultDef::Text(if minus { format!("-{n}") } else { n })),
            Some(Token::Text(text)) if !minus => Ok(DefaultDef::Text(text)),
            Some(Token::Word(w)) if !minus => match w.to_ascii_lowercase().as_str() {
                "null" => Ok(DefaultDef::Null),
                "current_date" => Ok(DefaultDef::Today),
                "current_timestamp" => {
                    if !self.eat_sign('(') {
                        return Ok(DefaultDef::Now(None));
                    }
                    let digits = self.number()?;
                    self.sign(')')?;
                    Ok(DefaultDef::Now(Some(digits)))
                }
                "bitmap_empty" | "pi" | "e" => Err(Failure::not_modelled("other defaults")),
                _ => Err(Failure::syntax(&w)),
            },
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn alter_clause(&mut self) -> Result<AlterClause, Failure> {
        if self.eat("add") {
            if ["index", "partition", "rollup", "temporary"].iter().any(|w| self.is(w)) {
                return Err(Failure::not_modelled("indexes, partitions and rollups"));
            }
            self.expect("column")?;
            let clause = if self.eat_sign('(') {
                let mut columns = vec![self.column()?];
                while self.eat_sign(',') {
                    columns.push(self.column()?);
                }
                self.sign(')')?;
                AlterClause::Add(columns, Position::Last)
            } else {
                let column = self.column()?;
                AlterClause::Add(vec![column], self.position()?)
            };
            if self.is("to") || self.is("properties") {
                return Err(Failure::not_modelled("rollups, and properties of an ALTER"));
            }
            return Ok(clause);
        }
        if self.eat("drop") {
            if ["index", "partition", "rollup"].iter().any(|w| self.is(w)) {
                return Err(Failure::not_modelled("indexes, partitions and rollups"));
            }
            self.expect("column")?;
            return Ok(AlterClause::Drop(self.name()?));
        }
        if self.eat("modify") {
            if self.eat("comment") {
                return Ok(AlterClause::CommentTable(self.text()?));
            }
            if self.is("distribution") || self.is("partition") {
                return Err(Failure::not_modelled("other ALTER clauses"));
            }
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
                return Ok(AlterClause::RenameColumn(from, self.name()?));
            }
            return Ok(AlterClause::RenameTable(self.name()?));
        }
        if ["set", "replace", "order", "enable"].iter().any(|w| self.is(w)) {
            return Err(Failure::not_modelled("other ALTER clauses"));
        }
        Err(self.unexpected())
    }

    fn show(&mut self) -> Result<Statement, Failure> {
        if self.eat("full") {
            self.expect("columns")?;
            self.expect("from")?;
            return Ok(Statement::ShowColumns { name: self.table()? });
        }
        if self.eat("create") {
            self.expect("table")?;
            return Ok(Statement::ShowCreate(self.table()?));
        }
        if self.eat("databases") {
            return Ok(Statement::ShowDatabases);
        }
        if self.eat("variables") {
            self.expect("like")?;
            return Ok(Statement::ShowVariables(self.text()?));
        }
        if self.eat("alter") {
            self.expect("table")?;
            self.expect("column")?;
            let database = if self.eat("from") { Some(self.name()?) } else { None };
            let mut table = None;
            if self.eat("where") {
                self.expect("tablename")?;
                self.sign('=')?;
                table = Some(self.text()?);
            }
            if self.peek().is_some() {
                return Err(Failure::not_modelled("orders and limits of SHOW ALTER"));
            }
            return Ok(Statement::ShowAlter { database, table });
        }
        Err(Failure::not_modelled("other SHOW statements"))
    }
}

fn decimal(precision: u32, scale: u32) -> Result<Ty, Failure> {
    if precision == 0 || precision > 76 {
        return Err(Failure::new(format!("precision should in (0, 76], but real precision is {precision}")));
    }
    if precision < scale {
        return Err(Failure::new(format!(
            "precision should not smaller than scale, but precision is {precision} [, scale is {scale}]"
        )));
    }
    if precision > 38 {
        return Err(Failure {
            code: 1235,
            message: format!(
                "Not Supported: Datatype DecimalV3 with precision {precision}, which is greater than 38 is disabled by \
                 default. set enable_decimal256 = true to enable it."
            ),
        });
    }
    Ok(Ty::Decimal(precision, scale))
}
