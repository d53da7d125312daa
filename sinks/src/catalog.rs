//! All sinks that pipeline files may name: those of this version, and those that it only knows by name and options.

mod lake;
mod queue;
mod search;
mod warehouse;

use crate::options::{OptionProblem, OptionSpec, Options};
use std::ops::RangeInclusive;

/// A type of sink: how it is named and configured, and what that means for the rest of a pipeline.
#[derive(Clone, Debug)]
pub struct SinkKind {
    /// The `type` in YAML.
    pub name: &'static str,
    /// Its options, without `type`, `name` and the schema change filters, which all sinks have.
    pub options: &'static [OptionSpec],
    /// Whether this version can write to it.
    pub available: bool,
    /// Whether `include.schema.changes` and `exclude.schema.changes` have an effect in Flink CDC's sink.
    pub filters_schema_changes: bool,
    /// Whether it decides itself how rows are spread over writers, so that `sink.partitioning.strategy` must stay
    /// SINK_DEFINED.
    pub own_partitioning: bool,
    /// Whether an unknown option is an error. Flink CDC's MaxCompute sink takes any.
    pub strict: bool,
    /// Of how many parts a target table's name may consist.
    pub target_parts: RangeInclusive<usize>,
    /// What is wrong with a set of options beyond single values.
    pub check: fn(&Options) -> Vec<OptionProblem>,
}

/// What most sinks have in common; the base of the constants.
const BASE: SinkKind = SinkKind {
    name: "",
    options: &[],
    available: false,
    filters_schema_changes: true,
    own_partitioning: false,
    strict: true,
    target_parts: 2..=2,
    check: no_check,
};

fn no_check(_: &Options) -> Vec<OptionProblem> {
    Vec::new()
}

/// Every sink that is known by name.
pub static SINKS: &[SinkKind] = &[
    SinkKind {
        name: "values",
        options: crate::values::OPTIONS,
        available: cfg!(feature = "values"),
        target_parts: 1..=3,
        ..BASE
    },
    SinkKind {
        name: "paimon",
        options: crate::paimon::OPTIONS,
        available: cfg!(feature = "paimon"),
        own_partitioning: true,
        check: crate::paimon::check_options,
        ..BASE
    },
    SinkKind {
        name: "starrocks",
        options: warehouse::STARROCKS,
        available: cfg!(feature = "starrocks"),
        check: warehouse::check_starrocks,
        ..BASE
    },
    SinkKind {
        name: "doris",
        options: warehouse::DORIS,
        available: cfg!(feature = "doris"),
        check: warehouse::check_doris,
        ..BASE
    },
    // The same server, sold by another name.
    SinkKind {
        name: "selectdb",
        options: warehouse::DORIS,
        available: cfg!(feature = "doris"),
        check: warehouse::check_doris,
        ..BASE
    },
    SinkKind { name: "hologres", options: warehouse::HOLOGRES, target_parts: 2..=3, ..BASE },
    SinkKind {
        name: "maxcompute",
        options: warehouse::MAXCOMPUTE,
        filters_schema_changes: false,
        own_partitioning: true,
        strict: false,
        target_parts: 1..=3,
        ..BASE
    },
    SinkKind { name: "oceanbase", options: warehouse::OCEANBASE, filters_schema_changes: false, ..BASE },
    SinkKind { name: "iceberg", options: lake::ICEBERG, target_parts: 2..=3, ..BASE },
    SinkKind { name: "fluss", options: lake::FLUSS, own_partitioning: true, ..BASE },
    SinkKind { name: "hudi", options: lake::HUDI, filters_schema_changes: false, ..BASE },
    SinkKind { name: "kafka", options: queue::KAFKA, target_parts: 1..=3, check: queue::check_kafka, ..BASE },
    SinkKind { name: "upsert-kafka", options: queue::UPSERT_KAFKA, target_parts: 1..=3, strict: false, ..BASE },
    SinkKind {
        name: "elasticsearch",
        options: search::ELASTICSEARCH,
        filters_schema_changes: false,
        target_parts: 1..=3,
        ..BASE
    },
];

/// The sink of a `type`; the spelling must be exact.
pub fn find_sink(name: &str) -> Option<&'static SinkKind> {
    SINKS.iter().find(|sink| sink.name == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a broken table must fail the test")]

    use super::*;
    use crate::options::default_is_sound;

    #[test]
    fn tables_are_sound() {
        for sink in SINKS {
            let mut seen = std::collections::BTreeSet::new();
            for spec in sink.options {
                assert!(seen.insert(spec.name), "{} has {} twice", sink.name, spec.name);
                assert!(default_is_sound(spec), "{}: default of {}", sink.name, spec.name);
                assert_eq!(spec.prefix, spec.name.ends_with('.'), "{}: {}", sink.name, spec.name);
                assert!(!(spec.required && spec.default.is_some()), "{}: {}", sink.name, spec.name);
                assert!(!spec.doc.is_empty(), "{}: {}", sink.name, spec.name);
            }
        }
    }

    #[test]
    fn the_most_exact_option_wins() {
        let kafka = find_sink("kafka").map(|s| s.options).unwrap_or_default();
        assert_eq!(OptionSpec::find(kafka, "properties.acks").map(|s| s.name), Some("properties."));
        assert_eq!(
            OptionSpec::find(kafka, "properties.bootstrap.servers").map(|s| s.name),
            Some("properties.bootstrap.servers")
        );
        assert!(OptionSpec::find(kafka, "properties.").is_none());
    }
}
