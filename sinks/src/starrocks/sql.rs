//! Statements over the frontends' MySQL port.

use super::config::Config;
use crate::olap::applier::{Connection, Failure};
use crate::olap::endpoints::Endpoints;
use crate::olap::mysql::{Client, Login, SqlError};
use crate::olap::rows::Rows;
use async_trait::async_trait;
use std::time::Duration;

/// The server's own time-out for one statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

/// A client; nothing is connected yet.
pub(super) fn client(config: &Config) -> Client {
    Client::new(Login {
        addresses: Endpoints::new(config.sql_addresses.clone()),
        user: config.username.clone(),
        password: config.password.clone(),
        tls: config.tls.clone(),
        connect_timeout: config.connect_timeout,
        answer_timeout: STATEMENT_TIMEOUT,
    })
}

#[async_trait]
impl Connection for Client {
    async fn query(&mut self, sql: &str) -> Result<Rows, Failure> {
        Self::query(self, sql).await.map_err(Failure::from)
    }
}

impl From<SqlError> for Failure {
    /// By StarRocks' own error numbers, and by words where it has none.
    fn from(error: SqlError) -> Self {
        let text = error.to_string();
        match &error {
            _ if error.may_pass() => Self::Lost(text),
            SqlError::Server { code: 1045 | 5203, .. } => Self::Denied(text),
            // The last three are MySQL's, which older versions gave.
            SqlError::Server { code: 5501 | 5502 | 1049 | 1051 | 1146, .. } => Self::Missing(text),
            SqlError::Server { code: 1064, message, .. } if is_missing(message) => Self::Missing(text),
            SqlError::Server { message, .. } if is_busy(message) => Self::Busy(text),
            SqlError::Server { .. }
            | SqlError::Protocol { .. }
            | SqlError::Connection { .. }
            | SqlError::Tls { .. } => Self::Refused(text),
        }
    }
}

fn is_missing(message: &str) -> bool {
    ["Unknown table", "Unknown database", "is not found"].iter().any(|part| message.contains(part))
}

fn is_busy(message: &str) -> bool {
    ["operation is in progress", "is not NORMAL", "state is not normal"].iter().any(|part| message.contains(part))
}
