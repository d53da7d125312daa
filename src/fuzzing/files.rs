//! Texts that people write: the pipeline's file and what stands in it, and the DDL of their tables.

use crate::config::pattern::{RoutePattern, RouteTarget, TablePattern};
use crate::config::{Variables, load_text};
use rowferry_model::TableId;
use rowferry_sql::{CharSet, ColumnType};

/// A pipeline file.
pub fn config(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        check(text);
    }
}

/// Reads a file: it is good, or at least one error says why not.
fn check(text: &str) {
    let loaded = load_text(text, &Variables::from_pairs([("v", "1")]));
    let errors = loaded.diagnostics.iter().any(|d| d.kind.is_error());
    assert_eq!(loaded.config.is_none(), errors, "{:?}", loaded.diagnostics);
    for diagnostic in &loaded.diagnostics {
        let _ = diagnostic.to_string();
    }
}

/// The patterns that choose tables: on the first line one that is matched, on the second a route's target.
pub fn table_patterns(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, target) = text.split_once('\n').unwrap_or((text, "ods.<>"));
    for (database, table) in [("shop", "orders_1"), ("", ""), (pattern, target)] {
        if let Ok(pattern) = TablePattern::parse_lenient(pattern) {
            pattern.matches(database, table);
        }
        if let Ok(pattern) = RoutePattern::parse(pattern) {
            pattern.matches(database, table);
            for symbol in [None, Some("<>")] {
                if let Ok(target) = RouteTarget::parse(target, symbol, &pattern) {
                    let _ = target.resolve(&pattern, &TableId::new(database, table));
                }
            }
        }
    }
}

/// The expressions of a transform: on the first line a projection, on the second a filter.
pub fn transform(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (projection, filter) = text.split_once('\n').unwrap_or((text, "a > 1"));
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    check(&format!(
        "source: {{type: mysql, hostname: h, username: u, password: p, tables: d.t}}\nsink: {{type: values}}\n\
         transform:\n  - source-table: d.t\n    projection: {}\n    filter: {}\n",
        quoted(projection),
        quoted(filter)
    ));
}

/// A column's type as the server writes it: what was read is written and read again as the same.
pub fn column_type(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let charset = CharSet { name: "utf8mb4".into(), collation: "utf8mb4_bin".into() };
    if let Ok(parsed) = ColumnType::parse(text, Some(&charset)) {
        let again = ColumnType::parse(&parsed.to_string(), Some(&charset));
        assert_eq!(again.as_ref().ok(), Some(&parsed), "{parsed} reads back as another type");
    }
}

/// A statement of the log.
pub fn ddl(data: &[u8]) {
    rowferry_sql::ddl::fuzz_ddl(data);
}
