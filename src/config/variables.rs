//! `${name}` in values: from `--set`, a file of variables, and the environment.

use super::diagnostic::Diagnostics;
use super::pattern::group_names;
use super::yaml::{Node, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where the values of variables come from. `--set` goes before the file, the file before the environment.
#[derive(Clone, Default)]
pub struct Variables {
    set: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
    environment: bool,
}

impl fmt::Debug for Variables {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.set.keys().chain(self.file.keys()).collect();
        f.debug_struct("Variables").field("names", &names).field("environment", &self.environment).finish()
    }
}

/// Variables that can't be had. Never holds a value.
#[derive(Debug, thiserror::Error)]
pub enum VariableError {
    /// A `--set` argument is not of the form `name=value`.
    #[error("--set {0}: write it as name=value")]
    Assignment(String),
    /// The file can't be read.
    #[error("can't read the variables of {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of the file is not of the form `name=value`.
    #[error("{path}:{line}: not of the form name=value")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

impl Variables {
    /// Variables of the command line: assignments `name=value`, a file of such lines, and the environment.
    ///
    /// # Errors
    /// An assignment without a name or `=`, or a file that can't be read.
    pub fn new(assignments: &[String], file: Option<&Path>) -> Result<Self, VariableError> {
        let mut variables = Self { environment: true, ..Self::default() };
        for assignment in assignments {
            let (name, value) = assignment
                .split_once('=')
                .filter(|(name, _)| is_name(name))
                // What stands there may be a secret without a name: show only what comes before `=`.
                .ok_or_else(|| {
                    VariableError::Assignment(assignment.split_once('=').map_or("…", |(name, _)| name).to_owned())
                })?;
            variables.set.insert(name.to_owned(), value.to_owned());
        }
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|source| VariableError::Read { path: path.to_owned(), source })?;
            variables.file = parse_file(&text).map_err(|line| VariableError::Line { path: path.to_owned(), line })?;
        }
        Ok(variables)
    }

    /// Exactly these variables, and no environment.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let set = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { set, ..Self::default() }
    }

    /// The value of a variable. Since shells can't export names with dots and hyphens, `mysql.host-name` is also found
    /// in the environment as `MYSQL_HOST_NAME`.
    fn get(&self, name: &str) -> Option<String> {
        if let Some(value) = self.set.get(name).or_else(|| self.file.get(name)) {
            return Some(value.clone());
        }
        if !self.environment {
            return None;
        }
        std::env::var(name).ok().or_else(|| std::env::var(shell_name(name)).ok())
    }
}

fn shell_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// A letter or `_`, then letters, digits, `_`, `.` and `-`. So `${1}` is no variable.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// Lines `name=value`, also with `export` before; `#` begins a comment line; quotes around a value are taken off.
fn parse_file(text: &str) -> Result<BTreeMap<String, String>, usize> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(index + 1)?;
        let (name, value) = (name.trim(), value.trim());
        if !is_name(name) {
            return Err(index + 1);
        }
        let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        variables.insert(name.to_owned(), unquoted.unwrap_or(value).to_owned());
    }
    Ok(variables)
}

/// Replaces variables in all values of a tree. A value where one is missing becomes [`Value::Unresolved`], so that
/// nothing else is said about it.
pub(crate) fn substitute(root: &mut Node, variables: &Variables, diagnostics: &mut Diagnostics) {
    Substitution { variables, diagnostics }.node(root, "", &[]);
}

struct Substitution<'a> {
    variables: &'a Variables,
    diagnostics: &'a mut Diagnostics,
}

impl Substitution<'_> {
    /// `keep`: names that stand for something else here.
    fn node(&mut self, node: &mut Node, path: &str, keep: &[String]) {
        let at = node.position;
        match &mut node.value {
            Value::Null | Value::Unresolved => {}
            Value::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.node(item, &format!("{path}[{index}]"), keep);
                }
            }
            Value::Map(map) => {
                let is_route = path.starts_with("route[");
                let target = |key: &str| is_route && key == "sink-table";
                for entry in map.entries.iter_mut().filter(|entry| !target(&entry.key)) {
                    let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
                    self.node(&mut entry.value, &path, keep);
                }
                // `${name}` in a route's target is a group of its pattern, if that has one of this name.
                let groups = match map.get("source-table").map(|entry| &entry.value.value) {
                    Some(Value::Scalar(scalar)) => group_names(&scalar.text),
                    _ => Vec::new(),
                };
                for entry in map.entries.iter_mut().filter(|entry| target(&entry.key)) {
                    self.node(&mut entry.value, &format!("{path}.{}", entry.key), &groups);
                }
            }
            Value::Scalar(scalar) => match self.text(&scalar.text, keep) {
                Ok(None) => {}
                Ok(Some(text)) => scalar.template = Some(std::mem::replace(&mut scalar.text, text)),
                Err(missing) => {
                    for name in missing {
                        let message = format!("variable ${{{name}}} is not set");
                        let shell = shell_name(&name);
                        let hint = format!(
                            "give it with `--set {name}=…`, in the file of `--env-file`, or in the environment as {shell}"
                        );
                        self.diagnostics.invalid(at, path, message).hint(hint);
                    }
                    node.value = Value::Unresolved;
                }
            },
        }
    }

    /// The text with variables replaced, or `None` where there are none.
    ///
    /// # Errors
    /// The names of those that are not set.
    fn text(&self, text: &str, keep: &[String]) -> Result<Option<String>, Vec<String>> {
        let mut out = String::new();
        let mut missing = Vec::new();
        let mut rest = text;
        let mut replaced = false;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            match after.split_once('}') {
                Some((name, behind)) if is_name(name) && !keep.iter().any(|k| k == name) => {
                    match self.variables.get(name) {
                        Some(value) => out.push_str(&value),
                        None => missing.push(name.to_owned()),
                    }
                    replaced = true;
                    rest = behind;
                }
                _ => {
                    out.push_str("${");
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        if !missing.is_empty() {
            return Err(missing);
        }
        Ok(replaced.then_some(out))
    }
}

#[cfg(test)]
mod tests;
