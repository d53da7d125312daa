//! What a person sees while a pipeline runs: a bar on a terminal, plain lines elsewhere.

use crate::metrics::Metrics;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Seconds between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how a run goes.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    last_rows: u64,
    last_changes: u64,
}

impl Progress {
    /// A bar if standard error is a terminal.
    pub(super) fn new(snapshot: bool) -> Self {
        let bar = (snapshot && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(5));
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} snapshot {bar:30} {human_pos}/~{human_len} rows, {per_sec}, {eta} left",
            ) {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Self { bar, started: now, last_line: now, last_rows: 0, last_changes: 0 }
    }

    /// Called now and then.
    pub(super) fn tick(&mut self, metrics: &Metrics, in_snapshot: bool) {
        let tables = metrics.tables();
        let rows: u64 = tables.iter().map(|(_, t)| t.rows).sum();
        if let Some(bar) = &self.bar {
            if in_snapshot {
                let estimate: u64 = tables.iter().map(|(_, t)| t.estimated_rows.max(t.rows)).sum();
                bar.set_length(estimate.max(rows));
                bar.set_position(rows);
            } else if !bar.is_finished() {
                bar.finish_and_clear();
            }
        }
        let passed = self.last_line.elapsed();
        if passed < LINE_EVERY {
            return;
        }
        let changes = metrics.changes.load(Ordering::Relaxed);
        let rate = |now: u64, last: u64| ((now - last) as f64 / passed.as_secs_f64()) as u64;
        if in_snapshot {
            if self.bar.is_none() {
                let estimate: u64 = tables.iter().map(|(_, t)| t.estimated_rows.max(t.rows)).sum();
                let done = tables.iter().filter(|(_, t)| t.done).count();
                tracing::info!(
                    rows,
                    estimated_rows = estimate,
                    rows_per_second = rate(rows, self.last_rows),
                    tables_done = done,
                    tables = tables.len(),
                    "snapshot"
                );
            }
        } else {
            tracing::info!(
                changes,
                changes_per_second = rate(changes, self.last_changes),
                lag_seconds = metrics.lag_seconds(),
                lag_bytes = metrics.lag_bytes.load(Ordering::Relaxed),
                checkpoint = metrics.checkpoint_id.load(Ordering::Relaxed),
                "streaming"
            );
        }
        self.last_line = Instant::now();
        self.last_rows = rows;
        self.last_changes = changes;
    }

    /// Takes the bar away.
    pub(super) fn end(&self) -> Duration {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}
