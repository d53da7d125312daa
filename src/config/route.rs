//! The `route` block.

use super::diagnostic::Diagnostics;
use super::pattern::{PatternError, RoutePattern, RouteTarget};
use super::yaml::{Map, Node};
use super::{list_block, required_text, strict_keys};
use rowferry_model::TableId;
use rowferry_sinks::catalog::SinkKind;

/// One rule: tables that it takes, and where they go.
#[derive(Clone, Debug)]
pub struct RouteRule {
    /// Which tables.
    pub source: RoutePattern,
    /// Where to.
    pub target: RouteTarget,
    /// `description`.
    pub description: Option<String>,
}

impl RouteRule {
    /// Where a table goes by this rule; `None`: the rule does not take it.
    ///
    /// # Errors
    /// What comes out is no name of a table.
    pub fn resolve(&self, table: &TableId) -> Result<Option<TableId>, PatternError> {
        self.target.resolve(&self.source, table)
    }
}

const KEYS: &[&str] = &["source-table", "sink-table", "replace-symbol", "description"];

/// Reads the block. `sink`: how long a target's name may be depends on it.
pub(crate) fn read(node: Option<&Node>, sink: Option<&SinkKind>, diagnostics: &mut Diagnostics) -> Vec<RouteRule> {
    let mut rules = Vec::new();
    for (path, item, map) in list_block(node, "route", diagnostics) {
        strict_keys(map, KEYS, &path, diagnostics);
        if let Some(rule) = one(map, item, &path, sink, diagnostics) {
            rules.push(rule);
        }
    }
    rules
}

fn one(
    map: &Map,
    item: &Node,
    path: &str,
    sink: Option<&SinkKind>,
    diagnostics: &mut Diagnostics,
) -> Option<RouteRule> {
    let at = item.position;
    let source = required_text(map, "source-table", path, at, diagnostics);
    let target = required_text(map, "sink-table", path, at, diagnostics);
    let symbol = super::text_of(map, "replace-symbol", path, diagnostics);
    let description = super::text_of(map, "description", path, diagnostics);
    let source_key = format!("{path}.source-table");
    let target_key = format!("{path}.sink-table");
    let source = source?;
    let pattern = match RoutePattern::parse(&source.text) {
        Ok(pattern) => pattern,
        Err(error) => {
            diagnostics.invalid(source.position, source_key, error.message).maybe(error.hint);
            return None;
        }
    };
    for warning in pattern.warnings() {
        diagnostics.warning(source.position, source_key.as_str(), warning.as_str()).maybe(None);
    }
    let text = target?;
    let target = match RouteTarget::parse(&text.text, symbol.as_deref(), &pattern) {
        Ok(target) => target,
        Err(error) => {
            // An empty symbol is the only thing that is not the target's fault.
            let (key, at) = match map.get("replace-symbol") {
                Some(entry) if symbol.as_deref() == Some("") => {
                    (format!("{path}.replace-symbol"), entry.value.position)
                }
                _ => (target_key, text.position),
            };
            diagnostics.invalid(at, key, error.message).maybe(error.hint);
            return None;
        }
    };
    for warning in target.warnings() {
        diagnostics.warning(text.position, target_key.as_str(), warning.as_str()).maybe(None);
    }
    if let Some(sink) = sink {
        let parts = target.parts();
        // A group may bring a dot of its own, so too few parts are only sure in a literal target.
        let few = parts < *sink.target_parts.start() && target.is_literal();
        // A rule that never matches does no harm with any target.
        let many = parts > *sink.target_parts.end() && !pattern.never_matches();
        if few || many {
            let message = format!("`{}` has {parts} {}", text.shown, if parts == 1 { "part" } else { "parts" });
            let hint = format!("the sink `{}` needs database.table", sink.name);
            diagnostics.invalid(text.position, target_key, message).hint(hint);
            return None;
        }
    }
    Some(RouteRule { source: pattern, target, description })
}

/// What a table becomes: by all rules or by the first, itself where none takes it.
///
/// # Errors
/// What comes out of a rule is no name of a table.
pub fn targets(rules: &[RouteRule], first_only: bool, table: &TableId) -> Result<Vec<TableId>, PatternError> {
    let mut found = Vec::new();
    for rule in rules {
        if let Some(target) = rule.resolve(table)? {
            found.push(target);
            if first_only {
                break;
            }
        }
    }
    if found.is_empty() {
        found.push(table.clone());
    }
    Ok(found)
}
