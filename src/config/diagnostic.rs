//! What is wrong with a file, and where.

use rowferry_sinks::options::{Position, Severity};
use std::fmt;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The file can't mean anything here; an error.
    Invalid,
    /// The file is right, but this version lacks what it asks for; an error.
    Unsupported,
    /// The file works, though perhaps not as meant.
    Warning,
}

impl DiagnosticKind {
    /// Whether the pipeline can't run.
    pub fn is_error(self) -> bool {
        self != Self::Warning
    }

    fn label(self) -> &'static str {
        match self {
            Self::Invalid => "error",
            Self::Unsupported => "unsupported",
            Self::Warning => "warning",
        }
    }
}

impl From<Severity> for DiagnosticKind {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Invalid => Self::Invalid,
            Severity::Unsupported => Self::Unsupported,
            Severity::Warning => Self::Warning,
        }
    }
}

/// One thing that is wrong with a file. Never holds the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub kind: DiagnosticKind,
    /// Where it stands.
    pub position: Position,
    /// The key as written, from the top: `source.scan.startup.mode`, `route[0].sink-table`. Empty: the whole file.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// The nearest valid spelling or another way out.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// The line for people: `pipeline.yaml:7:3: error: source.host: unknown option; did you mean …`.
    pub fn render(&self, file: &str) -> String {
        format!("{file}:{self}")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: ", self.position.line, self.position.column, self.kind.label())?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// Collects everything that is wrong with one file.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one; the returned handle takes the hint.
    fn add(
        &mut self,
        kind: DiagnosticKind,
        at: Position,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Hint<'_> {
        self.found.push(Diagnostic { kind, position: at, key: key.into(), message: message.into(), hint: None });
        Hint(self.found.last_mut())
    }

    pub(crate) fn invalid(&mut self, at: Position, key: impl Into<String>, message: impl Into<String>) -> Hint<'_> {
        self.add(DiagnosticKind::Invalid, at, key, message)
    }

    pub(crate) fn unsupported(&mut self, at: Position, key: impl Into<String>, message: impl Into<String>) -> Hint<'_> {
        self.add(DiagnosticKind::Unsupported, at, key, message)
    }

    pub(crate) fn warning(&mut self, at: Position, key: impl Into<String>, message: impl Into<String>) -> Hint<'_> {
        self.add(DiagnosticKind::Warning, at, key, message)
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Whether the pipeline can't run.
    pub(crate) fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.kind.is_error())
    }

    /// Everything, in the order of the file.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| diagnostic.position);
        self.found
    }
}

/// Where a diagnostic takes its hint.
pub(crate) struct Hint<'a>(Option<&'a mut Diagnostic>);

impl Hint<'_> {
    /// Says the way out.
    pub(crate) fn hint(self, hint: impl Into<String>) {
        self.maybe(Some(hint.into()));
    }

    /// Says the way out if there is one.
    pub(crate) fn maybe(self, hint: Option<String>) {
        if let Some(diagnostic) = self.0 {
            diagnostic.hint = hint;
        }
    }
}
