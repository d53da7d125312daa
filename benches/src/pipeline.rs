//! rowferry as a child process.

use crate::child::{self, Usage};
use crate::server::Place;
use crate::{Bench, Result};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where a run's rows come from.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// The binlog from a place to its end.
    Binlog(Place),
    /// The rows that are there.
    Snapshot,
}

/// Where a run's rows go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Into {
    /// The `values` sink without printing.
    Nowhere,
    /// The `values` sink, printing.
    Lines,
    /// A local Paimon lake.
    Paimon,
    /// A StarRocks at this address, exactly once.
    StarRocks(SocketAddr),
    /// A Doris at this address, exactly once.
    Doris(SocketAddr),
}

/// A pipeline in a directory of its own, which goes away with it.
#[derive(Debug)]
pub(crate) struct Pipeline {
    directory: TempDir,
    program: PathBuf,
    bounded: bool,
}

impl Pipeline {
    /// Writes a pipeline's file. `None`: there is no rowferry to run it.
    pub(crate) fn new(bench: &Bench, tables: &str, from: &From, into: Into) -> Result<Option<Self>> {
        let Some(program) = bench.rowferry.clone() else { return Ok(None) };
        let directory = tempfile::Builder::new().prefix("rowferry-bench-").tempdir()?;
        let (host, port, user, password) = bench.server.address();
        // Without TLS, as the yardsticks read.
        let mut yaml = format!(
            "source:\n  type: mysql\n  hostname: {host}\n  port: {port}\n  username: {user}\n  password: \"{password}\"\n  \
             tables: {tables}\n  server-time-zone: UTC\n  jdbc.properties.useSSL: false\n"
        );
        let bounded = match from {
            From::Binlog(place) => {
                write!(
                    yaml,
                    "  scan.startup.mode: specific-offset\n  scan.startup.specific-offset.file: {}\n  \
                     scan.startup.specific-offset.pos: {}\n",
                    place.file, place.pos
                )?;
                false
            }
            From::Snapshot => {
                yaml.push_str("  scan.startup.mode: snapshot\n");
                true
            }
        };
        match into {
            Into::Nowhere => yaml.push_str("sink:\n  type: values\n  print.enabled: false\n"),
            Into::Lines => yaml.push_str("sink:\n  type: values\n"),
            Into::Paimon => write!(
                yaml,
                "sink:\n  type: paimon\n  catalog.properties.metastore: filesystem\n  \
                 catalog.properties.warehouse: {}\n  table.properties.bucket: 2\n",
                directory.path().join("lake").display()
            )?,
            // Without creating tables: what is measured is the way of rows, and nobody answers to statements.
            Into::StarRocks(address) => write!(
                yaml,
                "sink:\n  type: starrocks\n  jdbc-url: jdbc:mysql://{address}\n  load-url: {address}\n  username: root\n  \
                 password: \"\"\n  exclude.schema.changes: [create.table]\n"
            )?,
            Into::Doris(address) => write!(
                yaml,
                "sink:\n  type: doris\n  fenodes: {address}\n  benodes: {address}\n  username: root\n  password: \"\"\n  \
                 sink.enable.batch-mode: false\n  sink.enable-2pc: true\n  exclude.schema.changes: [create.table]\n"
            )?,
        }
        write!(
            yaml,
            "pipeline:\n  name: bench\n  parallelism: {}\n  local-time-zone: UTC\n",
            if into == Into::Lines { 1 } else { bench.parallelism }
        )?;
        if bounded {
            yaml.push_str("  execution.runtime-mode: BATCH\n");
        }
        std::fs::write(directory.path().join("pipeline.yaml"), yaml)?;
        Ok(Some(Self { directory, program, bounded }))
    }

    /// The command; its log goes into a file, as JSON lines.
    pub(crate) fn command(&self) -> Result<Command> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log())?;
        let mut command = Command::new(&self.program);
        command.arg("run").arg(self.directory.path().join("pipeline.yaml"));
        command.arg("--state-dir").arg(self.directory.path().join("state")).args(["--log-format", "json"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        Ok(command)
    }

    /// Runs it to its end. It must say that it wrote as many rows as expected.
    pub(crate) fn run(&self, expected: u64) -> Result<Usage> {
        let mut command = self.command()?;
        if !self.bounded {
            command.arg("--until-caught-up");
        }
        let (usage, status) = child::run(&mut command)?;
        if !status.success() {
            return Err(format!("rowferry failed: {status}\n{}", self.log_tail()).into());
        }
        let written = rows_written(&std::fs::read_to_string(self.log())?)
            .ok_or_else(|| format!("rowferry did not say how many rows it wrote\n{}", self.log_tail()))?;
        if written != expected {
            return Err(format!("rowferry wrote {written} rows instead of {expected}").into());
        }
        Ok(usage)
    }

    /// The last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n")
    }

    /// Files and bytes of the lake.
    pub(crate) fn lake(&self) -> (u64, u64) {
        files(&self.directory.path().join("lake"))
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

/// Rows of snapshots and changes, from the line that rowferry ends with:
/// `done: 2 tables, 10 rows of snapshots, 20 changes, 1.5 s, …`.
fn rows_written(log: &str) -> Option<u64> {
    let summary = log.lines().rev().find_map(|line| line.strip_prefix("done: "))?;
    let count = |what: &str| summary.split(", ").find_map(|part| part.strip_suffix(what)?.parse::<u64>().ok());
    Some(count(" rows of snapshots")? + count(" changes")?)
}

fn files(directory: &Path) -> (u64, u64) {
    let (mut count, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => {
                let (c, b) = files(&entry.path());
                count += c;
                bytes += b;
            }
            Ok(meta) => {
                count += 1;
                bytes += meta.len();
            }
            Err(_) => {}
        }
    }
    (count, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_tells_rows_of_both_kinds() {
        let log = "{\"message\":\"streaming\",\"changes\":1}\ndone: 2 tables, 10 rows of snapshots, 20 changes, 1.5 s, 20 rows/s\n";
        assert_eq!(rows_written(log), Some(30));
        assert_eq!(rows_written("stopped: 2 tables, 10 rows of snapshots, 20 changes, 1.5 s, 20 rows/s\n"), None);
    }
}
