//! The benchmark program: rowferry as a child process against yardsticks that are child processes too, on the same
//! server and in the same run. `scripts/bench` builds everything, starts the server and calls this.

mod child;
mod discard;
mod drain;
mod latency;
mod memory;
mod olap;
mod paimon;
mod pipeline;
mod report;
mod server;
mod snapshot;
mod workload;
mod yardstick;

use clap::{Parser, ValueEnum};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;

/// Whatever goes wrong ends the program; nobody handles it.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The binlog, read into a sink that throws away.
    Drain,
    /// Tables, read into a sink that throws away.
    Snapshot,
    /// The binlog, read into StarRocks and Doris that only read what they are sent.
    Olap,
    /// The binlog and tables, read into a local Paimon lake.
    Paimon,
    /// From commit to output, from start to the first row, and at rest.
    Latency,
    /// Peaks with ten times the rows and with one huge transaction.
    Memory,
}

#[derive(Debug, Parser)]
#[command(about = "Measures rowferry against the yardsticks `discard` and `naive`")]
struct Arguments {
    /// What to measure; everything if not given.
    parts: Vec<Part>,
    /// The server, as `mysql://USER:PASSWORD@HOST:PORT`. Its binary log is reset!
    #[arg(long)]
    url: String,
    /// The rowferry program; without it only the yardsticks run.
    #[arg(long)]
    rowferry: Option<PathBuf>,
    /// How much of the workload: 1 is all of it.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// How often each thing is measured, in turns; the median counts.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// `pipeline.parallelism` of rowferry.
    #[arg(long, default_value_t = 2)]
    parallelism: usize,
    /// Fail where a target is missed.
    #[arg(long)]
    check: bool,
}

/// What every part needs.
struct Bench {
    server: server::Server,
    rowferry: Option<PathBuf>,
    scale: f64,
    runs: usize,
    parallelism: usize,
    report: Report,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.get(1).map(String::as_str) {
        Some(yardstick::COMMAND) => yardstick::main(arguments.get(2..).unwrap_or_default()).map(|()| true),
        Some(olap::COMMAND) => olap::serve().map(|()| true),
        _ => measure(Arguments::parse()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Gives `false` where a target was missed and that counts.
fn measure(arguments: Arguments) -> Result<bool> {
    if arguments.scale <= 0.0 || arguments.runs == 0 {
        return Err("--scale and --runs must be above zero".into());
    }
    let parts = if arguments.parts.is_empty() { Part::value_variants().to_vec() } else { arguments.parts };
    let runtime = server::runtime()?;
    runtime.block_on(async {
        let server = server::Server::new(&arguments.url)?;
        server.configure().await?;
        let mut bench = Bench {
            server,
            rowferry: arguments.rowferry,
            scale: arguments.scale,
            runs: arguments.runs,
            parallelism: arguments.parallelism,
            report: Report::default(),
        };
        bench.report.note(&format!(
            "scale {}, {} runs each, parallelism {}, {} cores, server {}",
            bench.scale,
            bench.runs,
            bench.parallelism,
            std::thread::available_parallelism().map_or(0, usize::from),
            bench.server.version().await?
        ));
        workload::load(&bench.server, bench.scale).await?;
        for part in parts {
            match part {
                Part::Drain => drain::measure(&mut bench).await?,
                Part::Snapshot => snapshot::measure(&mut bench).await?,
                Part::Olap => olap::measure(&mut bench).await?,
                Part::Paimon => paimon::measure(&mut bench).await?,
                Part::Latency => latency::measure(&mut bench).await?,
                Part::Memory => memory::measure(&mut bench).await?,
            }
        }
        let missed = bench.report.missed();
        if missed > 0 {
            bench.report.note(&format!("{missed} targets missed"));
        }
        Ok(missed == 0 || !arguments.check)
    })
}
