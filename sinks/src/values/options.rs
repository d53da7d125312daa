//! The options of the `values` sink.

use crate::options::{OptionKind, OptionSpec as Opt};

/// The options of the `values` sink.
pub const OPTIONS: &[Opt] = &[
    Opt::new("print.enabled", OptionKind::Bool, "Whether events are printed to the standard output.").default("true"),
    Opt::new("sink.print.logger", OptionKind::Bool, "Whether events go to the log instead of the standard output.")
        .default("false"),
    Opt::new("sink.print.standard-error", OptionKind::Bool, "Whether events go to the standard error.")
        .default("false"),
    Opt::new("sink.print.limit", OptionKind::LONG, "Most events that are printed; a negative number: all."),
    Opt::new("error.on.schema.change", OptionKind::Bool, "Whether every schema change fails; for tests.")
        .default("false"),
    Opt::new(
        "rowferry.format",
        OptionKind::Enum(&["lines", "json"]),
        "Flink CDC's lines, or one JSON object per event.",
    )
    .default("lines"),
    Opt::new("materialized.in.memory", OptionKind::Bool, "Whether tables are kept in memory.")
        .default("false")
        .no_effect("nothing could read such tables"),
    Opt::new("sink.api", OptionKind::Enum(&["SINK_V2", "SINK_FUNCTION"]), "Flink's sink interface.")
        .default("SINK_V2")
        .no_effect("it chooses between interfaces of Flink"),
    Opt::text("event-set.id", "Test data of the values source.").no_effect("it belongs to Flink CDC's test source"),
    Opt::new("failure.injection.index", OptionKind::INT, "Where the values source fails.")
        .no_effect("it belongs to Flink CDC's test source"),
    Opt::new("batch-mode.enabled", OptionKind::Bool, "Whether the values source ends.")
        .no_effect("it belongs to Flink CDC's test source"),
];
