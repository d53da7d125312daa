//! Peaks: with ten times the rows, and with one huge transaction.

use crate::drain::PEAK_MB;
use crate::pipeline::{From, Into, Pipeline};
use crate::report::Target;
use crate::workload::{self, Sizes};
use crate::{Bench, Result};
use mysql_async::prelude::Queryable;

/// "Ten times the rows" is asked the other way round: a tenth of each table is measured beside the whole of it. Loading
/// ten times the workload would take an hour and a half; who wants it says `--scale 10`.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    if bench.rowferry.is_none() {
        bench.report.note("memory: no rowferry given, nothing to measure");
        return Ok(());
    }
    let sizes = Sizes::at(bench.scale);
    for (name, table, rows) in [("narrow", "snap.sbtest1", sizes.narrow), ("wide", "snap.wide", sizes.wide)] {
        let tenth = format!("{table}_tenth");
        copy(bench, table, &tenth, rows / 10).await?;
        let small = peak(bench, &tenth, &From::Snapshot, rows / 10)?;
        let large = peak(bench, table, &From::Snapshot, rows)?;
        growth(bench, &format!("memory.snapshot_{name}"), small, large);
    }

    let phases = workload::generate(&bench.server, bench.scale).await?;
    let small = peak(bench, crate::drain::TABLES, &From::Binlog(phases.wide.clone()), sizes.wide_changes)?;
    let large = peak(bench, crate::drain::TABLES, &From::Binlog(phases.start.clone()), sizes.all_changes())?;
    growth(bench, "memory.drain", small, large);

    let from = bench.server.place().await?;
    let rows = sizes.big_transaction;
    let mut connection = bench.server.connect().await?;
    connection.query_drop("SET SESSION sql_log_bin=0").await?;
    connection.query_drop("TRUNCATE TABLE bl.big").await?;
    connection.query_drop("SET SESSION sql_log_bin=1").await?;
    connection.query_drop(format!("INSERT INTO bl.big SELECT * FROM snap.sbtest1 WHERE id <= {rows}")).await?;
    let one = peak(bench, "bl.big", &From::Binlog(from), rows)?;
    bench.report.figure("memory.one_transaction.rows", rows as f64, "rows", Target::None);
    bench.report.figure("memory.one_transaction.peak", one, "MB", Target::AtMost(PEAK_MB));
    Ok(())
}

fn growth(bench: &mut Bench, name: &str, small: f64, large: f64) {
    bench.report.figure(&format!("{name}.peak_of_a_tenth"), small, "MB", Target::AtMost(PEAK_MB));
    bench.report.figure(&format!("{name}.peak"), large, "MB", Target::AtMost(PEAK_MB));
    bench.report.figure(&format!("{name}.growth"), large / small, "x", Target::None);
}

/// The peak of one run, in MB.
fn peak(bench: &Bench, tables: &str, from: &From, rows: u64) -> Result<f64> {
    let pipeline = Pipeline::new(bench, tables, from, Into::Nowhere)?.ok_or("there is no rowferry to run")?;
    Ok(pipeline.run(rows)?.peak_mb)
}

async fn copy(bench: &Bench, from: &str, to: &str, rows: u64) -> Result<()> {
    let mut connection = workload::unlogged(&bench.server).await?;
    connection.query_drop(format!("DROP TABLE IF EXISTS {to}")).await?;
    connection.query_drop(format!("CREATE TABLE {to} LIKE {from}")).await?;
    connection.query_drop(format!("INSERT INTO {to} SELECT * FROM {from} WHERE id <= {rows}")).await?;
    connection.query_drop(format!("ANALYZE TABLE {to}")).await?;
    Ok(())
}
