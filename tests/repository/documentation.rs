//! Lists in the documentation are complete, and hold nothing that is not there.

use super::{read, root, rust_files};
use regex::Regex;
use rowferry::config::{MYSQL_OPTIONS, PIPELINE_OPTIONS};
use rowferry_sinks::options::{EffectOf, OptionSpec};
use std::collections::BTreeSet;

/// The first cells of a Markdown file's table rows, where they are one name in code quotes.
fn names_in_tables(file: &str) -> Vec<String> {
    let row = Regex::new(r"^\| `([^`]+)` \|").unwrap();
    read(&root().join(file)).lines().filter_map(|line| Some(row.captures(line)?[1].to_owned())).collect()
}

fn set(names: &[String]) -> BTreeSet<&str> {
    let set: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(set.len(), names.len(), "a name is listed twice: {names:?}");
    set
}

#[test]
fn every_error_code_is_documented_and_every_documented_one_exists() {
    let code = Regex::new(r#""(RF-[A-Z]{3}-[0-9]{3})""#).unwrap();
    let mut used = BTreeSet::new();
    for folder in ["src", "sinks/src", "sql/src", "model/src"] {
        for file in rust_files(folder) {
            let text = read(&file);
            used.extend(code.captures_iter(&text).map(|found| found[1].to_owned()));
            let like = text.matches("\"RF-").count();
            assert_eq!(like, code.captures_iter(&text).count(), "{}: a code of another form", file.display());
        }
    }
    let used: Vec<String> = used.into_iter().collect();
    assert_eq!(set(&names_in_tables("docs/errors.md")), set(&used));
}

#[test]
fn every_metric_is_documented_and_every_documented_one_exists() {
    let metrics = rowferry::metrics::Metrics::default();
    let page = metrics.render();
    let shown: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect();
    // What sinks add is on the sinks' pages.
    let documented: Vec<String> =
        names_in_tables("docs/operations.md").into_iter().filter(|name| name.starts_with("rowferry_")).collect();
    assert_eq!(set(&documented), set(&shown));
}

#[test]
fn every_failpoint_is_documented_and_every_documented_one_exists() {
    let text = read(&root().join("docs/operations.md"));
    let (_, section) = text.split_once("## Failpoints").unwrap();
    let row = Regex::new(r"(?m)^\| `([a-z-]+)` \|").unwrap();
    let documented: Vec<String> = row.captures_iter(section).map(|found| found[1].to_owned()).collect();
    let names: Vec<String> = rowferry::failpoint::NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(set(&documented), set(&names));
}

#[test]
fn every_test_that_the_architecture_names_exists() {
    let text = read(&root().join("docs/architecture.md"));
    let named = Regex::new(r"`([a-z0-9_/]+\.rs)`:\s+`([a-z0-9_]+)`").unwrap();
    let mut count = 0;
    for found in named.captures_iter(&text) {
        let source = read(&root().join(&found[1]));
        assert!(source.contains(&format!("fn {}(", &found[2])), "{} has no test {}", &found[1], &found[2]);
        count += 1;
    }
    assert!(count >= 7, "one for each invariant: {count}");
}

#[test]
fn every_link_within_the_documentation_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)#\s]+)(#[^)]*)?\)").unwrap();
    let pages = std::fs::read_dir(root().join("docs/sinks")).unwrap().map(|page| page.unwrap().path());
    let pages = pages.map(|page| page.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
    let others = [
        "README",
        "CONTRIBUTING",
        "docs/architecture",
        "docs/differences",
        "docs/errors",
        "docs/mysql-source",
        "docs/operations",
        "docs/schema-evolution",
    ];
    for file in others.map(|name| format!("{name}.md")).into_iter().chain(pages) {
        let path = root().join(&file);
        for found in link.captures_iter(&read(&path)) {
            let target = &found[1];
            if !target.starts_with("http") {
                let there = path.parent().unwrap().join(target);
                assert!(there.exists(), "{file}: {target} is not there");
            }
        }
    }
}

/// Name, type, default, and whether it is said to have no effect, of the options in one section of a page.
fn documented_options(file: &str, heading: &str) -> Vec<(String, String, String, bool)> {
    let text = read(&root().join(file));
    let (_, section) = text.split_once(&format!("## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let row = Regex::new(r"(?m)^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \| (.*) \|$").unwrap();
    row.captures_iter(section)
        .map(|found| {
            let default = found[3].trim().trim_matches('`').to_owned();
            (found[1].to_owned(), found[2].to_owned(), default, found[4].contains("**No effect"))
        })
        .collect()
}

fn check_options(heading: &str, table: &[OptionSpec]) {
    let expected: Vec<(String, String, String, bool)> = table
        .iter()
        .map(|spec| {
            let name = format!("{}{}", spec.name, if spec.prefix { "*" } else { "" });
            let default = if spec.required { "*required*" } else { spec.default.unwrap_or_default() };
            let no_effect = matches!(spec.effect, EffectOf::None(_));
            (name, spec.kind.name().to_owned(), default.to_owned(), no_effect)
        })
        .collect();
    assert_eq!(documented_options("docs/mysql-source.md", heading), expected);
}

#[test]
fn every_option_of_the_source_and_the_pipeline_is_documented_as_it_is() {
    check_options("Options of `source`", MYSQL_OPTIONS);
    check_options("Options of `pipeline`", PIPELINE_OPTIONS);
}
