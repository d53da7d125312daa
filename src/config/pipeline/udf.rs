//! `pipeline.user-defined-function`.

use super::super::diagnostic::Diagnostics;
use super::super::strict_keys;
use super::super::yaml::{Map, Node, Value};
use super::{Declared, scalar_of};
use rowferry_transform::{FunctionBody, UserFunction};

/// `sql` is rowferry's: what the function computes, as an expression over `$1`, `$2` and so on.
const KEYS: &[&str] = &["name", "classpath", "python-code", "python-executable", "python-files", "options", "sql"];

/// Reads the list. Functions that no rule uses are no error; one that is used and has no `sql` is told where it is used.
pub(super) fn read(node: &Node, declared: &mut Declared, diagnostics: &mut Diagnostics) {
    let key = "pipeline.user-defined-function";
    let items = match &node.value {
        Value::List(items) => items,
        Value::Null | Value::Unresolved => return,
        _ => {
            let message = format!("must be a list, not {}", node.describe());
            diagnostics.invalid(node.position, key, message).hint("put a dash before each function: `- name: …`");
            return;
        }
    };
    for (index, item) in items.iter().enumerate() {
        let path = format!("{key}[{index}]");
        let Value::Map(map) = &item.value else {
            let message = format!("must be a map, not {}", item.describe());
            diagnostics.invalid(item.position, path, message).maybe(None);
            continue;
        };
        if let Some(function) = one(map, item, &path, diagnostics) {
            let at = map.get("sql").map_or(item.position, |entry| entry.value.position);
            declared.functions.push(function);
            declared.function_places.push((path, at));
        }
    }
}

fn one(map: &Map, item: &Node, path: &str, diagnostics: &mut Diagnostics) -> Option<UserFunction> {
    strict_keys(map, KEYS, path, diagnostics);
    let at = item.position;
    let has = |key: &str| map.get(key).is_some_and(|entry| !entry.value.is_null());
    let name = scalar_of(map, "name", path, diagnostics).map(|scalar| scalar.text.clone());
    if !has("name") {
        diagnostics.invalid(at, format!("{path}.name"), "required key is missing").maybe(None);
    }
    for key in ["classpath", "python-code", "python-executable"] {
        scalar_of(map, key, path, diagnostics);
    }
    let refuse = |key: &str, message: &str, diagnostics: &mut Diagnostics| {
        let at = map.get(key).map_or(at, |entry| entry.key_position);
        let key = if key.is_empty() { path.to_owned() } else { format!("{path}.{key}") };
        diagnostics.invalid(at, key, message).maybe(None);
    };
    match (has("classpath"), has("python-code")) {
        (true, true) => refuse("", "`classpath` and `python-code` are exclusive: write one of them", diagnostics),
        (false, false) if !has("sql") => refuse("", "needs `classpath`, `python-code` or `sql`", diagnostics),
        _ => {}
    }
    if !has("python-code") {
        for key in ["python-executable", "python-files"].into_iter().filter(|key| has(key)) {
            refuse(key, "is only allowed together with `python-code`", diagnostics);
        }
    }
    if has("options") && has("python-code") {
        refuse("options", "is only allowed together with `classpath`", diagnostics);
    }
    if let Some(entry) = map.get("python-files")
        && !matches!(entry.value.value, Value::List(_) | Value::Null | Value::Unresolved)
    {
        refuse("python-files", "should be a list", diagnostics);
    }
    if let Some(entry) = map.get("options") {
        match &entry.value.value {
            Value::Map(options) => {
                for option in &options.entries {
                    if matches!(option.value.value, Value::Map(_) | Value::List(_)) {
                        let message = format!("must be a single value, not {}", option.value.describe());
                        let key = format!("{path}.options.{}", option.key);
                        diagnostics.invalid(option.value.position, key, message).maybe(None);
                    }
                }
            }
            Value::Null | Value::Unresolved => {}
            _ => refuse("options", "must be a map", diagnostics),
        }
    }
    let sql = scalar_of(map, "sql", path, diagnostics).map(|scalar| scalar.text.clone());
    let class = map.get("classpath").and_then(|entry| match &entry.value.value {
        Value::Scalar(scalar) => Some(scalar.shown().to_owned()),
        _ => None,
    });
    let body = match (sql, class) {
        (Some(sql), _) => FunctionBody::Sql(sql),
        (None, Some(class)) => FunctionBody::Class(class),
        (None, None) => FunctionBody::Python,
    };
    Some(UserFunction { name: name?, body })
}
