//! Options of message queues that this version can't write to.

use crate::options::{OptionKind, OptionProblem, OptionSpec as Opt, Options, PerTable};

pub(super) const KAFKA: &[Opt] = &[
    Opt::text("properties.bootstrap.servers", "Brokers to connect to first.").required(),
    Opt::prefixed("properties.", "Any other property of the producer."),
    Opt::text("topic", "One topic for all tables."),
    Opt::new(
        "sink.tableId-to-topic.mapping",
        OptionKind::PerTable(PerTable::Topic),
        "Topics by table pattern; the first that matches.",
    ),
    Opt::new(
        "partition.strategy",
        OptionKind::Enum(&["all-to-zero", "hash-by-key"]),
        "Everything to partition 0, or by the hash of the key.",
    )
    .default("all-to-zero"),
    Opt::new("key.format", OptionKind::Enum(&["json", "csv"]), "Format of keys.").default("json"),
    Opt::new("value.format", OptionKind::Enum(&["debezium-json", "canal-json"]), "Format of values.")
        .default("debezium-json"),
    Opt::new(
        "sink.delivery-guarantee",
        OptionKind::Enum(&["none", "at-least-once", "exactly-once"]),
        "What is promised of delivery.",
    )
    .default("at-least-once"),
    Opt::new("sink.add-tableId-to-header-enabled", OptionKind::Bool, "Whether headers name the table.")
        .default("false"),
    Opt::new("sink.custom-header", OptionKind::PerTable(PerTable::Header), "Headers of every message.").default(""),
    Opt::new("debezium-json.include-schema.enabled", OptionKind::Bool, "Whether values hold their schema.")
        .default("false"),
    Opt::prefixed("debezium-json.", "Options of the debezium-json format."),
    Opt::prefixed("canal-json.", "Options of the canal-json format."),
    Opt::prefixed("json.", "Options of the json key format."),
    Opt::prefixed("csv.", "Options of the csv key format."),
];

/// Only the two chosen formats may have options; an exactly-once producer would need a transactional id.
pub(super) fn check_kafka(options: &Options) -> Vec<OptionProblem> {
    let mut problems = Vec::new();
    let chosen = [options.text("key.format").unwrap_or_default(), options.text("value.format").unwrap_or_default()];
    for format in ["debezium-json", "canal-json", "json", "csv"] {
        let prefix = format!("{format}.");
        if chosen.contains(&format) {
            continue;
        }
        for key in options.given().filter(|key| key.starts_with(&prefix)) {
            let problem =
                OptionProblem::invalid(key, format!("is an option of the format {format}, which is not used"));
            problems.push(problem.hint("remove it, or choose the format with key.format or value.format"));
        }
    }
    if options.is_given("topic") && options.is_given("sink.tableId-to-topic.mapping") {
        problems.push(OptionProblem::warning("sink.tableId-to-topic.mapping", "has no effect beside `topic`"));
    }
    problems
}

pub(super) const UPSERT_KAFKA: &[Opt] = &[
    Opt::text("properties.bootstrap.servers", "Brokers to connect to first.").required(),
    Opt::prefixed("properties.", "Any other property of the producer."),
    Opt::text("topic", "One topic for all tables."),
];
