//! JSON documents in texts.

use super::{Call, json_scan};
use crate::column::{Col, build_text};
use crate::error::Fault;
use crate::node::{Context, Failure, Kernel, Node};
use crate::types::{TEXT, Type};
use serde::de::IgnoredAny;
use std::sync::Arc;

fn wrong_call() -> Failure {
    Failure::new("a function was bound with another number of arguments")
}

fn parse(call: &Call<'_>, fails: bool) -> Result<Node, Fault> {
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        let mut failed = None;
        let array = build_text(rows, |row, out| {
            let text = a.get(row)?;
            let Err(error) = serde_json::from_str::<IgnoredAny>(text) else {
                json_scan::append_compact(out, text);
                return Some(());
            };
            if fails {
                let complaint = context.misfit(row, || format!("the text is no JSON: {error}"));
                failed = failed.take().or(complaint.err());
            } else {
                context.lost();
            }
            None
        })?;
        failed.map_or(Ok(array), Err)
    });
    Ok(call.node(Type::Variant, args, kernel))
}

pub(super) fn parse_json(call: Call<'_>) -> Result<Node, Fault> {
    parse(&call, true)
}

pub(super) fn try_parse_json(call: Call<'_>) -> Result<Node, Fault> {
    parse(&call, false)
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Reads a path such as `$.a.b[0]['c d']`, with `lax` or `strict` before it.
fn parse_path(text: &str) -> Option<Vec<Step>> {
    let text = text.trim();
    let text = text.strip_prefix("lax ").or_else(|| text.strip_prefix("strict ")).unwrap_or(text);
    let mut rest = text.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(key) = rest.strip_prefix('.') {
            if let Some(quoted) = key.strip_prefix('"') {
                let (name, tail) = quoted.split_once('"')?;
                steps.push(Step::Key(name.to_owned()));
                rest = tail;
                continue;
            }
            let end = key.find(['.', '[']).unwrap_or(key.len());
            let (name, tail) = key.split_at_checked(end)?;
            if name.is_empty() || name == "*" {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = tail;
        } else {
            let inner = rest.strip_prefix('[')?;
            if let Some(quote) = ['\'', '"'].into_iter().find(|quote| inner.starts_with(*quote)) {
                let (name, tail) = inner.get(1..)?.split_once(quote)?;
                steps.push(Step::Key(name.to_owned()));
                rest = tail.strip_prefix(']')?;
            } else {
                let (index, tail) = inner.split_once(']')?;
                steps.push(Step::Index(index.trim().parse().ok()?));
                rest = tail;
            }
        }
    }
    Some(steps)
}

/// The value at a path of a document that is valid.
fn walk<'t>(mut value: &'t str, steps: &[Step]) -> Option<&'t str> {
    for step in steps {
        value = match step {
            Step::Key(name) => json_scan::member(value, name)?,
            Step::Index(index) => json_scan::element(value, *index)?,
        };
    }
    Some(value)
}

fn by_path(call: &Call<'_>, show: fn(&str, &mut String) -> Option<()>) -> Result<Node, Fault> {
    let path = call.literal(1, "a path such as '$.a.b[0]'")?;
    let steps = parse_path(&path).ok_or_else(|| {
        Fault::new(format!("`{path}` is not a JSON path")).hint("write keys and places, for example '$.a.b[0]'")
    })?;
    let args = vec![call.text(0)?];
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, context: &Context| {
        let [a] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        build_text(rows, |row, out| {
            let text = a.get(row)?;
            if serde_json::from_str::<IgnoredAny>(text).is_err() {
                context.lost();
                return None;
            }
            show(walk(text.trim(), &steps)?, out)
        })
        .map_err(Failure::from)
    });
    Ok(call.node(TEXT, args, kernel))
}

/// Flink SQL's `JSON_VALUE(json, path)`: a single value as a text, numbers as they are spelled; an object, an array or nothing
/// is NULL.
pub(super) fn json_value(call: Call<'_>) -> Result<Node, Fault> {
    by_path(&call, |value, out| match value.as_bytes().first()? {
        b'"' => {
            out.push_str(&serde_json::from_str::<String>(value).ok()?);
            Some(())
        }
        b'{' | b'[' | b'n' => None,
        _ => {
            out.push_str(value);
            Some(())
        }
    })
}

/// Flink SQL's `JSON_QUERY(json, path)`: an object or an array as JSON; a single value or nothing is NULL.
pub(super) fn json_query(call: Call<'_>) -> Result<Node, Fault> {
    by_path(&call, |value, out| value.starts_with(['{', '[']).then(|| json_scan::append_compact(out, value)))
}

/// `variant[key]` or `variant[place]`, places counted from 1.
pub(super) fn variant_item(node: Arc<Node>, key: Arc<Node>, call: &Call<'_>) -> Node {
    let by_name = key.ty.is_text();
    let kernel: Kernel = Arc::new(move |args: &[Col], rows: usize, _: &Context| {
        let [a, key] = args else { return Err(wrong_call()) };
        let a = a.texts()?;
        if by_name {
            let key = key.texts()?;
            return build_text(rows, |row, out| {
                out.push_str(json_scan::member(a.get(row)?, key.get(row)?)?);
                Some(())
            })
            .map_err(Failure::from);
        }
        let key = key.longs()?;
        build_text(rows, |row, out| {
            let index = usize::try_from(key.get(row)?).ok()?.checked_sub(1)?;
            out.push_str(json_scan::element(a.get(row)?, index)?);
            Some(())
        })
        .map_err(Failure::from)
    });
    call.node(Type::Variant, vec![node, key], kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(parse_path("$"), Some(vec![]));
        assert_eq!(parse_path("$.a[1].b"), Some(vec![Step::Key("a".into()), Step::Index(1), Step::Key("b".into())]));
        assert_eq!(parse_path("lax $['a b']"), Some(vec![Step::Key("a b".into())]));
        assert_eq!(parse_path("$.\"x.y\""), Some(vec![Step::Key("x.y".into())]));
        for wrong in ["a", "$a", "$.", "$[x]", "$.*", "$[1"] {
            assert_eq!(parse_path(wrong), None, "{wrong}");
        }
    }
}
