//! A block of a file read by the option table of its connector.

use super::diagnostic::Diagnostics;
use super::pattern::TablePattern;
use super::suggest::{did_you_mean, nearest};
use super::yaml::{Entry, Map, Scalar, Value};
use rowferry_sinks::options::{EffectOf, OptionKind, OptionSpec, OptionValue, Options, Position, Secret, parse_value};

/// What is done with keys that no option has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Refuse,
    Warn,
}

/// A block and how it is read.
pub(crate) struct Block<'a> {
    /// The path of the block: `source`.
    pub(crate) path: &'a str,
    /// Where the block stands: missing options are told there.
    pub(crate) position: Position,
    pub(crate) map: &'a Map,
    pub(crate) table: &'static [OptionSpec],
    /// Keys that are read elsewhere.
    pub(crate) reserved: &'a [&'a str],
    pub(crate) unknown: Unknown,
    /// Whose options these are, in words: ``the source `mysql` ``.
    pub(crate) owner: &'a str,
    /// Keys that people write here, and what they should do instead.
    pub(crate) known_slips: &'a [(&'a str, &'a str)],
}

impl Block<'_> {
    /// Reads all options of the block; everything that is wrong is told.
    pub(crate) fn read(&self, diagnostics: &mut Diagnostics) -> Options {
        let mut options = Options::defaults(self.table);
        // Present in the file, even if wrong: then "is missing" would be one error too many.
        let mut present: Vec<&'static str> = Vec::new();
        for entry in &self.map.entries {
            if self.reserved.contains(&entry.key.as_str()) {
                continue;
            }
            let Some(spec) = OptionSpec::find(self.table, &entry.key) else {
                self.unknown(entry, diagnostics);
                continue;
            };
            if !spec.prefix && present.contains(&spec.name) {
                let message = format!("is the same option as `{}`, which stands here too", spec.name);
                diagnostics.warning(entry.key_position, self.key(&entry.key), message).hint("remove one of them");
                if entry.key != spec.name {
                    continue;
                }
            }
            present.push(spec.name);
            self.one(entry, spec, &mut options, diagnostics);
        }
        for spec in self.table.iter().filter(|spec| spec.required && !present.contains(&spec.name)) {
            let message = "required option is missing";
            // A slip under an open prefix, such as `catalog.properties.metastor`, is no unknown option.
            let others = self.map.entries.iter().map(|entry| entry.key.as_str());
            let under_prefix = others.filter(|key| OptionSpec::find(self.table, key).is_some_and(|spec| spec.prefix));
            let hint = nearest(spec.name, under_prefix).map(|near| format!("is it meant by `{near}`?"));
            diagnostics.invalid(self.position, self.key(spec.name), message).maybe(hint);
        }
        options
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn one(&self, entry: &Entry, spec: &'static OptionSpec, options: &mut Options, diagnostics: &mut Diagnostics) {
        let key = self.key(&entry.key);
        let at = entry.value.position;
        let scalar = match &entry.value.value {
            Value::Scalar(scalar) => scalar,
            Value::Unresolved => return,
            Value::Null => {
                if spec.required {
                    let hint = "write a value; an empty text is `''`";
                    diagnostics
                        .invalid(entry.key_position, key, "required option is missing: it has no value")
                        .hint(hint);
                }
                return;
            }
            Value::List(_) | Value::Map(_) => return self.nested(entry, diagnostics),
        };
        if let EffectOf::None(reason) = spec.effect {
            diagnostics.warning(entry.key_position, key.as_str(), format!("has no effect: {reason}")).maybe(None);
        }
        let name = if spec.prefix { entry.key.as_str() } else { spec.name };
        if spec.hides(&entry.key) {
            options.set(name, OptionValue::Secret(Secret::new(scalar.text.as_str())), at);
            return;
        }
        match read_scalar(spec, scalar) {
            Ok((value, warning)) => {
                if let Some(warning) = warning {
                    diagnostics.warning(at, key.as_str(), warning).maybe(None);
                }
                self.patterns(spec, &value, at, &key, diagnostics);
                options.set(name, value, at);
            }
            Err(error) => {
                let shown = scalar.shown();
                diagnostics.invalid(at, key, format!("`{shown}` {}", error.message)).maybe(error.hint);
            }
        }
    }

    /// Table patterns inside values; their dialect belongs to this crate.
    fn patterns(&self, spec: &OptionSpec, value: &OptionValue, at: Position, key: &str, diagnostics: &mut Diagnostics) {
        let texts: Vec<&str> = match (spec.kind, value) {
            (OptionKind::TablePattern, OptionValue::Text(text)) => vec![text],
            (OptionKind::PerTable(form), OptionValue::PerTable(entries)) if form.is_pattern() => {
                entries.iter().map(|entry| entry.table.as_str()).collect()
            }
            _ => return,
        };
        for text in texts {
            match TablePattern::parse(text) {
                Ok(pattern) => {
                    for warning in pattern.warnings() {
                        diagnostics.warning(at, key, warning.as_str()).maybe(None);
                    }
                }
                Err(error) => diagnostics.invalid(at, key, error.message).maybe(error.hint),
            }
        }
    }

    fn nested(&self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let key = self.key(&entry.key);
        let at = entry.key_position;
        match &entry.value.value {
            Value::Map(map) => {
                let inner = map.entries.first().map_or("…", |entry| entry.key.as_str());
                diagnostics
                    .invalid(at, key, "a nested map is not allowed as an option's value")
                    .hint(format!("use flat dotted keys: `{}.{inner}: …`", entry.key));
            }
            _ => {
                diagnostics
                    .invalid(at, key, "a list is not allowed as an option's value")
                    .hint("write the items as one text");
            }
        }
    }

    fn unknown(&self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let names = self.table.iter().flat_map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()));
        let slip = self.known_slips.iter().find(|(key, _)| *key == entry.key).map(|(_, hint)| (*hint).to_owned());
        let hint = slip.or_else(|| self.prefixed_like(&entry.key)).or_else(|| {
            did_you_mean(&entry.key, names.filter(|name| !name.ends_with('.')).chain(self.reserved.iter().copied()))
        });
        // A map under a word such as `debezium` is an option that was written nested.
        let is_nested = matches!(entry.value.value, Value::Map(_))
            && self.table.iter().any(|spec| spec.name.starts_with(&format!("{}.", entry.key)));
        if is_nested {
            return self.nested(entry, diagnostics);
        }
        let key = self.key(&entry.key);
        match self.unknown {
            Unknown::Refuse => {
                let message = format!("unknown option: {} does not have `{}`", self.owner, entry.key);
                diagnostics.invalid(entry.key_position, key, message).maybe(hint);
            }
            Unknown::Warn => {
                let message = format!("unknown option of {}, which is ignored", self.owner);
                diagnostics.warning(entry.key_position, key, message).maybe(hint);
            }
        }
    }

    /// `properties.strict_mode` where the prefix is `sink.properties.`.
    fn prefixed_like(&self, key: &str) -> Option<String> {
        let (head, rest) = key.split_once('.')?;
        let prefixes = || self.table.iter().filter(|spec| spec.prefix).map(|spec| spec.name);
        let ends_alike = prefixes().filter(|prefix| prefix.ends_with(&format!(".{head}."))).min_by_key(|p| p.len());
        let near = ends_alike.or_else(|| {
            let heads: Vec<&str> = prefixes().filter(|prefix| prefix.matches('.').count() == 1).collect();
            nearest(head, heads)
        })?;
        Some(format!("did you mean `{near}{rest}`?"))
    }
}

/// Reads a scalar by its option; also says what was read generously.
fn read_scalar(
    spec: &OptionSpec,
    scalar: &Scalar,
) -> Result<(OptionValue, Option<String>), rowferry_sinks::options::ValueError> {
    let text = scalar.text.as_str();
    // YAML 1.1 allows underscores in numbers, and Flink CDC's reader took them out before the option saw them.
    if matches!(spec.kind, OptionKind::Int { .. }) && scalar.plain && scalar.template.is_none() && text.contains('_') {
        let digits = text.replace('_', "");
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('_') {
            let value = parse_value(&spec.kind, &digits)?;
            return Ok((value, Some(format!("`{text}` is read as {digits}"))));
        }
    }
    Ok((parse_value(&spec.kind, text)?, None))
}
