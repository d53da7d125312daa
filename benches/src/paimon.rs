//! The same work into a local Paimon lake.

use crate::drain::{PEAK_MB, TABLES, usage};
use crate::pipeline::{From, Into, Pipeline};
use crate::report::Target;
use crate::workload::{self, Sizes};
use crate::{Bench, Result};

/// The binlog, then both tables. Once each: no target hangs on it, and it takes longest.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let phases = workload::generate(&bench.server, bench.scale).await?;
    let sizes = Sizes::at(bench.scale);
    let parts = [
        ("paimon.drain", TABLES, From::Binlog(phases.start.clone()), sizes.all_changes()),
        ("paimon.drain_wide", TABLES, From::Binlog(phases.wide.clone()), sizes.wide_changes),
        ("paimon.snapshot_narrow", "snap.sbtest1", From::Snapshot, sizes.narrow),
        ("paimon.snapshot_wide", "snap.wide", From::Snapshot, sizes.wide),
    ];
    for (name, tables, from, rows) in parts {
        let Some(pipeline) = Pipeline::new(bench, tables, &from, Into::Paimon)? else {
            bench.report.note("paimon: no rowferry given, nothing to measure");
            return Ok(());
        };
        let took = pipeline.run(rows)?;
        usage(bench, name, took, rows);
        bench.report.figure(&format!("{name}.peak"), took.peak_mb, "MB", Target::AtMost(PEAK_MB));
        let (files, bytes) = pipeline.lake();
        bench.report.figure(&format!("{name}.lake_files"), files as f64, "files", Target::None);
        bench.report.figure(&format!("{name}.lake_bytes"), bytes as f64 / 1e6, "MB", Target::None);
    }
    Ok(())
}
