//! The one error that reaches the user: what went wrong, where, and the way out.

use std::error::Error as StdError;
use std::fmt;

/// What kind of error it is; decides the exit code and whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or the pipeline's file is wrong.
    Config,
    /// The server or the sink is not ready for this pipeline.
    Preflight,
    /// May pass by itself: retried with back-off.
    Transient,
    /// Stays until somebody does something.
    Permanent,
}

/// An error with a stable code, where it happened, and the way out. Its text is one sentence, without its cause.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a kind. `code` is stable over versions and listed in `docs/errors.md`.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), context: Vec::new(), hint: None, source: None }
    }

    /// An error that stays until somebody does something.
    pub fn permanent(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Permanent, code, message)
    }

    /// An error that may pass by itself.
    pub fn transient(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, code, message)
    }

    /// With a fact about where it happened, for example a table or a binlog position.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.context.push((name, value.to_string()));
        self
    }

    /// With the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The way out, if one is known.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether trying again can help.
    pub fn is_transient(&self) -> bool {
        self.kind == ErrorKind::Transient
    }

    /// What the process exits with.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Config => 2,
            ErrorKind::Preflight => 3,
            ErrorKind::Transient | ErrorKind::Permanent => 4,
        }
    }

    /// The whole story for a person, over several lines: message, facts, causes, way out.
    pub fn report(&self) -> String {
        let mut text = format!("error[{}]: {}", self.code, self.message);
        for (name, value) in &self.context {
            text.push_str(&format!("\n  {name}: {value}"));
        }
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(&format!("\n  because: {error}"));
            cause = error.source();
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("\n  help: {hint}"));
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (i, (name, value)) in self.context.iter().enumerate() {
            write!(f, "{}{name} {value}", if i == 0 { " (" } else { ", " })?;
        }
        if !self.context.is_empty() {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

impl From<rowferry_sinks::SinkError> for Error {
    fn from(error: rowferry_sinks::SinkError) -> Self {
        let kind = match error.retry() {
            rowferry_sinks::Retry::Transient => ErrorKind::Transient,
            rowferry_sinks::Retry::Permanent | rowferry_sinks::Retry::Unsupported => ErrorKind::Permanent,
        };
        let mut out = Self::new(kind, "RF-SNK-001", error.to_string());
        out.hint = error.hint_text().map(str::to_owned);
        out.source = StdError::source(&error).map(|s| s.to_string().into());
        out
    }
}
