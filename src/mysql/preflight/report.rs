//! What was found.

use rowferry_sql::ServerVersion;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The pipeline cannot run.
    Error,
    /// It runs, with a risk.
    Warning,
    /// Good to know.
    Note,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The setting or the privilege.
    pub subject: String,
    /// What is wrong with it and why that matters.
    pub message: String,
    /// The statement, or the line of the server's configuration, that mends it.
    pub remedy: Option<String>,
}

impl Finding {
    pub(super) fn new(
        severity: Severity,
        subject: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<Option<String>>,
    ) -> Self {
        Self { severity, subject: subject.into(), message: message.into(), remedy: remedy.into() }
    }
}

/// All that was found, the gravest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreflightReport {
    /// The server.
    pub server: ServerVersion,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl PreflightReport {
    /// What keeps the pipeline from running.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.severity == Severity::Error)
    }

    /// Whether nothing keeps the pipeline from running.
    pub fn passes(&self) -> bool {
        self.errors().next().is_none()
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.subject, self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  mend it with: {remedy}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PreflightReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        Ok(())
    }
}
