//! The options of the MySQL source.

use rowferry_sinks::options::{OptionKind, OptionSpec as Opt, PerTable};

const MIN_TWO: OptionKind = OptionKind::at_least(2);
/// From 0 up.
const COUNT: OptionKind = OptionKind::Int { min: 0, max: i64::MAX };

/// The startup modes, as Flink CDC writes them.
pub(super) const STARTUP_MODES: &[&str] =
    &["initial", "snapshot", "earliest-offset", "latest-offset", "timestamp", "specific-offset"];

/// The options of `source.type: mysql`.
pub const MYSQL_OPTIONS: &[Opt] = &[
    Opt::text("hostname", "Host name or address of the server.").required(),
    Opt::new("port", OptionKind::Int { min: 1, max: 65535 }, "Port of the server.").default("3306"),
    Opt::text("username", "User.").required(),
    Opt::text("password", "Password; may be empty.").required().secret(),
    Opt::text("tables", "Tables to read, as patterns `database.table`.").required(),
    Opt::text("tables.exclude", "Tables not to read although `tables` names them."),
    Opt::text("server-id", "Replica ids of rowferry: `5400` or `5400-5404`."),
    Opt::text("server-time-zone", "Session time zone of the server: it decides what TIMESTAMP values mean."),
    Opt::new("connect.timeout", OptionKind::Duration { min_millis: 250 }, "Longest wait for a connection.")
        .default("30s"),
    Opt::new("connect.max-retries", OptionKind::at_least(1), "Attempts at a connection.").default("3"),
    Opt::new("connection.pool.size", MIN_TWO, "Most connections at a time that read the snapshot.").default("20"),
    Opt::new("heartbeat.interval", OptionKind::DURATION, "How often the server says that it is there.").default("30s"),
    Opt::prefixed("jdbc.properties.", "Properties of MySQL's JDBC driver; those of TLS and timeouts have an effect."),
    Opt::prefixed("debezium.", "Properties of Debezium."),
    Opt::new("scan.startup.mode", OptionKind::Enum(STARTUP_MODES), "Where reading starts.").default("initial"),
    Opt::text("scan.startup.specific-offset.file", "Binlog file to start in."),
    Opt::new("scan.startup.specific-offset.pos", COUNT, "Position in that file."),
    Opt::text("scan.startup.specific-offset.gtid-set", "GTIDs that have been read already."),
    Opt::new("scan.startup.specific-offset.skip-events", COUNT, "Events to skip behind that place."),
    Opt::new("scan.startup.specific-offset.skip-rows", COUNT, "Rows to skip behind those events."),
    Opt::new("scan.startup.timestamp-millis", COUNT, "Time to start at, in milliseconds since 1970."),
    Opt::new("scan.incremental.snapshot.chunk.size", MIN_TWO, "Rows of a chunk.").default("8096"),
    Opt::new("scan.snapshot.fetch.size", MIN_TWO, "Rows that are fetched at a time.")
        .default("1024")
        .no_effect("rowferry takes rows as they arrive and holds none back"),
    Opt::new(
        "scan.incremental.snapshot.chunk.key-column",
        OptionKind::PerTable(PerTable::ChunkKey),
        "Column by which a table is cut into chunks: `pattern:column;pattern:column`.",
    ),
    Opt::new(
        "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        OptionKind::Bool,
        "Whether the chunks without an end are read first.",
    )
    .default("false"),
    Opt::new(
        "scan.incremental.snapshot.backfill.skip",
        OptionKind::Bool,
        "Whether changes during a chunk are left to the stream; rows may come twice then.",
    )
    .default("false")
    .no_effect("rowferry reads each change once and joins it with its chunk: there is no backfill to skip"),
    Opt::new("scan.incremental.close-idle-reader.enabled", OptionKind::Bool, "Whether idle readers are closed.")
        .default("false")
        .no_effect("rowferry has no reader tasks of Flink"),
    Opt::new(
        "scan.newly-added-table.enabled",
        OptionKind::Bool,
        "Whether tables that newly match are read with a snapshot after a restart.",
    )
    .default("false"),
    Opt::new(
        "scan.binlog.newly-added-table.enabled",
        OptionKind::Bool,
        "Whether tables that are created while changes are read are taken in.",
    )
    .default("false"),
    Opt::new(
        "scan.parse.online.schema.changes.enabled",
        OptionKind::Bool,
        "Whether the shadow tables of gh-ost and pt-osc are understood.",
    )
    .default("false"),
    Opt::new("schema-change.enabled", OptionKind::Bool, "Whether schema changes are passed on.").default("true"),
    Opt::new("include-comments.enabled", OptionKind::Bool, "Whether comments are passed on.").default("false"),
    Opt::new("treat-tinyint1-as-boolean.enabled", OptionKind::Bool, "Whether TINYINT(1) is BOOLEAN.").default("true"),
    Opt::new(
        "use.legacy.json.format",
        OptionKind::Bool,
        "Whether the sink `values` prints JSON from the binlog compact; other sinks always get the text of the server.",
    )
    .default("true"),
    Opt::text("metadata.list", "Metadata for transforms, with commas between: op_ts, table_name, database_name.")
        .alias(&["metadata-column.include-list"]),
    Opt::new("chunk-meta.group.size", MIN_TWO, "Chunks in one group of metadata.")
        .default("1000")
        .no_effect("rowferry keeps no list of chunks"),
    Opt::new(
        "chunk-key.even-distribution.factor.upper-bound",
        OptionKind::Double { min: 1.0, max: f64::MAX },
        "From which distribution factor on chunks are not cut evenly.",
    )
    .default("1000.0")
    .alias(&["split-key.even-distribution.factor.upper-bound"]),
    Opt::new(
        "chunk-key.even-distribution.factor.lower-bound",
        OptionKind::Double { min: 0.0, max: 1.0 },
        "Below which distribution factor chunks are not cut evenly.",
    )
    .default("0.05")
    .alias(&["split-key.even-distribution.factor.lower-bound"]),
    Opt::new("scan.binlog.tolerate.gtid-holes", OptionKind::Bool, "Whether holes in the GTID set are no error.")
        .default("false")
        .no_effect("holes are kept as they are, and read when they are filled"),
    Opt::new(
        "scan.only.deserialize.captured.tables.changelog.enabled",
        OptionKind::Bool,
        "Whether only captured tables are decoded.",
    )
    .no_effect("rowferry never decodes rows of other tables"),
    Opt::new("scan.parallel-deserialize-changelog.enabled", OptionKind::Bool, "Whether rows are decoded in parallel.")
        .no_effect("rowferry always decodes in parallel"),
    Opt::new("scan.parallel-deserialize-changelog.handler.size", OptionKind::at_least(1), "Parallel decoders.")
        .no_effect("pipeline.parallelism decides"),
    Opt::prefixed("rds.", "Access to binlogs that Alibaba's RDS archived.")
        .no_effect("rowferry reads binlogs from the server only"),
];

/// Options of Flink's SQL connector and other words that people write here, and what to do instead.
pub(super) const SLIPS: &[(&str, &str)] = &[
    ("host", "did you mean `hostname`?"),
    ("database-name", "name databases and tables together in `tables`: `database.table`"),
    ("table-name", "name databases and tables together in `tables`: `database.table`"),
    ("database", "name databases and tables together in `tables`: `database.table`"),
    ("table", "did you mean `tables`?"),
    ("connector", "the connector is `type: mysql`; remove this option of Flink SQL"),
    ("user", "did you mean `username`?"),
    ("scan.incremental.snapshot.enabled", "remove it: the snapshot is always incremental here"),
    ("scan.read-changelog-as-append-only.enabled", "remove it: it belongs to Flink SQL"),
];

/// Source types of Flink CDC that this version can't read.
pub(super) const OTHER_SOURCES: &[&str] = &["postgres", "oracle", "sqlserver", "values", "kafka", "mongodb", "sls"];
