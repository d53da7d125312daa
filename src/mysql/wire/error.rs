//! What may go wrong between us and a server.

use std::fmt;
use std::io;
use std::time::Duration;

/// An error packet of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// The error number, for example 1045.
    pub code: u16,
    /// The five characters of the SQL state; empty during the connection phase.
    pub sqlstate: String,
    /// The server's text.
    pub message: String,
    /// The statement that was refused, cut to a readable length.
    pub statement: Option<String>,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MySQL error {}", self.code)?;
        if !self.sqlstate.is_empty() {
            write!(f, " ({})", self.sqlstate)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(statement) = &self.statement {
            write!(f, " [statement: {statement}]")?;
        }
        Ok(())
    }
}

/// An error of a connection.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// No connection could be opened.
    #[error("cannot connect to {host}:{port}: {source}")]
    Connect {
        /// The host as configured.
        host: String,
        /// The port.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// The connection broke.
    #[error("connection to MySQL broke while {doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Nothing came for too long, not even a heartbeat.
    #[error("nothing came from MySQL for {} s while {doing}", .after.as_secs_f32())]
    Timeout {
        /// What was being done.
        doing: &'static str,
        /// How long the silence lasted.
        after: Duration,
    },
    /// The server closed the connection.
    #[error("MySQL closed the connection")]
    Closed,
    /// The server refused the user, or asks for a way of authentication that is not supported or not safe here.
    #[error("authentication failed: {0}")]
    Auth(String),
    /// The server answered with an error.
    #[error("{0}")]
    Server(ServerError),
    /// The binlog that was asked for is no longer on the server. The changes are gone: only a new snapshot helps.
    #[error("the binlog from the wanted position on is no longer on the server: {0}")]
    PurgedLogs(ServerError),
    /// Another reader with the same identity took over the binlog stream. Reconnecting would only take it back.
    #[error(
        "another reader with server id {server_id} took over the binlog stream: give every job its own `server-id` \
         ({error})"
    )]
    DuplicateServerId {
        /// The id that both use.
        server_id: u32,
        /// The server's words.
        error: ServerError,
    },
    /// The bytes do not follow the protocol.
    #[error("protocol error: {0}")]
    Protocol(String),
    /// TLS could not be set up.
    #[error("TLS: {0}")]
    Tls(String),
    /// The server cannot do what is asked of it.
    #[error("{0}")]
    Unsupported(String),
    /// The connection is in the middle of an unread result, or broke earlier: open a new one.
    #[error("the connection is no longer usable: an earlier result was not read to its end, or it broke")]
    Unusable,
}

/// Server errors that pass: too many connections, shutdown, lock waits, deadlocks, network trouble, idle disconnects.
const PASSING: [u16; 20] = [
    1040, 1047, 1053, 1079, 1105, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1205, 1213, 1226, 1317, 1927, 2006, 2013,
    4031,
];

impl WireError {
    /// Whether a new connection may cure it.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Io { .. } | Self::Timeout { .. } | Self::Closed | Self::Unusable => true,
            Self::Server(e) => PASSING.contains(&e.code),
            Self::Auth(_)
            | Self::PurgedLogs(_)
            | Self::DuplicateServerId { .. }
            | Self::Protocol(_)
            | Self::Tls(_)
            | Self::Unsupported(_) => false,
        }
    }

    /// The server's error number, where the server answered with one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Server(e) | Self::PurgedLogs(e) | Self::DuplicateServerId { error: e, .. } => Some(e.code),
            _ => None,
        }
    }

    pub(super) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }

    /// Names the statement that the server refused.
    pub(super) fn with_statement(mut self, sql: &str) -> Self {
        if let Self::Server(e) = &mut self
            && e.statement.is_none()
        {
            const SHOWN: usize = 200;
            let mut text: String = sql.chars().take(SHOWN).collect();
            if text.len() < sql.len() {
                text.push('…');
            }
            e.statement = Some(text);
        }
        self
    }

    /// Tells the errors of a binlog stream apart. The number is 1236 for nearly all of them: only the text differs,
    /// by version and flavour.
    pub(super) fn of_dump(self, server_id: u32) -> Self {
        let Self::Server(e) = self else { return self };
        let text = e.message.to_ascii_lowercase();
        let purged = [
            "purged required",                         // MySQL 8: "the source purged required binary logs"
            "has purged binary logs containing gtids", // MySQL 5.6, 5.7
            "could not find first log file name",      // a file that is no longer there
            "could not find gtid state requested",     // MariaDB: older than every file
            "not in the master's binlog",              // MariaDB: a GTID it never had
            "could not open log file",
        ];
        if e.code == 1789 || (e.code == 1236 && purged.iter().any(|p| text.contains(p))) {
            return Self::PurgedLogs(e);
        }
        // 4052 is MariaDB's own number for it.
        if matches!(e.code, 1236 | 4052) && text.contains("same server_uuid/server_id") {
            return Self::DuplicateServerId { server_id, error: e };
        }
        Self::Server(e)
    }
}
