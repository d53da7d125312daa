//! The `sink` block.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::reader::{Block, Unknown};
use super::suggest::did_you_mean;
use super::yaml::{Map, Node, Value};
use super::{required_text, schema_changes, text_of};
use rowferry_model::SchemaChangeKind;
use rowferry_sinks::catalog::{SINKS, SinkKind, find_sink};
use rowferry_sinks::options::Options;
use std::collections::BTreeSet;

/// Where the rows go.
#[derive(Clone, Debug)]
pub struct SinkConfig {
    /// The type, with its option table.
    pub kind: &'static SinkKind,
    /// What it is called in logs.
    pub name: String,
    /// The schema changes that reach it; both lists and the default of LENIENT are in it.
    pub schema_changes: BTreeSet<SchemaChangeKind>,
    /// Its own options.
    pub options: Options,
}

const RESERVED: &[&str] = &["type", "name", "include.schema.changes", "exclude.schema.changes"];

/// Words that people write in any sink's block.
const SLIPS: &[(&str, &str)] = &[
    ("user", "did you mean `username`?"),
    ("connector", "the kind of sink is `type`; remove this option of Flink SQL"),
    ("schema.change.behavior", "it belongs under `pipeline`"),
    ("route", "it belongs to the top level of the file"),
];

/// Reads the block; `None` where it can't be used, which has been told then.
pub(crate) fn read(node: &Node, lenient: bool, diagnostics: &mut Diagnostics) -> Option<SinkConfig> {
    let Value::Map(map) = &node.value else {
        let message = format!("must be a map, not {}", node.describe());
        diagnostics.invalid(node.position, "sink", message).maybe(None);
        return None;
    };
    let name = text_of(map, "name", "sink", diagnostics);
    let schema_changes = schema_changes::resolve(map, lenient, diagnostics);
    let kind = find_kind(map, node, diagnostics)?;
    if !kind.filters_schema_changes {
        for key in ["include.schema.changes", "exclude.schema.changes"] {
            if let Some(entry) = map.get(key) {
                let message = format!("has no effect: the sink `{}` does not filter schema changes", kind.name);
                diagnostics.warning(entry.key_position, format!("sink.{key}"), message).maybe(None);
            }
        }
    }
    let block = Block {
        path: "sink",
        position: node.position,
        map,
        table: kind.options,
        reserved: RESERVED,
        unknown: if kind.strict { Unknown::Refuse } else { Unknown::Warn },
        owner: &format!("the sink `{}`", kind.name),
        known_slips: SLIPS,
    };
    let options = block.read(diagnostics);
    for problem in (kind.check)(&options) {
        // A value that could not be read is told already.
        if options.position(&problem.option).is_none() && map.get(&problem.option).is_some() {
            continue;
        }
        let position = options.position(&problem.option).unwrap_or(node.position);
        diagnostics.push(Diagnostic {
            kind: problem.severity.into(),
            position,
            key: format!("sink.{}", problem.option),
            message: problem.message,
            hint: problem.hint,
        });
    }
    let name = name.unwrap_or_else(|| format!("Flink CDC Event Sink: {}", kind.name));
    Some(SinkConfig { kind, name, schema_changes, options })
}

fn find_kind(map: &Map, node: &Node, diagnostics: &mut Diagnostics) -> Option<&'static SinkKind> {
    let name = required_text(map, "type", "sink", node.position, diagnostics)?;
    let Some(kind) = find_sink(&name.text) else {
        let names = || SINKS.iter().map(|sink| sink.name);
        let hint = did_you_mean(&name.text, names())
            .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        diagnostics.invalid(name.position, "sink.type", format!("`{}` is not a sink", name.shown)).hint(hint);
        return None;
    };
    if !kind.available {
        let available: Vec<&str> = SINKS.iter().filter(|sink| sink.available).map(|sink| sink.name).collect();
        let message = format!("this version of rowferry does not write to `{}` yet", kind.name);
        let hint = format!("it writes to {}", available.join(" and "));
        diagnostics.unsupported(name.position, "sink.type", message).hint(hint);
    }
    Some(kind)
}
