//! Functions over regular expressions, written as Java writes them.

use super::Call;
use crate::column::{Col, build, build_text};
use crate::error::Fault;
use crate::java_regex;
use crate::node::{Context, Failure, Kernel, Node};
use crate::types::{INT, TEXT, Type};
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use regex::Regex;
use std::collections::HashMap;
use std::sync::Arc;

/// The regexes of a column of patterns: one that was compiled ahead, or those met so far.
pub(super) struct Patterns<'a> {
    fixed: Option<&'a Regex>,
    met: HashMap<String, Regex>,
    compile: fn(&str) -> Result<Regex, String>,
}

/// Patterns met in one batch are kept up to this number.
const KEPT: usize = 1000;

impl<'a> Patterns<'a> {
    pub(super) fn new(fixed: Option<&'a Regex>, compile: fn(&str) -> Result<Regex, String>) -> Self {
        Self { fixed, met: HashMap::new(), compile }
    }

    pub(super) fn get(&mut self, pattern: &str, row: usize) -> Result<&Regex, Failure> {
        if let Some(fixed) = self.fixed {
            return Ok(fixed);
        }
        if !self.met.contains_key(pattern) {
            if self.met.len() >= KEPT {
                self.met.clear();
            }
            let regex = (self.compile)(pattern)
                .map_err(|reason| Failure::at(row, format!("`{pattern}` is not a valid regex: {reason}")))?;
            self.met.insert(pattern.to_owned(), regex);
        }
        self.met.get(pattern).ok_or_else(|| Failure::at(row, "a regex was lost"))
    }
}

/// The regex of a literal pattern.
pub(super) fn fixed(call: &Call<'_>, i: usize) -> Result<Option<Regex>, Fault> {
    match call.arg(i)?.constant_text() {
        None => Ok(None),
        Some(pattern) => java_regex::search(&pattern)
            .map(Some)
            .map_err(|reason| Fault::new(format!("`{pattern}` is not a valid regex: {reason}"))),
    }
}

/// Runs `value` for each row with the regex of the row; the first failure ends it.
fn text_rows(
    rows: usize,
    mut value: impl FnMut(usize, &mut String) -> Result<Option<()>, Failure>,
) -> Result<arrow_array::ArrayRef, Failure> {
    let mut failed = None;
    let array = build_text(rows, |row, out| match value(row, out) {
        Ok(value) => value,
        Err(failure) => {
            failed.get_or_insert(failure);
            None
        }
    })?;
    failed.map_or(Ok(array), Err)
}

fn int_rows(
    rows: usize,
    mut value: impl FnMut(usize) -> Result<Option<i32>, Failure>,
) -> Result<arrow_array::ArrayRef, Failure> {
    let mut failed = None;
    let array = build::<Int32Type>(rows, |row| match value(row) {
        Ok(value) => value,
        Err(failure) => {
            failed.get_or_insert(failure);
            None
        }
    });
    failed.map_or(Ok(array), Err)
}

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

/// `REGEXP_REPLACE(text, regex, replacement)`: `$1` in the replacement is a group, a backslash escapes.
pub(super) fn replace(call: Call<'_>) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.text(1)?, call.text(2)?];
    let regex = fixed(&call, 1)?;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text, pattern, new] = args else { return Err(wrong_call()) };
        let (text, pattern, new) = (text.texts()?, pattern.texts()?, new.texts()?);
        let mut patterns = Patterns::new(regex.as_ref(), java_regex::search);
        text_rows(rows, |row, out| {
            let (Some(text), Some(pattern), Some(new)) = (text.get(row), pattern.get(row), new.get(row)) else {
                return Ok(None);
            };
            let regex = patterns.get(pattern, row)?;
            let mut last = 0;
            for found in regex.captures_iter(text) {
                let Some(whole) = found.get(0) else { continue };
                out.push_str(text.get(last..whole.start()).unwrap_or_default());
                expand(new, &found, out).map_err(|reason| Failure::at(row, reason))?;
                last = whole.end();
            }
            out.push_str(text.get(last..).unwrap_or_default());
            Ok(Some(()))
        })
    });
    Ok(call.node(TEXT, args, kernel))
}

/// Appends a replacement as `Matcher.appendReplacement` reads it.
fn expand(new: &str, found: &regex::Captures<'_>, out: &mut String) -> Result<(), String> {
    let mut chars = new.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next().ok_or("the replacement ends with a backslash that escapes nothing")?),
            '$' => match chars.peek() {
                Some('{') => {
                    chars.next();
                    let name: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    let group = found.name(&name).ok_or_else(|| format!("there is no group `{name}`"))?;
                    out.push_str(group.as_str());
                }
                Some(digit) if digit.is_ascii_digit() => {
                    let mut number = 0;
                    // As many digits as still name a group.
                    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                        let longer = number * 10 + digit as usize;
                        if longer >= found.len() && number > 0 {
                            break;
                        }
                        number = longer;
                        chars.next();
                    }
                    if number >= found.len() {
                        return Err(format!("the replacement names the group {number}, which the regex does not have"));
                    }
                    out.push_str(found.get(number).map_or("", |group| group.as_str()));
                }
                _ => return Err("a `$` in the replacement must be followed by a group, or escaped".to_owned()),
            },
            other => out.push(other),
        }
    }
    Ok(())
}

/// `REGEXP_EXTRACT(text, regex[, group])`; without a match NULL.
pub(super) fn extract(call: Call<'_>) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?, call.text(1)?];
    if call.has(2) {
        args.push(call.long(2)?);
    }
    let regex = fixed(&call, 1)?;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let (text, pattern, group) = match args {
            [text, pattern] => (text.texts()?, pattern.texts()?, None),
            [text, pattern, group] => (text.texts()?, pattern.texts()?, Some(group.longs()?)),
            _ => return Err(wrong_call()),
        };
        let mut patterns = Patterns::new(regex.as_ref(), java_regex::search);
        text_rows(rows, |row, out| {
            let group = match &group {
                None => Some(0),
                Some(group) => group.get(row),
            };
            let (Some(text), Some(pattern), Some(group)) = (text.get(row), pattern.get(row), group) else {
                return Ok(None);
            };
            let found = patterns.get(pattern, row)?.captures(text);
            let group = found.as_ref().and_then(|found| found.get(usize::try_from(group).ok()?));
            Ok(group.map(|group| out.push_str(group.as_str())))
        })
    });
    Ok(call.node(TEXT, args, kernel))
}

/// `REGEXP_EXTRACT_ALL(text, regex[, group])`: group 1 where none is named; NULL where the regex has no such group, as Flink
/// SQL's function of that name gives.
pub(super) fn extract_all(call: Call<'_>) -> Result<Node, Fault> {
    let mut args = vec![call.text(0)?, call.text(1)?];
    if call.has(2) {
        args.push(call.long(2)?);
    }
    let regex = fixed(&call, 1)?;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let (text, pattern, group) = match args {
            [text, pattern] => (text.texts()?, pattern.texts()?, None),
            [text, pattern, group] => (text.texts()?, pattern.texts()?, Some(group.longs()?)),
            _ => return Err(wrong_call()),
        };
        let mut patterns = Patterns::new(regex.as_ref(), java_regex::search);
        let mut lists = ListBuilder::new(StringBuilder::new());
        for row in 0..rows {
            let group = match &group {
                None => Some(1),
                Some(group) => group.get(row),
            };
            let (Some(text), Some(pattern), Some(group)) = (text.get(row), pattern.get(row), group) else {
                lists.append(false);
                continue;
            };
            let regex = patterns.get(pattern, row)?;
            let wanted = usize::try_from(group).ok().filter(|group| *group < regex.captures_len());
            if let Some(wanted) = wanted {
                for found in regex.captures_iter(text) {
                    lists.values().append_option(found.get(wanted).map(|group| group.as_str()));
                }
            }
            lists.append(wanted.is_some());
        }
        Ok(Arc::new(lists.finish()))
    });
    Ok(call.node(Type::Array(Box::new(TEXT)), args, kernel))
}

/// A function of a text and a regex that gives a number.
fn number_of(call: &Call<'_>, f: fn(&Regex, &str) -> usize) -> Result<Node, Fault> {
    let args = vec![call.text(0)?, call.text(1)?];
    let regex = fixed(call, 1)?;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text, pattern] = args else { return Err(wrong_call()) };
        let (text, pattern) = (text.texts()?, pattern.texts()?);
        let mut patterns = Patterns::new(regex.as_ref(), java_regex::search);
        int_rows(rows, |row| {
            let (Some(text), Some(pattern)) = (text.get(row), pattern.get(row)) else { return Ok(None) };
            Ok(i32::try_from(f(patterns.get(pattern, row)?, text)).ok())
        })
    });
    Ok(call.node(INT, args, kernel))
}

pub(super) fn count(call: Call<'_>) -> Result<Node, Fault> {
    number_of(&call, |regex, text| regex.find_iter(text).count())
}

/// The place of the first match, counted from 1; 0: there is none.
pub(super) fn instr(call: Call<'_>) -> Result<Node, Fault> {
    number_of(&call, |regex, text| {
        regex.find(text).map_or(0, |found| text.get(..found.start()).unwrap_or_default().chars().count() + 1)
    })
}

pub(super) fn substr(mut call: Call<'_>) -> Result<Node, Fault> {
    call.args.truncate(2);
    extract(call)
}
