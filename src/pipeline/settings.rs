//! What a run needs to know, taken from the pipeline's file and the command line.

use super::evolve::Options as TargetOptions;
use crate::mysql::binlog::JsonStyle;
use crate::mysql::reader::Skip;
use crate::mysql::snapshot::ChunkOptions;
use crate::mysql::wire::ConnectOptions;
use rowferry_model::Offset;
use rowferry_sinks::TableSelector;
use rowferry_sql::MappingOptions;
use rowferry_transform::Transforms;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where a pipeline without saved state starts: `scan.startup.mode`.
#[derive(Clone, Debug, PartialEq)]
pub enum Startup {
    /// A snapshot, then changes.
    Initial,
    /// A snapshot only.
    Snapshot,
    /// The oldest change that the server has.
    Earliest,
    /// Changes from now on.
    Latest,
    /// Changes from a time on, in milliseconds since the epoch.
    Timestamp(i64),
    /// Changes from a place in the log on.
    Specific(Offset),
}

impl Startup {
    /// Whether rows that are there already are read.
    pub fn has_snapshot(&self) -> bool {
        matches!(self, Self::Initial | Self::Snapshot)
    }
}

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never.
    Stopped,
    /// When the snapshot is in the sink.
    SnapshotDone,
    /// When everything is in the sink that the server had when the snapshot was done, or when the run began.
    CaughtUp,
}

/// What a run needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `pipeline.name`.
    pub name: String,
    /// Where the state is kept.
    pub state_dir: PathBuf,
    /// The server.
    pub connect: ConnectOptions,
    /// This reader's number among the server's replicas.
    pub server_id: u32,
    /// `heartbeat.interval`.
    pub heartbeat: Duration,
    /// `connect.max-retries`.
    pub max_retries: u32,
    /// `scan.startup.mode`.
    pub startup: Startup,
    /// What is left out behind a specific offset.
    pub skip: Skip,
    /// When the run ends by itself.
    pub until: Until,
    /// How tables are cut into chunks.
    pub chunk: ChunkOptions,
    /// How types are mapped.
    pub mapping: MappingOptions,
    /// How JSON from the binlog is written.
    pub binlog_json: JsonStyle,
    /// Whether each row's time is wanted: `metadata.list: op_ts`.
    pub op_ts: bool,
    /// Connections that read the snapshot at a time: `pipeline.parallelism`, as far as `connection.pool.size` allows.
    pub snapshot_readers: usize,
    /// `pipeline.parallelism`: chunks read at once, and decoding threads.
    pub parallelism: usize,
    /// How often a checkpoint is made.
    pub checkpoint_interval: Duration,
    /// Bytes of rows that may be under way.
    pub memory: usize,
    /// `sink.type`.
    pub sink_type: String,
    /// The sink's options.
    pub sink_options: BTreeMap<String, String>,
    /// Reads the table patterns that stand among them.
    pub select_tables: fn(&str) -> Result<TableSelector, String>,
    /// `pipeline.local-time-zone`.
    pub time_zone: String,
    /// The offset that `server-time-zone` has from UTC at this moment, in seconds.
    pub server_zone_offset: Option<i32>,
    /// The rules of `transform`.
    pub transforms: Option<Arc<Transforms>>,
    /// How targets follow their tables.
    pub targets: TargetOptions,
    /// `schema-operator.rpc-timeout`: how long the sink may take for a schema change.
    pub schema_change_timeout: Duration,
    /// `scan.newly-added-table.enabled`.
    pub newly_added_tables: bool,
    /// `scan.binlog.newly-added-table.enabled`.
    pub binlog_newly_added_tables: bool,
    /// `scan.parse.online.schema.changes.enabled`.
    pub online_schema_changes: bool,
    /// Where `/healthz` and `/metrics` are answered.
    pub http: Option<String>,
}
