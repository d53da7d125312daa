//! The binlog, drained into StarRocks and Doris. Their place takes a server that reads what it is sent and says yes: what
//! is measured is rowferry, from the log to the last byte of the loads, beside itself with a sink that throws away.

use crate::child::{self, Usage};
use crate::discard::Discard;
use crate::drain::{TABLES, usage};
use crate::pipeline::{From, Into, Pipeline};
use crate::report::{Target, median};
use crate::server::Place;
use crate::workload::{self, Sizes};
use crate::{Bench, Result};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The hidden first argument: a server in a process of its own, so that its CPU time can be told apart.
pub(crate) const COMMAND: &str = "olap-server";

/// A sink, once it is known where its server is.
type At = fn(SocketAddr) -> Into;

/// How fast a sink must be, as a part of the speed of `values`.
const LEAST: f64 = 0.5;

/// The whole log, then the part of the 25-column table.
pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    if bench.rowferry.is_none() {
        bench.report.note("olap: no rowferry given, nothing to measure");
        return Ok(());
    }
    let phases = workload::generate(&bench.server, bench.scale).await?;
    let sizes = Sizes::at(bench.scale);
    side_by_side(bench, "olap.all", &phases.start, sizes.all_changes())?;
    side_by_side(bench, "olap.wide", &phases.wide, sizes.wide_changes)
}

/// Runs all three in turns and prints what each took.
fn side_by_side(bench: &mut Bench, name: &str, from: &Place, changes: u64) -> Result<()> {
    let from = From::Binlog(from.clone());
    let kinds: [(&str, At); 2] = [("starrocks", Into::StarRocks), ("doris", Into::Doris)];
    let mut values = Vec::new();
    let mut sinks = [Vec::new(), Vec::new()];
    for _ in 0..bench.runs {
        values.push(run(bench, &from, Into::Nowhere, changes)?);
        for ((_, into), taken) in kinds.iter().zip(&mut sinks) {
            let server = Server::start()?;
            let usage = run(bench, &from, into(server.address), changes)?;
            taken.push((usage, server.stop()?));
        }
    }
    let values = Usage::median(&values);
    usage(bench, &format!("{name}.values"), values, changes);
    for ((kind, _), taken) in kinds.iter().zip(sinks) {
        let name = format!("{name}.{kind}");
        let (usages, served): (Vec<Usage>, Vec<Served>) = taken.into_iter().unzip();
        let sink = Usage::median(&usages);
        usage(bench, &name, sink, changes);
        let report = &mut bench.report;
        report.figure(&format!("{name}.peak"), sink.peak_mb, "MB", Target::None);
        report.figure(&format!("{name}.body"), median(served.iter().map(|s| s.bytes as f64 / 1e6)), "MB", Target::None);
        // On as many cores as there are, the server takes its share from rowferry.
        let server_cpu = median(served.iter().map(|s| s.cpu));
        report.figure(&format!("{name}.server_cpu"), server_cpu, "s", Target::None);
        report.figure(&format!("{name}.server_cpu_to_wall"), server_cpu / sink.wall, "x", Target::None);
        report.figure(&format!("{name}.cpu_to_values"), sink.cpu / values.cpu, "x", Target::None);
        report.figure(&format!("{name}.speed_to_values"), values.wall / sink.wall, "x", Target::AtLeast(LEAST));
    }
    Ok(())
}

fn run(bench: &Bench, from: &From, into: Into, changes: u64) -> Result<Usage> {
    Pipeline::new(bench, TABLES, from, into)?.ok_or("there is no rowferry to run")?.run(changes)
}

/// What a server took and got.
#[derive(Clone, Copy, Debug)]
struct Served {
    cpu: f64,
    bytes: u64,
}

/// The process of a server, as its parent sees it.
struct Server {
    address: SocketAddr,
    process: Child,
    says: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut says = BufReader::new(process.stdout.take().ok_or("the server has no output")?);
        let mut line = String::new();
        says.read_line(&mut line)?;
        Ok(Self { address: line.trim().parse()?, process, says })
    }

    /// Ends it by closing its input; it says how many bytes have come.
    fn stop(mut self) -> Result<Served> {
        let cpu = child::cpu(&self.process)?;
        drop(self.process.stdin.take());
        let mut line = String::new();
        self.says.read_line(&mut line)?;
        self.process.wait()?;
        let bytes: u64 = line.trim().parse()?;
        if bytes == 0 {
            return Err("nothing was loaded into the server".into());
        }
        Ok(Served { cpu, bytes })
    }
}

impl Drop for Server {
    // A run that fails must not leave it behind.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process of a server: prints where it listens, and at its input's end how many bytes have come.
pub(crate) fn serve() -> Result<()> {
    let server = Discard::start()?;
    println!("{}", server.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{}", server.bytes());
    Ok(())
}
