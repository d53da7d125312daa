//! What can go wrong in a sink.

use std::error::Error;
use std::fmt;

/// Whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same call may succeed later: the pipeline tries again with back-off.
    Transient,
    /// Trying again is useless: the pipeline stops with this error.
    Permanent,
    /// The sink can't make this schema change at all. EVOLVE stops; TRY_EVOLVE goes on with a warning.
    Unsupported,
}

/// An error of a sink: one sentence for people, with what it is about and the way out.
#[derive(Debug)]
pub struct SinkError {
    retry: Retry,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl SinkError {
    /// An error that may pass by itself.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(Retry::Transient, message)
    }

    /// An error that stays.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(Retry::Permanent, message)
    }

    /// A schema change that this sink can't make.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Retry::Unsupported, message)
    }

    fn new(retry: Retry, message: impl Into<String>) -> Self {
        Self { retry, message: message.into(), hint: None, source: None }
    }

    /// With the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether trying again can help.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The way out, if one is known.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for SinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}
