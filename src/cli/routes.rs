//! What the rules of `route` do to the tables that are there: for `rowferry check --connect`.

use crate::config::{RouteRule, targets};
use crate::error::{Error, ErrorKind, Result};
use rowferry_model::TableId;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What the rules do.
#[derive(Debug)]
pub(super) struct RouteReport {
    /// Each table with its targets.
    pub(super) tables: Vec<(TableId, Vec<TableId>)>,
    /// Tables that no rule matches; empty where there are no rules.
    pub(super) unmatched: Vec<TableId>,
    /// The rules in the file's order.
    pub(super) rules: Vec<RuleReport>,
}

/// What one rule does.
#[derive(Debug)]
pub(super) struct RuleReport {
    source: String,
    /// The tables that it matches.
    matched: Vec<TableId>,
    /// Those of them that go another way, as an earlier rule matches them too and only the first counts.
    taken: Vec<TableId>,
}

impl RuleReport {
    fn is_hidden(&self) -> bool {
        !self.matched.is_empty() && self.matched.len() == self.taken.len()
    }
}

impl RouteReport {
    /// Applies the rules to the captured tables.
    ///
    /// # Errors
    /// A rule makes no table's name of a table.
    pub(super) fn of(rules: &[RouteRule], first_only: bool, captured: &[TableId]) -> Result<Self> {
        let mut reports: Vec<RuleReport> = rules
            .iter()
            .map(|r| RuleReport { source: r.source.as_str().to_owned(), matched: vec![], taken: vec![] })
            .collect();
        let (mut tables, mut unmatched) = (Vec::new(), Vec::new());
        for table in captured {
            let mut matched = false;
            for (rule, report) in rules.iter().zip(&mut reports) {
                if rule.source.matches(table.database(), table.table()) {
                    report.matched.push(table.clone());
                    if matched && first_only {
                        report.taken.push(table.clone());
                    }
                    matched = true;
                }
            }
            if !matched && !rules.is_empty() {
                unmatched.push(table.clone());
            }
            let to = targets(rules, first_only, table).map_err(|e| {
                Error::new(ErrorKind::Config, "RF-CFG-022", "a route can't be applied")
                    .with("table", table)
                    .caused_by(e)
            })?;
            tables.push((table.clone(), to));
        }
        Ok(Self { tables, unmatched, rules: reports })
    }

    /// Targets that several tables go to, with these.
    pub(super) fn merged(&self) -> Vec<(TableId, Vec<TableId>)> {
        let mut merged: Vec<(TableId, Vec<TableId>)> = Vec::new();
        for (table, targets) in &self.tables {
            for target in targets {
                match merged.iter_mut().find(|(known, _)| known == target) {
                    Some((_, sources)) if !sources.contains(table) => sources.push(table.clone()),
                    Some(_) => {}
                    None => merged.push((target.clone(), vec![table.clone()])),
                }
            }
        }
        merged.retain(|(_, sources)| sources.len() > 1);
        merged
    }

    /// Lines for a person. Tables that keep their name are only named where rules leave them out.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (table, targets) in self.tables.iter().filter(|(table, targets)| *targets != [table.clone()]) {
            let targets: Vec<String> = targets.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "route {table} -> {}", targets.join(", "));
        }
        for table in &self.unmatched {
            let _ = writeln!(text, "route: no rule matches {table}, which keeps its name");
        }
        for (n, rule) in self.rules.iter().enumerate() {
            if rule.matched.is_empty() {
                let _ = writeln!(text, "warning: route[{n}] `{}` matches no table", rule.source);
            } else if rule.is_hidden() {
                let _ = writeln!(
                    text,
                    "warning: route[{n}] `{}` has no effect: an earlier rule matches each of its tables, and \
                     `route-mode` is FIRST_MATCH",
                    rule.source
                );
            }
        }
        text
    }

    /// The rules as JSON.
    pub(super) fn rules_json(&self) -> Value {
        let names = |tables: &[TableId]| tables.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rules = self.rules.iter().map(
            |r| json!({"source": r.source, "tables": names(&r.matched), "taken_by_earlier_rules": names(&r.taken)}),
        );
        json!(rules.collect::<Vec<_>>())
    }
}
