//! `rowferry run`.

use super::settings::{ConfiguredTables, Wishes, settings};
use super::{Common, Exit, load, report_error};
use crate::error::Result;
use crate::metrics::Metrics;
use crate::pipeline::{Outcome, Summary, run as run_pipeline};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What all commands have.
    #[command(flatten)]
    pub common: Common,
    /// End once everything is in the sink that the server has
    #[arg(long)]
    pub until_caught_up: bool,
    /// End after this part
    #[arg(long, value_name = "PART", value_parser = ["snapshot"])]
    pub stop_after: Option<String>,
    /// Where the state is kept [default: .rowferry/<pipeline name> beside the file]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// Runs the pipeline.
pub(super) fn run(args: &RunArgs) -> Exit {
    let config = match load(&args.common) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let wishes = Wishes {
        file: &args.common.file,
        state_dir: args.state_dir.as_deref(),
        until_caught_up: args.until_caught_up,
        stop_after_snapshot: args.stop_after.is_some(),
    };
    let result = settings(&config, &wishes).and_then(|settings| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|e| crate::error::Error::permanent("RF-RUN-001", "a thread can't be started").caused_by(e))?;
        let outcome = runtime.block_on(async {
            let (sender, stop) = watch::channel(false);
            tokio::spawn(async move {
                stop_signal().await;
                let _ = sender.send(true);
                // Kept until the end: a closed channel would look like a stop.
                sender.closed().await;
            });
            run_pipeline(&settings, Arc::new(ConfiguredTables(config)), stop, Arc::new(Metrics::default())).await
        });
        runtime.shutdown_timeout(std::time::Duration::from_secs(2));
        outcome
    });
    finish(result)
}

fn finish(result: Result<Summary>) -> Exit {
    match result {
        Ok(summary) => {
            let seconds = summary.elapsed.as_secs_f64();
            let rate = (summary.snapshot_rows + summary.changes) as f64 / seconds.max(0.001);
            eprintln!(
                "{}: {} tables, {} rows of snapshots, {} changes, {seconds:.1} s, {rate:.0} rows/s",
                if summary.outcome == Outcome::Done { "done" } else { "stopped" },
                summary.tables,
                summary.snapshot_rows,
                summary.changes,
            );
            if summary.outcome == Outcome::Done { Exit::Done } else { Exit::Interrupted }
        }
        Err(error) => report_error(&error),
    }
}

/// Waits for Ctrl-C or the signal that service managers send.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
