//! The parser: sqlparser's expressions, with what its grammar lacks put right in the tokens.

use super::dialect::TransformDialect;
use super::place::Places;
use crate::error::Fault;
use sqlparser::ast::{Expr, SelectItem, Spanned};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

/// An item of a projection.
#[derive(Debug)]
pub(crate) enum Item {
    /// `*`.
    Star,
    /// An expression and its name; `None`: it has none and is no plain column.
    Expression { expr: Box<Expr>, alias: Option<(String, Span)>, span: Span },
}

/// Reads a SELECT list.
pub(crate) fn parse_projection(places: &Places) -> Result<Vec<Item>, Fault> {
    let (mut parser, _) = parser(places)?;
    let items = parser.parse_projection().map_err(|error| syntax_error(&error, places))?;
    let what = "a projection is a list of columns and expressions and nothing else";
    at_end(&parser, places, what)?;
    items.into_iter().map(|item| self::item(item, places)).collect()
}

fn item(item: SelectItem, places: &Places) -> Result<Item, Fault> {
    let span = item.span();
    Ok(match item {
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => Item::Star,
        SelectItem::UnnamedExpr(expr) => {
            let alias = match &expr {
                Expr::Identifier(name) => Some((name.value.clone(), name.span)),
                Expr::CompoundIdentifier(names) => names.last().map(|name| (name.value.clone(), name.span)),
                _ => None,
            };
            Item::Expression { expr: Box::new(expr), alias, span }
        }
        SelectItem::ExprWithAlias { expr, alias } => {
            Item::Expression { alias: Some((alias.value, alias.span)), expr: Box::new(expr), span }
        }
        other @ SelectItem::ExprWithAliases { .. } => {
            return Err(Fault::new(format!("`{other}` can't be projected")).at(places.range(span)));
        }
    })
}

/// Reads a condition.
pub(crate) fn parse_condition(places: &Places) -> Result<Expr, Fault> {
    parse_only(places, "a filter is one condition and nothing else")
}

/// Reads one expression.
pub(crate) fn parse_expression(places: &Places) -> Result<Expr, Fault> {
    parse_only(places, "this is one expression and nothing else")
}

fn parse_only(places: &Places, what: &str) -> Result<Expr, Fault> {
    let (mut parser, empty) = parser(places)?;
    if empty {
        return Err(Fault::new("SQL syntax: the expression is empty"));
    }
    let expr = parser.parse_expr().map_err(|error| syntax_error(&error, places))?;
    at_end(&parser, places, what)?;
    Ok(expr)
}

fn at_end(parser: &Parser<'_>, places: &Places, what: &str) -> Result<(), Fault> {
    let next = parser.peek_token();
    if next.token == Token::EOF {
        return Ok(());
    }
    let message = format!("SQL syntax: {what}; `{}` is too much", next.token);
    Err(Fault::new(message).at(places.range(next.span)))
}

/// A parser over the tokens of the text; the flag: there are none.
fn parser(places: &Places) -> Result<(Parser<'static>, bool), Fault> {
    static DIALECT: TransformDialect = TransformDialect;
    let tokens = Tokenizer::new(&DIALECT, places.text()).tokenize_with_location().map_err(|error| {
        let span = Span::new(error.location, error.location);
        Fault::new(format!("SQL syntax: {}{}", error.message, character(error.location))).at(places.range(span))
    })?;
    no_lost_operator(&tokens, places)?;
    no_query(&tokens, places)?;
    let empty = !tokens.iter().any(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF));
    let tokens = maps_as_calls(tokens);
    Ok((Parser::new(&DIALECT).with_recursion_limit(60).with_tokens_with_locations(tokens), empty))
}

/// Refuses a word such as AND where an operand must stand: the parser would take it for a column.
fn no_lost_operator(tokens: &[TokenWithSpan], places: &Places) -> Result<(), Fault> {
    let mut operand_expected = true;
    for TokenWithSpan { token, span } in tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))) {
        let keyword = keyword(token);
        let joins = matches!(keyword, Keyword::AND | Keyword::OR | Keyword::IS | Keyword::THEN | Keyword::AS);
        if operand_expected && joins {
            let message = format!("SQL syntax: expected an expression near `{token}`{}", character(span.start));
            return Err(Fault::new(message).at(places.range(*span)));
        }
        operand_expected = matches!(
            token,
            Token::Eq
                | Token::Neq
                | Token::Lt
                | Token::Gt
                | Token::LtEq
                | Token::GtEq
                | Token::Plus
                | Token::Minus
                | Token::Div
                | Token::Mod
                | Token::StringConcat
                | Token::LParen
                | Token::Comma
        ) || matches!(keyword, Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::WHEN);
    }
    Ok(())
}

fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

fn no_query(tokens: &[TokenWithSpan], places: &Places) -> Result<(), Fault> {
    let found = tokens.iter().find(|t| matches!(keyword(&t.token), Keyword::SELECT | Keyword::OVER | Keyword::EXISTS));
    match found {
        None => Ok(()),
        Some(TokenWithSpan { token, span }) => {
            let message = format!("`{token}`: queries and windows can't be used in a transform");
            Err(Fault::new(message).at(places.range(*span)))
        }
    }
}

/// `MAP[k, v]` is read as a call of MAP: the parser knows no such form.
fn maps_as_calls(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut open: Vec<bool> = Vec::new();
    let mut after_map = false;
    for TokenWithSpan { token, .. } in &mut tokens {
        match token {
            Token::Whitespace(_) => continue,
            Token::LBracket => {
                open.push(after_map);
                if after_map {
                    *token = Token::LParen;
                }
            }
            Token::RBracket if open.pop() == Some(true) => *token = Token::RParen,
            _ => {}
        }
        after_map =
            matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("MAP"));
        if after_map && let Token::Word(word) = token {
            word.keyword = Keyword::NoKeyword;
        }
    }
    tokens
}

fn character(at: Location) -> String {
    match at.line {
        0 => String::new(),
        1 => format!(" (character {})", at.column),
        line => format!(" (line {line}, character {} of the text)", at.column),
    }
}

/// The parser's message in terms of the user's text.
fn syntax_error(error: &ParserError, places: &Places) -> Fault {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => return Fault::new("SQL syntax: nested too deep"),
    };
    let (what, place) = text.split_once(" at Line: ").unwrap_or((text, ""));
    let line = place.split_once(',').and_then(|(line, _)| line.trim().parse().ok());
    let column = place.rsplit_once("Column: ").and_then(|(_, column)| column.trim().parse().ok());
    let at = line.zip(column).map(|(line, column)| Location::new(line, column));
    let place = at.map(character).unwrap_or_default();
    let message = match what.split_once(", found: ") {
        Some((expected, found)) => {
            let expected = expected.strip_prefix("Expected: ").unwrap_or(expected);
            let found = if found == "EOF" { "the end".to_owned() } else { format!("`{found}`") };
            format!("SQL syntax: expected {expected} near {found}{place}")
        }
        None => format!("SQL syntax: {what}{place}"),
    };
    Fault::new(message).at(at.and_then(|at| places.range(Span::new(at, at))))
}
