//! The `transform` block: read and checked as far as that is possible without the tables. This version does not run
//! transforms.

mod dialect;
mod expression;
mod functions;

use super::diagnostic::Diagnostics;
use super::pattern::TablePattern;
use super::pipeline::Declared;
use super::source::MetadataColumn;
use super::yaml::{Map, Node, Scalar, Value};
use super::{list_block, required_text, strict_keys};
use expression::{Checker, Outputs};

/// One rule of the block.
#[derive(Clone, Debug)]
pub struct TransformRule {
    /// Which source tables.
    pub source: TablePattern,
    /// The SELECT list, with `\*` written as `*`; `*` where none was given.
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

/// Reads the block. `metadata`: what the source's `metadata.list` asks for, where it could be read.
pub(crate) fn read(
    node: Option<&Node>,
    declared: &Declared,
    metadata: Option<&[MetadataColumn]>,
    diagnostics: &mut Diagnostics,
) -> Vec<TransformRule> {
    let mut rules = Vec::new();
    for (path, item, map) in list_block(node, "transform", diagnostics) {
        strict_keys(map, KEYS, &path, diagnostics);
        let checker = Checker { declared, metadata };
        if let Some(rule) = (Reader { path: &path, item, map, checker, diagnostics }).read() {
            rules.push(rule);
        }
    }
    if let Some(node) = node
        && matches!(&node.value, Value::List(items) if !items.is_empty())
    {
        let message = "this version of rowferry does not run transforms yet";
        diagnostics.unsupported(node.position, "transform", message).maybe(None);
    }
    rules
}

struct Reader<'a> {
    path: &'a str,
    item: &'a Node,
    map: &'a Map,
    checker: Checker<'a>,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Option<TransformRule> {
        let source = self.source();
        let outputs = self.projection();
        let filter = self.filter();
        let primary_keys = self.columns("primary-keys", outputs.as_ref());
        let partition_keys = self.columns("partition-keys", outputs.as_ref());
        if primary_keys.iter().any(|name| name == "__data_event_type__") {
            self.invalid("primary-keys", "`__data_event_type__` can't be part of the primary key", None);
        }
        let table_options = self.table_options();
        let soft_delete = self.converter();
        self.scalar("description");
        Some(TransformRule {
            source: source?,
            projection: outputs.map_or_else(|| "*".to_owned(), |outputs| outputs.text),
            filter,
            primary_keys,
            partition_keys,
            table_options,
            soft_delete,
        })
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

    fn projection(&mut self) -> Option<Outputs> {
        let text = self.filled("projection")?;
        match self.checker.projection(text) {
            Ok((outputs, warnings)) => {
                for warning in warnings {
                    self.warn("projection", warning);
                }
                Some(outputs)
            }
            Err(problems) => {
                for problem in problems {
                    self.invalid("projection", problem.message, problem.hint);
                }
                None
            }
        }
    }

    fn filter(&mut self) -> Option<String> {
        let text = self.filled("filter")?;
        match self.checker.filter(text) {
            Ok(warnings) => {
                for warning in warnings {
                    self.warn("filter", warning);
                }
            }
            Err(problems) => {
                for problem in problems {
                    self.invalid("filter", problem.message, problem.hint);
                }
            }
        }
        Some(text.to_owned())
    }

    /// Names between commas. Where the projection lists all columns, each must be one of them.
    fn columns(&mut self, key: &str, outputs: Option<&Outputs>) -> Vec<String> {
        let Some(text) = self.filled(key) else { return Vec::new() };
        let mut names = Vec::new();
        for name in text.split(',').map(|name| name.trim().trim_matches('`')) {
            if name.is_empty() {
                self.invalid(key, "has an empty column name", Some("write names with commas between them".to_owned()));
                continue;
            }
            if let Some(outputs) = outputs
                && !outputs.has_star
                && !outputs.names.iter().any(|output| output == name)
            {
                let hint = super::suggest::did_you_mean(name, outputs.names.iter().map(String::as_str));
                self.invalid(key, format!("`{name}` is not a column of the projection"), hint);
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
