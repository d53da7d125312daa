//! A place in a statement's tokens, and the small steps that every grammar rule is made of.

use super::lexer::{Token, TokenKind};
use super::{DdlContext, SyntaxError};
use rowferry_model::TableId;

/// The result of a grammar rule.
pub(crate) type Parsed<T> = Result<T, SyntaxError>;

/// A place in the tokens of a statement.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) tokens: &'t [Token],
    pub(crate) at: usize,
    pub(crate) context: &'t DdlContext,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, tokens: &'t [Token], context: &'t DdlContext) -> Self {
        Self { text, tokens, at: 0, context }
    }

    /// The token `ahead` of the next.
    pub(crate) fn token(&self, ahead: usize) -> Option<&'t Token> {
        self.tokens.get(self.at + ahead)
    }

    /// The text of the token `ahead` of the next; empty at the end.
    pub(crate) fn raw(&self, ahead: usize) -> &'t str {
        self.token(ahead).map_or("", |t| &self.text[t.start..t.end])
    }

    /// Whether the token `ahead` of the next is that keyword. Keywords are written in upper case.
    pub(crate) fn is_at(&self, ahead: usize, keyword: &str) -> bool {
        self.token(ahead).is_some_and(|t| t.kind == TokenKind::Word) && self.raw(ahead).eq_ignore_ascii_case(keyword)
    }

    /// Whether the next token is that keyword.
    pub(crate) fn is(&self, keyword: &str) -> bool {
        self.is_at(0, keyword)
    }

    /// Whether the next tokens are those keywords.
    pub(crate) fn are(&self, keywords: &[&str]) -> bool {
        keywords.iter().enumerate().all(|(i, k)| self.is_at(i, k))
    }

    /// Takes that keyword if it is next.
    pub(crate) fn accept(&mut self, keyword: &str) -> bool {
        self.accept_all(&[keyword])
    }

    /// Takes those keywords if they are next.
    pub(crate) fn accept_all(&mut self, keywords: &[&str]) -> bool {
        let next = self.are(keywords);
        if next {
            self.at += keywords.len();
        }
        next
    }

    /// Takes one of those keywords if it is next.
    pub(crate) fn accept_any(&mut self, keywords: &[&str]) -> bool {
        keywords.iter().any(|k| self.accept(k))
    }

    /// Takes that keyword.
    pub(crate) fn expect(&mut self, keyword: &'static str) -> Parsed<()> {
        if self.accept(keyword) { Ok(()) } else { Err(self.error(keyword)) }
    }

    /// Whether the token `ahead` of the next is that symbol.
    pub(crate) fn is_symbol_at(&self, ahead: usize, symbol: char) -> bool {
        self.token(ahead).is_some_and(|t| t.kind == TokenKind::Symbol(symbol))
    }

    /// Whether the next token is that symbol.
    pub(crate) fn is_symbol(&self, symbol: char) -> bool {
        self.is_symbol_at(0, symbol)
    }

    /// Takes that symbol if it is next.
    pub(crate) fn symbol(&mut self, symbol: char) -> bool {
        let next = self.is_symbol(symbol);
        self.at += usize::from(next);
        next
    }

    /// Takes that symbol.
    pub(crate) fn expect_symbol(&mut self, symbol: char, name: &'static str) -> Parsed<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.error(name)) }
    }

    /// Whether the statement ends here; a `;` at its end is allowed.
    pub(crate) fn at_end(&self) -> bool {
        self.tokens[self.at.min(self.tokens.len())..].iter().all(|t| t.kind == TokenKind::Symbol(';'))
    }

    /// An error at the next token.
    pub(crate) fn error(&self, expected: &'static str) -> SyntaxError {
        let found = match self.token(0) {
            Some(token) => format!("`{}`", &self.text[token.start..token.end]),
            None => "the end".to_owned(),
        };
        SyntaxError { expected, found, at: self.token(0).map_or(self.text.len(), |t| t.start) }
    }

    /// Takes a name, quoted or not.
    pub(crate) fn name(&mut self) -> Parsed<String> {
        let name = match self.token(0) {
            Some(Token { kind: TokenKind::Word, .. }) => self.raw(0).to_owned(),
            Some(Token { kind: TokenKind::Quoted(name), .. }) => name.clone(),
            _ => return Err(self.error("a name")),
        };
        self.at += 1;
        Ok(name)
    }

    /// Whether the next token can be a name.
    pub(crate) fn at_name(&self) -> bool {
        self.token(0).is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted(_)))
    }

    /// Takes a name or a string: `COLLATE 'utf8_bin'`.
    pub(crate) fn name_or_text(&mut self) -> Parsed<String> {
        if let Some(Token { kind: TokenKind::Text(text), .. }) = self.token(0) {
            self.at += 1;
            return Ok(text.clone());
        }
        self.name()
    }

    /// Takes a table's name, `[database.]table`; `.table` is of the current database.
    pub(crate) fn table(&mut self) -> Parsed<TableId> {
        let mut first = if self.is_symbol('.') { self.context.default_database.clone() } else { self.name()? };
        let mut database = self.context.default_database.clone();
        if self.symbol('.') {
            database = first;
            first = self.name()?;
        }
        Ok(self.context.table_id(&database, &first))
    }

    /// Takes a column's name, which may have its table's and database's in front.
    pub(crate) fn column(&mut self) -> Parsed<String> {
        let mut name = self.name()?;
        while self.symbol('.') {
            name = self.name()?;
        }
        Ok(name)
    }

    /// Takes a string; adjacent ones are one.
    pub(crate) fn string(&mut self) -> Parsed<String> {
        let mut value = None::<String>;
        while let Some(Token { kind: TokenKind::Text(text), .. }) = self.token(0) {
            value.get_or_insert_default().push_str(text);
            self.at += 1;
        }
        value.ok_or_else(|| self.error("a string"))
    }

    /// Takes a comment. Servers keep comments in utf8mb3: characters that it doesn't have become question marks.
    pub(crate) fn comment(&mut self) -> Parsed<String> {
        Ok(self.string()?.chars().map(|c| if c > '\u{ffff}' { '?' } else { c }).collect())
    }

    /// Takes an unsigned whole number.
    pub(crate) fn number(&mut self) -> Parsed<u64> {
        let value = match self.token(0).map(|t| &t.kind) {
            Some(TokenKind::Number) => self.raw(0).parse::<f64>().ok().map(|n| n as u64),
            Some(TokenKind::Hex(bytes)) => Some(bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b))),
            _ => None,
        };
        let value = value.ok_or_else(|| self.error("a number"))?;
        self.at += 1;
        Ok(value)
    }

    /// Takes all of a parenthesis, from `(` to its `)`.
    pub(crate) fn parenthesis(&mut self) -> Parsed<&'t [Token]> {
        self.expect_symbol('(', "(")?;
        let start = self.at;
        let mut depth = 1u32;
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Symbol('(') => depth += 1,
                TokenKind::Symbol(')') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.tokens[start..self.at - 1]);
            }
        }
        Err(self.error(")"))
    }

    /// Takes `IF EXISTS`.
    pub(crate) fn if_exists(&mut self) -> bool {
        self.accept_all(&["IF", "EXISTS"])
    }

    /// Takes `IF NOT EXISTS`.
    pub(crate) fn if_not_exists(&mut self) -> bool {
        self.accept_all(&["IF", "NOT", "EXISTS"])
    }

    /// Takes `=` if it is next: it may be left out in options.
    pub(crate) fn equals(&mut self) {
        self.symbol('=');
    }

    /// Takes MariaDB's `WAIT n` and `NOWAIT`.
    pub(crate) fn wait(&mut self) -> Parsed<()> {
        if self.accept("WAIT") {
            self.number()?;
        } else {
            self.accept("NOWAIT");
        }
        Ok(())
    }
}
