//! What the two servers' grammars have in common: tokens, and the way through them.

use std::marker::PhantomData;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A bare word, as it was written.
    Word(String),
    /// A name in backticks.
    Name(String),
    /// The text between quotes.
    Text(String),
    Number(String),
    Sign(char),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    pub database: Option<String>,
    pub table: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    Last,
    First,
    After(String),
}

/// A refusal of a statement.
pub(crate) trait Refusal {
    /// Of what can't be read.
    fn syntax(at: &str) -> Self;
}

/// A way through a statement's tokens.
pub(crate) struct Cursor<F> {
    pub(crate) tokens: Vec<Token>,
    pub(crate) at: usize,
    /// Words that are no names without backticks.
    reserved: &'static [&'static str],
    refusal: PhantomData<F>,
}

impl<F: Refusal> Cursor<F> {
    pub(crate) fn new(tokens: Vec<Token>, reserved: &'static [&'static str]) -> Self {
        Self { tokens, at: 0, reserved, refusal: PhantomData }
    }

    pub(crate) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(crate) fn unexpected(&self) -> F {
        match self.peek() {
            None => F::syntax("<EOF>"),
            Some(Token::Word(t) | Token::Name(t) | Token::Text(t) | Token::Number(t)) => F::syntax(t),
            Some(Token::Sign(c)) => F::syntax(&c.to_string()),
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word))
    }

    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let hit = self.is(word);
        self.at += usize::from(hit);
        hit
    }

    pub(crate) fn expect(&mut self, word: &str) -> Result<(), F> {
        if self.eat(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(crate) fn eat_sign(&mut self, sign: char) -> bool {
        let hit = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(hit);
        hit
    }

    pub(crate) fn sign(&mut self, sign: char) -> Result<(), F> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(crate) fn name(&mut self) -> Result<String, F> {
        match self.peek().cloned() {
            Some(Token::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            Some(Token::Word(word)) if !self.reserved.contains(&word.to_ascii_lowercase().as_str()) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Names in parentheses.
    pub(crate) fn names(&mut self) -> Result<Vec<String>, F> {
        self.sign('(')?;
        let mut names = vec![self.name()?];
        while self.eat_sign(',') {
            names.push(self.name()?);
        }
        self.sign(')')?;
        Ok(names)
    }

    pub(crate) fn text(&mut self) -> Result<String, F> {
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.unexpected()),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Result<T, F> {
        match self.peek() {
            Some(Token::Number(n)) => {
                let n = n.parse().map_err(|_| self.unexpected())?;
                self.at += 1;
                Ok(n)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `IF EXISTS`, or `IF NOT EXISTS`.
    pub(crate) fn if_exists(&mut self, not: bool) -> Result<bool, F> {
        if !self.eat("if") {
            return Ok(false);
        }
        if not {
            self.expect("not")?;
        }
        self.expect("exists")?;
        Ok(true)
    }

    /// `FIRST`, `AFTER` a column, or nothing.
    pub(crate) fn position(&mut self) -> Result<Position, F> {
        if self.eat("first") {
            return Ok(Position::First);
        }
        if self.eat("after") {
            return Ok(Position::After(self.name()?));
        }
        Ok(Position::Last)
    }
}

/// The place behind white space or a comment that begins here; `None`: something else begins.
pub(crate) fn behind_blank(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1);
    let from = &chars[at..];
    match chars[at] {
        c if c.is_whitespace() => Some(at + 1),
        '-' if next == Some(&'-') => Some(from.iter().position(|c| *c == '\n').map_or(chars.len(), |n| at + n)),
        '/' if next == Some(&'*') => {
            let end = from[2..].windows(2).position(|pair| pair == ['*', '/']);
            Some(end.map_or(chars.len(), |n| at + 2 + n + 2))
        }
        _ => None,
    }
}

/// What a backslash makes of the character behind it.
pub(crate) fn unescape(out: &mut String, escaped: char) {
    match escaped {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' => out.push('\u{8}'),
        '0' => out.push('\0'),
        'Z' => out.push('\u{1a}'),
        '%' | '_' => out.extend(['\\', escaped]),
        other => out.push(other),
    }
}
