//! LIKE and SIMILAR TO.
//!
//! LIKE without ESCAPE searches a regex in Flink CDC (recordings `name LIKE 'AB'`, `'A%'`, and its tests). Its documentation
//! and every user who writes `%` mean SQL's LIKE. So the pattern decides, see [`reads_as_regex`].

use super::pattern::Patterns;
use super::{Call, call_node};
use crate::column::{Col, build_bool};
use crate::error::Fault;
use crate::java_regex;
use crate::node::{Context, Failure, Kernel, Node};
use crate::rule::TransformOptions;
use crate::types::BOOL;
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// Whether a LIKE pattern without ESCAPE is a regex: a pattern with `%` never is; one without `%` and `_` always is; one
/// with `_` is where it also has a sign that only a regex has a use for (`^ $ [ ] ( ) * + | \ { }`).
pub(crate) fn reads_as_regex(pattern: &str) -> bool {
    if pattern.contains('%') {
        return false;
    }
    !pattern.contains('_') || pattern.contains(['^', '$', '[', ']', '(', ')', '*', '+', '|', '\\', '{', '}'])
}

/// The regex of a LIKE pattern that has no escape character given.
fn compile_flexible(pattern: &str) -> Result<Regex, String> {
    if reads_as_regex(pattern) { java_regex::search(pattern) } else { compile_like(pattern, None) }
}

/// SQL's LIKE.
fn compile_like(pattern: &str, escape: Option<char>) -> Result<Regex, String> {
    let mut text = String::from("^");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            let next = chars.next().ok_or("it ends with the escape character")?;
            if next != '%' && next != '_' && Some(next) != escape {
                return Err(format!("the escape character stands before `{next}`, which needs no escape"));
            }
            literal(&mut text, next);
        } else {
            match c {
                '%' => text.push_str(".*"),
                '_' => text.push('.'),
                c => literal(&mut text, c),
            }
        }
    }
    text.push('$');
    build(&text)
}

/// SQL's SIMILAR TO: a regex with `%` and `_`, over the whole text.
fn compile_similar(pattern: &str, escape: Option<char>) -> Result<Regex, String> {
    let mut text = String::from("^(?:");
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            literal(&mut text, chars.next().ok_or("it ends with the escape character")?);
            continue;
        }
        match c {
            '%' if !in_class => text.push_str(".*"),
            '_' if !in_class => text.push('.'),
            '[' => {
                in_class = true;
                text.push('[');
            }
            ']' => {
                in_class = false;
                text.push(']');
            }
            '|' | '*' | '+' | '?' | '(' | ')' | '{' | '}' if !in_class => text.push(c),
            '^' | '-' | ':' if in_class => text.push(c),
            c => literal(&mut text, c),
        }
    }
    text.push_str(")$");
    build(&text)
}

fn literal(out: &mut String, c: char) {
    if c.is_alphanumeric() || c == ',' {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
    }
}

fn build(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).dot_matches_new_line(true).size_limit(1 << 20).build().map_err(|error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
    })
}

/// The common simple patterns need no regex.
enum Fixed {
    /// `text%`.
    Prefix(String),
    /// `%text`.
    Suffix(String),
    /// `%text%`.
    Inside(String),
    Regex(Regex),
}

impl Fixed {
    fn like(pattern: &str, escape: Option<char>) -> Result<Self, String> {
        let plain = |part: &str| !part.contains(['%', '_']) && escape.is_none_or(|e| !part.contains(e));
        let begins = pattern.strip_prefix('%');
        let ends = pattern.strip_suffix('%');
        match (begins, ends, begins.and_then(|rest| rest.strip_suffix('%'))) {
            (_, _, Some(middle)) if plain(middle) => Ok(Self::Inside(middle.to_owned())),
            (Some(rest), _, _) if plain(rest) => Ok(Self::Suffix(rest.to_owned())),
            (_, Some(rest), _) if plain(rest) => Ok(Self::Prefix(rest.to_owned())),
            _ => compile_like(pattern, escape).map(Self::Regex),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Prefix(part) => text.starts_with(part.as_str()),
            Self::Suffix(part) => text.ends_with(part.as_str()),
            Self::Inside(part) => text.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

fn operands(
    name: &str,
    text: Arc<Node>,
    pattern: Arc<Node>,
    options: &TransformOptions,
) -> Result<(Arc<Node>, Arc<Node>), Fault> {
    let call = Call { name, args: vec![text, pattern], options };
    Ok((call.text(0)?, call.text(1)?))
}

/// `text [NOT] LIKE pattern [ESCAPE escape]`, and a warning where a literal pattern is read as a regex.
pub(crate) fn like_node(
    text: Arc<Node>,
    pattern: Arc<Node>,
    escape: Option<char>,
    negated: bool,
    options: &TransformOptions,
) -> Result<(Node, Option<Fault>), Fault> {
    let (text, pattern) = operands("LIKE", text, pattern, options)?;
    let literal = pattern.constant_text();
    let mut warning = None;
    let fixed = match &literal {
        None => None,
        Some(literal) => {
            let regex = escape.is_none() && reads_as_regex(literal);
            let wrong = |reason: String| Fault::new(format!("the LIKE pattern `{literal}`: {reason}"));
            if regex {
                let message = format!("LIKE '{literal}' is searched as a regular expression, as Flink CDC does");
                let hint = "for SQL's LIKE write `%` in the pattern, or ESCAPE behind it";
                warning = Some(Fault::warning(message).hint(hint));
                Some(Fixed::Regex(java_regex::search(literal).map_err(wrong)?))
            } else {
                Some(Fixed::like(literal, escape).map_err(wrong)?)
            }
        }
    };
    let node = match fixed {
        Some(fixed) => {
            let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
                let [text] = args else { return Err(Failure::new("LIKE has one operand")) };
                let text = text.texts()?;
                Ok(build_bool(rows, |row| Some(fixed.matches(text.get(row)?) != negated)))
            });
            call_node(BOOL, vec![text], kernel, options)
        }
        None => {
            let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| match escape {
                None => by_row(args, rows, negated, compile_flexible),
                Some('\\') => by_row(args, rows, negated, |p| compile_like(p, Some('\\'))),
                Some('!') => by_row(args, rows, negated, |p| compile_like(p, Some('!'))),
                Some('#') => by_row(args, rows, negated, |p| compile_like(p, Some('#'))),
                Some('/') => by_row(args, rows, negated, |p| compile_like(p, Some('/'))),
                Some('|') => by_row(args, rows, negated, |p| compile_like(p, Some('|'))),
                Some(other) => Err(Failure::new(format!("the escape character `{other}` needs a literal pattern"))),
            });
            call_node(BOOL, vec![text, pattern], kernel, options)
        }
    };
    Ok((node, warning))
}

fn by_row(
    args: &[Col],
    rows: usize,
    negated: bool,
    compile: fn(&str) -> Result<Regex, String>,
) -> Result<arrow_array::ArrayRef, Failure> {
    let [text, pattern] = args else { return Err(Failure::new("LIKE has two operands")) };
    let (text, pattern) = (text.texts()?, pattern.texts()?);
    let mut patterns = Patterns::new(None, compile);
    let mut failed = None;
    let array = build_bool(rows, |row| {
        let (text, pattern) = (text.get(row)?, pattern.get(row)?);
        match patterns.get(pattern, row) {
            Ok(regex) => Some(regex.is_match(text) != negated),
            Err(failure) => {
                failed.get_or_insert(failure);
                None
            }
        }
    });
    failed.map_or(Ok(array), Err)
}

/// `text [NOT] SIMILAR TO pattern [ESCAPE escape]`; the pattern is a literal.
pub(crate) fn similar_node(
    text: Arc<Node>,
    pattern: Arc<Node>,
    escape: Option<char>,
    negated: bool,
    options: &TransformOptions,
) -> Result<Node, Fault> {
    let (text, pattern) = operands("SIMILAR TO", text, pattern, options)?;
    let Some(literal) = pattern.constant_text() else {
        return Err(Fault::new("the pattern of SIMILAR TO must be a text in single quotes"));
    };
    let regex = compile_similar(&literal, escape)
        .map_err(|reason| Fault::new(format!("the SIMILAR TO pattern `{literal}`: {reason}")))?;
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [text] = args else { return Err(Failure::new("SIMILAR TO has one operand")) };
        let text = text.texts()?;
        Ok(build_bool(rows, |row| Some(regex.is_match(text.get(row)?) != negated)))
    });
    Ok(call_node(BOOL, vec![text], kernel, options))
}
