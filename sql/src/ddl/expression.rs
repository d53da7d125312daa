//! Expressions of defaults.

use super::cursor::Cursor;
use super::lexer::Token;

/// An expression as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The text between the parentheses, as written.
    pub source: String,
}

impl Expression {
    pub(crate) fn of(cursor: &Cursor<'_>, tokens: &[Token]) -> Self {
        let source = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => cursor.text[first.start..last.end].to_owned(),
            _ => String::new(),
        };
        Self { source }
    }

    /// The expression as `information_schema` shows it.
    pub(crate) fn shown(&self, _context: &super::DdlContext) -> String {
        self.source.clone()
    }
}
