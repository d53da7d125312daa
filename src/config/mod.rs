//! The pipeline's YAML file: read, checked, typed.
//!
//! [`load`] reads a file into a [`PipelineConfig`] and tells **everything** that is wrong with it at once, each with its
//! place. The way of a file: text → tree with places (`yaml`) → variables replaced (`variables`) → each block by the
//! option table of its connector (`reader`) → typed blocks → checks across blocks (`pipeline_config`).

pub mod check;
mod diagnostic;
pub mod pattern;
mod pipeline;
mod pipeline_config;
mod reader;
mod route;
mod schema_changes;
mod sink;
mod source;
mod suggest;
mod transform;
mod variables;
mod yaml;
mod zone;

pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use pipeline::{
    PIPELINE_OPTIONS, PipelineOptions, RouteMode, RuntimeMode, SchemaChangeBehavior, TransformSettings,
};
pub use pipeline_config::{Loaded, PipelineConfig, load, load_text};
pub use route::{RouteRule, targets};
pub use rowferry_sinks::options::{Position, Secret};
pub use sink::SinkConfig;
pub use source::{MYSQL_OPTIONS, MetadataColumn, ServerIds, SourceConfig, StartupMode, TlsMode};
pub use transform::TransformRule;
pub use variables::{VariableError, Variables};
pub use zone::Zone;

use diagnostic::Diagnostics;
use yaml::{Map, Node, Value};

#[cfg(test)]
mod tests;

/// A text value with its place.
struct TextAt {
    text: String,
    /// The text that may be shown.
    shown: String,
    position: Position,
}

/// The text of a key that must be there; wrong kinds and absence are told.
fn required_text(map: &Map, key: &str, path: &str, block: Position, diagnostics: &mut Diagnostics) -> Option<TextAt> {
    let full = format!("{path}.{key}");
    let Some(entry) = map.get(key) else {
        diagnostics.invalid(block, full, "required key is missing").maybe(None);
        return None;
    };
    let position = entry.value.position;
    match &entry.value.value {
        Value::Scalar(scalar) => Some(TextAt { text: scalar.text.clone(), shown: scalar.shown().to_owned(), position }),
        Value::Unresolved => None,
        Value::Null => {
            diagnostics.invalid(entry.key_position, full, "required key is missing: it has no value").maybe(None);
            None
        }
        _ => {
            let message = format!("must be a single value, not {}", entry.value.describe());
            diagnostics.invalid(position, full, message).maybe(None);
            None
        }
    }
}

/// The text of a key that may be absent; wrong kinds are told.
fn text_of(map: &Map, key: &str, path: &str, diagnostics: &mut Diagnostics) -> Option<String> {
    let entry = map.get(key).filter(|entry| !entry.value.is_null())?;
    required_text(map, key, path, entry.key_position, diagnostics).map(|text| text.text)
}

/// Refuses keys that a block doesn't have.
fn strict_keys(map: &Map, keys: &[&str], path: &str, diagnostics: &mut Diagnostics) {
    for entry in map.entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
        let hint = suggest::did_you_mean(&entry.key, keys.iter().copied())
            .unwrap_or_else(|| format!("allowed are {}", keys.join(", ")));
        let key = format!("{path}.{}", entry.key);
        diagnostics.invalid(entry.key_position, key, "unexpected key").hint(hint);
    }
}

/// The maps of a block that is a list of maps, each with its path. Absent and null are an empty list.
fn list_block<'a>(
    node: Option<&'a Node>,
    key: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<(String, &'a Node, &'a Map)> {
    let Some(node) = node else { return Vec::new() };
    let items = match &node.value {
        Value::Null | Value::Unresolved => return Vec::new(),
        Value::List(items) => items,
        _ => {
            let message = format!("must be a list, not {}", node.describe());
            diagnostics.invalid(node.position, key, message).hint("put a dash before each rule: `- source-table: …`");
            return Vec::new();
        }
    };
    let mut maps = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{key}[{index}]");
        match &item.value {
            Value::Map(map) => maps.push((path, item, map)),
            Value::Unresolved => {}
            _ => {
                let message = format!("must be a map, not {}", item.describe());
                diagnostics.invalid(item.position, path, message).maybe(None);
            }
        }
    }
    maps
}
