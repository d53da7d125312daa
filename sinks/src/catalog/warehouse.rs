//! Options of warehouses that this version can't write to.

use crate::options::{OptionKind, OptionProblem, OptionSpec as Opt, Options};

pub(super) const STARROCKS: &[Opt] = &[
    Opt::text("jdbc-url", "Address for metadata and DDL: `jdbc:mysql://fe1:9030,fe2:9030`, with `?sslMode=…` for TLS.")
        .required(),
    Opt::new("load-url", OptionKind::List, "Addresses for loading, with semicolons between them.").required(),
    Opt::text("username", "User.").required(),
    Opt::text("password", "Password; may be empty.").required().secret(),
    Opt::new("sink.label-prefix", OptionKind::Word("-_"), "Prefix of load labels."),
    Opt::new("sink.connect.timeout-ms", OptionKind::INT, "Longest wait for a connection, in ms.").default("30000"),
    Opt::new("sink.socket.timeout-ms", OptionKind::INT, "Longest wait for an answer, in ms; -1: for ever.")
        .default("-1"),
    Opt::new("sink.wait-for-continue.timeout-ms", OptionKind::INT, "Longest wait for `100 Continue`, in ms.")
        .default("30000"),
    Opt::new("sink.buffer-flush.max-bytes", OptionKind::LONG, "Most buffered bytes.").default("157286400"),
    Opt::new("sink.buffer-flush.interval-ms", OptionKind::LONG, "Longest wait of a buffered row, in ms.")
        .default("300000"),
    Opt::new("sink.scan-frequency.ms", OptionKind::LONG, "How often buffers are looked at, in ms.").default("50"),
    Opt::new("sink.io.thread-count", OptionKind::at_least(1), "Parallel loads.").default("2"),
    Opt::new(
        "sink.at-least-once.use-transaction-stream-load",
        OptionKind::Bool,
        "Whether the transaction interface is used where the server has it.",
    )
    .default("true"),
    Opt::new("sink.metric.histogram-window-size", OptionKind::at_least(1), "Size of histograms.").default("100"),
    Opt::prefixed("sink.properties.", "Headers of stream loads."),
    Opt::new("table.create.num-buckets", OptionKind::at_least(1), "Buckets of tables that are created."),
    Opt::prefixed("table.create.properties.", "Properties of tables that are created."),
    Opt::new(
        "table.schema-change.timeout",
        OptionKind::Duration { min_millis: 1000 },
        "Longest wait for a schema change, in whole seconds.",
    )
    .default("30 min"),
    Opt::new(
        "unicode-char.max-bytes",
        OptionKind::Int { min: 1, max: 4 },
        "Bytes of a character of CHAR and VARCHAR; unset: by the column's charset.",
    ),
    Opt::new(
        "rowferry.assume-committed",
        OptionKind::Bool,
        "Whether transactions that StarRocks no longer knows count as committed.",
    )
    .default("false"),
];

/// The sink sets three headers itself, whatever the file says.
pub(super) fn check_starrocks(options: &Options) -> Vec<OptionProblem> {
    let forced = [("format", "json"), ("strip_outer_array", "true"), ("ignore_json_size", "true")];
    let mut problems = Vec::new();
    for (key, value) in forced {
        let name = format!("sink.properties.{key}");
        if options.text(&name).is_some_and(|given| !given.eq_ignore_ascii_case(value)) {
            problems.push(OptionProblem::warning(name, format!("has no effect: the sink always sets it to {value}")));
        }
    }
    problems
}

/// Doris' options; SelectDB's are the same.
pub(super) const DORIS: &[Opt] = &[
    Opt::text("fenodes", "HTTP addresses of frontends: `fe1:8030,fe2:8030`.").required(),
    Opt::text("benodes", "HTTP addresses of backends; unset: a frontend names them."),
    Opt::text("jdbc-url", "Address of the MySQL interface.").no_effect("statements go over HTTP"),
    Opt::text("username", "User.").required(),
    Opt::text("password", "Password; may be empty.").secret(),
    Opt::new("auto-redirect", OptionKind::Bool, "Whether loads go to a frontend, which redirects them.")
        .default("false"),
    Opt::text("charset-encoding", "Encoding of DDL requests.").default("UTF-8"),
    Opt::new("sink.enable.batch-mode", OptionKind::Bool, "Whether rows are loaded in batches.")
        .default("true")
        .alias(&["sink.enable-batch-mode"]),
    Opt::new("sink.enable-2pc", OptionKind::Bool, "Whether loads are committed in two phases.").default("false"),
    Opt::new("sink.enable-delete", OptionKind::Bool, "Whether deletes are written.").default("true"),
    Opt::new("sink.max-retries", OptionKind::at_least(0), "Retries of a load.").default("3"),
    Opt::new("sink.check-interval", OptionKind::at_least(1), "How often loads are looked at, in ms.")
        .default("10000")
        .no_effect("a load answers when it is done"),
    Opt::new("sink.buffer-size", OptionKind::at_least(1), "Bytes of a buffer.")
        .default("1048576")
        .no_effect("rows are gathered up to a load of 32 MiB"),
    Opt::new("sink.buffer-count", OptionKind::at_least(1), "Number of buffers.")
        .default("3")
        .no_effect("rows are gathered up to a load of 32 MiB"),
    Opt::new("sink.label-prefix", OptionKind::Word("-_:"), "Prefix of load labels.").default(""),
    Opt::new("sink.flush.queue-size", OptionKind::at_least(1), "Batches that may wait.").default("2"),
    Opt::new("sink.buffer-flush.max-rows", OptionKind::at_least(10_000), "Most rows of a batch.").default("50000"),
    Opt::new("sink.buffer-flush.max-bytes", OptionKind::at_least(10_485_760), "Most bytes of a batch.")
        .default("10485760"),
    Opt::new("sink.buffer-flush.interval", OptionKind::DURATION, "Longest wait of a buffered row.").default("10s"),
    Opt::new("sink.ignore.update-before", OptionKind::Bool, "Whether before images are left out.")
        .default("true")
        .no_effect("before images are never loaded"),
    Opt::new("sink.use-cache", OptionKind::Bool, "Whether a batch is kept for a retry.")
        .default("false")
        .no_effect("rows are kept until they are loaded"),
    Opt::prefixed("sink.properties.", "Headers of stream loads."),
    Opt::prefixed("table.create.properties.", "Properties of tables that are created."),
    Opt::new(
        "table.create.auto-partition.properties.include",
        OptionKind::TablePattern,
        "Tables that are partitioned by time.",
    ),
    Opt::new("table.create.auto-partition.properties.exclude", OptionKind::TablePattern, "Tables that are not."),
    Opt::prefixed("table.create.auto-partition.properties.", "Partition keys and units, by table or default."),
    Opt::new("schema.evolution.timeout", OptionKind::DURATION, "Longest wait for a schema change.").default("30 min"),
    Opt::new(
        "rowferry.assume-committed",
        OptionKind::Bool,
        "Whether transactions that Doris no longer knows count as committed.",
    )
    .default("false"),
];

/// Two-phase commit is part of the streaming mode only.
pub(super) fn check_doris(options: &Options) -> Vec<OptionProblem> {
    if options.flag("sink.enable-2pc") && options.flag("sink.enable.batch-mode") {
        let problem = OptionProblem::warning("sink.enable-2pc", "has no effect in batch mode");
        return vec![problem.hint("set sink.enable.batch-mode: false for two-phase commit")];
    }
    Vec::new()
}

pub(super) const HOLOGRES: &[Opt] = &[
    Opt::text("endpoint", "host:port.").required(),
    Opt::text("dbname", "Database.").required(),
    Opt::text("username", "User or AccessKey id.").required().secret(),
    Opt::text("password", "Password or AccessKey secret.").required().secret(),
    Opt::new(
        "sink.type-normalize-strategy",
        OptionKind::Enum(&["STANDARD", "BROADEN", "ONLY_BIGINT_OR_TEXT"]),
        "How types are widened.",
    )
    .default("STANDARD"),
    Opt::new(
        "mutatetype",
        OptionKind::Enum(&["insertorignore", "insertorreplace", "insertorupdate"]),
        "What happens to a row whose key is there.",
    ),
    Opt::new("createparttable", OptionKind::Bool, "Whether partitions are created."),
    Opt::text("sink.delete-strategy", "What happens on a delete."),
    Opt::prefixed("table_property.", "Properties of tables that are created."),
    Opt::new("jdbcRetryCount", OptionKind::at_least(0), "Retries.").default("10"),
    Opt::new("jdbcRetrySleepInitMs", OptionKind::LONG, "First wait before a retry, in ms.").default("1000"),
    Opt::new("jdbcRetrySleepStepMs", OptionKind::LONG, "What each further wait is longer, in ms.")
        .alias(&["retry-sleep-step-ms"]),
    Opt::new("jdbcWriteBatchSize", OptionKind::at_least(1), "Most rows of a batch."),
    Opt::new("jdbcWriteBatchByteSize", OptionKind::LONG, "Most bytes of a batch."),
    Opt::new("jdbcWriteFlushInterval", OptionKind::LONG, "Longest wait of a buffered row, in ms."),
    Opt::new("connectionSize", OptionKind::at_least(1), "Connections."),
    Opt::new("jdbcConnectionMaxIdleMs", OptionKind::LONG, "Longest idle time of a connection, in ms."),
    Opt::new("jdbcMetaCacheTTL", OptionKind::LONG, "How long table definitions are kept, in ms.")
        .alias(&["meta-cache-ttl-ms"]),
];

pub(super) const MAXCOMPUTE: &[Opt] = &[
    Opt::text("access-id", "AccessKey id.").required().secret(),
    Opt::text("access-key", "AccessKey secret.").required().secret(),
    Opt::text("endpoint", "Address of the service.").required(),
    Opt::text("project", "Project.").required(),
    Opt::text("tunnel.endpoint", "Address of the tunnel service."),
    Opt::text("quota.name", "Quota."),
    Opt::text("sts-token", "Temporary token.").secret(),
    Opt::new("buckets-num", OptionKind::at_least(1), "Buckets of tables that are created.").default("16"),
    Opt::new("compress.algorithm", OptionKind::Enum(&["zlib", "snappy", "lz4", "raw"]), "Compression.").default("zlib"),
    Opt::new("total.buffer-size", OptionKind::MemorySize, "Memory of all buffers.").default("64MB"),
    Opt::new("bucket.buffer-size", OptionKind::MemorySize, "Memory of one bucket's buffer.").default("4MB"),
    Opt::new("commit.thread-num", OptionKind::at_least(1), "Parallel commits.").default("16"),
    Opt::new("flush.concurrent-num", OptionKind::at_least(1), "Parallel flushes.").default("4"),
];

pub(super) const OCEANBASE: &[Opt] = &[
    Opt::text("url", "JDBC address.").required(),
    Opt::text("username", "User.").required(),
    Opt::text("password", "Password.").required().secret(),
    Opt::text("driver-class-name", "JDBC driver.")
        .default("com.mysql.cj.jdbc.Driver")
        .no_effect("rowferry needs no JDBC driver"),
    Opt::text("druid-properties", "Properties of the connection pool.").no_effect("rowferry has no Druid pool"),
    Opt::new("memstore-check.enabled", OptionKind::Bool, "Whether the memstore is watched.").default("true"),
    Opt::new("memstore-check.threshold", OptionKind::Double { min: 0.0, max: 1.0 }, "Its limit.").default("0.9"),
    Opt::new("memstore-check.interval", OptionKind::DURATION, "How often it is looked at.").default("30s"),
    Opt::new("partition.enabled", OptionKind::Bool, "Whether rows are grouped by partition.").default("false"),
    Opt::new("sync-write", OptionKind::Bool, "Whether rows are written without a buffer.").default("false"),
    Opt::new("buffer-flush.interval", OptionKind::DURATION, "Longest wait of a buffered row.").default("1s"),
    Opt::new("buffer-flush.buffer-size", OptionKind::at_least(1), "Most buffered rows.").default("1000"),
    Opt::new("max-retries", OptionKind::at_least(0), "Retries.").default("3"),
];
