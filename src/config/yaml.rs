//! YAML text into a tree that knows where everything stands.
//!
//! Scalars keep their text as written (`1.10` stays `1.10`), since every value of a pipeline file is a string until its
//! option says otherwise.

use super::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use rowferry_sinks::options::Position;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};
use std::collections::HashMap;
use std::fmt;

/// Deeper nesting is refused: a pipeline file needs five levels.
const MAX_DEPTH: usize = 64;
/// More nodes are refused: aliases can make a small file grow without end.
const MAX_NODES: usize = 200_000;

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) position: Position,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Nothing, `~` or `null` without quotes.
    Null,
    /// A text with a variable that is not set, which has been told.
    Unresolved,
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

/// A text value.
#[derive(Clone)]
pub(crate) struct Scalar {
    /// The text, variables replaced.
    pub(crate) text: String,
    /// The text as it stands in the file if variables were replaced in it: it is shown instead, since a variable may
    /// hold a secret.
    pub(crate) template: Option<String>,
    /// Whether it stands without quotes and not as a block.
    pub(crate) plain: bool,
}

impl Scalar {
    /// The text that may be shown.
    pub(crate) fn shown(&self) -> &str {
        self.template.as_deref().unwrap_or(&self.text)
    }
}

impl fmt::Debug for Scalar {
    /// Hides the text: it may be a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(…)")
    }
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    pub(crate) entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_position: Position,
    pub(crate) value: Node,
}

impl Map {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl Node {
    /// The kind of value in words, for "must be a list, not …".
    pub(crate) fn describe(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Scalar(_) | Value::Unresolved => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// Reads the first document of a text. Duplicate keys and further documents are warned about.
///
/// # Errors
/// The text is no YAML, is too deep or too big.
pub(crate) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Result<Node, Box<Diagnostic>> {
    let mut builder = Builder { diagnostics, open: Vec::new(), anchors: HashMap::new(), nodes: 0, root: None };
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Box::new(yaml_error(&error, text)))?;
        let at = position(&span.start);
        if documents == 1 && builder.root.is_some() && !matches!(event, Event::StreamEnd | Event::DocumentEnd) {
            builder.diagnostics.warning(at, "", "only the first YAML document of the file is read").maybe(None);
            break;
        }
        if let Event::DocumentStart(_) = event {
            documents += 1;
        } else {
            builder.take(event, at)?;
        }
    }
    let at = Position { line: 1, column: 1 };
    builder.root.ok_or_else(|| error(at, "the file is empty", Some("it needs at least `source` and `sink`".into())))
}

fn error(at: Position, message: impl Into<String>, hint: Option<String>) -> Box<Diagnostic> {
    let kind = DiagnosticKind::Invalid;
    Box::new(Diagnostic { kind, position: at, key: String::new(), message: message.into(), hint })
}

/// An error of the parser in terms of the file. The text of the line is not quoted: it may hold a password.
fn yaml_error(error: &ScanError, text: &str) -> Diagnostic {
    let at = position(error.marker());
    let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
    let info = error.info();
    let mut message = format!("not valid YAML: {info}");
    let mut hint = None;
    if info.contains("unknown escape character") {
        // The marker stands at the opening quote or near the escape; look for the escape that YAML does not know.
        if let Some(escape) = unknown_escape(text, error.marker().index()) {
            message = format!("not valid YAML: invalid escape `\\{escape}` in a double-quoted text");
        }
        hint = Some(r"write the value without quotes or in single quotes, or double the backslash (`\\`)".to_owned());
    } else if line.contains('\t') && (info.contains("tab") || line.trim_start_matches(' ').starts_with('\t')) {
        hint = Some("indent with spaces, not with tabs".to_owned());
    } else if line.contains("${") {
        hint = Some("put values with `${…}` inside `{}` or `[]` in quotes".to_owned());
    } else if line.split(": ").nth(1).is_some_and(|value| value.trim_start().starts_with(['*', '&', '@', '`', '%'])) {
        hint = Some(r"a plain value can't begin with this sign: put it in single quotes (or write `\*`)".to_owned());
    }
    Diagnostic { kind: DiagnosticKind::Invalid, position: at, key: String::new(), message, hint }
}

/// The first escape at or behind a place that YAML doesn't know.
fn unknown_escape(text: &str, from: usize) -> Option<char> {
    const KNOWN: &str = "0abtnvfre \"/\\N_LPxuU\t\n\r";
    let mut chars = text.chars().skip(from.saturating_sub(1));
    while let Some(c) = chars.next() {
        if c == '\\' {
            let escape = chars.next()?;
            if !KNOWN.contains(escape) {
                return Some(escape);
            }
        }
    }
    None
}

/// A list or map whose end has not come.
enum Open {
    List { at: Position, anchor: usize, items: Vec<Node> },
    Map { at: Position, anchor: usize, map: Map, key: Option<(String, Position)> },
}

struct Builder<'a> {
    diagnostics: &'a mut Diagnostics,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), Box<Diagnostic>> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let value = if plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
                    Value::Null
                } else {
                    Value::Scalar(Scalar { text: text.into_owned(), template: None, plain })
                };
                let node = Node { position: at, value };
                self.place(node, anchor, 1)
            }
            Event::SequenceStart(anchor, _) => self.enter(Open::List { at, anchor, items: Vec::new() }, at),
            Event::MappingStart(anchor, _) => self.enter(Open::Map { at, anchor, map: Map::default(), key: None }, at),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { at, anchor, items }) => {
                    self.place(Node { position: at, value: Value::List(items) }, anchor, 1)
                }
                Some(Open::Map { at, anchor, map, .. }) => {
                    self.place(Node { position: at, value: Value::Map(map) }, anchor, 1)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let Some((mut node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(error(at, "an alias refers to an anchor that does not exist", None));
                };
                node.position = at;
                self.place(node, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, open: Open, at: Position) -> Result<(), Box<Diagnostic>> {
        if self.open.len() >= MAX_DEPTH {
            return Err(error(at, format!("nested more than {MAX_DEPTH} levels deep"), None));
        }
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(error(at, "a key must be a text, not a list or a map", None));
        }
        self.open.push(open);
        Ok(())
    }

    /// Puts a complete node where it belongs.
    fn place(&mut self, node: Node, anchor: usize, size: usize) -> Result<(), Box<Diagnostic>> {
        self.nodes += size;
        if self.nodes > MAX_NODES {
            return Err(error(node.position, "the file is too big, or its aliases make it too big", None));
        }
        if anchor != 0 {
            let size = count(&node);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { map, key, .. }) => match key.take() {
                None => {
                    let text = match node.value {
                        Value::Scalar(scalar) => scalar.text,
                        Value::Null => "null".to_owned(),
                        _ => return Err(error(node.position, "a key must be a text, not a list or a map", None)),
                    };
                    *key = Some((text, node.position));
                }
                Some((key, key_position)) => {
                    if let Some(old) = map.entries.iter().position(|entry| entry.key == key) {
                        let message = format!("`{key}` stands here twice: the last one counts");
                        self.diagnostics.warning(key_position, "", message).hint("remove one of them");
                        map.entries.remove(old);
                    }
                    map.entries.push(Entry { key, key_position, value: node });
                }
            },
        }
        Ok(())
    }
}

/// How many nodes a tree has; its depth is bounded.
fn count(node: &Node) -> usize {
    match &node.value {
        Value::Null | Value::Unresolved | Value::Scalar(_) => 1,
        Value::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Map(map) => 1 + map.entries.iter().map(|entry| 1 + count(&entry.value)).sum::<usize>(),
    }
}
