//! The `source` block.

mod jdbc;
mod options;
mod resolve;
mod server_id;
mod startup;

pub use options::MYSQL_OPTIONS;
pub use rowferry_tls::TlsMode;
pub use server_id::ServerIds;
pub use startup::StartupMode;

pub(crate) use resolve::{check_server_ids, read};

use super::pattern::TablePattern;
use super::zone::Zone;
use rowferry_sinks::options::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How MySQL is read. Every field is an option of the block; the table is [`MYSQL_OPTIONS`].
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// What it is called in logs.
    pub name: String,
    /// The server's host name or address.
    pub hostname: String,
    /// The server's port.
    pub port: u16,
    /// The user.
    pub username: String,
    /// The password; may be empty.
    pub password: Secret,
    /// The tables that are read.
    pub tables: TablePattern,
    /// Tables that are not read although `tables` names them.
    pub tables_exclude: Option<TablePattern>,
    /// The ids under which rowferry registers as a replica; `None`: one is chosen.
    pub server_id: Option<ServerIds>,
    /// The session time zone of the server, which decides what TIMESTAMP values mean; `None`: not given.
    pub server_time_zone: Option<Zone>,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Attempts at a connection; at least 1.
    pub connect_max_retries: u32,
    /// Most connections at a time; at least 2.
    pub connection_pool_size: u32,
    /// How often the server says that it is there while nothing happens.
    pub heartbeat_interval: Duration,
    /// How connections are encrypted.
    pub tls: TlsMode,
    /// A PEM file with the authorities that a certificate must come from; `None`: those of the environment, or the public ones.
    pub tls_authority: Option<PathBuf>,
    /// Longest wait for the server's answer, from `jdbc.properties.socketTimeout`; `None`: for ever.
    pub socket_timeout: Option<Duration>,
    /// All of `jdbc.properties.*` as written. Values of keys that look like secrets are kept in clear: do not print.
    pub jdbc_properties: BTreeMap<String, Secret>,
    /// All of `debezium.*` as written. Values are kept in clear: do not print.
    pub debezium: BTreeMap<String, Secret>,
    /// Where reading starts when there is no saved state.
    pub startup: StartupMode,
    /// Rows of a chunk of the snapshot; at least 2.
    pub chunk_size: u32,
    /// Rows that are fetched at a time; at least 2.
    pub fetch_size: u32,
    /// Chunk key columns by table pattern, the first that matches.
    pub chunk_keys: Vec<(TablePattern, String)>,
    /// Whether the chunks without an end are read first.
    pub unbounded_chunk_first: bool,
    /// Whether changes during a chunk are left to the stream: rows may come twice then.
    pub skip_backfill: bool,
    /// Chunks in one group of metadata; at least 2.
    pub chunk_meta_group_size: u32,
    /// From which distribution factor on chunks are not cut evenly.
    pub even_distribution_upper: f64,
    /// Below which distribution factor chunks are not cut evenly.
    pub even_distribution_lower: f64,
    /// Whether tables that newly match are read with a snapshot after a restart.
    pub newly_added_tables: bool,
    /// Whether tables that are created while changes are read are taken in.
    pub binlog_newly_added_tables: bool,
    /// Whether the shadow tables of gh-ost and pt-osc are understood.
    pub online_schema_changes: bool,
    /// Whether schema changes are passed on.
    pub schema_changes: bool,
    /// Whether comments of tables and columns are passed on.
    pub comments: bool,
    /// Whether TINYINT(1) is BOOLEAN.
    pub tinyint1_as_boolean: bool,
    /// Whether JSON from the binlog is compact instead of MySQL's text with spaces.
    pub legacy_json_format: bool,
    /// Metadata that transforms can use beside the columns that are always there.
    pub metadata: Vec<MetadataColumn>,
    /// Whether holes in the server's GTID set are no error.
    pub tolerate_gtid_holes: bool,
}

/// Metadata of a row that `metadata.list` can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetadataColumn {
    /// `op_ts`: when the change was made, in milliseconds; 0 for rows of the snapshot.
    OpTs,
    /// `table_name`.
    TableName,
    /// `database_name`.
    DatabaseName,
}
