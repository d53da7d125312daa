//! Expressions of defaults: servers keep them in a spelling of their own, and show that.

mod parse;
mod show;

use super::DdlContext;
use super::cursor::Cursor;
use super::lexer::Token;

/// An expression of a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The text as written.
    pub source: String,
    /// `None` where the grammar here doesn't know the expression.
    node: Option<Node>,
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    /// A number, TRUE, FALSE, NULL, as it is shown.
    Plain(String),
    /// A string with its charset, if written.
    Text(Option<String>, String),
    /// `DATE '…'` and the like.
    Typed(&'static str, String),
    /// `0x…`
    Hex(Vec<u8>),
    /// A column.
    Column(String),
    /// A function and its arguments.
    Call(String, Vec<Node>),
    /// The current time with its precision.
    Now(Option<String>),
    /// `-x`, `~x`
    Unary(char, Box<Node>),
    /// NOT
    Not(Box<Node>),
    /// An operator between two.
    Binary(&'static str, Box<Node>, Box<Node>),
    /// `IS [NOT] NULL`, `TRUE`, …
    Is(Box<Node>, &'static str),
    /// `[NOT] IN`
    In(Box<Node>, bool, Vec<Node>),
    /// `[NOT] BETWEEN`
    Between(Box<Node>, bool, Box<Node>, Box<Node>),
    /// `x + INTERVAL n unit`
    Interval(char, Box<Node>, Box<Node>, String),
    /// `CASE …`
    Case(Option<Box<Node>>, Vec<(Node, Node)>, Option<Box<Node>>),
    /// `CAST(x AS type)`
    Cast(Box<Node>, String),
    /// `CONVERT(x USING charset)`
    Using(Box<Node>, String),
    /// `x COLLATE collation`
    Collate(Box<Node>, String),
    /// `EXTRACT(unit FROM x)`
    Extract(String, Box<Node>),
}

impl Expression {
    pub(crate) fn of(cursor: &Cursor<'_>, tokens: &[Token]) -> Self {
        let source = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => cursor.text[first.start..last.end].to_owned(),
            _ => String::new(),
        };
        let mut within = Cursor::new(cursor.text, tokens, cursor.context);
        let node = parse::expression(&mut within).ok().filter(|_| within.at_end());
        Self { source, node }
    }

    /// The expression as `information_schema` shows it; as written where it isn't known here.
    pub(crate) fn shown(&self, context: &DdlContext) -> String {
        match &self.node {
            Some(node) if context.server.is_mariadb() => show::mariadb(node),
            Some(node) => show::mysql(node, &context.connection_charset),
            None => self.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
