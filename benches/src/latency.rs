//! From commit to output, from start to the first row, and at rest.

use crate::pipeline::{From, Into, Pipeline};
use crate::report::{Target, percentile};
use crate::{Bench, Result, child, workload};
use mysql_async::prelude::Queryable;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Rows a second.
const RATE: f64 = 1000.0;

/// A line of rowferry, and when it came.
struct Line {
    at: Instant,
    at_us: i64,
    /// `ts_us` of the row, for rows of `bl.lat`.
    ts_us: Option<i64>,
}

/// One run gives all three figures.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    // The row before the start is what "first row" means.
    workload::generate(&bench.server, bench.scale).await?;
    let from = bench.server.place().await?;
    let Some(pipeline) = Pipeline::new(bench, "bl.lat", &From::Binlog(from), Into::Lines)? else {
        bench.report.note("latency: no rowferry given, nothing to measure");
        return Ok(());
    };
    let mut connection = bench.server.connect().await?;
    insert(&mut connection).await?;

    let started = Instant::now();
    let mut rowferry = pipeline.command()?.stdout(Stdio::piped()).spawn()?;
    let lines = read_lines(&mut rowferry)?;
    let outcome = figures(bench, &mut connection, started, &rowferry, &lines).await;
    let stopped = child::stop(rowferry);
    outcome.map_err(|e| format!("{e}\n{}", pipeline.log_tail()))?;
    stopped?;
    Ok(())
}

async fn figures(
    bench: &mut Bench,
    connection: &mut mysql_async::Conn,
    started: Instant,
    rowferry: &Child,
    lines: &mpsc::Receiver<Line>,
) -> Result<()> {
    let first = next_row(lines, Duration::from_secs(30)).ok_or("no row came within 30 s of the start")?;
    let first = first.at.duration_since(started).as_secs_f64();
    bench.report.figure("latency.start_to_first_row", first, "s", Target::AtMost(2.0));

    let seconds = (30.0 * bench.scale).clamp(5.0, 60.0);
    let rows = (seconds * RATE) as u64;
    let begun = Instant::now();
    for n in 0..rows {
        let due = begun + Duration::from_secs_f64(n as f64 / RATE);
        let ahead = due.saturating_duration_since(Instant::now());
        if ahead > Duration::from_micros(1500) {
            tokio::time::sleep(ahead - Duration::from_millis(1)).await;
        }
        while Instant::now() < due {
            std::thread::yield_now();
        }
        insert(connection).await?;
    }
    let rate = rows as f64 / begun.elapsed().as_secs_f64();
    let mut delays = Vec::new();
    while (delays.len() as u64) < rows {
        let Some(line) = next_row(lines, Duration::from_secs(20)) else {
            return Err(format!("{} of {rows} rows came", delays.len()).into());
        };
        delays.extend(line.ts_us.map(|ts_us| (line.at_us - ts_us) as f64 / 1000.0));
    }
    let report = &mut bench.report;
    report.figure("latency.rows_a_second", rate, "1/s", Target::None);
    report.figure("latency.p50", percentile(delays.iter().copied(), 0.5), "ms", Target::None);
    report.figure("latency.p99", percentile(delays.iter().copied(), 0.99), "ms", Target::AtMost(100.0));
    report.figure("latency.max", percentile(delays.iter().copied(), 1.0), "ms", Target::None);

    let rest = Duration::from_secs_f64((20.0 * bench.scale).clamp(10.0, 30.0));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (before, since) = (child::cpu(rowferry)?, Instant::now());
    tokio::time::sleep(rest).await;
    let idle = (child::cpu(rowferry)? - before) / since.elapsed().as_secs_f64() * 100.0;
    report.figure("latency.idle_cpu", idle, "%", Target::AtMost(1.0));
    report.figure("latency.peak", child::peak_mb(rowferry), "MB", Target::AtMost(crate::drain::PEAK_MB));
    Ok(())
}

/// One row in a transaction of its own. Its time is taken before the statement is sent: the commit itself counts too.
async fn insert(connection: &mut mysql_async::Conn) -> Result<()> {
    let sql = format!("INSERT INTO bl.lat (ts_us, v) VALUES ({}, 'a row of the latency measurement')", now_us());
    Ok(connection.query_drop(sql).await?)
}

fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64)
}

fn next_row(lines: &mpsc::Receiver<Line>, within: Duration) -> Option<Line> {
    let until = Instant::now() + within;
    loop {
        let line = lines.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
        if line.ts_us.is_some() {
            return Some(line);
        }
    }
}

fn read_lines(rowferry: &mut Child) -> Result<mpsc::Receiver<Line>> {
    let stdout = rowferry.stdout.take().ok_or("rowferry has no standard output")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for text in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
            let line = Line { at: Instant::now(), at_us: now_us(), ts_us: ts_us(&text) };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// `ts_us` of a line such as `DataChangeEvent{tableId=bl.lat, before=[], after=[1, 1700000000000000, x], op=INSERT, …}`.
fn ts_us(line: &str) -> Option<i64> {
    let (_, after) = line.split_once("tableId=bl.lat, before=[], after=[")?;
    after.split(", ").nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_rows_have_a_time() {
        let row = "DataChangeEvent{tableId=bl.lat, before=[], after=[1, 1700000000000000, x], op=INSERT, meta=()}";
        assert_eq!(ts_us(row), Some(1_700_000_000_000_000));
        assert_eq!(ts_us("CreateTableEvent{tableId=bl.lat, schema=columns={}}"), None);
    }
}
