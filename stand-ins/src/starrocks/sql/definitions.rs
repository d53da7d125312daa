//! Definitions of tables, columns and types.

use super::super::types::Ty;
use super::Failure;
use super::parser::Parser;
use super::statement::{ColumnDef, Create, DefaultDef, Statement};
use crate::sql::{Refusal, Token};

impl Parser {
    pub(super) fn create_table(&mut self) -> Result<Statement, Failure> {
        let if_not_exists = self.if_exists(true)?;
        let name = self.table()?;
        if !self.eat_sign('(') {
            return Err(Failure::not_modelled("CREATE TABLE LIKE and AS"));
        }
        let mut columns = Vec::new();
        loop {
            if self.is("index") {
                // `index INT` is no column, `INDEX i (v)` is an index.
                match self.tokens.get(self.at + 2) {
                    Some(Token::Sign('(')) => return Err(Failure::not_modelled("indexes")),
                    _ => {
                        self.at += 1;
                        return Err(self.unexpected());
                    }
                }
            }
            columns.push(self.column()?);
            if !self.eat_sign(',') {
                break;
            }
        }
        self.sign(')')?;
        let engine = if self.eat("engine") {
            self.sign('=')?;
            Some(self.name()?)
        } else {
            None
        };
        let mut model = None;
        for word in ["primary", "duplicate", "unique", "aggregate"] {
            if self.eat(word) {
                self.expect("key")?;
                model = Some((word.to_ascii_uppercase(), self.names()?));
                break;
            }
        }
        let comment = if self.eat("comment") { Some(self.text()?) } else { None };
        if self.is("partition") {
            return Err(Failure::not_modelled("partitions"));
        }
        let (mut hash, mut random, mut buckets) = (None, false, None);
        if self.eat("distributed") {
            self.expect("by")?;
            if self.eat("random") {
                random = true;
            } else {
                self.expect("hash")?;
                hash = Some(self.names()?);
            }
            if self.eat("buckets") {
                buckets = Some(self.number()?);
            }
        }
        let order_by = if self.eat("order") {
            self.expect("by")?;
            self.names()?
        } else {
            Vec::new()
        };
        let properties = if self.is("properties") { self.properties()? } else { Vec::new() };
        if self.is("as") {
            return Err(Failure::not_modelled("CREATE TABLE AS"));
        }
        Ok(Statement::CreateTable(Box::new(Create {
            if_not_exists,
            name,
            columns,
            engine,
            model,
            comment,
            hash,
            random,
            buckets,
            order_by,
            properties,
        })))
    }

    pub(super) fn properties(&mut self) -> Result<Vec<(String, String)>, Failure> {
        self.expect("properties")?;
        self.sign('(')?;
        let mut out = Vec::new();
        loop {
            let key = self.text()?;
            self.sign('=')?;
            out.push((key, self.text()?));
            if !self.eat_sign(',') {
                break;
            }
        }
        self.sign(')')?;
        Ok(out)
    }

    /// `name TYPE [KEY] [NULL | NOT NULL] [DEFAULT …] [COMMENT "…"]`, in this order.
    pub(super) fn column(&mut self) -> Result<ColumnDef, Failure> {
        let name = self.name()?;
        let ty = self.ty()?;
        let key = self.eat("key");
        for aggregate in ["sum", "max", "min", "replace", "replace_if_not_null", "hll_union", "bitmap_union"] {
            if self.eat(aggregate) && aggregate != "replace" {
                return Err(Failure::not_modelled("aggregates"));
            }
        }
        let nullable = if self.eat("null") {
            Some(true)
        } else if self.eat("not") {
            self.expect("null")?;
            Some(false)
        } else {
            None
        };
        if self.eat("auto_increment") {
            return Err(Failure::not_modelled("AUTO_INCREMENT"));
        }
        let default = if self.eat("default") { Some(self.default()?) } else { None };
        if self.is("as") {
            return Err(Failure::not_modelled("generated columns"));
        }
        if self.is("character") || self.is("charset") {
            return Err(Failure::not_modelled("charsets"));
        }
        let comment = if self.eat("comment") { Some(self.text()?) } else { None };
        Ok(ColumnDef { name, ty, key, nullable, default, comment })
    }

    fn default(&mut self) -> Result<DefaultDef, Failure> {
        if self.eat("null") {
            return Ok(DefaultDef::Null);
        }
        if self.eat("current_timestamp") {
            let mut precision = String::new();
            if self.eat_sign('(') {
                if let Some(Token::Number(n)) = self.peek().cloned() {
                    self.at += 1;
                    precision = n;
                }
                self.sign(')')?;
            }
            return Ok(DefaultDef::Function(if precision.is_empty() {
                "CURRENT_TIMESTAMP".to_owned()
            } else {
                format!("current_timestamp({precision})")
            }));
        }
        if self.eat_sign('(') {
            let name = self.name()?;
            self.sign('(')?;
            self.sign(')')?;
            self.sign(')')?;
            return Ok(DefaultDef::Function(if name.eq_ignore_ascii_case("now") {
                "CURRENT_TIMESTAMP".to_owned()
            } else {
                format!("{}()", name.to_ascii_lowercase())
            }));
        }
        Ok(DefaultDef::Text(self.text()?))
    }

    fn ty(&mut self) -> Result<Ty, Failure> {
        let Some(Token::Word(word)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        let word = word.to_ascii_lowercase();
        let mut numbers: Vec<u32> = Vec::new();
        let takes = !matches!(
            word.as_str(),
            "float" | "double" | "date" | "datetime" | "boolean" | "json" | "bitmap" | "hll" | "percentile" | "time"
        );
        if takes && self.eat_sign('(') {
            numbers.push(self.number()?);
            if self.eat_sign(',') {
                numbers.push(self.number()?);
            }
            self.sign(')')?;
        }
        let length = |n: &[u32]| n.first().copied();
        Ok(match word.as_str() {
            "boolean" => Ty::Boolean,
            "tinyint" => Ty::TinyInt,
            "smallint" => Ty::SmallInt,
            "int" | "integer" => Ty::Int,
            "bigint" => Ty::BigInt,
            "largeint" => Ty::LargeInt,
            "float" => Ty::Float,
            "double" => Ty::Double,
            "decimal" | "numeric" | "decimalv2" | "decimal32" | "decimal64" | "decimal128" => {
                let p = length(&numbers).unwrap_or(10);
                let s = numbers.get(1).copied().unwrap_or(0);
                if p > 76 {
                    return Err(Failure::plain("DECIMAL's precision should range from 1 to 76"));
                }
                if s > p {
                    return Err(Failure::plain(
                        "DECIMAL(P[,S]) type P must be greater than or equal to the value of S",
                    ));
                }
                Ty::Decimal(p.max(1), s)
            }
            "char" => Ty::Char(length(&numbers).unwrap_or(1).max(1)),
            "varchar" => Ty::Varchar(length(&numbers).unwrap_or(1).max(1)),
            "string" | "text" => Ty::Varchar(65_533),
            "varbinary" | "binary" => Ty::Varbinary(length(&numbers)),
            "date" => Ty::Date,
            "datetime" => Ty::DateTime,
            "json" => Ty::Json,
            "time" => Ty::Other("time".to_owned()),
            "bitmap" | "hll" | "percentile" => Ty::Other(word),
            "array" | "map" | "struct" => return Err(Failure::not_modelled("nested types")),
            _ => return Err(Failure::syntax(&word)),
        })
    }
}
