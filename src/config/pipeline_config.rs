//! The whole file.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::pipeline::{self, PipelineOptions, RuntimeMode};
use super::route::{self, RouteRule};
use super::sink::{self, SinkConfig};
use super::source::{self, SourceConfig, StartupMode};
use super::suggest::did_you_mean;
use super::transform::{self, TransformRule};
use super::variables::{Variables, substitute};
use super::yaml::{self, Map, Node, Value};
use rowferry_sinks::options::{Options, Position};
use rowferry_transform::{ModelSpec, UserFunction};
use std::io;
use std::path::Path;

/// A pipeline, as its file describes it.
#[derive(Clone, Debug)]
pub struct PipelineConfig {
    /// Where rows come from.
    pub source: SourceConfig,
    /// Where they go.
    pub sink: SinkConfig,
    /// Which table goes where.
    pub routes: Vec<RouteRule>,
    /// What is done with rows on the way. Always empty in this version, which refuses files with transforms.
    pub transforms: Vec<TransformRule>,
    /// The functions that the file declares.
    pub functions: Vec<UserFunction>,
    /// The models that the file declares.
    pub models: Vec<ModelSpec>,
    /// Everything else.
    pub pipeline: PipelineOptions,
}

/// What came of a file.
#[derive(Debug)]
pub struct Loaded {
    /// `None`: there are errors.
    pub config: Option<PipelineConfig>,
    /// Errors and warnings in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a file.
///
/// # Errors
/// The file can't be read or is not UTF-8. Everything that is wrong *in* the file is in [`Loaded::diagnostics`].
pub fn load(path: &Path, variables: &Variables) -> io::Result<Loaded> {
    Ok(load_text(&std::fs::read_to_string(path)?, variables))
}

/// Reads and checks the text of a file.
pub fn load_text(text: &str, variables: &Variables) -> Loaded {
    let mut diagnostics = Diagnostics::default();
    // A byte order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let config = match yaml::parse(text, &mut diagnostics) {
        Ok(mut root) => {
            substitute(&mut root, variables, &mut diagnostics);
            read(&root, &mut diagnostics)
        }
        Err(error) => {
            diagnostics.push(*error);
            None
        }
    };
    let config = config.filter(|_| !diagnostics.has_errors());
    Loaded { config, diagnostics: diagnostics.into_sorted() }
}

const BLOCKS: &[&str] = &["source", "sink", "transform", "route", "pipeline"];

fn read(root: &Node, diagnostics: &mut Diagnostics) -> Option<PipelineConfig> {
    let Value::Map(map) = &root.value else {
        let message = format!("the file must be a map with `source` and `sink`, not {}", root.describe());
        diagnostics.invalid(root.position, "", message).maybe(None);
        return None;
    };
    top_level(map, root, diagnostics);
    let block = |key: &str| map.get(key).map(|entry| &entry.value).filter(|node| !node.is_null());
    let pipeline = pipeline::read(block("pipeline"), diagnostics);
    let lenient = pipeline.options.text("schema.change.behavior") == Some("LENIENT");
    let source = block("source").and_then(|node| source::read(node, diagnostics));
    let sink = block("sink").and_then(|node| sink::read(node, lenient, diagnostics));
    let kind = sink.as_ref().map(|sink| sink.kind);
    let routes = route::read(block("route"), kind, diagnostics);
    let metadata = source.as_ref().map(|source| source.metadata.as_slice());
    let settings = pipeline.config.as_ref().map(|options| (options.transform, options.local_time_zone));
    let surroundings = transform::Surroundings { declared: &pipeline.declared, settings, metadata };
    let transforms = transform::read(block("transform"), &surroundings, diagnostics);
    if let Some(node) = block("source") {
        across_source(node, source.as_ref(), &pipeline.options, diagnostics);
    }
    if let Some(sink) = &sink
        && sink.kind.own_partitioning
        && let Some(strategy) = pipeline.options.text("sink.partitioning.strategy").filter(|s| *s != "SINK_DEFINED")
    {
        let at = pipeline.options.position("sink.partitioning.strategy").unwrap_or(root.position);
        let message = format!("`{strategy}` can't be used: it must be SINK_DEFINED for the sink `{}`", sink.kind.name);
        diagnostics.invalid(at, "pipeline.sink.partitioning.strategy", message).hint("remove it");
    }
    Some(PipelineConfig {
        source: source?,
        sink: sink?,
        routes,
        transforms,
        functions: pipeline.declared.functions,
        models: pipeline.declared.models,
        pipeline: pipeline.config?,
    })
}

fn top_level(map: &Map, root: &Node, diagnostics: &mut Diagnostics) {
    for entry in map.entries.iter().filter(|entry| !BLOCKS.contains(&entry.key.as_str())) {
        let hint = did_you_mean(&entry.key, BLOCKS.iter().copied()).unwrap_or_else(|| {
            format!("allowed are {}; options of Flink's runtime do not belong here", BLOCKS.join(", "))
        });
        let message = format!("unexpected top-level key `{}`", entry.key);
        diagnostics.invalid(entry.key_position, entry.key.as_str(), message).hint(hint);
    }
    for key in ["source", "sink"] {
        match map.get(key) {
            None => {
                let at = Position { line: 1, column: 1 }.max(root.position);
                diagnostics.invalid(at, key, format!("missing required top-level key `{key}`")).maybe(None);
            }
            Some(entry) if entry.value.is_null() => {
                let message = format!("the required top-level key `{key}` has no value");
                diagnostics.invalid(entry.key_position, key, message).maybe(None);
            }
            Some(_) => {}
        }
    }
}

/// Rules that bind the source to the pipeline. They hold also where something else of the source is wrong.
fn across_source(node: &Node, source: Option<&SourceConfig>, pipeline: &Options, diagnostics: &mut Diagnostics) {
    let Value::Map(map) = &node.value else { return };
    let is_mysql = matches!(map.get("type").map(|entry| &entry.value.value),
        Some(Value::Scalar(scalar)) if scalar.text == "mysql");
    if !is_mysql {
        return;
    }
    let ids = match map.get("server-id").map(|entry| &entry.value.value) {
        Some(Value::Scalar(scalar)) => source::ServerIds::parse(&scalar.text).ok(),
        _ => None,
    };
    let parallelism = pipeline.int("parallelism").and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    if let Some(ids) = ids {
        source::check_server_ids(node, ids, parallelism, diagnostics);
    }
    let batch = pipeline.text("execution.runtime-mode") == Some(BATCH);
    let mode = map.get("scan.startup.mode").filter(|entry| !entry.value.is_null());
    let is_snapshot = match (source.map(|source| &source.startup), mode.map(|entry| &entry.value.value)) {
        (Some(startup), _) => *startup == StartupMode::Snapshot,
        (None, Some(Value::Scalar(scalar))) => scalar.text.eq_ignore_ascii_case("snapshot"),
        (None, Some(_)) => true,
        (None, None) => false,
    };
    if batch && !is_snapshot {
        let at = mode.map_or(node.position, |entry| entry.value.position);
        let message = "must be `snapshot` when pipeline.execution.runtime-mode is BATCH";
        diagnostics.invalid(at, "source.scan.startup.mode", message).hint("write `scan.startup.mode: snapshot`");
    }
}

const BATCH: &str = "BATCH";

impl PipelineConfig {
    /// Whether the pipeline ends by itself: it only copies what is there.
    pub fn is_bounded(&self) -> bool {
        self.pipeline.runtime_mode == RuntimeMode::Batch || self.source.startup == StartupMode::Snapshot
    }
}
