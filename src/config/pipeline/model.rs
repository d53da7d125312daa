//! `pipeline.model`: language models that transforms can call.

use super::super::diagnostic::Diagnostics;
use super::super::suggest::did_you_mean;
use super::super::yaml::{Entry, Map, Node, Value};
use super::{Declared, scalar_of};
use rowferry_sinks::options::parse_duration;
use rowferry_transform::ModelSpec;
use rowferry_transform::model::LegacyModel;

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
/// Options that are fields of the request's body, with the field's name.
const FIELDS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top-p", "top_p"),
    ("stop", "stop"),
    ("max-tokens", "max_tokens"),
    ("presence-penalty", "presence_penalty"),
    ("frequency-penalty", "frequency_penalty"),
    ("n", "n"),
    ("seed", "seed"),
    ("response-format", "response_format"),
    ("dimension", "dimensions"),
];
/// The classes of the older form.
const CLASSES: &[&str] = &["OpenAIChatModel", "OpenAIEmbeddingModel"];
const PARAMETERS: &[&str] = &["openai.model", "openai.host", "openai.apikey", "openai.chat.prompt"];

/// Reads one model or a list of them.
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
        if declared.models.iter().any(|model| model.name == name) {
            let message = format!("the model name `{name}` is used twice");
            self.diagnostics.invalid(at, self.key(name_key), message).maybe(None);
            return;
        }
        if kind.as_deref() == Some("dummy") {
            let message = "this version of rowferry has no model of the type `dummy`";
            self.diagnostics.unsupported(self.node.position, self.key("type"), message).maybe(None);
        }
        if legacy {
            let message = "this is the older form of a model, which is called by its name";
            let hint = "the newer form has `name`, `type: openai-compatible` and `options`, and AI_COMPLETE and AI_EMBED use it";
            self.diagnostics.warning(self.node.position, self.path.as_str(), message).hint(hint);
        }
        let spec = if legacy { self.legacy_spec(name, kind.as_deref()) } else { self.spec(name) };
        declared.models.push(spec);
        declared.model_places.push((self.path, self.node.position));
    }

    /// The value of an option, beside `name` or under `options`.
    fn option(&self, name: &str) -> Option<(&'a str, &'a Node)> {
        let inner = match self.map.get("options").map(|entry| &entry.value.value) {
            Some(Value::Map(map)) => map.get(name),
            _ => None,
        };
        let map: &'a Map = self.map;
        let node: &'a Node = &inner.or_else(|| map.get(name))?.value;
        match &node.value {
            Value::Scalar(scalar) => Some((scalar.text.as_str(), node)),
            _ => None,
        }
    }

    fn legacy_spec(&self, name: String, class: Option<&str>) -> ModelSpec {
        let text = |key: &str, default: &str| self.option(key).map_or(default, |(text, _)| text).to_owned();
        let endpoint = text("openai.host", "https://api.openai.com/v1");
        let mut spec = ModelSpec::new(name, endpoint, text("openai.apikey", ""), text("openai.model", ""));
        spec.legacy = Some(if class == Some("OpenAIChatModel") { LegacyModel::Chat } else { LegacyModel::Embedding });
        spec.user_prompt = self.option("openai.chat.prompt").map(|(text, _)| text.to_owned());
        spec
    }

    fn spec(&mut self, name: String) -> ModelSpec {
        let text = |key: &str| self.option(key).map_or("", |(text, _)| text).to_owned();
        let mut spec = ModelSpec::new(name, text("endpoint"), text("api-key"), text("model"));
        spec.system_prompt = self.option("system-prompt").map(|(text, _)| text.to_owned());
        spec.user_prompt = self.option("user-prompt").map(|(text, _)| text.to_owned());
        for (key, field) in FIELDS {
            let Some((text, node)) = self.option(key) else { continue };
            let number = serde_json::from_str::<serde_json::Value>(text).ok().filter(serde_json::Value::is_number);
            let value = match (*key, number) {
                ("stop" | "response-format", _) => serde_json::Value::String(text.to_owned()),
                (_, Some(number)) => number,
                (_, None) => {
                    self.wrong(key, node, "must be a number");
                    continue;
                }
            };
            let value = if *key == "response-format" { serde_json::json!({ "type": value }) } else { value };
            spec.body.insert((*field).to_owned(), value);
        }
        if let Some((text, node)) = self.option("extra-body") {
            match serde_json::from_str(text) {
                Ok(serde_json::Value::Object(fields)) => spec.body.extend(fields),
                _ => self.wrong("extra-body", node, "must be a JSON object"),
            }
        }
        if let Some((text, node)) = self.option("extra-header") {
            match serde_json::from_str::<std::collections::BTreeMap<String, String>>(text) {
                Ok(headers) => spec.headers = headers.into_iter().collect(),
                Err(_) => self.wrong("extra-header", node, "must be a JSON object of texts"),
            }
        }
        if let Some((text, node)) = self.option("retry-num") {
            match text.parse() {
                Ok(retries) => spec.retries = retries,
                Err(_) => self.wrong("retry-num", node, "must be a number"),
            }
        }
        if let Some((text, node)) = self.option("retry-backoff-base-interval") {
            match parse_duration(text) {
                Ok(interval) => spec.retry_interval = interval,
                Err(_) => self.wrong("retry-backoff-base-interval", node, "must be a duration, for example 1s"),
            }
        }
        let strategies: [(&str, &[&str]); 4] = [
            ("error-handling-strategy", &["RETRY", "FAILOVER", "IGNORE"]),
            ("retry-fallback-strategy", &["FAILOVER", "IGNORE"]),
            ("retry-backoff-strategy", &["FIXED"]),
            ("content-type", &["TEXT"]),
        ];
        for (key, allowed) in strategies {
            let Some((text, node)) = self.option(key) else { continue };
            match (key, text.to_ascii_uppercase().as_str()) {
                (_, text) if !allowed.contains(&text) => {
                    self.wrong(key, node, &format!("must be one of {}", allowed.join(", ")));
                }
                ("error-handling-strategy", "FAILOVER") => spec.retries = 0,
                ("error-handling-strategy", "IGNORE") => {
                    spec.retries = 0;
                    spec.ignore_failures = true;
                }
                ("retry-fallback-strategy", "IGNORE") => spec.ignore_failures = true,
                _ => {}
            }
        }
        spec
    }

    fn wrong(&mut self, key: &str, node: &Node, message: &str) {
        let key = self.key(&format!("options.{key}"));
        self.diagnostics.invalid(node.position, key, message).maybe(None);
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
