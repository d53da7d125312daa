//! Draining the binlog into a sink that throws away.

use crate::child::Usage;
use crate::pipeline::{From, Into, Pipeline};
use crate::report::Target;
use crate::server::Place;
use crate::workload::{self, Sizes};
use crate::yardstick::Yardstick;
use crate::{Bench, Result};

/// The tables that are drained.
pub(crate) const TABLES: &str = "bl.sbtest1,bl.wide";

/// The most memory that any run may take, in MB.
pub(crate) const PEAK_MB: f64 = 300.0;

/// The whole log, then the part of the 25-column table.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let phases = workload::generate(&bench.server, bench.scale).await?;
    let sizes = Sizes::at(bench.scale);
    if phases.start.file == phases.end.file {
        let bytes = (phases.end.pos - phases.start.pos) as f64;
        bench.report.figure("drain.binlog", bytes / 1e6, "MB", Target::None);
    }
    let all = side_by_side(bench, "drain.all", &phases.start, sizes.all_changes())?;
    if let Some(rowferry) = all.rowferry {
        let report = &mut bench.report;
        report.figure("drain.all.speed_to_discard", all.discard.wall / rowferry.wall, "x", Target::AtLeast(0.8));
        report.figure("drain.all.speed_to_naive", all.naive.wall / rowferry.wall, "x", Target::AtLeast(3.0));
        report.figure("drain.all.cpu_to_discard", rowferry.cpu / all.discard.cpu, "x", Target::AtMost(2.0));
        report.figure("drain.all.rowferry.peak", rowferry.peak_mb, "MB", Target::AtMost(PEAK_MB));
    }
    let wide = side_by_side(bench, "drain.wide", &phases.wide, sizes.wide_changes)?;
    if let Some(rowferry) = wide.rowferry {
        let report = &mut bench.report;
        report.figure(
            "drain.wide.rows_a_cpu_second_to_naive",
            wide.naive.cpu / rowferry.cpu,
            "x",
            Target::AtLeast(6.0),
        );
        report.figure("drain.wide.rowferry.peak", rowferry.peak_mb, "MB", Target::AtMost(PEAK_MB));
    }
    Ok(())
}

struct SideBySide {
    discard: Usage,
    naive: Usage,
    rowferry: Option<Usage>,
}

/// Runs all three in turns and prints what each took.
fn side_by_side(bench: &mut Bench, name: &str, from: &Place, changes: u64) -> Result<SideBySide> {
    let (mut discard, mut naive, mut rowferry) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.runs {
        discard.push(Yardstick::Discard(from.clone()).run(bench, changes)?);
        naive.push(Yardstick::Naive(from.clone()).run(bench, changes)?);
        if let Some(pipeline) = Pipeline::new(bench, TABLES, &From::Binlog(from.clone()), Into::Nowhere)? {
            rowferry.push(pipeline.run(changes)?);
        }
    }
    let out = SideBySide {
        discard: Usage::median(&discard),
        naive: Usage::median(&naive),
        rowferry: (!rowferry.is_empty()).then(|| Usage::median(&rowferry)),
    };
    usage(bench, &format!("{name}.discard"), out.discard, changes);
    usage(bench, &format!("{name}.naive"), out.naive, changes);
    if let Some(rowferry) = out.rowferry {
        usage(bench, &format!("{name}.rowferry"), rowferry, changes);
    }
    Ok(out)
}

/// The plain figures of one reader.
pub(crate) fn usage(bench: &mut Bench, name: &str, usage: Usage, rows: u64) {
    let report = &mut bench.report;
    report.figure(&format!("{name}.wall"), usage.wall, "s", Target::None);
    report.figure(&format!("{name}.cpu"), usage.cpu, "s", Target::None);
    report.figure(&format!("{name}.rows_a_second"), rows as f64 / usage.wall, "1/s", Target::None);
    report.figure(&format!("{name}.rows_a_cpu_second"), rows as f64 / usage.cpu, "1/s", Target::None);
}
