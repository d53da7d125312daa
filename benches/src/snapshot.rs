//! Reading tables into a sink that throws away.

use crate::child::Usage;
use crate::drain::{PEAK_MB, usage};
use crate::pipeline::{From, Into, Pipeline};
use crate::report::Target;
use crate::workload::Sizes;
use crate::yardstick::Yardstick;
use crate::{Bench, Result};

/// The narrow table, then the 25-column one.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let sizes = Sizes::at(bench.scale);
    for (name, table, rows) in [("narrow", "snap.sbtest1", sizes.narrow), ("wide", "snap.wide", sizes.wide)] {
        let (mut naive, mut rowferry) = (Vec::new(), Vec::new());
        for _ in 0..bench.runs {
            naive.push(Yardstick::Select(table.to_owned()).run(bench, rows)?);
            if let Some(pipeline) = Pipeline::new(bench, table, &From::Snapshot, Into::Nowhere)? {
                rowferry.push(pipeline.run(rows)?);
            }
        }
        let naive = Usage::median(&naive);
        usage(bench, &format!("snapshot.{name}.naive"), naive, rows);
        if !rowferry.is_empty() {
            let rowferry = Usage::median(&rowferry);
            usage(bench, &format!("snapshot.{name}.rowferry"), rowferry, rows);
            let speed = naive.wall / rowferry.wall;
            bench.report.figure(&format!("snapshot.{name}.speed_to_naive"), speed, "x", Target::AtLeast(1.0));
            let peak = format!("snapshot.{name}.rowferry.peak");
            bench.report.figure(&peak, rowferry.peak_mb, "MB", Target::AtMost(PEAK_MB));
        }
    }
    Ok(())
}
