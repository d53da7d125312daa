//! The server's jobs: an ALTER that rewrites data is done in the background, and until it is done the table shows its
//! old columns and refuses every other ALTER.

use crate::SinkError;
use crate::olap::mysql::{Client, SqlError};
use crate::olap::quote;
use rowferry_model::TableId;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// After so many failures in a row to ask for a job's state, the wait is over.
const MAX_FAILURES: u32 = 3;

/// A job as `SHOW ALTER TABLE COLUMN` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) state: String,
    pub(super) message: String,
}

impl Job {
    /// Whether nothing more happens to it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "FINISHED" | "CANCELLED")
    }
}

/// A table's last job. Job numbers tell; creation times have a resolution of a second only.
///
/// # Errors
/// The server refuses to tell or can't be reached.
pub(super) async fn latest(client: &mut Client, table: &TableId) -> Result<Option<Job>, SqlError> {
    let rows = client
        .query(&format!(
            "SHOW ALTER TABLE COLUMN FROM {} WHERE TableName = {} ORDER BY JobId DESC LIMIT 1",
            quote::name(table.database()),
            quote::string(table.table())
        ))
        .await?;
    Ok(rows.rows.first().and_then(|row| {
        Some(Job {
            id: rows.get(row, "JobId")?.parse().ok()?,
            state: rows.get(row, "State").unwrap_or_default().to_ascii_uppercase(),
            message: rows.get(row, "Msg").unwrap_or_default().to_owned(),
        })
    }))
}

/// Waits until a table has no job under way. Gives the last job that is newer than `after`.
///
/// # Errors
/// The time is up, the job was cancelled, or the server can't be asked.
pub(super) async fn wait(
    client: &mut Client,
    table: &TableId,
    after: Option<u64>,
    deadline: Instant,
) -> Result<(), SinkError> {
    let mut pause = FIRST_PAUSE;
    let mut failures = 0;
    loop {
        match latest(client, table).await {
            Ok(None) => return Ok(()),
            Ok(Some(job)) if job.is_over() => {
                // What an earlier job came to is not this change's matter.
                if job.state == "CANCELLED" && after.is_none_or(|id| job.id > id) {
                    return Err(SinkError::permanent(format!(
                        "StarRocks cancelled the change of {table} (job {}): {}",
                        job.id, job.message
                    ))
                    .hint("values of the table may not fit the new type"));
                }
                return Ok(());
            }
            Ok(Some(job)) => {
                failures = 0;
                if Instant::now() >= deadline {
                    let hint = if job.state == "WAITING_TXN" {
                        "a load transaction on the table is still open: see SHOW PROC '/transactions'"
                    } else {
                        "set `table.schema-change.timeout` higher, or look at SHOW ALTER TABLE COLUMN"
                    };
                    return Err(SinkError::transient(format!(
                        "StarRocks has not finished the change of {table} in time: job {} is in state {} ({})",
                        job.id, job.state, job.message
                    ))
                    .hint(hint));
                }
            }
            Err(error) => {
                failures += 1;
                if failures >= MAX_FAILURES || matches!(error, SqlError::Server { .. }) {
                    return Err(SinkError::transient(format!(
                        "the state of the change of {table} can't be read: {error}"
                    )));
                }
            }
        }
        sleep(pause.min(deadline.saturating_duration_since(Instant::now()).max(FIRST_PAUSE))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
