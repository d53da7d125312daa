//! The dialect of `tables`, `tables.exclude`, chunk keys and transforms.

use super::{PatternError, hints};
use regex::Regex;
use rowferry_sinks::TableSelector;
use rowferry_transform::java_regex::{self, Case};
use std::sync::Arc;

/// A list of patterns `database.table`. Both sides are regular expressions that must match the whole name, in any case.
#[derive(Clone, Debug)]
pub struct TablePattern {
    text: String,
    items: Vec<Item>,
    warnings: Vec<String>,
}

/// One pattern of the list.
#[derive(Clone, Debug)]
struct Item {
    text: String,
    /// `None`: it has three parts and can't match a MySQL table.
    parts: Option<(Vec<Regex>, Vec<Regex>)>,
}

impl TablePattern {
    /// Reads a pattern where every item must be able to match a MySQL table.
    ///
    /// # Errors
    /// The first item that is wrong, with the way out.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse_lenient(text)?;
        match pattern.items.iter().find(|item| item.parts.is_none()) {
            None => Ok(pattern),
            Some(item) => Err(PatternError::new(format!(
                "`{}` has three parts and never matches: a MySQL table has two, db.table",
                item.text
            ))),
        }
    }

    /// Reads a pattern; items of three parts, which other sources have, are kept, never match and are warned about.
    ///
    /// # Errors
    /// The first item that is wrong, with the way out.
    pub fn parse_lenient(text: &str) -> Result<Self, PatternError> {
        let (collapsed, warning) = hints::collapse_double_backslash(text);
        let mut warnings: Vec<String> = warning.into_iter().collect();
        let whole = hints::cut_quantifier(&collapsed);
        let mut items = Vec::new();
        for item in split_unescaped(&collapsed, ',')? {
            let item = item.trim().replace("\\,", ",");
            if item.is_empty() {
                continue;
            }
            let parsed = parse_item(&item, &mut warnings)
                .map_err(|error| if error.hint.is_none() { error.maybe_hint(whole.clone()) } else { error })?;
            if let Some(warning) = hints::alternatives_in_class(&item) {
                warnings.push(warning);
            }
            items.push(parsed);
        }
        if items.is_empty() {
            return Err(PatternError::new("names no table").hint("write `database.table`, or several with commas"));
        }
        Ok(Self { text: text.to_owned(), items, warnings })
    }

    /// Whether a table is meant.
    pub fn matches(&self, database: &str, table: &str) -> bool {
        self.items.iter().any(|item| item.matches(database, table))
    }

    /// The items as written, each with whether it means the table: for telling which pattern found what.
    pub fn items_matching<'a>(&'a self, database: &'a str, table: &'a str) -> impl Iterator<Item = &'a str> {
        self.items.iter().filter(move |item| item.matches(database, table)).map(|item| item.text.as_str())
    }

    /// The items as written, without the space around them.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|item| item.text.as_str())
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

impl Item {
    fn matches(&self, database: &str, table: &str) -> bool {
        self.parts.as_ref().is_some_and(|(databases, tables)| {
            databases.iter().any(|regex| regex.is_match(database)) && tables.iter().any(|regex| regex.is_match(table))
        })
    }
}

/// A pattern for a sink, which knows tables but not how a pipeline file names them.
///
/// # Errors
/// The pattern is wrong: the reason, with the way out.
pub fn select_tables(text: &str) -> Result<TableSelector, String> {
    let pattern = TablePattern::parse(text).map_err(|error| error.to_string())?;
    Ok(Arc::new(move |table| pattern.matches(table.database(), table.table())))
}

/// Cuts at a sign that has no backslash before it.
fn split_unescaped(text: &str, sign: char) -> Result<Vec<&str>, PatternError> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            if chars.next().is_none() {
                return Err(PatternError::new("ends with a backslash that escapes nothing"));
            }
        } else if c == sign {
            parts.push(text.get(start..at).unwrap_or_default());
            start = at + sign.len_utf8();
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    Ok(parts)
}

fn parse_item(item: &str, warnings: &mut Vec<String>) -> Result<Item, PatternError> {
    let parts: Vec<String> = split_unescaped(item, '.')?.iter().map(|part| part.trim().replace("\\.", ".")).collect();
    let text = item.to_owned();
    let part = |index: usize| compile_part(parts.get(index).map_or("", String::as_str), item);
    match parts.len() {
        1 => {
            // Alibaba's documents write `holo_test\.*` for all tables of a database, and their product takes it.
            let all_tables =
                item.strip_suffix("\\.*").filter(|database| !database.is_empty() && !database.contains("\\."));
            let Some(database) = all_tables else { return Err(needs_table(item)) };
            warnings.push(format!(
                "`{item}` names no table and is read as `{database}.\\.*`; Flink CDC itself would find no table with it"
            ));
            Ok(Item { text, parts: Some((compile_part(database, item)?, compile_part(".*", item)?)) })
        }
        2 => Ok(Item { parts: Some((part(0)?, part(1)?)), text }),
        3 => {
            part(0)?;
            part(1)?;
            part(2)?;
            warnings.push(format!("`{item}` has three parts and never matches a MySQL table, which has two"));
            Ok(Item { text, parts: None })
        }
        count => {
            let error = PatternError::new(format!("`{item}` has too many parts: {count}, not two (db.table)"));
            Err(error.maybe_hint(hints::unescaped_any(item)))
        }
    }
}

fn needs_table(item: &str) -> PatternError {
    let error = PatternError::new(format!("`{item}` names no table in a database: it needs two parts, db.table"));
    match item.split_once("\\.") {
        Some((database, table)) if !database.is_empty() && !table.is_empty() => error.hint(format!(
            "`\\.` stands for any character; the dot between database and table has no backslash: write `{database}.{table}`"
        )),
        _ => error.hint(format!("write `{item}.\\.*` for all tables of a database, or `database.{item}` for a table")),
    }
}

/// A part is a list of its own: a comma that was escaped in the first splitting separates here.
fn compile_part(part: &str, item: &str) -> Result<Vec<Regex>, PatternError> {
    let alternatives: Vec<&str> = part.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
    if alternatives.is_empty() {
        return Err(PatternError::new(format!("`{item}` has an empty part")).maybe_hint(hints::unescaped_any(item)));
    }
    let mut compiled = Vec::with_capacity(alternatives.len());
    for alternative in alternatives {
        compiled.push(java_regex::compile(alternative, Case::Insensitive).map_err(|reason| {
            PatternError::new(format!("`{item}`: the part `{alternative}` is not a valid regex: {reason}"))
                .maybe_hint(hints::unescaped_any(item).or_else(|| hints::cut_quantifier(part)))
        })?);
    }
    Ok(compiled)
}
