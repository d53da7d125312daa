//! The grammar of expressions, by precedence.

use super::Node;
use crate::ddl::cursor::{Cursor, Parsed};
use crate::ddl::lexer::{Token, TokenKind};

/// How deep expressions may nest: deeper ones would exhaust the stack.
const MAX_DEPTH: u32 = 20;

pub(super) fn expression(cursor: &mut Cursor<'_>) -> Parsed<Node> {
    Grammar { cursor, depth: 0 }.level(0)
}

struct Grammar<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    depth: u32,
}

/// The binary operators by precedence, loosest first, as they are written and as they are shown. NOT and the
/// comparisons come between the third and the fourth level.
const OPERATORS: &[&[(&str, &str)]] = &[
    &[("OR", "or"), ("||", "or")],
    &[("XOR", "xor")],
    &[("AND", "and"), ("&&", "and")],
    &[],
    &[],
    &[("|", "|")],
    &[("&", "&")],
    &[("<<", "<<"), (">>", ">>")],
    &[("+", "+"), ("-", "-")],
    &[("*", "*"), ("/", "/"), ("%", "%"), ("DIV", "DIV"), ("MOD", "%")],
    &[("^", "^")],
];
const NOT: usize = 3;
const COMPARISON: usize = 4;
const SUM: usize = 8;
const COMPARISONS: &[(&str, &str)] =
    &[("<=>", "<=>"), (">=", ">="), ("<=", "<="), ("<>", "<>"), ("!=", "<>"), ("=", "="), (">", ">"), ("<", "<")];

impl Grammar<'_, '_> {
    /// Takes an operator that is next.
    fn operator(&mut self, operators: &[(&'static str, &'static str)]) -> Option<&'static str> {
        let (written, shown) = *operators.iter().find(|(written, _)| {
            if written.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return self.cursor.is(written);
            }
            let all = written.chars().enumerate().all(|(i, c)| self.cursor.is_symbol_at(i, c));
            // `|` is not the start of `||`, nor `&` of `&&`.
            all && !(matches!(*written, "|" | "&")
                && self.cursor.is_symbol_at(1, written.chars().next().unwrap_or(' ')))
        })?;
        let word = written.starts_with(|c: char| c.is_ascii_alphabetic());
        self.cursor.at += if word { 1 } else { written.len() };
        Some(shown)
    }

    fn level(&mut self, level: usize) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.error("a shallower expression"));
        }
        let node = self.at_level(level);
        self.depth -= 1;
        node
    }

    fn at_level(&mut self, level: usize) -> Parsed<Node> {
        match level {
            NOT => {
                if self.cursor.accept("NOT") {
                    return Ok(Node::Not(Box::new(self.level(NOT)?)));
                }
                return self.at_level(COMPARISON);
            }
            COMPARISON => return self.comparison(),
            _ if level >= OPERATORS.len() => return self.unary(),
            _ => {}
        }
        let mut left = self.at_level(level + 1)?;
        while let Some(operator) = self.operator(OPERATORS[level]) {
            if level == SUM && self.cursor.accept("INTERVAL") {
                let (amount, unit) = self.interval()?;
                let sign = if operator == "-" { '-' } else { '+' };
                left = Node::Interval(sign, Box::new(left), Box::new(amount), unit);
                continue;
            }
            let right = self.level(level + 1)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// What follows INTERVAL.
    fn interval(&mut self) -> Parsed<(Node, String)> {
        let amount = self.level(0)?;
        Ok((amount, self.cursor.name()?.to_ascii_lowercase()))
    }

    fn comparison(&mut self) -> Parsed<Node> {
        let mut left = self.at_level(COMPARISON + 1)?;
        loop {
            if let Some(operator) = self.operator(COMPARISONS) {
                let right = self.level(COMPARISON + 1)?;
                left = Node::Binary(operator, Box::new(left), Box::new(right));
                continue;
            }
            if self.cursor.accept("IS") {
                let not = self.cursor.accept("NOT");
                let what = match () {
                    () if self.cursor.accept("NULL") => [" is null", " is not null"],
                    () if self.cursor.accept("TRUE") => [" is true", " is not true"],
                    () if self.cursor.accept("FALSE") => [" is false", " is not false"],
                    () => return Err(self.cursor.error("NULL, TRUE or FALSE")),
                };
                left = Node::Is(Box::new(left), what[usize::from(not)]);
                continue;
            }
            let not = self.cursor.is("NOT");
            let ahead = usize::from(not);
            let next = |cursor: &mut Cursor<'_>, keyword: &str| {
                let is = cursor.is_at(ahead, keyword);
                cursor.at += if is { ahead + 1 } else { 0 };
                is
            };
            let node = if next(self.cursor, "IN") {
                self.cursor.expect_symbol('(', "(")?;
                Node::In(Box::new(left), not, self.arguments()?)
            } else if next(self.cursor, "BETWEEN") {
                let low = self.level(COMPARISON + 1)?;
                self.cursor.expect("AND")?;
                let high = self.level(COMPARISON + 1)?;
                Node::Between(Box::new(left), not, Box::new(low), Box::new(high))
            } else if next(self.cursor, "LIKE") {
                let like = Node::Binary("like", Box::new(left), Box::new(self.level(COMPARISON + 1)?));
                if not { Node::Not(Box::new(like)) } else { like }
            } else if next(self.cursor, "REGEXP") || next(self.cursor, "RLIKE") {
                let regexp = Node::Binary("regexp", Box::new(left), Box::new(self.level(COMPARISON + 1)?));
                if not { Node::Not(Box::new(regexp)) } else { regexp }
            } else {
                return Ok(left);
            };
            left = node;
        }
    }

    fn unary(&mut self) -> Parsed<Node> {
        let cursor = &mut *self.cursor;
        let node = if cursor.symbol('-') {
            Node::Unary('-', Box::new(self.level(OPERATORS.len())?))
        } else if cursor.symbol('+') {
            self.level(OPERATORS.len())?
        } else if cursor.symbol('~') {
            Node::Unary('~', Box::new(self.level(OPERATORS.len())?))
        } else if cursor.symbol('!') {
            Node::Not(Box::new(self.level(OPERATORS.len())?))
        } else if cursor.accept("BINARY") {
            Node::Cast(Box::new(self.level(OPERATORS.len())?), "char charset binary".to_owned())
        } else {
            self.primary()?
        };
        if self.cursor.accept("COLLATE") {
            return Ok(Node::Collate(Box::new(node), self.cursor.name_or_text()?));
        }
        Ok(node)
    }

    /// Arguments up to the closing parenthesis; the opening one has been taken.
    fn arguments(&mut self) -> Parsed<Vec<Node>> {
        let mut arguments = vec![];
        if self.cursor.symbol(')') {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.level(0)?);
            if !self.cursor.symbol(',') {
                break;
            }
        }
        self.cursor.expect_symbol(')', ")")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Node> {
        let Some(token) = self.cursor.token(0) else { return Err(self.cursor.error("an expression")) };
        match &token.kind {
            TokenKind::Symbol('(') => {
                self.cursor.at += 1;
                let node = self.level(0)?;
                self.cursor.expect_symbol(')', ")")?;
                Ok(node)
            }
            TokenKind::Number => {
                let number = self.cursor.raw(0).to_owned();
                self.cursor.at += 1;
                Ok(Node::Plain(number))
            }
            TokenKind::Text(_) => {
                let national = self.cursor.raw(0).starts_with(['n', 'N']);
                Ok(Node::Text(national.then(|| "utf8mb3".to_owned()), self.cursor.string()?))
            }
            TokenKind::Hex(bytes) => {
                self.cursor.at += 1;
                Ok(Node::Hex(bytes.clone()))
            }
            TokenKind::Bits(digits) => {
                self.cursor.at += 1;
                let padded = format!("{digits:0>width$}", width = digits.len().div_ceil(8) * 8);
                let byte = |c: &[u8]| c.iter().fold(0, |n, d| n << 1 | (d & 1));
                Ok(Node::Hex(padded.as_bytes().chunks(8).map(byte).collect()))
            }
            TokenKind::Quoted(_) => Ok(self.reference()?),
            TokenKind::Word => self.word(),
            TokenKind::Symbol(_) => Err(self.cursor.error("an expression")),
        }
    }

    /// A column, or its JSON path: `c->'$.a'`.
    fn reference(&mut self) -> Parsed<Node> {
        let column = Node::Column(self.cursor.column()?);
        if self.cursor.is_symbol('-') && self.cursor.is_symbol_at(1, '>') {
            self.cursor.at += 2;
            let unquote = self.cursor.symbol('>');
            let path = Node::Text(None, self.cursor.string()?);
            let extract = Node::Call("json_extract".to_owned(), vec![column, path]);
            return Ok(if unquote { Node::Call("json_unquote".to_owned(), vec![extract]) } else { extract });
        }
        Ok(column)
    }

    fn word(&mut self) -> Parsed<Node> {
        let word = self.cursor.raw(0).to_ascii_lowercase();
        let text_next = matches!(self.cursor.token(1), Some(Token { kind: TokenKind::Text(_), .. }));
        let call = self.cursor.is_symbol_at(1, '(');
        match word.as_str() {
            "null" => return Ok(self.plain("NULL")),
            "true" => return Ok(self.plain("true")),
            "false" => return Ok(self.plain("false")),
            "date" | "time" | "timestamp" if text_next => {
                self.cursor.at += 1;
                let kind = match word.as_str() {
                    "date" => "DATE",
                    "time" => "TIME",
                    _ => "TIMESTAMP",
                };
                return Ok(Node::Typed(kind, self.cursor.string()?));
            }
            "current_timestamp" | "localtime" | "localtimestamp" => return self.now(),
            "now" if call => return self.now(),
            "current_date" | "current_time" | "utc_date" | "utc_time" | "utc_timestamp" | "current_user" if !call => {
                self.cursor.at += 1;
                return Ok(Node::Call(function_name(&word).to_owned(), vec![]));
            }
            "case" => return self.case(),
            "interval" => {
                self.cursor.at += 1;
                let (amount, unit) = self.interval()?;
                self.cursor.expect_symbol('+', "+")?;
                let base = self.level(SUM + 1)?;
                return Ok(Node::Interval('+', Box::new(base), Box::new(amount), unit));
            }
            _ if word.starts_with('_') && text_next => {
                self.cursor.at += 1;
                let charset = word[1..].to_owned();
                let charset = if charset == "utf8" { "utf8mb3".to_owned() } else { charset };
                return Ok(Node::Text(Some(charset), self.cursor.string()?));
            }
            _ => {}
        }
        if call { self.call(&word) } else { self.reference() }
    }

    fn plain(&mut self, shown: &str) -> Node {
        self.cursor.at += 1;
        Node::Plain(shown.to_owned())
    }

    fn now(&mut self) -> Parsed<Node> {
        self.cursor.at += 1;
        let mut precision = None;
        if self.cursor.symbol('(') && !self.cursor.symbol(')') {
            precision = Some(self.cursor.number()?.to_string());
            self.cursor.expect_symbol(')', ")")?;
        }
        Ok(Node::Now(precision))
    }

    fn case(&mut self) -> Parsed<Node> {
        self.cursor.at += 1;
        let operand = if self.cursor.is("WHEN") { None } else { Some(Box::new(self.level(0)?)) };
        let mut branches = vec![];
        while self.cursor.accept("WHEN") {
            let when = self.level(0)?;
            self.cursor.expect("THEN")?;
            branches.push((when, self.level(0)?));
        }
        let other = if self.cursor.accept("ELSE") { Some(Box::new(self.level(0)?)) } else { None };
        self.cursor.expect("END")?;
        Ok(Node::Case(operand, branches, other))
    }

    /// A function; its name is next.
    fn call(&mut self, word: &str) -> Parsed<Node> {
        self.cursor.at += 2;
        match word {
            "cast" | "convert" => {
                let value = self.level(0)?;
                if self.cursor.accept("USING") {
                    let charset = self.cursor.name()?.to_ascii_lowercase();
                    self.cursor.expect_symbol(')', ")")?;
                    return Ok(Node::Using(Box::new(value), charset));
                }
                if !self.cursor.accept("AS") {
                    self.cursor.expect_symbol(',', ",")?;
                }
                return Ok(Node::Cast(Box::new(value), self.cast_type()?));
            }
            "extract" => {
                let unit = self.cursor.name()?.to_ascii_lowercase();
                self.cursor.expect("FROM")?;
                let value = self.level(0)?;
                self.cursor.expect_symbol(')', ")")?;
                return Ok(Node::Extract(unit, Box::new(value)));
            }
            "position" => {
                let part = self.level(COMPARISON + 1)?;
                self.cursor.expect("IN")?;
                let whole = self.level(0)?;
                self.cursor.expect_symbol(')', ")")?;
                return Ok(Node::Call("locate".to_owned(), vec![part, whole]));
            }
            "date_add" | "date_sub" | "adddate" | "subdate" => {
                let base = self.level(0)?;
                self.cursor.expect_symbol(',', ",")?;
                let sign = if word.ends_with("sub") || word.starts_with("sub") { '-' } else { '+' };
                let (amount, unit) =
                    if self.cursor.accept("INTERVAL") { self.interval()? } else { (self.level(0)?, "day".to_owned()) };
                self.cursor.expect_symbol(')', ")")?;
                return Ok(Node::Interval(sign, Box::new(base), Box::new(amount), unit));
            }
            _ => {}
        }
        let mut arguments = self.arguments()?;
        if word == "mod" && arguments.len() == 2 {
            let right = arguments.remove(1);
            return Ok(Node::Binary("%", Box::new(arguments.remove(0)), Box::new(right)));
        }
        if word == "round" && arguments.len() == 1 {
            arguments.push(Node::Plain("0".to_owned()));
        }
        Ok(Node::Call(function_name(word).to_owned(), arguments))
    }

    /// The type of a CAST up to the closing parenthesis.
    fn cast_type(&mut self) -> Parsed<String> {
        let mut shown = self.cursor.name()?.to_ascii_lowercase();
        if matches!(shown.as_str(), "signed" | "unsigned") {
            self.cursor.accept_any(&["INTEGER", "INT"]);
        }
        if self.cursor.symbol('(') {
            shown.push_str(&format!("({}", self.cursor.number()?));
            if self.cursor.symbol(',') {
                shown.push_str(&format!(",{}", self.cursor.number()?));
            }
            self.cursor.expect_symbol(')', ")")?;
            shown.push(')');
        } else if shown == "decimal" {
            shown.push_str("(10,0)");
        }
        if shown.starts_with("char") {
            let named = self.cursor.accept("CHARSET") || self.cursor.accept_all(&["CHARACTER", "SET"]);
            let charset = if named { self.cursor.name()?.to_ascii_lowercase() } else { "utf8mb4".to_owned() };
            shown.push_str(&format!(" charset {charset}"));
        } else if shown.starts_with("binary") {
            shown = shown.replacen("binary", "char", 1) + " charset binary";
        }
        self.cursor.expect_symbol(')', ")")?;
        Ok(shown)
    }
}

/// The name by which servers show a function.
fn function_name(name: &str) -> &str {
    match name {
        "substring" | "mid" => "substr",
        "ceil" => "ceiling",
        "power" => "pow",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "character_length" => "char_length",
        "day" => "dayofmonth",
        "octet_length" => "length",
        "lcase" => "lower",
        "ucase" => "upper",
        other => other,
    }
}
