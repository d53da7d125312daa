//! The `transform` block. Its expressions are checked by the crate `rowferry-transform`, as far as that is possible without
//! the tables.

use super::diagnostic::Diagnostics;
use super::pattern::TablePattern;
use super::pipeline::{Declared, TransformSettings};
use super::source::MetadataColumn;
use super::yaml::{Map, Node, Scalar, Value};
use super::{Position, Zone, list_block, required_text, strict_keys};
use rowferry_model::TableId;
use rowferry_transform::{RuleError, RuleKey, RuleSpec, Severity, TransformOptions, Transforms};
use std::sync::Arc;

/// One rule of the block.
#[derive(Clone, Debug)]
pub struct TransformRule {
    /// Which source tables.
    pub source: TablePattern,
    /// The SELECT list as written; `*` where none was given.
    pub projection: String,
    /// The WHERE expression.
    pub filter: Option<String>,
    /// Columns that replace the primary key; empty: it stays.
    pub primary_keys: Vec<String>,
    /// Columns that replace the partition keys; empty: they stay.
    pub partition_keys: Vec<String>,
    /// Options of the table that is created.
    pub table_options: Vec<(String, String)>,
    /// Whether deletes become inserts that say so.
    pub soft_delete: bool,
}

const KEYS: &[&str] = &[
    "source-table",
    "projection",
    "filter",
    "primary-keys",
    "partition-keys",
    "table-options",
    "table-options.delimiter",
    "converter-after-transform",
    "description",
];

/// What expressions depend on beside their text.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings<'a> {
    /// The functions and models of the file.
    pub(crate) declared: &'a Declared,
    /// `None`: the pipeline's options could not be read.
    pub(crate) settings: Option<(TransformSettings, Zone)>,
    /// What the source's `metadata.list` asks for, where it could be read.
    pub(crate) metadata: Option<&'a [MetadataColumn]>,
}

/// Reads the block.
pub(crate) fn read(
    node: Option<&Node>,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<TransformRule> {
    let mut rules = Vec::new();
    let mut places = Vec::new();
    for (path, item, map) in list_block(node, "transform", diagnostics) {
        strict_keys(map, KEYS, &path, diagnostics);
        if let Some((rule, texts)) = (Reader { path: &path, item, map, diagnostics }).read() {
            rules.push(rule);
            places.push((path, item.position, texts));
        }
    }
    check(&rules, &places, surroundings, diagnostics);
    rules
}

/// Where the texts of a rule stand; `None`: the rule does not have it.
#[derive(Clone, Copy, Debug, Default)]
struct Texts {
    projection: Option<Position>,
    filter: Option<Position>,
    primary_keys: Option<Position>,
    partition_keys: Option<Position>,
}

/// Checks the expressions of all rules.
fn check(
    rules: &[TransformRule],
    places: &[(String, Position, Texts)],
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) {
    let specs = rules.iter().map(TransformRule::spec).collect();
    let options = surroundings.options();
    let declared = surroundings.declared;
    let (_, findings) = Transforms::check(specs, options, &declared.functions, declared.models.clone());
    for finding in findings {
        match finding.key {
            RuleKey::Function => declared.tell_function(&finding, diagnostics),
            RuleKey::Model => declared.tell_model(&finding, diagnostics),
            key => {
                let Some((path, block, texts)) = places.get(finding.rule) else { continue };
                let at = match key {
                    RuleKey::Projection => texts.projection,
                    RuleKey::Filter => texts.filter,
                    RuleKey::PrimaryKeys => texts.primary_keys,
                    _ => texts.partition_keys,
                };
                let text = rules.get(finding.rule).map_or("", |rule| match key {
                    RuleKey::Projection => rule.projection.as_str(),
                    RuleKey::Filter => rule.filter.as_deref().unwrap_or_default(),
                    _ => "",
                });
                tell(&finding, at.unwrap_or(*block), &format!("{path}.{}", key.name()), text, diagnostics);
            }
        }
    }
}

/// Tells a finding, with the character of the text at which it begins.
pub(crate) fn tell(finding: &RuleError, at: Position, key: &str, text: &str, diagnostics: &mut Diagnostics) {
    let mut message = finding.message.clone();
    if let Some(range) = &finding.range
        && range.start > 0
        && !message.contains("(character ")
        && !message.contains("character")
    {
        let before = text.get(..range.start).unwrap_or_default();
        message = format!("{message} (character {} of the text)", before.chars().count() + 1);
    }
    let told = match finding.severity {
        Severity::Invalid => diagnostics.invalid(at, key, message),
        Severity::Unsupported => diagnostics.unsupported(at, key, message),
        Severity::Warning => diagnostics.warning(at, key, message),
    };
    told.maybe(finding.hint.clone());
}

impl Surroundings<'_> {
    fn options(&self) -> TransformOptions {
        let listed = |column| self.metadata.is_none_or(|list| list.contains(&column));
        match &self.settings {
            None => TransformOptions::default(),
            Some((settings, zone)) => settings.options(*zone, listed),
        }
    }
}

impl TransformRule {
    /// The rule as the engine takes it.
    pub(crate) fn spec(&self) -> RuleSpec {
        let source = self.source.clone();
        RuleSpec {
            matches: Arc::new(move |table: &TableId| source.matches(table.database(), table.table())),
            projection: self.projection.clone(),
            filter: self.filter.clone(),
            primary_keys: self.primary_keys.clone(),
            partition_keys: self.partition_keys.clone(),
            table_options: self.table_options.clone(),
            soft_delete: self.soft_delete,
        }
    }
}

struct Reader<'a> {
    path: &'a str,
    item: &'a Node,
    map: &'a Map,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Option<(TransformRule, Texts)> {
        let source = self.source();
        let projection = self.filled("projection").map(str::to_owned);
        let filter = self.filled("filter").map(str::to_owned);
        let primary_keys = self.columns("primary-keys");
        let partition_keys = self.columns("partition-keys");
        let table_options = self.table_options();
        let soft_delete = self.converter();
        self.scalar("description");
        let place = |key: &str| self.map.get(key).map(|entry| entry.value.position);
        let texts = Texts {
            projection: place("projection"),
            filter: place("filter"),
            primary_keys: place("primary-keys"),
            partition_keys: place("partition-keys"),
        };
        let rule = TransformRule {
            source: source?,
            projection: projection.unwrap_or_else(|| "*".to_owned()),
            filter,
            primary_keys,
            partition_keys,
            table_options,
            soft_delete,
        };
        Some((rule, texts))
    }

    /// The value of a key, if it has a single one; anything else is told.
    fn scalar(&mut self, key: &str) -> Option<&'a Scalar> {
        let entry = self.map.get(key)?;
        match &entry.value.value {
            Value::Scalar(scalar) => Some(scalar),
            Value::Null | Value::Unresolved => None,
            _ => {
                let message = format!("must be a single value, not {}", entry.value.describe());
                let key = format!("{}.{key}", self.path);
                self.diagnostics.invalid(entry.value.position, key, message).maybe(None);
                None
            }
        }
    }

    /// A value that is not blank.
    fn filled(&mut self, key: &str) -> Option<&'a str> {
        self.scalar(key).map(|scalar| scalar.text.as_str()).filter(|text| !text.trim().is_empty())
    }

    fn invalid(&mut self, key: &str, message: impl Into<String>, hint: Option<String>) {
        let at = self.map.get(key).map_or(self.item.position, |entry| entry.value.position);
        self.diagnostics.invalid(at, format!("{}.{key}", self.path), message).maybe(hint);
    }

    fn warn(&mut self, key: &str, message: impl Into<String>) {
        let at = self.map.get(key).map_or(self.item.position, |entry| entry.value.position);
        self.diagnostics.warning(at, format!("{}.{key}", self.path), message).maybe(None);
    }

    fn source(&mut self) -> Option<TablePattern> {
        let text = required_text(self.map, "source-table", self.path, self.item.position, self.diagnostics)?;
        match TablePattern::parse_lenient(&text.text) {
            Ok(pattern) => {
                for warning in pattern.warnings() {
                    self.warn("source-table", warning.as_str());
                }
                Some(pattern)
            }
            Err(error) => {
                self.invalid("source-table", error.message, error.hint);
                None
            }
        }
    }

    /// Names between commas.
    fn columns(&mut self, key: &str) -> Vec<String> {
        let Some(text) = self.filled(key) else { return Vec::new() };
        let mut names = Vec::new();
        for name in text.split(',').map(|name| name.trim().trim_matches('`')) {
            if name.is_empty() {
                self.invalid(key, "has an empty column name", Some("write names with commas between them".to_owned()));
                continue;
            }
            names.push(name.to_owned());
        }
        names
    }

    fn table_options(&mut self) -> Vec<(String, String)> {
        let delimiter = self.scalar("table-options.delimiter").map_or(",", |scalar| scalar.text.as_str());
        if delimiter.is_empty() {
            self.invalid("table-options.delimiter", "is empty", Some("write for example `;`".to_owned()));
            return Vec::new();
        }
        let Some(text) = self.filled("table-options") else {
            if self.map.get("table-options.delimiter").is_some() {
                self.warn("table-options.delimiter", "has no effect without table-options");
            }
            return Vec::new();
        };
        let mut options = Vec::new();
        for entry in text.split(delimiter).map(str::trim) {
            if entry.is_empty() {
                continue;
            }
            match entry.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    options.push((name.trim().to_owned(), value.trim().to_owned()));
                }
                Some(_) => self.invalid("table-options", "an entry has no name before `=`", None),
                None => {
                    let message = format!("the entry `{entry}` has no `=`");
                    let hint = format!(
                        "write `name=value`, several with `{delimiter}` between them; for values that hold \
                                        this sign choose another with table-options.delimiter"
                    );
                    self.invalid("table-options", message, Some(hint));
                }
            }
        }
        options
    }

    fn converter(&mut self) -> bool {
        let Some(text) = self.filled("converter-after-transform") else { return false };
        if text != "SOFT_DELETE" {
            let message = format!("`{text}` is not a converter");
            self.invalid("converter-after-transform", message, Some("there is SOFT_DELETE, in capitals".to_owned()));
        }
        text == "SOFT_DELETE"
    }
}
