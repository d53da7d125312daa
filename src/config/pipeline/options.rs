//! The options of the `pipeline` block.

use super::DEFAULT_SCHEMA_UID;
use rowferry_sinks::options::{OptionKind, OptionSpec as Opt};

/// The options of the `pipeline` block, without functions and models.
pub const PIPELINE_OPTIONS: &[Opt] = &[
    Opt::text("name", "What the pipeline is called; its state is kept under this name.")
        .default("Flink CDC Pipeline Job"),
    Opt::new("parallelism", OptionKind::at_least(1), "Parallel readers and workers.").default("1"),
    Opt::new("execution.runtime-mode", OptionKind::Enum(&["STREAMING", "BATCH"]), "Go on for ever, or copy and end.")
        .default("STREAMING"),
    Opt::new(
        "schema.change.behavior",
        OptionKind::Enum(&["IGNORE", "LENIENT", "TRY_EVOLVE", "EVOLVE", "EXCEPTION"]),
        "What happens to schema changes.",
    )
    .default("LENIENT"),
    Opt::new("route-mode", OptionKind::Enum(&["ALL_MATCH", "FIRST_MATCH"]), "Which route rules a table takes.")
        .default("ALL_MATCH"),
    Opt::text("local-time-zone", "Zone in which instants become wall times.").default("systemDefault"),
    Opt::text("operator.uid.prefix", "Prefix of the ids of Flink's operators.")
        .no_effect("rowferry has no operators of Flink"),
    Opt::text("schema.operator.uid", "Id of Flink's schema operator.")
        .default(DEFAULT_SCHEMA_UID)
        .no_effect("rowferry has no operators of Flink"),
    Opt::new("schema-operator.rpc-timeout", OptionKind::DURATION, "Longest wait for a schema change.").default("3 min"),
    Opt::new(
        "sink.partitioning.strategy",
        OptionKind::Enum(&["SINK_DEFINED", "PRIMARY_KEY", "TABLE_ID"]),
        "How rows are spread over writers.",
    )
    .default("SINK_DEFINED"),
    Opt::new(
        "transform.decimal.precision.mode",
        OptionKind::Enum(&["UP_TO_19", "UP_TO_38"]),
        "The greatest DECIMAL precision in transforms.",
    )
    .default("UP_TO_19"),
    Opt::new(
        "schema.change.skip-duplicate-column.enabled",
        OptionKind::Bool,
        "Whether a column that the target has already is not added again.",
    )
    .default("false"),
    Opt::new(
        "schema.change.skip-create-table.enabled",
        OptionKind::Bool,
        "Whether tables are never created in the sink.",
    )
    .default("false"),
    Opt::new(
        "transform.allow.trimming.pk-columns",
        OptionKind::Bool,
        "Whether transforms may leave out columns of the primary key.",
    )
    .default("false"),
    Opt::new(
        "rowferry.transform.strict",
        OptionKind::Bool,
        "Whether a value in a transform that does not fit its type is an error, instead of wrapping around or NULL.",
    )
    .default("false"),
    Opt::new(
        "rowferry.transform.null-comparison",
        OptionKind::Enum(&["FLINK_CDC", "SQL"]),
        "What a comparison with NULL gives in transforms: FALSE (TRUE for `<>`), or NULL.",
    )
    .default("FLINK_CDC"),
    Opt::new("rowferry.checkpoint.interval", OptionKind::DURATION, "Longest time between two checkpoints.")
        .default("10s"),
    Opt::text("rowferry.state-dir", "Where the state is; else beside the file under `.rowferry`."),
    Opt::new("rowferry.memory", OptionKind::MemorySize, "Memory for rows on their way.").default("128 mb"),
    Opt::text("rowferry.http.address", "Where health and metrics are served: `host:port`; `none`: nowhere.")
        .default("none"),
];
