//! What the writer and the applier share.

use super::config::Config;
use super::load_client::{LabelState, LoadClient};
use crate::SinkError;
use crate::olap::attempts::{Attempts, Known, Transactions};
use crate::olap::load_error::LoadError;
use rowferry_model::TableId;

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
    const SINK: &'static str = "starrocks";

    fn known(&self, table: &TableId, label: &str) -> Result<Known, LoadError> {
        Ok(match self.state(table, label)? {
            LabelState::Unknown => Known::Nothing,
            LabelState::Open | LabelState::Prepared => Known::Open,
            LabelState::Aborted(_) | LabelState::Committed | LabelState::Visible => Known::Over,
        })
    }

    fn rollback(&self, table: &TableId, label: &str) -> Result<(), LoadError> {
        self.roll_back(table, label)
    }
}
