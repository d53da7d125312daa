//! SQL text to tokens, as the server that ran it reads them.
//!
//! This is a tokenizer of our own and not sqlparser's: that one can't be told `sql_mode` (what a backslash or `"`
//! means), nor evaluate version comments against a given server, and takes `1a` and `x'4'` apart differently.

use super::{DdlContext, SqlMode};
use crate::Flavor;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes, without them.
    Quoted(String),
    /// A string, unescaped; `N'…'` too.
    Text(String),
    /// Digits, with or without a point and an exponent.
    Number,
    /// `0x…` or `X'…'`: the bytes.
    Hex(Vec<u8>),
    /// `0b…` or `B'…'`: the digits.
    Bits(String),
    /// Any other character.
    Symbol(char),
}

/// A token and where it stands in the text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The text is not made of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexError {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    ansi_quotes: bool,
    backslash: bool,
    context: &'t DdlContext,
    /// Inside `/*! … */` that this server executes.
    in_version_comment: bool,
    tokens: Vec<Token>,
}

/// The tokens of a text, without comments.
pub(crate) fn tokenize(text: &str, context: &DdlContext) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer {
        text,
        at: 0,
        ansi_quotes: context.sql_mode.has(SqlMode::ANSI_QUOTES),
        backslash: !context.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
        context,
        in_version_comment: false,
        tokens: vec![],
    };
    while lexer.step()? {}
    Ok(lexer.tokens)
}

/// Whether a character may be part of a name without quotes.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || c as u32 >= 0x80
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn error(&self, what: &'static str) -> LexError {
        LexError { what, at: self.at }
    }

    fn push(&mut self, kind: TokenKind, len: usize) {
        self.tokens.push(Token { kind, start: self.at, end: self.at + len });
        self.at += len;
    }

    /// Takes one token or comment; false at the end.
    fn step(&mut self) -> Result<bool, LexError> {
        let rest = &self.text[self.at..];
        let Some(c) = rest.chars().next() else { return Ok(false) };
        if c.is_ascii_whitespace() || c == '\u{b}' || c == '\0' {
            self.at += 1;
            return Ok(true);
        }
        if self.comment(rest)? {
            return Ok(true);
        }
        let prefixed = |upper: char| c.eq_ignore_ascii_case(&upper) && rest[1..].starts_with('\'');
        match c {
            '`' => self.quoted('`')?,
            '"' if self.ansi_quotes => self.quoted('"')?,
            '"' | '\'' => self.string(0)?,
            _ if prefixed('N') => self.string(1)?,
            _ if prefixed('X') => self.radix(2, 16)?,
            _ if prefixed('B') => self.radix(2, 2)?,
            '0'..='9' => self.number_or_word()?,
            '.' if self.number_follows(rest) => {
                let len = number_len(rest);
                self.push(TokenKind::Number, len);
            }
            c if is_word(c) => self.word(),
            c => self.push(TokenKind::Symbol(c), c.len_utf8()),
        }
        Ok(true)
    }

    /// `.5` is a number unless it is the second half of `t.5c`.
    fn number_follows(&self, rest: &str) -> bool {
        rest[1..].starts_with(|c: char| c.is_ascii_digit())
            && !self
                .tokens
                .last()
                .is_some_and(|t| t.end == self.at && matches!(t.kind, TokenKind::Word | TokenKind::Quoted(_)))
    }

    /// Skips a comment; enters a version comment that this server executes.
    fn comment(&mut self, rest: &str) -> Result<bool, LexError> {
        let to_line_end = |from: &str| from.find('\n').map_or(from.len(), |n| n + 1);
        if rest.starts_with('#') {
            self.at += to_line_end(rest);
            return Ok(true);
        }
        if let Some(behind) = rest.strip_prefix("--")
            && behind.chars().next().is_none_or(|c| c.is_ascii_whitespace() || c.is_ascii_control())
        {
            self.at += to_line_end(rest);
            return Ok(true);
        }
        if self.in_version_comment && rest.starts_with("*/") {
            self.in_version_comment = false;
            self.at += 2;
            return Ok(true);
        }
        let Some(body) = rest.strip_prefix("/*") else { return Ok(false) };
        let (conditional, for_mariadb) = match body.strip_prefix("M!") {
            Some(body) => (Some(body), true),
            None => (body.strip_prefix('!'), false),
        };
        if let Some(body) = conditional {
            let digits = body.chars().take_while(char::is_ascii_digit).count();
            // Five or six digits are a version; fewer are part of the text.
            let digits = match digits {
                0..=4 => 0,
                5 => 5,
                _ if self.context.server.is_mariadb() || self.context.server.number >= 80_000 => 6,
                _ => 5,
            };
            let wanted: u32 = body[..digits].parse().unwrap_or(0);
            let have = self.context.server.number;
            let executed = match self.context.server.flavor {
                Flavor::Mysql => !for_mariadb && wanted <= have,
                // MariaDB leaves out what MySQL 5.7 and later added.
                Flavor::Mariadb => wanted <= have && (for_mariadb || !(50_700..=99_999).contains(&wanted)),
            };
            if executed {
                self.at += rest.len() - body.len() + digits;
                self.in_version_comment = true;
            } else {
                self.at += conditional_end(rest).ok_or(self.error("a comment does not end"))?;
            }
            return Ok(true);
        }
        let end = body.find("*/").ok_or(self.error("a comment does not end"))?;
        self.at += 2 + end + 2;
        Ok(true)
    }

    fn quoted(&mut self, quote: char) -> Result<(), LexError> {
        let mut name = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                name.push(c);
            } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
                name.push(quote);
            } else {
                self.push(TokenKind::Quoted(name), at + 1);
                return Ok(());
            }
        }
        Err(self.error("a quoted name does not end"))
    }

    /// A string whose quote stands `prefix` bytes ahead.
    fn string(&mut self, prefix: usize) -> Result<(), LexError> {
        let rest = &self.rest()[prefix..];
        let quote = rest.chars().next().unwrap_or('\'');
        let mut value = String::new();
        let mut chars = rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                if chars.peek().is_some_and(|(_, next)| *next == quote) {
                    chars.next();
                    value.push(quote);
                    continue;
                }
                self.push(TokenKind::Text(value), prefix + at + 1);
                return Ok(());
            }
            if c == '\\' && self.backslash {
                match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, 'b')) => value.push('\u{8}'),
                    Some((_, '0')) => value.push('\0'),
                    Some((_, 'Z')) => value.push('\u{1a}'),
                    // For patterns: these two keep their backslash.
                    Some((_, c @ ('%' | '_'))) => value.extend(['\\', c]),
                    Some((_, other)) => value.push(other),
                    None => break,
                }
                continue;
            }
            value.push(c);
        }
        Err(self.error("a string does not end"))
    }

    /// `X'…'` or `B'…'`.
    fn radix(&mut self, prefix: usize, radix: u32) -> Result<(), LexError> {
        let body = &self.rest()[prefix..];
        let end = body.find('\'').ok_or(self.error("a literal does not end"))?;
        let digits = &body[..end];
        if !digits.chars().all(|c| c.is_digit(radix)) || (radix == 16 && digits.len() % 2 == 1) {
            return Err(self.error("a literal has wrong digits"));
        }
        let kind = if radix == 16 { TokenKind::Hex(bytes(digits)) } else { TokenKind::Bits(digits.to_owned()) };
        self.push(kind, prefix + end + 1);
        Ok(())
    }

    /// What starts with a digit may be a number, `0x41`, `0b1` or a name such as `1st`.
    fn number_or_word(&mut self) -> Result<(), LexError> {
        let rest = &self.text[self.at..];
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let after_point = self.tokens.last().is_some_and(|t| t.end == self.at && t.kind == TokenKind::Symbol('.'));
        if let Some(digits) = rest[..word].strip_prefix("0x").filter(|d| !d.is_empty())
            && digits.chars().all(|c| c.is_ascii_hexdigit())
        {
            let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
            self.push(TokenKind::Hex(bytes(&padded)), word);
        } else if let Some(digits) = rest[..word].strip_prefix("0b").filter(|d| !d.is_empty())
            && digits.chars().all(|c| matches!(c, '0' | '1'))
        {
            self.push(TokenKind::Bits(digits.to_owned()), word);
        } else {
            let number = number_len(rest);
            if after_point || number < word {
                self.word();
            } else {
                self.push(TokenKind::Number, number);
            }
        }
        Ok(())
    }

    fn word(&mut self) {
        let rest = self.rest();
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.push(TokenKind::Word, len);
    }
}

/// How long the number at the front is.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = digits(0);
    if bytes.get(len) == Some(&b'.') {
        len += 1;
        len += digits(len);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        if bytes.get(len + 1 + sign).is_some_and(u8::is_ascii_digit) {
            len += 1 + sign;
            len += digits(len);
        }
    }
    len
}

fn bytes(digits: &str) -> Vec<u8> {
    digits.as_bytes().chunks(2).map(|pair| pair.iter().fold(0, |n, c| n * 16 + digit(*c))).collect()
}

fn digit(c: u8) -> u8 {
    (c as char).to_digit(16).unwrap_or(0) as u8
}

/// Where a version comment ends that isn't executed; comments within it count.
fn conditional_end(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests;
