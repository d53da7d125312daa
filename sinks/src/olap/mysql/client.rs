//! A connection that is made when it is needed, to whichever frontend answers.

use super::session::{Session, SqlError};
use crate::olap::endpoints::Endpoints;
use crate::olap::rows::Rows;
use crate::olap::secret::Secret;
use std::sync::Arc;
use std::time::Duration;

/// Where to connect and as whom.
#[derive(Debug)]
pub(crate) struct Login {
    /// `host:port` of each frontend.
    pub(crate) addresses: Endpoints<String>,
    /// The user.
    pub(crate) user: String,
    /// The password.
    pub(crate) password: Secret,
    /// Whether and how connections are encrypted.
    pub(crate) tls: rowferry_tls::Client,
    /// How long a connection may take.
    pub(crate) connect_timeout: Duration,
    /// How long a statement may take.
    pub(crate) answer_timeout: Duration,
}

/// One connection at a time.
pub(crate) struct Client {
    login: Arc<Login>,
    session: Option<Session>,
}

impl Client {
    /// A client; nothing is connected yet.
    pub(crate) fn new(login: Login) -> Self {
        Self { login: Arc::new(login), session: None }
    }

    /// Runs a statement, on a thread where waiting is allowed. A connection that has died while nobody used it is
    /// made again; a statement that may have run is never sent twice.
    ///
    /// # Errors
    /// The server refuses the statement, no frontend can be reached, or the connection broke while it ran.
    pub(crate) async fn query(&mut self, sql: &str) -> Result<Rows, SqlError> {
        let login = Arc::clone(&self.login);
        let session = self.session.take();
        let sql = sql.to_owned();
        let task = tokio::task::spawn_blocking(move || {
            let alive = session.and_then(|mut kept| kept.query("SELECT 1").is_ok().then_some(kept));
            let mut session = match alive {
                Some(session) => session,
                None => match connect(&login) {
                    Ok(session) => session,
                    Err(error) => return (None, Err(error)),
                },
            };
            let result = session.query(&sql);
            let keep = matches!(result, Ok(_) | Err(SqlError::Server { .. }));
            (keep.then_some(session), result)
        });
        match task.await {
            Ok((session, result)) => {
                self.session = session;
                result
            }
            Err(error) => {
                Err(SqlError::Protocol { address: "the statement's thread".to_owned(), reason: error.to_string() })
            }
        }
    }
}

/// Connects to the first frontend that answers.
fn connect(login: &Login) -> Result<Session, SqlError> {
    let mut last: Option<SqlError> = None;
    for (index, address) in login.addresses.candidates() {
        match Session::connect(address, login) {
            Ok(session) => {
                login.addresses.prefer(index);
                return Ok(session);
            }
            // A refused login is refused everywhere.
            Err(error @ SqlError::Server { .. }) => return Err(error),
            Err(error) => {
                tracing::warn!("a frontend can't be reached: {error}");
                // While there is one that may come back, there is reason to try again.
                if error.may_pass() || !last.as_ref().is_some_and(SqlError::may_pass) {
                    last = Some(error);
                }
            }
        }
    }
    Err(last
        .unwrap_or_else(|| SqlError::Protocol { address: "jdbc-url".to_owned(), reason: "names no server".to_owned() }))
}
