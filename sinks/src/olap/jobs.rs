//! The servers' jobs: an ALTER that rewrites data is done in the background, and until it is done the table shows its
//! old columns and refuses every other ALTER.

use crate::SinkError;
use async_trait::async_trait;
use rowferry_model::TableId;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// After so many failures in a row to ask for a job's state, the wait is over.
const MAX_FAILURES: u32 = 3;

/// A job as `SHOW ALTER TABLE COLUMN` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) id: u64,
    pub(crate) state: String,
    pub(crate) message: String,
}

impl Job {
    /// Whether nothing more happens to it.
    fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "FINISHED" | "CANCELLED")
    }
}

/// Why a job's state is not known.
#[derive(Debug)]
pub(crate) struct Unread {
    /// The server's words.
    pub(crate) message: String,
    /// Whether the server refuses to tell, so that asking again is useless.
    pub(crate) refused: bool,
}

/// What can be asked for jobs.
#[async_trait]
pub(crate) trait JobList: Send {
    /// A table's last job. Numbers tell which: creation times have a resolution of a second only.
    ///
    /// # Errors
    /// The server refuses to tell or can't be reached.
    async fn latest(&mut self, table: &TableId) -> Result<Option<Job>, Unread>;
}

/// Waits until a table has no job under way. A job that is newer than `after` and was cancelled is a failure.
/// `server` and `option`, which bounds the wait, are for messages.
///
/// # Errors
/// The time is up, the job was cancelled, or the server can't be asked.
pub(crate) async fn wait(
    server: &str,
    option: &str,
    list: &mut dyn JobList,
    table: &TableId,
    after: u64,
    deadline: Instant,
) -> Result<(), SinkError> {
    let mut pause = FIRST_PAUSE;
    let mut failures = 0;
    loop {
        match list.latest(table).await {
            Ok(None) => return Ok(()),
            Ok(Some(job)) if job.is_over() => {
                // What an earlier job came to is not this change's matter.
                if job.state == "CANCELLED" && job.id > after {
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
                    let hint = if job.state == "WAITING_TXN" {
                        "a load transaction on the table is still open: see SHOW PROC '/transactions'".to_owned()
                    } else {
                        format!("set `{option}` higher, or look at SHOW ALTER TABLE COLUMN")
                    };
                    return Err(SinkError::transient(format!(
                        "{server} has not finished the change of {table} in time: job {} is in state {} ({})",
                        job.id, job.state, job.message
                    ))
                    .hint(hint));
                }
            }
            Err(error) => {
                failures += 1;
                if failures >= MAX_FAILURES || error.refused {
                    return Err(SinkError::transient(format!(
                        "the state of the change of {table} can't be read: {}",
                        error.message
                    )));
                }
            }
        }
        sleep(pause.min(deadline.saturating_duration_since(Instant::now()).max(FIRST_PAUSE))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
