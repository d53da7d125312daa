//! Running a pipeline: attempt after attempt, each from the last checkpoint.

use super::progress::Progress;
use super::settings::Settings;
use super::start::{TableChoice, start};
use crate::checkpoint::{LockError, StateLock, Store, StoreError};
use crate::error::{Error, ErrorKind, Result};
use crate::http;
use crate::metrics::Metrics;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came to its end.
    Done,
    /// It was told to stop; the state is saved.
    Interrupted,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How it ended.
    pub outcome: Outcome,
    /// Rows of snapshots written.
    pub snapshot_rows: u64,
    /// Row changes written.
    pub changes: u64,
    /// Tables of the pipeline.
    pub tables: usize,
    /// How long it took.
    pub elapsed: Duration,
}

pub(super) fn store_error(error: StoreError) -> Error {
    Error::permanent("RF-STA-001", "the state can't be kept").caused_by(error)
}

/// An attempt that ran this long starts the back-off anew.
const SETTLED: Duration = Duration::from_secs(60);

/// Runs a pipeline until its end, a stop or an error that trying again does not mend.
///
/// # Errors
/// The state is in use, the server or the sink is not ready, or something failed for good.
pub async fn run(
    settings: &Settings,
    choice: Arc<dyn TableChoice>,
    stop: watch::Receiver<bool>,
    metrics: Arc<Metrics>,
) -> Result<Summary> {
    let _lock = StateLock::acquire(&settings.state_dir).map_err(|e| {
        let kind = if matches!(e, LockError::Held { .. }) { ErrorKind::Preflight } else { ErrorKind::Permanent };
        Error::new(kind, "RF-STA-002", "the state directory can't be held")
            .with("directory", settings.state_dir.display())
            .caused_by(e)
    })?;
    let mut store = Store::open(&settings.state_dir).map_err(store_error)?;
    let http = match &settings.http {
        Some(address) => Some(http::serve(address, metrics.clone()).await?),
        None => None,
    };
    let mut progress = Progress::new(settings.startup.has_snapshot());
    let mut failures = 0u32;
    let outcome = loop {
        let started = Instant::now();
        let result = match start(settings, &choice, &mut store, &metrics, stop.clone()).await {
            Ok(mut attempt) => {
                let result = attempt.run(&mut progress).await;
                attempt.reader.stop();
                let closed = attempt.sink.events.close().await;
                result.and_then(|outcome| closed.map(|()| outcome).map_err(Error::from))
            }
            Err(error) => Err(error),
        };
        let error = match result {
            Ok(outcome) => break outcome,
            Err(error) => error,
        };
        if !error.is_transient() {
            progress.end();
            return Err(error);
        }
        if started.elapsed() > SETTLED {
            failures = 0;
        }
        failures += 1;
        if failures > settings.max_retries.saturating_mul(3).max(3) {
            progress.end();
            return Err(error);
        }
        Metrics::add(&metrics.retries, 1);
        let pause = Duration::from_millis(500 << failures.min(6));
        tracing::warn!(code = error.code(), %error, cause = cause(&error), help = error.hint_text(), attempt = failures, pause_ms = pause.as_millis() as u64, "trying again from the last checkpoint");
        let mut stop = stop.clone();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => break Outcome::Interrupted,
        }
    };
    if let Some(http) = http {
        http.abort();
    }
    Ok(Summary {
        outcome,
        snapshot_rows: metrics.snapshot_rows.load(Ordering::Relaxed),
        changes: metrics.changes.load(Ordering::Relaxed),
        tables: metrics.tables().len(),
        elapsed: progress.end(),
    })
}

fn cause(error: &Error) -> Option<String> {
    std::error::Error::source(error).map(ToString::to_string)
}
