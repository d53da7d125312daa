//! The options of the `paimon` sink.

use crate::options::{OptionKind, OptionProblem, OptionSpec as Opt, Options, PerTable};

/// The options of the `paimon` sink.
pub const OPTIONS: &[Opt] = &[
    Opt::text("catalog.properties.metastore", "Kind of catalog; this version has filesystem.").required(),
    Opt::text("catalog.properties.warehouse", "Where the warehouse is: a directory or a `file:` address."),
    Opt::text("catalog.properties.uri", "Address of the catalog's service."),
    Opt::prefixed("catalog.properties.", "Any other property of the catalog."),
    Opt::text("commit.user-prefix", "First part of the commit user that snapshots carry.")
        .default("admin")
        .alias(&["commit.user"]),
    Opt::new(
        "partition.key",
        OptionKind::PerTable(PerTable::Columns),
        "Partition columns by target table: `db.t1:c1,c2;db.t2:c3`.",
    )
    .default(""),
    Opt::prefixed("table.properties.", "Properties of tables that are created."),
    Opt::new(
        "rowferry.time-type",
        OptionKind::Enum(&["TIME", "STRING"]),
        "How MySQL's TIME is kept: as TIME, or as text so that values beyond 24 hours fit.",
    )
    .default("TIME"),
    Opt::new(
        "rowferry.buffer-bytes",
        OptionKind::at_least(1),
        "Bytes of rows that may wait in memory, over all tables.",
    )
    .default("67108864"),
];

/// What is wrong with the options beyond single values.
pub fn check_options(options: &Options) -> Vec<OptionProblem> {
    const METASTORE: &str = "catalog.properties.metastore";
    const WAREHOUSE: &str = "catalog.properties.warehouse";
    let mut problems = Vec::new();
    match options.text(METASTORE) {
        None | Some("filesystem") => {}
        Some(known @ ("hive" | "rest" | "jdbc")) => {
            let message = format!("this version of rowferry has no `{known}` catalog for Paimon");
            problems.push(OptionProblem::unsupported(METASTORE, message));
            return problems;
        }
        Some(other) => {
            let message = format!("`{other}` is not a catalog of Paimon: filesystem, hive, rest or jdbc");
            problems.push(OptionProblem::invalid(METASTORE, message));
            return problems;
        }
    }
    match options.text(WAREHOUSE) {
        None => {
            let problem = OptionProblem::invalid(WAREHOUSE, "is missing: a filesystem catalog needs it");
            problems.push(problem.hint("write the directory of the lake"));
        }
        Some(place) => {
            if let Some((scheme, _)) = place.split_once("://")
                && scheme != "file"
            {
                let message =
                    format!("this version of rowferry writes Paimon tables to local files, not to `{scheme}`");
                problems.push(OptionProblem::unsupported(WAREHOUSE, message));
            }
        }
    }
    problems
}
