//! What the writer and the applier share.

use super::config::Config;
use super::load_client::{LabelState, LoadClient};
use crate::SinkError;
use crate::olap::attempts::{Attempts, Known, Transactions};
use crate::olap::load_error::{Cause, LoadError};
use rowferry_model::TableId;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a load of an earlier attempt may still be under way: its process is gone, and the backend notices.
const RUNNING_WAIT: Duration = Duration::from_secs(60);

/// What the writer and the applier share.
pub(super) type Shared = Attempts<LoadClient>;

/// For one sink.
///
/// # Errors
/// The client can't be made.
pub(super) fn shared(config: &Config) -> Result<Shared, SinkError> {
    Ok(Attempts::new(LoadClient::new(config)?, &config.label_prefix, &config.instance))
}

impl Transactions for LoadClient {
    const SINK: &'static str = "doris";

    fn known(&self, table: &TableId, label: &str) -> Result<Known, LoadError> {
        Ok(match self.state(table, label)? {
            LabelState::Unknown => Known::Nothing,
            LabelState::Running | LabelState::PreCommitted => Known::Open,
            LabelState::Aborted | LabelState::Committed | LabelState::Visible => Known::Over,
        })
    }

    /// Only a transaction that waits for its commit can be found by its label: one that is still loading is waited for.
    fn rollback(&self, table: &TableId, label: &str) -> Result<(), LoadError> {
        let deadline = Instant::now() + RUNNING_WAIT;
        let mut pause = Duration::from_millis(20);
        loop {
            match self.state(table, label)? {
                LabelState::PreCommitted => return self.abort(table, None, label),
                LabelState::Running if Instant::now() < deadline => {
                    sleep(pause);
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
                LabelState::Running => {
                    return Err(LoadError::new(Cause::Busy, format!("the load {label} of {table} does not end")));
                }
                _ => return Ok(()),
            }
        }
    }
}
