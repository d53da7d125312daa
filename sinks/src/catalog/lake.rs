//! Options of lake and stream storage sinks that this version can't write to.

use crate::options::{OptionKind, OptionSpec as Opt, PerTable};

pub(super) const ICEBERG: &[Opt] = &[
    Opt::text("catalog.properties.type", "Catalog type: hadoop, hive, glue or rest."),
    Opt::text("catalog.properties.catalog-impl", "Class of a catalog of one's own."),
    Opt::text("catalog.properties.io-impl", "Class that reads and writes files."),
    Opt::text("catalog.properties.warehouse", "Where the warehouse is."),
    Opt::text("catalog.properties.uri", "Address of the catalog's service."),
    Opt::prefixed("catalog.properties.", "Any other property of the catalog."),
    Opt::prefixed("table.properties.", "Properties of tables that are created."),
    Opt::prefixed("hadoop.conf.", "Hadoop configuration."),
    Opt::new("partition.key", OptionKind::PerTable(PerTable::PartitionFields), "Partition fields by table.")
        .default(""),
    Opt::new("sink.compaction.enabled", OptionKind::Bool, "Whether small files are merged.").default("false"),
    Opt::new("sink.compaction.commit.interval", OptionKind::INT, "Commits between two compactions.").default("10"),
    Opt::new("sink.compaction.commit.parallelism", OptionKind::INT, "Parallel compactions; -1: as the pipeline.")
        .default("-1"),
    Opt::text("job.id.prefix", "Prefix of the job id in snapshots.").default("cdc"),
];

pub(super) const FLUSS: &[Opt] = &[
    Opt::text("bootstrap.servers", "Servers to connect to first.").required(),
    Opt::new("bucket.key", OptionKind::PerTable(PerTable::Columns), "Bucket key by table."),
    Opt::new("bucket.num", OptionKind::PerTable(PerTable::Number), "Number of buckets by table."),
    Opt::prefixed("properties.table.", "Properties of tables that are created."),
    Opt::prefixed("properties.client.", "Properties of the client."),
];

pub(super) const HUDI: &[Opt] = &[
    Opt::text("path", "Where the tables are.").required(),
    Opt::new("hoodie.table.type", OptionKind::Enum(&["MERGE_ON_READ"]), "Table type."),
    Opt::new("index.type", OptionKind::Enum(&["BUCKET"]), "Index type."),
    Opt::text("ordering.fields", "Fields that decide which of two rows with one key is newer."),
    Opt::new("write.tasks", OptionKind::at_least(1), "Parallel writers.").default("4"),
    Opt::prefixed("table.properties.", "Properties of tables that are created."),
    Opt::prefixed("hoodie.", "Any other option of Hudi."),
];
