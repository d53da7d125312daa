//! Defaults of columns.

use super::ast::DefaultSpec;
use super::cursor::{Cursor, Parsed};
use super::expression::Expression;
use super::lexer::TokenKind;
use super::statement::decode_statement;

/// What follows DEFAULT.
pub(crate) fn default(cursor: &mut Cursor<'_>) -> Parsed<DefaultSpec> {
    if cursor.is_symbol('(') {
        let inner = cursor.parenthesis()?;
        return Ok(parenthesized(cursor, inner));
    }
    if let Some(literal) = literal(cursor)? {
        return Ok(literal);
    }
    if let Some(precision) = now(cursor)? {
        return Ok(DefaultSpec::Now(precision));
    }
    // MariaDB: an expression without parentheses; a call is what is used.
    if cursor.context.server.is_mariadb() && cursor.at_name() {
        let start = cursor.at;
        cursor.at += 1;
        while cursor.symbol('.') {
            cursor.name()?;
        }
        if cursor.is_symbol('(') {
            cursor.parenthesis()?;
        }
        return Ok(DefaultSpec::Expression(Expression::of(cursor, &cursor.tokens[start..cursor.at])));
    }
    Err(cursor.error("a default"))
}

/// `DEFAULT (…)`: an expression. MariaDB takes literals and the current time out of the
/// parentheses.
fn parenthesized(cursor: &Cursor<'_>, inner: &[super::lexer::Token]) -> DefaultSpec {
    let expression = DefaultSpec::Expression(Expression::of(cursor, inner));
    if !cursor.context.server.is_mariadb() {
        return expression;
    }
    let mut within = Cursor::new(cursor.text, inner, cursor.context);
    let outcome = match literal(&mut within) {
        Ok(Some(literal)) => Some(literal),
        Ok(None) => now(&mut within).ok().flatten().map(DefaultSpec::Now),
        Err(_) => None,
    };
    outcome.filter(|_| within.at_end()).unwrap_or(expression)
}

/// A literal, if one is next.
fn literal(cursor: &mut Cursor<'_>) -> Parsed<Option<DefaultSpec>> {
    let start = cursor.at;
    let mut sign = "";
    while let Some(TokenKind::Symbol(c @ ('-' | '+'))) = cursor.token(0).map(|t| &t.kind) {
        if *c == '-' {
            sign = if sign.is_empty() { "-" } else { "" };
        }
        cursor.at += 1;
    }
    // A charset in front: `_utf8mb4'x'`.
    let mut charset = None;
    if cursor.raw(0).starts_with('_')
        && matches!(cursor.token(1).map(|t| &t.kind), Some(TokenKind::Text(_) | TokenKind::Hex(_) | TokenKind::Bits(_)))
    {
        charset = Some(&cursor.raw(0)[1..]).filter(|c| !c.eq_ignore_ascii_case("binary"));
        cursor.at += 1;
    }
    let spec = match cursor.token(0).map(|t| &t.kind) {
        Some(TokenKind::Text(_)) => DefaultSpec::Text(cursor.string()?),
        Some(TokenKind::Number) => {
            let number = format!("{sign}{}", cursor.raw(0));
            cursor.at += 1;
            DefaultSpec::Number(number)
        }
        Some(TokenKind::Hex(bytes)) => {
            cursor.at += 1;
            match charset {
                Some(charset) => DefaultSpec::Text(decode_statement(bytes, charset)),
                None => DefaultSpec::Hex(bytes.clone()),
            }
        }
        Some(TokenKind::Bits(digits)) => {
            cursor.at += 1;
            DefaultSpec::Bits(digits.clone())
        }
        _ if cursor.accept("NULL") => DefaultSpec::Null,
        _ if cursor.accept("TRUE") => DefaultSpec::Number("1".to_owned()),
        _ if cursor.accept("FALSE") => DefaultSpec::Number("0".to_owned()),
        // `DATE '2020-01-01'`, `TIMESTAMP'…'`
        _ if ["DATE", "TIME", "TIMESTAMP"].iter().any(|k| cursor.is(k))
            && matches!(cursor.token(1).map(|t| &t.kind), Some(TokenKind::Text(_))) =>
        {
            cursor.at += 1;
            DefaultSpec::Text(cursor.string()?)
        }
        _ => {
            cursor.at = start;
            return Ok(None);
        }
    };
    Ok(Some(spec))
}

/// CURRENT_TIMESTAMP and its synonyms: the precision; `None` when none of them is next.
pub(crate) fn now(cursor: &mut Cursor<'_>) -> Parsed<Option<u8>> {
    let word = ["CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"].iter().any(|k| cursor.is(k));
    if !(word || cursor.is("NOW") && cursor.is_symbol_at(1, '(')) {
        return Ok(None);
    }
    cursor.at += 1;
    let mut precision = 0;
    if cursor.symbol('(') && !cursor.symbol(')') {
        precision = cursor.number()?.min(6) as u8;
        cursor.expect_symbol(')', ")")?;
    }
    Ok(Some(precision))
}
