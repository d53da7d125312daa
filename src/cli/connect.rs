//! `rowferry check --connect`: what the server and the sink say to a file.

use super::routes::RouteReport;
use super::settings::{ConfiguredTables, Wishes, settings};
use super::{Common, Exit, report_error};
use crate::config::{PipelineConfig, RouteMode};
use crate::error::{Error, ErrorKind, Result};
use crate::mysql::catalog;
use crate::mysql::preflight::{PreflightWants, preflight};
use crate::mysql::snapshot::ChunkKey;
use crate::mysql::wire::Connection;
use crate::pipeline::evolve::KeyRisk;
use crate::pipeline::evolve::collisions::names_source;
use crate::pipeline::{Settings, TableChoice as _};
use rowferry_model::{TableId, TableSchema};
use rowferry_sinks::SinkContext;
use rowferry_sql::TableDef;
use rowferry_transform::TablePlan;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;

/// Asks the server and the sink; tells what they say.
pub(super) fn run(common: &Common, config: PipelineConfig) -> Exit {
    match look(common, config) {
        Ok((text, true)) => {
            print!("{text}");
            Exit::Done
        }
        Ok((text, false)) => {
            print!("{text}");
            Exit::Preflight
        }
        Err(error) => report_error(&error),
    }
}

fn look(common: &Common, config: PipelineConfig) -> Result<(String, bool)> {
    let wishes = Wishes { file: &common.file, state_dir: None, until_caught_up: false, stop_after_snapshot: false };
    let settings = settings(&config, &wishes)?;
    let choice = ConfiguredTables(config);
    let mut connection = Connection::connect(&settings.connect)?;
    let server = connection.server_text().to_owned();
    let all: Vec<TableId> = catalog::list_tables(&mut connection)?.into_iter().map(|t| t.id).collect();
    let captured: Vec<TableId> = all.iter().filter(|t| choice.captures(t)).cloned().collect();

    let source = &choice.0.source;
    let patterns: Vec<(String, Vec<String>)> = source
        .tables
        .items()
        .map(|item| {
            let matched = captured
                .iter()
                .filter(|t| source.tables.items_matching(t.database(), t.table()).any(|matching| matching == item));
            (item.to_owned(), matched.map(ToString::to_string).collect())
        })
        .collect();
    let first_only = choice.0.pipeline.route_mode == RouteMode::FirstMatch;
    let routes = RouteReport::of(&choice.0.routes, first_only, &captured)?;
    let defs = catalog::table_defs(&mut connection, &captured)?;
    let (transformed, misfits) = transformed(&defs, &settings);
    let risks = key_risks(&routes, &transformed);

    let mut wants = PreflightWants::new(captured.clone());
    wants.zone_offset = settings.server_zone_offset;
    if settings.startup.has_snapshot() {
        wants.tables_without_key = defs
            .iter()
            .filter(|(id, def)| ChunkKey::of(def, choice.chunk_key(id).as_deref()).is_none())
            .map(|(id, _)| id.clone())
            .collect();
    }
    let report = preflight(&mut connection, &wants)?;
    let mut problems: Vec<String> = Vec::new();
    if captured.is_empty() {
        problems.push(format!("no table matches `{}`", choice.describe()));
    }
    problems.extend(misfits);
    if let Err(error) = probe(&settings) {
        problems.push(format!("sink: {error}"));
    }
    let fine = report.passes() && problems.is_empty();

    if common.json {
        let findings: Vec<_> = report
            .findings
            .iter()
            .map(|f| json!({"severity": f.severity.to_string(), "subject": f.subject, "message": f.message, "remedy": f.remedy}))
            .collect();
        let value = json!({
            "server": server, "patterns": patterns.iter().map(|(p, t)| json!({"pattern": p, "tables": t})).collect::<Vec<_>>(),
            "targets": routes.tables.iter().map(|(s, t)| json!({"source": s.to_string(), "targets": names(t)})).collect::<Vec<_>>(),
            "unmatched": names(&routes.unmatched), "routes": routes.rules_json(),
            "collisions": risks.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "findings": findings, "problems": problems, "ok": fine,
        });
        return Ok((format!("{value:#}\n"), fine));
    }
    let mut text = format!("server {server}\n");
    for (pattern, tables) in &patterns {
        let _ = writeln!(text, "tables `{pattern}`: {} matched", tables.len());
        for table in tables {
            let _ = writeln!(text, "  {table}");
        }
    }
    text += &routes.text();
    for risk in &risks {
        let _ = writeln!(text, "warning: {risk}");
    }
    for finding in &report.findings {
        let _ = writeln!(text, "{finding}");
    }
    for problem in &problems {
        let _ = writeln!(text, "error: {problem}");
    }
    let _ = writeln!(text, "{}", if fine { "ready" } else { "not ready" });
    Ok((text, fine))
}

fn names(tables: &[TableId]) -> Vec<String> {
    tables.iter().map(ToString::to_string).collect()
}

/// A table as its targets see it, and the plan of the rule that means it.
type Transformed = (TableId, Arc<TableSchema>, Option<Arc<TablePlan>>);

/// The tables as their targets see them; and what is wrong with rules and types.
fn transformed(defs: &[(TableId, TableDef)], settings: &Settings) -> (Vec<Transformed>, Vec<String>) {
    let (mut tables, mut problems) = (Vec::new(), Vec::new());
    for (table, def) in defs {
        let schema = match def.to_schema(&settings.mapping) {
            Ok(schema) => Arc::new(schema),
            Err(error) => {
                problems.push(format!("{table}: {error}"));
                continue;
            }
        };
        let plan = settings.transforms.as_ref().map(|rules| rules.for_table(table, &schema)).transpose();
        match plan.map(Option::flatten) {
            Ok(plan) => {
                let seen = plan.as_ref().map_or(schema, |plan| plan.schema().clone());
                tables.push((table.clone(), seen, plan));
            }
            Err(errors) => problems.push(errors.to_string()),
        }
    }
    (tables, problems)
}

/// Merges in which rows of different tables may overwrite each other.
fn key_risks(routes: &RouteReport, tables: &[Transformed]) -> Vec<KeyRisk> {
    let merged = routes.merged();
    let risk = |(target, sources): &(TableId, Vec<TableId>)| {
        let first = sources.first()?;
        let (_, schema, plan) = tables.iter().find(|(id, ..)| id == first)?;
        let tells = |column: &str| names_source(column) || plan.as_ref().is_some_and(|plan| plan.tells_source(column));
        KeyRisk::of(target, sources, schema, tells)
    };
    merged.iter().filter_map(risk).collect()
}

/// Asks the sink whether it can be used.
fn probe(settings: &Settings) -> Result<()> {
    let context = SinkContext {
        pipeline: settings.name.clone(),
        parallelism: settings.parallelism,
        time_zone: settings.time_zone.clone(),
        instance: "0".repeat(32),
        select: settings.select_tables,
    };
    let mut sink = rowferry_sinks::build(&settings.sink_type, &settings.sink_options, &context)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorKind::Permanent, "RF-RUN-001", "a thread can't be started").caused_by(e))?;
    runtime.block_on(sink.metadata.probe())?;
    Ok(())
}
