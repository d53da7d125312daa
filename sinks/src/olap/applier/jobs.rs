//! The servers' jobs: an ALTER that rewrites data is done in the background, and until it is done the table shows its
//! old columns and refuses every other ALTER.

use super::dialect::{Connection, Dialect, Failure};
use super::failed;
use crate::SinkError;
use rowferry_model::TableId;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// After so many failures in a row to ask for a job's state, the wait is over.
const MAX_FAILURES: u32 = 3;
/// What is being done, for messages.
pub(super) const LATEST: &str = "asking for the state of the change of";

/// A job as `SHOW ALTER TABLE COLUMN` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) id: u64,
    state: String,
    message: String,
}

impl Job {
    /// Whether nothing more happens to it.
    fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "FINISHED" | "CANCELLED")
    }
}

/// What is waited for, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// A job that is newer and was cancelled is a failure.
    pub(super) after: u64,
    /// When the wait is over.
    pub(super) deadline: Instant,
}

/// A table's last job. Numbers tell which: creation times have a resolution of a second only.
///
/// # Errors
/// The server refuses to tell or can't be reached.
pub(super) async fn latest<D: Dialect>(
    connection: &mut dyn Connection,
    table: &TableId,
) -> Result<Option<Job>, Failure> {
    let rows = connection.query(&D::list_jobs(table)).await?;
    let jobs = rows.rows.iter().filter(|row| rows.get(row, "TableName") == Some(table.table())).filter_map(|row| {
        Some(Job {
            id: rows.get(row, "JobId")?.parse().ok()?,
            state: rows.get(row, "State").unwrap_or_default().to_ascii_uppercase(),
            message: rows.get(row, "Msg").unwrap_or_default().to_owned(),
        })
    });
    Ok(jobs.max_by_key(|job| job.id))
}

/// Waits until a table has no job under way.
///
/// # Errors
/// The time is up, a job was cancelled, or the server can't be asked.
pub(super) async fn wait<D: Dialect>(
    connection: &mut dyn Connection,
    table: &TableId,
    Waiting { after, deadline }: Waiting,
) -> Result<(), SinkError> {
    let server = D::SERVER;
    let mut pause = FIRST_PAUSE;
    let mut failures = 0;
    let mut running: Option<Job> = None;
    loop {
        match latest::<D>(connection, table).await {
            Ok(None) => return Ok(()),
            Ok(Some(job)) if job.is_over() => {
                // What an earlier job came to is not this change's matter.
                if job.state == "CANCELLED" && job.id > after {
                    // A server that was told the time-out too may end the job before this is seen.
                    if let Some(running) = running.filter(|r| r.id == job.id && Instant::now() >= deadline) {
                        return Err(late::<D>(table, &Job { state: running.state, ..job }));
                    }
                    return Err(SinkError::permanent(format!(
                        "{server} cancelled the change of {table} (job {}): {}",
                        job.id, job.message
                    ))
                    .hint("values of the table may not fit the new type"));
                }
                return Ok(());
            }
            Ok(Some(job)) => {
                failures = 0;
                if Instant::now() >= deadline {
                    return Err(late::<D>(table, &job));
                }
                running = Some(job);
            }
            Err(error) => {
                failures += 1;
                // A server that refuses to tell will do so again.
                if failures >= MAX_FAILURES || !matches!(error, Failure::Lost(_)) {
                    return Err(failed::<D>(&format!("{LATEST} {table}"), &error));
                }
            }
        }
        sleep(pause.min(deadline.saturating_duration_since(Instant::now()).max(FIRST_PAUSE))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The time is up.
fn late<D: Dialect>(table: &TableId, job: &Job) -> SinkError {
    let hint = if job.state == "WAITING_TXN" {
        "a load transaction on the table is still open: see SHOW PROC '/transactions'".to_owned()
    } else {
        format!("set `{}` higher, or look at SHOW ALTER TABLE COLUMN", D::TIMEOUT_OPTION)
    };
    SinkError::transient(format!(
        "{} has not finished the change of {table} in time: job {} is in state {} ({})",
        D::SERVER,
        job.id,
        job.state,
        job.message
    ))
    .hint(hint)
}
