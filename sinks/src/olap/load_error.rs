//! Why a load or a transaction failed.

use super::http::HttpError;
use crate::{Retry, SinkError};

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No node has seen the request.
    Unreachable,
    /// No node has seen the request: none that could be reached agrees on TLS.
    Tls,
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
pub(crate) struct LoadError {
    pub(crate) cause: Cause,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

/// A part of a server's words, in lower case, that says that trying again is useless, and the way out.
pub(crate) type Hopeless = (&'static str, Option<&'static str>);

/// What both servers say.
const NEVER: [Hopeless; 9] = [
    ("need auth information", None),
    ("unknown table", None),
    ("unknown database", None),
    ("table not found", None),
    ("does not exist", None),
    ("no database selected", None),
    ("label format error", None),
    ("invalid timeout", Some("set `sink.properties.timeout` to what the server takes, in seconds")),
    ("column has no default value", Some("the table has a NOT NULL column that the stream does not have")),
];

impl LoadError {
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), hint: None }
    }

    /// A server's refusal, with what its words say about trying again. They are all there is: nearly every failure has
    /// status 200. `own` is what only this server says.
    pub(crate) fn refused(message: String, words: &str, own: &[Hopeless]) -> Self {
        let lower = words.to_ascii_lowercase();
        let (cause, hint) = match own.iter().chain(&NEVER).find(|(part, _)| lower.contains(part)) {
            Some((_, hint)) => (Cause::Refused, *hint),
            None => (Cause::Busy, None),
        };
        Self { cause, message, hint }
    }

    /// Whether the same operation may succeed a little later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.cause, Cause::Unreachable | Cause::Unknown | Cause::Busy)
    }

    /// Whether no node has seen the request, so that another one may be asked.
    pub(crate) fn is_unsent(&self) -> bool {
        matches!(self.cause, Cause::Unreachable | Cause::Tls)
    }

    /// Of two nodes that did not get a request, the failure that says whether to try again.
    pub(crate) fn or(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.may_pass() && !self.may_pass() => other,
            _ => self,
        }
    }

    /// As the pipeline sees it.
    pub(crate) fn into_sink_error(self) -> SinkError {
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
            HttpError::Tls { .. } => Cause::Tls,
            HttpError::Broken { .. } => Cause::Unknown,
            HttpError::Invalid(_) => Cause::Refused,
        };
        Self::new(cause, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, LoadError};

    #[test]
    fn words_tell_whether_to_try_again() {
        let refused = |words: &str| LoadError::refused(String::new(), words, &[("only mine", Some("hint"))]);
        // Recorded from a StarRocks frontend; Doris says the same.
        let error = refused("Invalid timeout: '10000000'. Expected values should be between 1 and 259200 seconds");
        assert_eq!(
            (error.cause, error.hint.is_some_and(|h| h.contains("sink.properties.timeout"))),
            (Cause::Refused, true)
        );
        assert_eq!((refused("Only Mine").cause, refused("Only Mine").hint), (Cause::Refused, Some("hint")));
        assert_eq!(refused("memory limit exceeded").cause, Cause::Busy);
    }
}
