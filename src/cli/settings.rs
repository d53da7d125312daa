//! From a checked pipeline file to what a run needs.

use crate::config::pattern::select_tables;
use crate::config::{MetadataColumn, PipelineConfig, RouteMode, StartupMode, Zone, targets};
use crate::error::{Error, ErrorKind, Result};
use crate::mysql::binlog::JsonStyle;
use crate::mysql::reader::Skip;
use crate::mysql::snapshot::ChunkOptions;
use crate::mysql::wire::{ConnectOptions, Password};
use crate::pipeline::{Settings, Startup, TableChoice, TargetOptions, Until};
use rowferry_model::{Offset, SchemaChangeKind, TableId};
use rowferry_sql::MappingOptions;
use rowferry_tls::Authorities;
use rowferry_transform::RuleError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where a pipeline's state is kept unless the user says otherwise: beside its file, by its name.
pub(super) fn state_dir(config: &PipelineConfig, file: &Path, given: Option<&Path>) -> PathBuf {
    if let Some(directory) = given.or(config.pipeline.state_dir.as_deref()) {
        return directory.to_owned();
    }
    // A name may hold anything; a directory's may not.
    let name: String = config
        .pipeline
        .name
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') { c } else { '_' })
        .collect();
    let name = if name.trim_matches(['.', ' ']).is_empty() { "pipeline".to_owned() } else { name };
    file.parent().unwrap_or(Path::new("")).join(".rowferry").join(name)
}

/// How the server is reached.
pub(super) fn connect_options(config: &PipelineConfig) -> ConnectOptions {
    let source = &config.source;
    let mut options = ConnectOptions::new(source.hostname.clone(), source.port, source.username.clone());
    options.password = Password::from(source.password.expose().to_owned());
    options.connect_timeout = source.connect_timeout;
    options.read_timeout = source.socket_timeout;
    options.tls = source.tls;
    options.authorities = source.tls_authority.clone().map_or_else(Authorities::of_environment, Authorities::Named);
    options
}

/// What the command line adds to the file.
pub(super) struct Wishes<'a> {
    pub(super) file: &'a Path,
    pub(super) state_dir: Option<&'a Path>,
    pub(super) until_caught_up: bool,
    pub(super) stop_after_snapshot: bool,
}

/// What a run needs.
pub(super) fn settings(config: &PipelineConfig, wishes: &Wishes<'_>) -> Result<Settings> {
    let source = &config.source;
    let startup = match &source.startup {
        StartupMode::Initial => Startup::Initial,
        StartupMode::Snapshot => Startup::Snapshot,
        StartupMode::EarliestOffset => Startup::Earliest,
        StartupMode::LatestOffset => Startup::Latest,
        StartupMode::Timestamp(millis) => Startup::Timestamp(i64::try_from(*millis).unwrap_or(i64::MAX)),
        StartupMode::SpecificOffset { gtids, position, .. } => {
            Startup::Specific(Offset { position: position.clone().unwrap_or_default(), gtids: gtids.clone(), rows: 0 })
        }
    };
    let skip = match source.startup {
        StartupMode::SpecificOffset { skip_events, skip_rows, .. } => Skip::new(skip_events, skip_rows),
        _ => Skip::default(),
    };
    let until = if startup == Startup::Snapshot || wishes.stop_after_snapshot {
        Until::SnapshotDone
    } else if wishes.until_caught_up {
        Until::CaughtUp
    } else {
        Until::Stopped
    };
    Ok(Settings {
        name: config.pipeline.name.clone(),
        state_dir: state_dir(config, wishes.file, wishes.state_dir),
        connect: connect_options(config),
        // Without a wish one that is unlikely to be taken: Debezium's range.
        server_id: source.server_id.map_or_else(|| 5400 + std::process::id() % 1000, |ids| ids.first),
        heartbeat: source.heartbeat_interval.max(Duration::from_millis(100)),
        max_retries: source.connect_max_retries,
        startup,
        skip,
        until,
        chunk: ChunkOptions {
            size: u64::from(source.chunk_size),
            even_upper: source.even_distribution_upper,
            even_lower: source.even_distribution_lower,
            last_first: source.unbounded_chunk_first,
        },
        mapping: MappingOptions { tinyint1_as_boolean: source.tinyint1_as_boolean, include_comments: source.comments },
        // Flink CDC writes a document compact when it comes from the binlog and with blanks when it comes from the
        // snapshot. Its lines are printed as it prints them; a table must not hold one value in two spellings.
        binlog_json: if source.legacy_json_format && config.sink.kind.name == "values" {
            JsonStyle::Compact
        } else {
            JsonStyle::Server
        },
        op_ts: source.metadata.contains(&MetadataColumn::OpTs),
        // One of the connections plans.
        snapshot_readers: config.pipeline.parallelism.max(1).min(source.connection_pool_size.max(2) - 1) as usize,
        parallelism: config.pipeline.parallelism.max(1) as usize,
        checkpoint_interval: config.pipeline.checkpoint_interval,
        memory: usize::try_from(config.pipeline.memory).unwrap_or(usize::MAX),
        sink_type: config.sink.kind.name.to_owned(),
        sink_options: config.sink.options.given_text(),
        select_tables,
        time_zone: config.pipeline.local_time_zone.to_string(),
        server_zone_offset: source.server_time_zone.map(offset_now),
        transforms: crate::transforms::of(config).map_err(transform_error)?.map(Arc::new),
        targets: TargetOptions {
            behavior: config.pipeline.schema_change_behavior,
            kinds: match source.schema_changes {
                true => config.sink.schema_changes.clone(),
                false => BTreeSet::from([SchemaChangeKind::CreateTable]),
            },
            skip_create_table: config.pipeline.skip_create_table,
            zone: config.pipeline.local_time_zone,
        },
        schema_change_timeout: config.pipeline.schema_change_timeout,
        newly_added_tables: source.newly_added_tables,
        binlog_newly_added_tables: source.binlog_newly_added_tables,
        online_schema_changes: source.online_schema_changes,
        http: config.pipeline.http_address.clone(),
    })
}

/// The check of the file has told what is wrong with its rules; this is for what it can't have seen.
fn transform_error(errors: Vec<RuleError>) -> Error {
    let mut error = Error::new(ErrorKind::Config, "RF-CFG-023", "a transform rule can't be used");
    for problem in errors {
        error = error.with("problem", problem);
    }
    error
}

/// A zone's offset from UTC at this moment, in seconds.
fn offset_now(zone: Zone) -> i32 {
    use chrono::Offset as _;
    use chrono::TimeZone as _;
    match zone {
        Zone::Region(tz) => tz.offset_from_utc_datetime(&chrono::Utc::now().naive_utc()).fix().local_minus_utc(),
        Zone::Fixed(offset) => offset.local_minus_utc(),
    }
}

/// The tables of a pipeline file.
pub(super) struct ConfiguredTables(pub(super) PipelineConfig);

impl TableChoice for ConfiguredTables {
    fn captures(&self, table: &TableId) -> bool {
        let source = &self.0.source;
        source.tables.matches(table.database(), table.table())
            && !source.tables_exclude.as_ref().is_some_and(|t| t.matches(table.database(), table.table()))
    }

    fn chunk_key(&self, table: &TableId) -> Option<String> {
        let keys = &self.0.source.chunk_keys;
        keys.iter().find(|(t, _)| t.matches(table.database(), table.table())).map(|(_, column)| column.clone())
    }

    fn targets(&self, table: &TableId) -> Result<Vec<TableId>> {
        let first_only = self.0.pipeline.route_mode == RouteMode::FirstMatch;
        targets(&self.0.routes, first_only, table).map_err(|e| {
            Error::new(ErrorKind::Config, "RF-CFG-022", "a route can't be applied").with("table", table).caused_by(e)
        })
    }

    fn describe(&self) -> String {
        self.0.source.tables.as_str().to_owned()
    }
}
