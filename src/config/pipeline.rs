//! The `pipeline` block.

mod model;
mod options;
mod udf;

pub use options::PIPELINE_OPTIONS;

use super::diagnostic::Diagnostics;
use super::reader::{Block, Unknown};
use super::source::MetadataColumn;
use super::yaml::{Map, Node, Scalar, Value};
use super::zone::Zone;
use rowferry_sinks::options::{Options, Position};
use rowferry_transform::{FunctionBody, ModelSpec, NullComparisons, RuleError, TransformOptions, UserFunction};
use std::path::PathBuf;
use std::time::Duration;

/// Whether the pipeline ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeMode {
    /// It goes on until it is stopped.
    Streaming,
    /// It copies what is there and ends.
    Batch,
}

/// What happens to schema changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaChangeBehavior {
    /// They are dropped.
    Ignore,
    /// They are rewritten so that nothing is lost in the sink.
    Lenient,
    /// They are applied; what the sink can't do at all is passed over.
    TryEvolve,
    /// They are applied; what the sink can't do stops the pipeline.
    Evolve,
    /// Any of them stops the pipeline.
    Exception,
}

/// Which route rules a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteMode {
    /// All that match.
    AllMatch,
    /// The first that matches.
    FirstMatch,
}

/// The options of the pipeline. The table is [`PIPELINE_OPTIONS`].
#[derive(Clone, Debug)]
pub struct PipelineOptions {
    /// What it is called.
    pub name: String,
    /// Parallel readers and workers; at least 1.
    pub parallelism: u32,
    /// Whether it ends.
    pub runtime_mode: RuntimeMode,
    /// What happens to schema changes.
    pub schema_change_behavior: SchemaChangeBehavior,
    /// Which route rules a table takes.
    pub route_mode: RouteMode,
    /// The zone in which instants become wall times.
    pub local_time_zone: Zone,
    /// Longest wait for a schema change to be applied.
    pub schema_change_timeout: Duration,
    /// How transforms compute.
    pub transform: TransformSettings,
    /// Whether a column that the target has already is not added again.
    pub skip_duplicate_column: bool,
    /// Whether tables are never created in the sink.
    pub skip_create_table: bool,
    /// The longest time between two checkpoints.
    pub checkpoint_interval: Duration,
    /// Where the state is; `None`: beside the file, under `.rowferry/<pipeline name>`.
    pub state_dir: Option<PathBuf>,
    /// How much memory rows may take on their way, in bytes.
    pub memory: u64,
    /// Where health and metrics are served; `None`: nowhere.
    pub http_address: Option<String>,
}

/// How transforms compute: what of it the `pipeline` block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformSettings {
    /// The greatest precision of a computed DECIMAL.
    pub decimal_precision: u8,
    /// Whether a value that does not fit is an error.
    pub strict: bool,
    /// What a comparison with NULL gives.
    pub null_comparisons: NullComparisons,
    /// Whether a projection may leave out columns of the primary key.
    pub allow_trimming_primary_key: bool,
}

impl TransformSettings {
    /// The engine's options; `listed`: whether `metadata.list` has a column.
    pub(crate) fn options(self, zone: Zone, listed: impl Fn(MetadataColumn) -> bool) -> TransformOptions {
        TransformOptions {
            zone: match zone {
                Zone::Region(region) => rowferry_transform::Zone::Region(region),
                Zone::Fixed(offset) => rowferry_transform::Zone::Fixed(offset),
            },
            decimal_precision: self.decimal_precision,
            strict: self.strict,
            null_comparisons: self.null_comparisons,
            allow_trimming_primary_key: self.allow_trimming_primary_key,
            op_ts: listed(MetadataColumn::OpTs),
            table_name: listed(MetadataColumn::TableName),
            database_name: listed(MetadataColumn::DatabaseName),
        }
    }
}

/// What other blocks need to know of the pipeline while they are checked.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// User-defined functions: they can be called in transforms.
    pub(crate) functions: Vec<UserFunction>,
    /// Where each stands, with its path.
    pub(crate) function_places: Vec<(String, Position)>,
    /// Models; those of the older form are called like functions.
    pub(crate) models: Vec<ModelSpec>,
    /// Where each stands, with its path.
    pub(crate) model_places: Vec<(String, Position)>,
}

impl Declared {
    /// Tells what is wrong with a function's `sql`.
    pub(crate) fn tell_function(&self, finding: &RuleError, diagnostics: &mut Diagnostics) {
        let Some((path, at)) = self.function_places.get(finding.rule) else { return };
        let text = match self.functions.get(finding.rule).map(|function| &function.body) {
            Some(FunctionBody::Sql(text)) => text.as_str(),
            _ => "",
        };
        super::transform::tell(finding, *at, &format!("{path}.sql"), text, diagnostics);
    }

    /// Tells what is wrong with a model.
    pub(crate) fn tell_model(&self, finding: &RuleError, diagnostics: &mut Diagnostics) {
        if let Some((path, at)) = self.model_places.get(finding.rule) {
            super::transform::tell(finding, *at, path, "", diagnostics);
        }
    }
}

/// The block as read, with places for checks across blocks.
pub(crate) struct Read {
    /// `None`: something is wrong, which has been told.
    pub(crate) config: Option<PipelineOptions>,
    pub(crate) declared: Declared,
    pub(crate) options: Options,
}

const RESERVED: &[&str] = &["user-defined-function", "model"];

/// Reads the block. It may be absent or empty.
pub(crate) fn read(node: Option<&Node>, diagnostics: &mut Diagnostics) -> Read {
    let nothing = Map::default();
    let (map, position) = match node.map(|node| (&node.value, node.position)) {
        None | Some((Value::Null | Value::Unresolved, _)) => (&nothing, Position { line: 1, column: 1 }),
        Some((Value::Map(map), at)) => (map, at),
        Some((_, at)) => {
            let what = node.map_or("nothing", Node::describe);
            diagnostics.invalid(at, "pipeline", format!("must be a map, not {what}")).maybe(None);
            (&nothing, at)
        }
    };
    let block = Block {
        path: "pipeline",
        position,
        map,
        table: PIPELINE_OPTIONS,
        reserved: RESERVED,
        unknown: Unknown::Warn,
        owner: "the pipeline",
        known_slips: &[],
    };
    let options = block.read(diagnostics);
    for entry in map.entries.iter().filter(|entry| entry.key.starts_with("rowferry.")) {
        if !PIPELINE_OPTIONS.iter().any(|spec| spec.matches(&entry.key)) {
            let names = PIPELINE_OPTIONS.iter().map(|spec| spec.name).filter(|name| name.starts_with("rowferry."));
            let hint = super::suggest::did_you_mean(&entry.key, names);
            let key = format!("pipeline.{}", entry.key);
            diagnostics.invalid(entry.key_position, key, "rowferry has no such option").maybe(hint);
        }
    }
    let mut declared = Declared::default();
    if let Some(entry) = map.get("user-defined-function") {
        udf::read(&entry.value, &mut declared, diagnostics);
    }
    if let Some(entry) = map.get("model") {
        model::read(&entry.value, &mut declared, diagnostics);
    }
    let config = Resolver { map, options: &options, diagnostics }.resolve();
    Read { config, declared, options }
}

struct Resolver<'a> {
    map: &'a Map,
    options: &'a Options,
    diagnostics: &'a mut Diagnostics,
}

impl Resolver<'_> {
    fn resolve(mut self) -> Option<PipelineOptions> {
        let local_time_zone = self.zone();
        let http_address = self.http_address();
        self.operator_uids();
        let o = self.options;
        if o.duration("rowferry.checkpoint.interval") == Some(Duration::ZERO) {
            self.invalid("rowferry.checkpoint.interval", "must be longer than zero", None);
        }
        if o.size("rowferry.memory").is_some_and(|bytes| bytes < MIN_MEMORY) {
            self.invalid("rowferry.memory", "is too little memory: it must be at least 16 mb", None);
        }
        Some(PipelineOptions {
            name: o.text("name")?.to_owned(),
            parallelism: u32::try_from(o.int("parallelism")?).ok()?,
            runtime_mode: match o.text("execution.runtime-mode")? {
                "BATCH" => RuntimeMode::Batch,
                _ => RuntimeMode::Streaming,
            },
            schema_change_behavior: match o.text("schema.change.behavior")? {
                "IGNORE" => SchemaChangeBehavior::Ignore,
                "TRY_EVOLVE" => SchemaChangeBehavior::TryEvolve,
                "EVOLVE" => SchemaChangeBehavior::Evolve,
                "EXCEPTION" => SchemaChangeBehavior::Exception,
                _ => SchemaChangeBehavior::Lenient,
            },
            route_mode: match o.text("route-mode")? {
                "FIRST_MATCH" => RouteMode::FirstMatch,
                _ => RouteMode::AllMatch,
            },
            local_time_zone: local_time_zone?,
            transform: TransformSettings {
                decimal_precision: if o.text("transform.decimal.precision.mode")? == "UP_TO_38" { 38 } else { 19 },
                strict: o.flag("rowferry.transform.strict"),
                null_comparisons: match o.text("rowferry.transform.null-comparison")? {
                    "SQL" => NullComparisons::Sql,
                    _ => NullComparisons::FlinkCdc,
                },
                allow_trimming_primary_key: o.flag("transform.allow.trimming.pk-columns"),
            },
            schema_change_timeout: o.duration("schema-operator.rpc-timeout")?,
            skip_duplicate_column: o.flag("schema.change.skip-duplicate-column.enabled"),
            skip_create_table: o.flag("schema.change.skip-create-table.enabled"),
            checkpoint_interval: o.duration("rowferry.checkpoint.interval")?,
            state_dir: o.text("rowferry.state-dir").map(PathBuf::from),
            memory: o.size("rowferry.memory")?,
            http_address: http_address.ok()?,
        })
    }

    fn invalid(&mut self, name: &str, message: &str, hint: Option<String>) {
        let at = self.options.position(name).unwrap_or_default();
        self.diagnostics.invalid(at, format!("pipeline.{name}"), message).maybe(hint);
    }

    fn shown(&self, name: &str) -> &str {
        match self.map.get(name).map(|entry| &entry.value.value) {
            Some(Value::Scalar(scalar)) => scalar.shown(),
            _ => "",
        }
    }

    fn zone(&mut self) -> Option<Zone> {
        let name = "local-time-zone";
        let text = self.options.text(name)?;
        if text == "systemDefault" {
            return Some(Zone::of_machine());
        }
        match Zone::parse_time_zone(text) {
            Some((zone, warning)) => {
                if let (Some(warning), Some(at)) = (warning, self.options.position(name)) {
                    self.diagnostics.warning(at, format!("pipeline.{name}"), warning).maybe(None);
                }
                Some(zone)
            }
            None => {
                // An offset alone is a zone elsewhere; here Java wants `GMT` before it.
                let offset = Zone::parse_zone_id(text).filter(|zone| matches!(zone, Zone::Fixed(_)));
                let hint = match offset {
                    Some(zone) => Some(format!("write GMT{zone}")),
                    None => Zone::suggest(text),
                };
                let hint = hint.unwrap_or_else(|| "write a region such as Asia/Tokyo, or GMT+08:00".to_owned());
                let message = format!("`{}` is not a time zone", self.shown(name));
                self.invalid(name, &message, Some(hint));
                None
            }
        }
    }

    fn http_address(&mut self) -> Result<Option<String>, ()> {
        let name = "rowferry.http.address";
        let Some(text) = self.options.text(name).filter(|text| !text.eq_ignore_ascii_case("none")) else {
            return Ok(None);
        };
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
        if matches!(port, Some(Ok(_))) {
            return Ok(Some(text.to_owned()));
        }
        let message = format!("`{}` is not an address", self.shown(name));
        self.invalid(name, &message, Some("write host:port, for example 127.0.0.1:9400".to_owned()));
        Err(())
    }

    fn operator_uids(&mut self) {
        let changed = self.options.text("schema.operator.uid").is_some_and(|uid| uid != DEFAULT_SCHEMA_UID);
        if changed && self.options.is_given("operator.uid.prefix") {
            let message = "can't be set together with pipeline.schema.operator.uid: they are exclusive";
            self.invalid("operator.uid.prefix", message, Some("remove one of them".to_owned()));
        }
    }
}

const DEFAULT_SCHEMA_UID: &str = "$$_schema_operator_$$";
const MIN_MEMORY: u64 = 16 << 20;

/// The text of a value in a strict block of this section, or `None` where there is none; wrong kinds are told.
fn scalar_of<'a>(map: &'a Map, key: &str, path: &str, diagnostics: &mut Diagnostics) -> Option<&'a Scalar> {
    let entry = map.get(key)?;
    match &entry.value.value {
        Value::Scalar(scalar) => Some(scalar),
        Value::Null | Value::Unresolved => None,
        _ => {
            let message = format!("must be a single value, not {}", entry.value.describe());
            diagnostics.invalid(entry.value.position, format!("{path}.{key}"), message).maybe(None);
            None
        }
    }
}
