//! Why a load or a transaction failed.

use crate::olap::http::HttpError;
use crate::{Retry, SinkError};

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// No node has seen the request.
    Unreachable,
    /// The request may have had its effect.
    Unknown,
    /// The server refused, and may not the next time.
    Busy,
    /// The server will always refuse.
    Refused,
    /// The label belongs to a transaction that is there.
    LabelExists,
}

/// Why a load or a transaction failed.
#[derive(Debug)]
pub(super) struct LoadError {
    pub(super) cause: Cause,
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

impl LoadError {
    pub(super) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), hint: None }
    }

    /// The server's refusal of an operation, in its words.
    pub(super) fn refused(operation: &str, table: &str, words: &str) -> Self {
        let (cause, hint) = classify(words);
        Self { cause, message: format!("StarRocks refuses to {operation} {table}: {words}"), hint }
    }

    /// Whether the same operation may succeed a little later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.cause, Cause::Unreachable | Cause::Unknown | Cause::Busy)
    }

    /// As the pipeline sees it.
    pub(super) fn into_sink_error(self) -> SinkError {
        let retry = if self.may_pass() { Retry::Transient } else { Retry::Permanent };
        let error = match retry {
            Retry::Transient => SinkError::transient(self.message),
            _ => SinkError::permanent(self.message),
        };
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl From<HttpError> for LoadError {
    fn from(error: HttpError) -> Self {
        let cause = match error {
            HttpError::Connect { .. } => Cause::Unreachable,
            HttpError::Broken { .. } => Cause::Unknown,
            HttpError::Invalid(_) => Cause::Refused,
        };
        Self::new(cause, error.to_string())
    }
}

/// What the server's words say about trying again. They are all there is: nearly every failure has status 200.
fn classify(words: &str) -> (Cause, Option<&'static str>) {
    const NEVER: [(&str, Option<&str>); 14] = [
        (
            "too many filtered rows",
            Some(
                "the rows that StarRocks refused are quoted; does the table have the types that the sink would give it?",
            ),
        ),
        ("access denied", Some("the user needs INSERT on the tables, see docs/sinks/starrocks.md")),
        ("need auth information", None),
        ("unknown table", None),
        ("unknown database", None),
        ("does not exist", None),
        ("no database selected", None),
        ("label format error", None),
        ("invalid timeout", None),
        ("mapping column is not in table", None),
        ("column has no default value", Some("the table has a NOT NULL column that the stream does not have")),
        ("there is no 100-continue header", Some("a proxy before StarRocks takes the Expect header away")),
        ("primary key size exceed", Some("StarRocks takes keys of 128 bytes in all unless the backends say otherwise")),
        (
            "unknown transaction operation",
            Some("this StarRocks is older than 2.4: set `sink.at-least-once.use-transaction-stream-load: false`"),
        ),
    ];
    let lower = words.to_ascii_lowercase();
    match NEVER.iter().find(|(part, _)| lower.contains(part)) {
        Some((_, hint)) => (Cause::Refused, *hint),
        None => (Cause::Busy, None),
    }
}
