//! `pipeline.model`: language models that transforms can call.

use super::super::diagnostic::Diagnostics;
use super::super::suggest::did_you_mean;
use super::super::yaml::{Entry, Map, Node, Value};
use super::{Declared, scalar_of};

/// The kinds of models of the newer form.
const TYPES: &[&str] = &["dummy", "openai-compatible"];
const REQUIRED: &[&str] = &["endpoint", "api-key", "model"];
const OPTIONAL: &[&str] = &[
    "system-prompt",
    "user-prompt",
    "temperature",
    "top-p",
    "stop",
    "max-tokens",
    "presence-penalty",
    "frequency-penalty",
    "n",
    "seed",
    "response-format",
    "content-type",
    "extra-header",
    "extra-body",
    "dimension",
    "error-handling-strategy",
    "retry-num",
    "retry-fallback-strategy",
    "retry-backoff-strategy",
    "retry-backoff-base-interval",
];
/// The classes of the older form.
const CLASSES: &[&str] = &["OpenAIChatModel", "OpenAIEmbeddingModel"];
const PARAMETERS: &[&str] = &["openai.model", "openai.host", "openai.apikey", "openai.chat.prompt"];

/// Reads one model or a list of them. This version can't ask any, which is told for each.
pub(super) fn read(node: &Node, declared: &mut Declared, diagnostics: &mut Diagnostics) {
    let key = "pipeline.model";
    match &node.value {
        Value::Null | Value::Unresolved => {}
        Value::Map(map) => Reader { path: key.to_owned(), node, map, diagnostics }.read(declared),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{key}[{index}]");
                match &item.value {
                    Value::Map(map) => Reader { path, node: item, map, diagnostics }.read(declared),
                    _ => {
                        let message = format!("must be a map, not {}", item.describe());
                        diagnostics.invalid(item.position, path, message).maybe(None);
                    }
                }
            }
        }
        Value::Scalar(_) => {
            diagnostics.invalid(node.position, key, "must be a map or a list of maps, not a single value").maybe(None);
        }
    }
}

struct Reader<'a> {
    path: String,
    node: &'a Node,
    map: &'a Map,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|entry| !entry.value.is_null())
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn read(mut self, declared: &mut Declared) {
        let legacy = self.has("model-name") || self.has("class-name");
        if legacy && (self.has("name") || self.has("type") || self.has("options")) {
            let message = "mixes two forms: `name`, `type`, `options` and the older `model-name`, `class-name`";
            self.diagnostics.invalid(self.node.position, self.path, message).hint("use one of them");
            return;
        }
        let (name_key, kind_key) = if legacy { ("model-name", "class-name") } else { ("name", "type") };
        let name = self.text(name_key);
        let kind = self.text(kind_key);
        let known = if legacy { CLASSES } else { TYPES };
        if let Some(kind) = &kind
            && !known.contains(&kind.as_str())
        {
            let hint = did_you_mean(kind, known.iter().copied())
                .unwrap_or_else(|| format!("there are {}", known.join(" and ")));
            let at = self.map.get(kind_key).map_or(self.node.position, |entry| entry.value.position);
            self.diagnostics.invalid(at, self.key(kind_key), format!("`{kind}` is not a kind of model")).hint(hint);
        }
        if legacy {
            self.parameters();
        } else {
            self.options(kind.as_deref());
        }
        let Some(name) = name else { return };
        let at = self.map.get(name_key).map_or(self.node.position, |entry| entry.value.position);
        if let Some(reason) = bad_name(&name) {
            self.diagnostics.invalid(at, self.key(name_key), format!("the model name `{name}` {reason}")).maybe(None);
            return;
        }
        if declared.models.contains(&name) {
            let message = format!("the model name `{name}` is used twice");
            self.diagnostics.invalid(at, self.key(name_key), message).maybe(None);
            return;
        }
        if legacy {
            declared.functions.push(name.clone());
        }
        declared.models.push(name.clone());
        let message = format!("this version of rowferry can't ask the model `{name}`");
        self.diagnostics.unsupported(self.node.position, self.path, message).maybe(None);
    }

    /// A required text.
    fn text(&mut self, key: &str) -> Option<String> {
        if !self.has(key) {
            let at = self.node.position;
            self.diagnostics.invalid(at, self.key(key), "required key is missing").maybe(None);
            return None;
        }
        scalar_of(self.map, key, &self.path, self.diagnostics).map(|scalar| scalar.text.clone())
    }

    /// Options stand under `options` or beside `name`, not in both places.
    fn options(&mut self, kind: Option<&str>) {
        let empty = Map::default();
        let inner = match self.map.get("options").map(|entry| (&entry.value.value, &entry.value)) {
            None | Some((Value::Null | Value::Unresolved, _)) => &empty,
            Some((Value::Map(map), _)) => map,
            Some((_, node)) => {
                let message = format!("must be a map, not {}", node.describe());
                self.diagnostics.invalid(node.position, self.key("options"), message).maybe(None);
                &empty
            }
        };
        let map: &'a Map = self.map;
        let beside = map.entries.iter().filter(|entry| !matches!(entry.key.as_str(), "name" | "type" | "options"));
        let beside: Vec<&Entry> = beside.collect();
        for entry in &beside {
            if inner.get(&entry.key).is_some() {
                let message = format!("`{}` stands here and under `options`", entry.key);
                self.diagnostics.invalid(entry.key_position, self.key(&entry.key), message).hint("remove one of them");
            }
        }
        let all: Vec<(String, &Entry)> = beside
            .iter()
            .map(|entry| (self.key(&entry.key), *entry))
            .chain(inner.entries.iter().map(|entry| (self.key(&format!("options.{}", entry.key)), entry)))
            .collect();
        for (key, entry) in &all {
            if matches!(entry.value.value, Value::Map(_) | Value::List(_)) {
                let message = format!("must be a single value, not {}", entry.value.describe());
                self.diagnostics.invalid(entry.value.position, key.as_str(), message).maybe(None);
            }
        }
        if kind != Some("openai-compatible") {
            return;
        }
        for (key, entry) in &all {
            let known = || REQUIRED.iter().chain(OPTIONAL).copied();
            if !known().any(|name| name == entry.key) {
                let hint = did_you_mean(&entry.key, known());
                let message = "unknown option of an openai-compatible model";
                self.diagnostics.invalid(entry.key_position, key.as_str(), message).maybe(hint);
            }
        }
        for name in REQUIRED {
            let entry = all.iter().find(|(_, entry)| entry.key == *name).map(|(_, entry)| &entry.value);
            let given = match entry.map(|node| &node.value) {
                Some(Value::Scalar(scalar)) => !scalar.text.trim().is_empty(),
                Some(Value::Unresolved) => true,
                _ => false,
            };
            if !given {
                let at = entry.map_or(self.node.position, |node| node.position);
                let key = self.key(&format!("options.{name}"));
                self.diagnostics.invalid(at, key, "required option is missing or blank").maybe(None);
            }
        }
    }

    fn parameters(&mut self) {
        let map: &'a Map = self.map;
        for entry in map.entries.iter().filter(|entry| !matches!(entry.key.as_str(), "model-name" | "class-name")) {
            let key = self.key(&entry.key);
            if matches!(entry.value.value, Value::Map(_) | Value::List(_)) {
                let message = format!("must be a single value, not {}", entry.value.describe());
                self.diagnostics.invalid(entry.value.position, key, message).maybe(None);
            } else if !PARAMETERS.contains(&entry.key.as_str()) {
                let hint = did_you_mean(&entry.key, PARAMETERS.iter().copied());
                self.diagnostics.warning(entry.key_position, key, "unknown parameter of a model").maybe(hint);
            }
        }
    }
}

fn bad_name(name: &str) -> Option<&'static str> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Some("is not a valid identifier: letters, digits and `_`, not beginning with a digit");
    }
    name.starts_with("__").then_some("may not begin with two underscores")
}
