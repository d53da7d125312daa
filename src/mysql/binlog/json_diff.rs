//! Partial updates of JSON documents: differences, applied to the document from before. Only here is a tree built.

use super::cursor::Cursor;
use super::decode_error::ValueError;
use super::jsonb::{JsonStyle, JsonWriter, MAX_DEPTH, RawValue, write_string};
use std::borrow::Cow;

/// A document as a tree; what can't be changed within stays bytes.
enum Node<'a> {
    /// Members in MySQL's order: short keys first, keys of one length by their bytes.
    Object(Vec<(Cow<'a, [u8]>, Node<'a>)>),
    Array(Vec<Node<'a>>),
    Scalar(RawValue<'a>),
}

/// A step of a path.
enum Step<'a> {
    Member(Cow<'a, [u8]>),
    Element(usize),
}

/// Appends the document that comes of applying differences to another one.
pub(crate) fn apply(before: &[u8], differences: &[u8], style: JsonStyle, to: &mut Vec<u8>) -> Result<(), ValueError> {
    const REPLACE: u8 = 0;
    const INSERT: u8 = 1;
    const REMOVE: u8 = 2;
    // As when writing, each byte of a document may be visited once: parts that overlap could grow without bounds.
    let mut budget = before.len() + differences.len() + 1;
    let mut document = tree(&RawValue::document(before), 0, &mut budget)?;
    let mut c = Cursor::new(differences);
    while !c.is_empty() {
        let operation = c.u8()?;
        let path = path(c.lenenc_bytes()?)?;
        match operation {
            REPLACE | INSERT => {
                let value = tree(&RawValue::document(c.lenenc_bytes()?), path.len(), &mut budget)?;
                change(&mut document, &path, value, operation == INSERT)?;
            }
            REMOVE => remove(&mut document, &path)?,
            _ => return Err(ValueError::Malformed("an unknown operation on JSON")),
        }
    }
    let mut writer = JsonWriter { style, budget: before.len() + differences.len() + 1, to };
    write(&document, &mut writer)
}

fn spend(budget: &mut usize, bytes: usize) -> Result<(), ValueError> {
    *budget = budget.checked_sub(bytes).ok_or(ValueError::Malformed("parts of a JSON document overlap"))?;
    Ok(())
}

fn tree<'a>(value: &RawValue<'a>, depth: usize, budget: &mut usize) -> Result<Node<'a>, ValueError> {
    spend(budget, 1)?;
    let Some(container) = value.container()? else { return Ok(Node::Scalar(*value)) };
    if depth >= MAX_DEPTH {
        return Err(ValueError::Malformed("a JSON document is nested deeper than 100"));
    }
    if container.is_object() {
        let mut members = Vec::new();
        for i in 0..container.count {
            let key = container.key(i)?;
            spend(budget, key.len())?;
            members.push((Cow::Borrowed(key), tree(&container.value(i)?, depth + 1, budget)?));
        }
        Ok(Node::Object(members))
    } else {
        let elements = (0..container.count).map(|i| tree(&container.value(i)?, depth + 1, budget));
        Ok(Node::Array(elements.collect::<Result<_, _>>()?))
    }
}

/// Reads a path such as `$.a[3]."b c"`: without wildcards, since the server has resolved them.
fn path(text: &[u8]) -> Result<Vec<Step<'_>>, ValueError> {
    const BAD: ValueError = ValueError::Malformed("a path in JSON can't be read");
    let mut rest = text.strip_prefix(b"$").ok_or(BAD)?;
    let mut steps = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        match first {
            b'.' if tail.first() == Some(&b'"') => {
                let (end, _) = tail
                    .iter()
                    .enumerate()
                    .skip(1)
                    .scan(false, |escaped, (i, byte)| {
                        let ends = *byte == b'"' && !*escaped;
                        *escaped = *byte == b'\\' && !*escaped;
                        Some((i, ends))
                    })
                    .find(|(_, ends)| *ends)
                    .ok_or(BAD)?;
                let (quoted, after) = tail.split_at_checked(end + 1).ok_or(BAD)?;
                // A quoted name is a JSON string.
                let name: String = serde_json::from_slice(quoted).map_err(|_| BAD)?;
                steps.push(Step::Member(Cow::Owned(name.into_bytes())));
                rest = after;
            }
            b'.' => {
                let end = tail.iter().position(|c| matches!(c, b'.' | b'[')).unwrap_or(tail.len());
                let (name, after) = tail.split_at(end);
                steps.push(Step::Member(Cow::Borrowed(name)));
                rest = after;
            }
            b'[' => {
                let end = tail.iter().position(|c| *c == b']').ok_or(BAD)?;
                let (index, after) = tail.split_at(end);
                let index = std::str::from_utf8(index).ok().and_then(|i| i.parse().ok()).ok_or(BAD)?;
                steps.push(Step::Element(index));
                rest = after.get(1..).unwrap_or_default();
            }
            _ => return Err(BAD),
        }
    }
    if steps.len() > MAX_DEPTH {
        return Err(BAD);
    }
    Ok(steps)
}

const MISSING: ValueError = ValueError::Malformed("a path in JSON leads to nothing in the document from before");

/// The node that all steps but the last lead to, and the last step; `None` for the document itself.
fn parent<'n, 'a, 'p>(
    mut node: &'n mut Node<'a>,
    path: &'p [Step<'p>],
) -> Result<Option<(&'n mut Node<'a>, &'p Step<'p>)>, ValueError> {
    let Some((last, steps)) = path.split_last() else { return Ok(None) };
    for step in steps {
        node = match (node, step) {
            (Node::Object(members), Step::Member(name)) => {
                members.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value).ok_or(MISSING)?
            }
            (Node::Array(elements), Step::Element(i)) => elements.get_mut(*i).ok_or(MISSING)?,
            // A value that is not an array counts as an array of one.
            (node, Step::Element(0)) => node,
            _ => return Err(MISSING),
        };
    }
    Ok(Some((node, last)))
}

fn order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Puts a value where the path leads: in place of what is there, or for `insert` beside it.
fn change<'a>(document: &mut Node<'a>, path: &[Step<'_>], value: Node<'a>, insert: bool) -> Result<(), ValueError> {
    match parent(document, path)? {
        None => *document = value,
        Some((Node::Object(members), Step::Member(name))) => {
            match members.binary_search_by(|(key, _)| order(key, name)) {
                Ok(i) => {
                    if let Some((_, place)) = members.get_mut(i) {
                        *place = value;
                    }
                }
                Err(i) => members.insert(i, (Cow::Owned(name.to_vec()), value)),
            }
        }
        Some((Node::Array(elements), Step::Element(i))) => {
            if insert {
                elements.insert((*i).min(elements.len()), value);
            } else {
                *elements.get_mut(*i).ok_or(MISSING)? = value;
            }
        }
        _ => return Err(MISSING),
    }
    Ok(())
}

fn remove(document: &mut Node<'_>, path: &[Step<'_>]) -> Result<(), ValueError> {
    match parent(document, path)? {
        Some((Node::Object(members), Step::Member(name))) => {
            let i = members.iter().position(|(key, _)| key == name).ok_or(MISSING)?;
            members.remove(i);
        }
        Some((Node::Array(elements), Step::Element(i))) if *i < elements.len() => {
            elements.remove(*i);
        }
        _ => return Err(MISSING),
    }
    Ok(())
}

fn write(node: &Node<'_>, writer: &mut JsonWriter<'_>) -> Result<(), ValueError> {
    match node {
        Node::Scalar(value) => writer.scalar(value),
        Node::Object(members) => {
            writer.to.push(b'{');
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    writer.to.extend_from_slice(writer.style.comma());
                }
                write_string(key, writer.to);
                writer.to.extend_from_slice(writer.style.colon());
                write(value, writer)?;
            }
            writer.to.push(b'}');
            Ok(())
        }
        Node::Array(elements) => {
            writer.to.push(b'[');
            for (i, value) in elements.iter().enumerate() {
                if i > 0 {
                    writer.to.extend_from_slice(writer.style.comma());
                }
                write(value, writer)?;
            }
            writer.to.push(b']');
            Ok(())
        }
    }
}
