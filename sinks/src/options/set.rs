//! The options that were given, read and checked.

#[cfg(test)]
use super::OptionKind;
use super::{OptionSpec, PerTableEntry, parse_value};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A place in a file: both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Text that must never be seen: neither `Debug` nor anything else prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// The value of an option, by its [`OptionKind`](super::OptionKind).
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of OptionKind")]
pub enum OptionValue {
    Text(String),
    Secret(Secret),
    Bool(bool),
    Int(i64),
    Double(f64),
    Duration(Duration),
    /// In bytes.
    Size(u64),
    List(Vec<String>),
    PerTable(Vec<PerTableEntry>),
}

/// How bad something is that is wrong with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It can't mean anything.
    Invalid,
    /// It is right, but this version can't do it.
    Unsupported,
    /// It works, though perhaps not as meant.
    Warning,
}

/// Something that a connector's own check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionProblem {
    /// The option's key; need not be in the file.
    pub option: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

impl OptionProblem {
    /// An option that can't mean anything.
    pub fn invalid(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self { option: option.into(), severity: Severity::Invalid, message: message.into(), hint: None }
    }

    /// An option that this version can't do.
    pub fn unsupported(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Unsupported, ..Self::invalid(option, message) }
    }

    /// An option that perhaps doesn't do what is meant.
    pub fn warning(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::invalid(option, message) }
    }

    /// With the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The options of one connector: what was given, and the defaults of what was not.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// By the spelling of the table; keys of a prefix by their full text.
    values: BTreeMap<String, (OptionValue, Option<Position>)>,
}

impl Options {
    /// The defaults of a table.
    pub fn defaults(table: &[OptionSpec]) -> Self {
        let mut options = Self::default();
        for spec in table {
            if let Some(Ok(value)) = spec.default.map(|text| parse_value(&spec.kind, text)) {
                options.values.insert(spec.name.to_owned(), (value, None));
            }
        }
        options
    }

    /// Sets a value that stands at a place of a file.
    pub fn set(&mut self, key: &str, value: OptionValue, position: Position) {
        self.values.insert(key.to_owned(), (value, Some(position)));
    }

    /// Reads pairs of key and text by a table, as a test or a program would write them. Keys that the table doesn't
    /// know and text that can't be read are told, not skipped.
    ///
    /// # Errors
    /// The first key or value that is wrong.
    pub fn from_pairs(table: &'static [OptionSpec], pairs: &[(&str, &str)]) -> Result<Self, String> {
        let mut options = Self::defaults(table);
        for (key, text) in pairs {
            let spec = OptionSpec::find(table, key).ok_or_else(|| format!("unknown option {key}"))?;
            let value = if spec.hides(key) {
                OptionValue::Secret(Secret::new(*text))
            } else {
                parse_value(&spec.kind, text).map_err(|e| format!("{key}: {}", e.message))?
            };
            let name = if spec.prefix { key } else { spec.name };
            options.set(name, value, Position::default());
        }
        Ok(options)
    }

    /// Whether the file has this option.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|(_, position)| position.is_some())
    }

    /// Where the option's value stands, if it was given.
    pub fn position(&self, name: &str) -> Option<Position> {
        self.values.get(name).and_then(|(_, position)| *position)
    }

    fn get(&self, name: &str) -> Option<&OptionValue> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// A text, also of an enum (in upper case there).
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            OptionValue::Text(text) => Some(text),
            OptionValue::Secret(secret) => Some(secret.expose()),
            _ => None,
        }
    }

    /// A switch; one without a default is off.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(OptionValue::Bool(true)))
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            OptionValue::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// A number.
    pub fn double(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            OptionValue::Double(n) => Some(*n),
            _ => None,
        }
    }

    /// A time span.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.get(name)? {
            OptionValue::Duration(d) => Some(*d),
            _ => None,
        }
    }

    /// An amount of bytes.
    pub fn size(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            OptionValue::Size(n) => Some(*n),
            _ => None,
        }
    }

    /// A secret.
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        match self.get(name)? {
            OptionValue::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn list(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(OptionValue::List(items)) => items,
            _ => &[],
        }
    }

    /// The entries of a per-table option.
    pub fn per_table(&self, name: &str) -> &[PerTableEntry] {
        match self.get(name) {
            Some(OptionValue::PerTable(entries)) => entries,
            _ => &[],
        }
    }

    /// The options under a prefix, without the prefix, in the order of their names. Secrets are in clear.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values.iter().filter_map(move |(key, (value, _))| {
            let rest = key.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
            match value {
                OptionValue::Text(text) => Some((rest, text.as_str())),
                OptionValue::Secret(secret) => Some((rest, secret.expose())),
                _ => None,
            }
        })
    }

    /// What was given, as text by the table's spelling: what a sink is built from. Secrets are in clear.
    pub fn given_text(&self) -> BTreeMap<String, String> {
        self.values
            .iter()
            .filter(|(_, (_, position))| position.is_some())
            .map(|(key, (value, _))| {
                let text = match value {
                    OptionValue::Text(text) => text.clone(),
                    OptionValue::Secret(secret) => secret.expose().to_owned(),
                    OptionValue::Bool(flag) => flag.to_string(),
                    OptionValue::Int(n) => n.to_string(),
                    OptionValue::Double(n) => n.to_string(),
                    OptionValue::Duration(span) => format!("{} ms", span.as_millis()),
                    OptionValue::Size(bytes) => format!("{bytes} bytes"),
                    OptionValue::List(items) => items.join(";"),
                    OptionValue::PerTable(entries) => {
                        entries.iter().map(PerTableEntry::to_string).collect::<Vec<_>>().join(";")
                    }
                };
                (key.clone(), text)
            })
            .collect()
    }

    /// All keys that the file has.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter(|(_, (_, position))| position.is_some()).map(|(key, _)| key.as_str())
    }
}

#[cfg(test)]
/// Whether a default of a table can be read at all; tables are tested with it.
pub(crate) fn default_is_sound(spec: &OptionSpec) -> bool {
    let words_upper = match spec.kind {
        OptionKind::Enum(words) => words.iter().all(|w| !w.is_empty()),
        _ => true,
    };
    words_upper && spec.default.is_none_or(|text| parse_value(&spec.kind, text).is_ok())
}
