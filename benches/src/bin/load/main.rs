//! How fast the StarRocks and Doris sinks encode and load rows, into a server that only reads what it is sent: batches
//! that are there already go through the whole sink, checkpoint included. No database is needed:
//!
//! ```sh
//! cargo run --release -p rowferry-bench --bin load [MILLIONS OF ROWS]
//! ```
//!
//! Prints rows and MB a second, and rows a second of CPU time; the server's reading counts too, as it is the same process.

#[path = "../../discard.rs"]
mod discard;
mod workload;

use rowferry_model::{ChangeBatch, SchemaChange};
use rowferry_sinks::{Sink, SinkContext};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Whatever goes wrong ends the program; nobody handles it.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What the issue asks for: one million narrow rows a second and core.
const TARGET: f64 = 1e6;
/// Rows between two checkpoints.
const CHECKPOINT: usize = 1_000_000;

fn main() -> ExitCode {
    let millions: f64 = std::env::args().nth(1).and_then(|m| m.parse().ok()).unwrap_or(4.0);
    match measure((millions * 1e6) as usize) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(rows: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    if cfg!(debug_assertions) {
        println!("# built without optimisation: the figures mean nothing");
    }
    let server = discard::Discard::start()?;
    let address = server.address().to_string();
    for (table, batch) in workload::tables()? {
        for (sink_type, format) in [("doris", "json"), ("doris", "csv"), ("starrocks", "json"), ("starrocks", "csv")] {
            let sink = sink(sink_type, format, &address)?;
            let (wall, cpu, bytes) = runtime.block_on(run(sink, &server, &batch, rows))?;
            let rate = rows as f64 / wall;
            let core = rows as f64 / cpu;
            let verdict = match table {
                "narrow" if core >= TARGET => ">= 1000000 ok",
                "narrow" => ">= 1000000 MISSED",
                _ => "-",
            };
            println!("load.{sink_type}.{format}.{table}.rows              {rate:>14.0} rows/s   -");
            println!(
                "load.{sink_type}.{format}.{table}.body              {:>14.1} MB/s     -",
                bytes as f64 / 1e6 / wall
            );
            println!("load.{sink_type}.{format}.{table}.rows_a_cpu_second {core:>14.0} rows/s   {verdict}");
        }
    }
    Ok(())
}

/// Wall time, CPU time and the bytes that arrived.
async fn run(mut sink: Sink, server: &discard::Discard, batch: &ChangeBatch, rows: usize) -> Result<(f64, f64, u64)> {
    sink.events.recover(None).await.map_err(|e| e.to_string())?;
    let create = SchemaChange::CreateTable { table: batch.table().clone(), schema: Arc::clone(batch.schema()) };
    sink.events.check(create.table(), batch.schema()).map_err(|e| e.to_string())?;
    let before = server.bytes();
    let (start, cpu) = (Instant::now(), cpu_seconds()?);
    let (mut done, mut since, mut checkpoint) = (0, 0, 1);
    while done < rows {
        sink.events.write(batch.clone()).await.map_err(|e| e.to_string())?;
        done += batch.num_rows();
        since += batch.num_rows();
        if since >= CHECKPOINT || done >= rows {
            if let Some(committable) = sink.events.prepare(checkpoint).await.map_err(|e| e.to_string())? {
                sink.events.commit(checkpoint, committable).await.map_err(|e| e.to_string())?;
            }
            checkpoint += 1;
            since = 0;
        }
    }
    Ok((start.elapsed().as_secs_f64(), cpu_seconds()? - cpu, server.bytes() - before))
}

fn sink(sink_type: &str, format: &str, address: &str) -> Result<Sink> {
    let options: &[(&str, &str)] = match sink_type {
        "doris" => &[
            ("fenodes", address),
            ("benodes", address),
            ("sink.enable.batch-mode", "false"),
            ("sink.enable-2pc", "true"),
        ],
        _ => &[("jdbc-url", "jdbc:mysql://127.0.0.1:1"), ("load-url", address)],
    };
    let mut options: BTreeMap<String, String> =
        options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    options.insert("username".to_owned(), "root".to_owned());
    options.insert("password".to_owned(), String::new());
    options.insert("sink.properties.format".to_owned(), format.to_owned());
    let context = SinkContext {
        pipeline: "load".to_owned(),
        parallelism: 2,
        time_zone: "Europe/Berlin".to_owned(),
        instance: "0".repeat(32),
        select: |_| Err("there are no patterns here".to_owned()),
    };
    rowferry_sinks::build(sink_type, &options, &context).map_err(|e| e.to_string().into())
}

/// User and system time of this process so far. The kernel counts in hundredths of a second.
fn cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("/proc/self/stat is not understood")?;
    let ticks: Vec<f64> =
        fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<std::result::Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
