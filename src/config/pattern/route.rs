//! The dialect of `route`: which tables a rule takes, and where to.

use super::{PatternError, hints};
use regex::{Captures, Regex};
use rowferry_model::TableId;
use rowferry_transform::java_regex::{self, Case};

/// The `source-table` of a route rule: one regular expression over `database.table`, case-sensitive.
#[derive(Clone, Debug)]
pub struct RoutePattern {
    text: String,
    regex: Regex,
    never_matches: bool,
    warnings: Vec<String>,
}

impl RoutePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is no regular expression, or can never match a table.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (collapsed, warning) = hints::collapse_double_backslash(text);
        let mut warnings: Vec<String> = warning.into_iter().collect();
        let items: Vec<&str> = collapsed.split(',').map(str::trim).collect();
        if items.iter().all(|item| item.is_empty()) {
            return Err(PatternError::new("names no table").hint("write `database.table`"));
        }
        let mut never_matches = true;
        for item in items.iter().filter(|item| !item.is_empty()) {
            never_matches &= !check_item(item, &mut warnings)?;
        }
        let regex = java_regex::compile(&swap_dots(&items.join("|")), Case::Sensitive).map_err(|reason| {
            PatternError::new(format!("`{text}` is not a valid regex: {reason}"))
                .maybe_hint(hints::cut_quantifier(&collapsed).or_else(|| hints::unescaped_any(&collapsed)))
        })?;
        Ok(Self { text: text.to_owned(), regex, never_matches, warnings })
    }

    /// Whether the rule takes a table.
    pub fn matches(&self, database: &str, table: &str) -> bool {
        self.regex.is_match(&format!("{database}.{table}"))
    }

    /// Whether all of it names tables in three parts, which MySQL does not have.
    pub fn never_matches(&self) -> bool {
        self.never_matches
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What may not be as meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// `\.` becomes "any character", a bare dot becomes a dot.
fn swap_dots(text: &str) -> String {
    text.split("\\.").map(|piece| piece.replace('.', "\\.")).collect::<Vec<_>>().join(".")
}

/// Refuses items that are sound regular expressions and can't match any table; says whether the item can match.
fn check_item(item: &str, warnings: &mut Vec<String>) -> Result<bool, PatternError> {
    let bare_dots = item.replace("\\.", "").matches('.').count();
    if bare_dots == 2 && hints::unescaped_any(item).is_none() {
        warnings.push(format!("`{item}` has three parts and never matches a MySQL table, which has two"));
        return Ok(false);
    }
    if let Some(hint) = hints::unescaped_any(item) {
        let message = format!("`{item}` never matches: the bare dot before the quantifier stands for a dot only");
        return Err(PatternError::new(message).hint(hint));
    }
    let is_name = !item.is_empty() && item.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    if is_name {
        let error = PatternError::new(format!("`{item}` never matches: it needs two parts, db.table"));
        return Err(error.hint(format!("write `{item}.\\.*` for all tables of a database")));
    }
    if let Some(warning) = hints::alternatives_in_class(item) {
        warnings.push(warning);
    }
    Ok(true)
}

/// The `sink-table` of a route rule.
#[derive(Clone, Debug)]
pub struct RouteTarget {
    pieces: Vec<Piece>,
    warnings: Vec<String>,
}

/// A piece of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A group of the match.
    Group(usize),
    /// The name of the source table.
    TableName,
}

impl RouteTarget {
    /// Reads a target. With a replace symbol, every place where it stands becomes the source table's name; without one,
    /// `$1` and `${name}` are groups of the match, and a backslash takes the next sign as it is.
    ///
    /// # Errors
    /// A group that the pattern doesn't have, a lone `$`, or text that can't be a table's name.
    pub fn parse(text: &str, symbol: Option<&str>, pattern: &RoutePattern) -> Result<Self, PatternError> {
        let mut warnings = Vec::new();
        let pieces = match symbol {
            Some(symbol) => by_symbol(text, symbol, &mut warnings)?,
            None => by_groups(text, &pattern.regex, &mut warnings)?,
        };
        let target = Self { pieces, warnings };
        target.check_shape(text)?;
        Ok(target)
    }

    fn check_shape(&self, text: &str) -> Result<(), PatternError> {
        // Groups and names may hold dots or be empty; one letter stands for each of them here.
        let shape: String =
            self.pieces.iter().map(|piece| if let Piece::Text(text) = piece { text } else { "x" }).collect();
        let parts: Vec<&str> = shape.split('.').collect();
        if parts.iter().any(|part| part.trim().is_empty()) {
            let what = if shape.is_empty() { "is empty" } else { "has an empty part" };
            return Err(PatternError::new(format!("`{text}` {what}")).hint("write `database.table`"));
        }
        if parts.len() > 3 {
            let message = format!("`{text}` has too many parts: {}, at most three", parts.len());
            return Err(PatternError::new(message).hint("write `database.table`; dots in names can't be written"));
        }
        Ok(())
    }

    /// How many parts the target's name has, as far as the text tells: a group may bring more.
    pub fn parts(&self) -> usize {
        let dots: usize = self
            .pieces
            .iter()
            .map(|piece| if let Piece::Text(text) = piece { text.matches('.').count() } else { 0 })
            .sum();
        dots + 1
    }

    /// Whether the text alone decides how many parts there are.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::TableName))
    }

    /// What may not be as meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The target of a table, or `None` where the rule doesn't take it. A name of one part has an empty database; of
    /// three parts, the first two together are the database.
    ///
    /// # Errors
    /// What came out has no name or more than three parts.
    pub fn resolve(&self, pattern: &RoutePattern, source: &TableId) -> Result<Option<TableId>, PatternError> {
        let id = format!("{}.{}", source.database(), source.table());
        let Some(captures) = pattern.regex.captures(&id) else { return Ok(None) };
        let text = self.expand(&captures, source.table());
        let parts = text.split('.').count();
        if parts > 3 || text.split('.').any(str::is_empty) {
            return Err(PatternError::new(format!("the route of {source} leads to `{text}`, which is no table name")));
        }
        Ok(Some(match text.rsplit_once('.') {
            Some((database, table)) => TableId::new(database, table),
            None => TableId::new("", text.as_str()),
        }))
    }

    fn expand(&self, captures: &Captures<'_>, table: &str) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::TableName => text.push_str(table),
                // A group that took no part in the match is empty, as in Java.
                Piece::Group(index) => text.push_str(captures.get(*index).map_or("", |group| group.as_str())),
            }
        }
        text
    }
}

fn by_symbol(text: &str, symbol: &str, warnings: &mut Vec<String>) -> Result<Vec<Piece>, PatternError> {
    if symbol.is_empty() {
        return Err(PatternError::new("the replace symbol is empty").hint("write for example `<>`, or leave it out"));
    }
    if !text.contains(symbol) {
        warnings.push(format!("the replace symbol `{symbol}` does not occur in `{text}`"));
    }
    let mut pieces = Vec::new();
    for (index, literal) in text.split(symbol).enumerate() {
        if index > 0 {
            pieces.push(Piece::TableName);
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal.to_owned()));
        }
    }
    Ok(pieces)
}

/// Java's replacement strings.
fn by_groups(text: &str, regex: &Regex, warnings: &mut Vec<String>) -> Result<Vec<Piece>, PatternError> {
    let groups = regex.captures_len() - 1;
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let index = match c {
            '\\' => {
                let Some(next) = chars.next() else {
                    return Err(PatternError::new(format!("`{text}` ends with a backslash that escapes nothing")));
                };
                literal.push(next);
                continue;
            }
            '$' if chars.peek() == Some(&'{') => {
                chars.next();
                let name: String = chars.by_ref().take_while(|c| *c != '}').collect();
                if let Ok(index) = name.parse::<usize>() {
                    warnings.push(format!("`${{{name}}}` is read as `${name}`; Flink CDC would refuse it"));
                    index
                } else {
                    let Some(index) = regex.capture_names().position(|group| group == Some(name.as_str())) else {
                        let message =
                            format!("`{text}` refers to the group `{name}`, which source-table does not have");
                        return Err(PatternError::new(message));
                    };
                    index
                }
            }
            '$' => match chars.peek().and_then(|c| c.to_digit(10)) {
                Some(digit) => {
                    chars.next();
                    let mut index = digit as usize;
                    // Java takes as many digits as make a group that exists.
                    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                        let longer = index * 10 + digit as usize;
                        if longer > groups {
                            break;
                        }
                        chars.next();
                        index = longer;
                    }
                    index
                }
                None => {
                    let message = format!("`{text}` has a `$` that refers to no group");
                    return Err(PatternError::new(message).hint(r"write `$1` for a group, `\$` for the sign itself"));
                }
            },
            other => {
                literal.push(other);
                continue;
            }
        };
        if index > groups {
            let message = format!("`{text}` refers to group {index}, but source-table has {groups}");
            return Err(PatternError::new(message).hint("put the part that is meant in parentheses in source-table"));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Group(index));
    }
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}
