//! Projections and filters, as far as they can be checked without the table: syntax, aliases, functions, models.

use super::super::pipeline::Declared;
use super::super::source::MetadataColumn;
use super::dialect::TransformDialect;
use super::functions;
use sqlparser::ast::{Expr, SelectItem, SetExpr, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer, Word};

/// Columns that every row has beside its own.
const METADATA: &[&str] = &["__namespace_name__", "__schema_name__", "__table_name__", "__data_event_type__"];

/// Something wrong with an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }
}

/// What a projection makes.
#[derive(Debug)]
pub(super) struct Outputs {
    /// The projection, with `\*` written as `*`.
    pub(super) text: String,
    /// Whether all columns of the table are in it.
    pub(super) has_star: bool,
    /// The names that are written out.
    pub(super) names: Vec<String>,
}

/// What the rest of the file says that expressions depend on.
pub(super) struct Checker<'a> {
    pub(super) declared: &'a Declared,
    pub(super) metadata: Option<&'a [MetadataColumn]>,
}

type Warnings = Vec<String>;

impl Checker<'_> {
    /// Checks a SELECT list.
    pub(super) fn projection(&self, text: &str) -> Result<(Outputs, Warnings), Vec<Problem>> {
        let text = text.replace("\\*", "*");
        let tokens = tokenize(&text).and_then(no_lost_operator).map_err(|problem| vec![problem])?;
        let items = parse_select(&format!("SELECT {text} FROM TB"), "SELECT ".len())
            .and_then(|(items, _)| items.ok_or_else(not_a_list))
            .map_err(|problem| vec![problem])?;
        let mut problems = Vec::new();
        let mut outputs = Outputs { has_star: false, names: Vec::new(), text };
        for item in items {
            match item {
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => outputs.has_star = true,
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => outputs.names.push(name.value),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                    outputs.names.extend(names.into_iter().next_back().map(|name| name.value));
                }
                SelectItem::UnnamedExpr(expression) => {
                    let hint = format!("write `{expression} AS name`");
                    problems
                        .push(Problem::new(format!("the expression `{expression}` needs AS and a name"), Some(hint)));
                }
                SelectItem::ExprWithAlias { alias, .. } => {
                    if METADATA.contains(&alias.value.as_str()) {
                        let message = format!("the name `{}` is reserved for metadata", alias.value);
                        problems.push(Problem::new(message, Some("choose another name".to_owned())));
                    }
                    outputs.names.push(alias.value);
                }
                other @ SelectItem::ExprWithAliases { .. } => {
                    problems.push(Problem::new(format!("`{other}` can't be projected"), None));
                }
            }
        }
        problems.extend(self.calls(&tokens));
        if problems.is_empty() { Ok((outputs, self.warnings(&tokens))) } else { Err(problems) }
    }

    /// Checks a condition.
    pub(super) fn filter(&self, text: &str) -> Result<Warnings, Vec<Problem>> {
        let tokens = tokenize(text).and_then(no_lost_operator).map_err(|problem| vec![problem])?;
        let prefix = "SELECT * FROM TB WHERE ";
        let (_, only_where) =
            parse_select(&format!("{prefix}{text}"), prefix.len()).map_err(|problem| vec![problem])?;
        if !only_where {
            return Err(vec![Problem::new("SQL syntax: a filter is one condition and nothing else", None)]);
        }
        let problems = self.calls(&tokens);
        if problems.is_empty() { Ok(self.warnings(&tokens)) } else { Err(problems) }
    }

    fn warnings(&self, tokens: &[Token]) -> Warnings {
        let uses_op_ts = tokens.iter().any(|token| matches!(token, Token::Word(word) if word.value == "op_ts"));
        let listed = self.metadata.is_none_or(|list| list.contains(&MetadataColumn::OpTs));
        if uses_op_ts && !listed {
            return vec!["`op_ts` is only metadata when source.metadata.list has it".to_owned()];
        }
        Vec::new()
    }

    /// Looks at every call: names, numbers of arguments, and the models they name.
    fn calls(&self, tokens: &[Token]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let code: Vec<&Token> = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
        for (index, token) in code.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            let quoted = word.quote_style.is_some();
            if !quoted && matches!(word.keyword, Keyword::SELECT | Keyword::OVER | Keyword::EXISTS) {
                let message = format!("`{}`: queries and windows can't be used in a transform", word.value);
                problems.push(Problem::new(message, None));
                continue;
            }
            let rest = code.get(index + 1..).unwrap_or_default();
            let previous = index.checked_sub(1).and_then(|i| code.get(i));
            if rest.first() != Some(&&Token::LParen) || (!quoted && is_syntax(word)) || is_type(previous, word, quoted)
            {
                continue;
            }
            self.call(word, rest.get(1..).unwrap_or_default(), &mut problems);
        }
        problems
    }

    /// One call; `rest` begins behind its opening parenthesis.
    fn call(&self, word: &Word, rest: &[&Token], problems: &mut Vec<Problem>) {
        let name = &word.value;
        if self.declared.functions.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return;
        }
        let Some((min, max)) = functions::arity(name) else {
            let (message, hint) = functions::unknown(name, &self.declared.functions);
            problems.push(Problem::new(message, hint));
            return;
        };
        if let Some(count) = count_arguments(rest)
            && !(min..=max).contains(&count)
        {
            let takes = match (min, max) {
                (min, usize::MAX) => format!("at least {min}"),
                (min, max) if min == max => min.to_string(),
                (min, max) => format!("{min} to {max}"),
            };
            let noun = if takes == "1" || takes == "at least 1" { "argument" } else { "arguments" };
            problems.push(Problem::new(format!("the function {name} takes {takes} {noun}, not {count}"), None));
        }
        if name.eq_ignore_ascii_case("AI_COMPLETE") || name.eq_ignore_ascii_case("AI_EMBED") {
            match rest.first() {
                Some(Token::SingleQuotedString(model)) => {
                    if !self.declared.models.contains(model) {
                        let known = self.declared.models.iter().map(String::as_str);
                        let hint = super::super::suggest::did_you_mean(model, known)
                            .unwrap_or_else(|| "declare it under pipeline.model".to_owned());
                        let message = format!("{name} refers to the undeclared model `{model}`");
                        problems.push(Problem::new(message, Some(hint)));
                    }
                }
                _ => {
                    let message = format!("the first argument of {name} must be the name of a model in single quotes");
                    problems.push(Problem::new(message, None));
                }
            }
        }
    }
}

fn not_a_list() -> Problem {
    Problem::new("SQL syntax: a projection is a list of columns and expressions and nothing else", None)
}

fn tokenize(text: &str) -> Result<Vec<Token>, Problem> {
    Tokenizer::new(&TransformDialect, text).tokenize().map_err(|error| {
        let at = error.location.column;
        Problem::new(format!("SQL syntax: {} (character {at})", error.message), None)
    })
}

/// Refuses a word such as AND where an operand must stand: the parser would take it for a column.
fn no_lost_operator(tokens: Vec<Token>) -> Result<Vec<Token>, Problem> {
    let mut operand_expected = true;
    for token in tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))) {
        let keyword = match token {
            Token::Word(word) if word.quote_style.is_none() => word.keyword,
            _ => Keyword::NoKeyword,
        };
        let joins = matches!(keyword, Keyword::AND | Keyword::OR | Keyword::IS | Keyword::THEN | Keyword::AS);
        if operand_expected && joins {
            return Err(Problem::new(format!("SQL syntax: expected an expression near `{token}`"), None));
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
    Ok(tokens)
}

/// Parses a whole query; `prefix`: how many characters of it are not the user's. The items are those of a plain
/// `SELECT … FROM TB`, `None` where the text made more of it; the flag says the same of a condition.
fn parse_select(sql: &str, prefix: usize) -> Result<(Option<Vec<SelectItem>>, bool), Problem> {
    let statements = Parser::parse_sql(&TransformDialect, sql).map_err(|error| syntax_error(&error, prefix))?;
    let [Statement::Query(query)] = statements.as_slice() else { return Ok((None, false)) };
    let SetExpr::Select(select) = query.body.as_ref() else { return Ok((None, false)) };
    let [from] = select.from.as_slice() else { return Ok((None, false)) };
    // Printing is the plainest way to see that nothing was added to the table and behind it.
    let plain_table = from.to_string() == "TB";
    let condition = select.selection.as_ref().map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
    let list: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
    let nothing_else = query.to_string() == format!("SELECT {} FROM TB{condition}", list.join(", "));
    let is_list = plain_table && nothing_else && select.selection.is_none();
    let is_condition = plain_table && nothing_else && select.selection.is_some();
    Ok((is_list.then(|| select.projection.clone()), is_condition))
}

/// The parser's message in terms of the user's text.
fn syntax_error(error: &ParserError, prefix: usize) -> Problem {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => return Problem::new("SQL syntax: nested too deep", None),
    };
    let (what, place) = text.split_once(" at Line: ").unwrap_or((text, ""));
    let line = place.split_once(',').map(|(line, _)| line.trim());
    let column = place.rsplit_once("Column: ").and_then(|(_, column)| column.trim().parse::<usize>().ok());
    let place = match (line, column) {
        (Some("1"), Some(column)) => format!(" (character {})", column.saturating_sub(prefix)),
        (Some(line), Some(column)) => format!(" (line {line}, character {column} of the text)"),
        _ => String::new(),
    };
    let message = match what.split_once(", found: ") {
        Some((expected, found)) => {
            let expected = expected.strip_prefix("Expected: ").unwrap_or(expected);
            // What stands behind the user's text is ours.
            let found = if found == "FROM" || found == "EOF" { "the end".to_owned() } else { format!("`{found}`") };
            format!("SQL syntax: expected {expected} near {found}{place}")
        }
        None => format!("SQL syntax: {what}{place}"),
    };
    Problem::new(message, None)
}

/// Words that may stand before a parenthesis without being called.
fn is_syntax(word: &Word) -> bool {
    matches!(
        word.keyword,
        Keyword::IN
            | Keyword::AND
            | Keyword::OR
            | Keyword::NOT
            | Keyword::IS
            | Keyword::BETWEEN
            | Keyword::LIKE
            | Keyword::SIMILAR
            | Keyword::TO
            | Keyword::ESCAPE
            | Keyword::CASE
            | Keyword::WHEN
            | Keyword::THEN
            | Keyword::ELSE
            | Keyword::FROM
            | Keyword::FOR
            | Keyword::AS
            | Keyword::BOTH
            | Keyword::LEADING
            | Keyword::TRAILING
            | Keyword::PLACING
            | Keyword::DISTINCT
            | Keyword::INTERVAL
    )
}

/// Whether a word before a parenthesis is a type: `CAST(x AS DECIMAL(10, 2))`.
fn is_type(previous: Option<&&Token>, word: &Word, quoted: bool) -> bool {
    const TYPES: &[&str] = &[
        "DECIMAL",
        "NUMERIC",
        "DEC",
        "CHAR",
        "VARCHAR",
        "CHARACTER",
        "BINARY",
        "VARBINARY",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMP_LTZ",
        "FLOAT",
        "INT",
        "BIGINT",
        "INTERVAL",
    ];
    let after_as = matches!(previous, Some(Token::Word(word)) if word.keyword == Keyword::AS);
    !quoted && after_as && TYPES.iter().any(|name| word.value.eq_ignore_ascii_case(name))
}

/// How many arguments stand before the closing parenthesis; `None` where words such as FROM separate them.
fn count_arguments(rest: &[&Token]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut commas = 0;
    let mut empty = true;
    for token in rest {
        match token {
            Token::RParen | Token::RBracket if depth == 0 => return Some(if empty { 0 } else { commas + 1 }),
            Token::RParen | Token::RBracket => depth -= 1,
            Token::LParen | Token::LBracket => depth += 1,
            Token::Comma if depth == 0 => commas += 1,
            Token::Word(word)
                if depth == 0
                    && word.quote_style.is_none()
                    && matches!(word.keyword, Keyword::FROM | Keyword::PLACING | Keyword::IN | Keyword::FOR) =>
            {
                return None;
            }
            _ => {}
        }
        empty = false;
    }
    None
}

#[cfg(test)]
mod tests;
