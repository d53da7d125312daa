//! How to reach a server.

use rowferry_tls::{Authorities, Identity, TlsMode};
use std::fmt;
use std::time::Duration;

/// A password: never shown by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Password {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl From<&str> for Password {
    fn from(secret: &str) -> Self {
        Self(secret.to_owned())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A transaction isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are SQL's")]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// How to reach a server and how the session is set up.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User.
    pub user: String,
    /// Password; empty for none.
    pub password: Password,
    /// The default database.
    pub database: Option<String>,
    /// Encryption.
    pub tls: TlsMode,
    /// The authorities where `tls` verifies.
    pub authorities: Authorities,
    /// The client's certificate.
    pub client_identity: Option<Identity>,
    /// The longest wait for the TCP connection and for each answer until the session stands.
    pub connect_timeout: Duration,
    /// The longest silence while an answer is awaited; `None`: wait for ever. A statement that computes for long is
    /// silent. The binlog stream has its own, from its heartbeat.
    pub read_timeout: Option<Duration>,
    /// How long the server keeps an idle session and waits for a reader that does not read (`wait_timeout`,
    /// `net_write_timeout`). Its own defaults (60 s for the latter) cut a reader off whose sink is busy.
    pub session_timeout: Duration,
    /// The isolation level of the session's transactions; `None`: the server's default.
    pub isolation: Option<Isolation>,
}

impl ConnectOptions {
    /// Options with defaults: no password, TLS if offered, 30 s to connect.
    pub fn new(host: impl Into<String>, port: u16, user: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port,
            user: user.into(),
            password: Password::default(),
            database: None,
            tls: TlsMode::default(),
            authorities: Authorities::Public,
            client_identity: None,
            connect_timeout: Duration::from_secs(30),
            read_timeout: None,
            session_timeout: Duration::from_secs(24 * 3600),
            isolation: None,
        }
    }
}
