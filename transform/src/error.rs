//! What can be wrong with a rule, and what can go wrong while rows are computed.

use std::fmt;
use std::ops::Range;

/// Which part of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKey {
    /// `projection`.
    Projection,
    /// `filter`.
    Filter,
    /// `primary-keys`.
    PrimaryKeys,
    /// `partition-keys`.
    PartitionKeys,
    /// The `sql` of a user-defined function.
    Function,
    /// A model's options.
    Model,
}

impl RuleKey {
    /// The key in the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Projection => "projection",
            Self::Filter => "filter",
            Self::PrimaryKeys => "primary-keys",
            Self::PartitionKeys => "partition-keys",
            Self::Function => "sql",
            Self::Model => "model",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text can't mean anything.
    Invalid,
    /// The text is right, but asks for what this program can't do.
    Unsupported,
    /// It works, though perhaps not as meant.
    Warning,
}

/// Something wrong with a text, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) severity: Severity,
    /// Bytes of the text; `None`: the whole of it.
    pub(crate) range: Option<Range<usize>>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { severity: Severity::Invalid, range: None, message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    pub(crate) fn unsupported(mut self) -> Self {
        self.severity = Severity::Unsupported;
        self
    }

    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::new(message) }
    }

    /// Sets the place where none is known yet: the innermost expression wins.
    pub(crate) fn at(mut self, range: Option<Range<usize>>) -> Self {
        if self.range.is_none() {
            self.range = range;
        }
        self
    }
}

/// Something wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    /// Which rule, counted from 0 in the order of the file; of a function or a model: which of these.
    pub rule: usize,
    /// Which of its keys.
    pub key: RuleKey,
    /// Which bytes of that key's value; `None`: the whole of it.
    pub range: Option<Range<usize>>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The way out, where one is known.
    pub hint: Option<String>,
}

impl RuleError {
    pub(crate) fn of(rule: usize, key: RuleKey, fault: Fault) -> Self {
        let Fault { severity, range, message, hint } = fault;
        Self { rule, key, range, severity, message, hint }
    }
}

/// Everything that is wrong when the rules meet a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleErrors {
    /// The table.
    pub table: String,
    /// What is wrong; never empty.
    pub errors: Vec<RuleError>,
}

impl fmt::Display for RuleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the transform rules can't be applied to the table {}", self.table)?;
        for error in &self.errors {
            write!(f, "; transform[{}].{}: {}", error.rule, error.key.name(), error.message)?;
            if let Some(hint) = &error.hint {
                write!(f, " ({hint})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for RuleErrors {}

/// Rows could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvalError(pub Box<EvalFailure>);

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalFailure {
    /// The source table.
    pub table: String,
    /// Which rule.
    pub rule: usize,
    /// `projection` or `filter`.
    pub key: &'static str,
    /// The expression as written.
    pub expression: String,
    /// The key of the row, `id=7`, where one row is to blame and the table has a key.
    pub row: Option<String>,
    /// What went wrong.
    pub message: String,
    /// Whether trying again can help: a model's server that did not answer.
    pub transient: bool,
}

impl fmt::Display for EvalFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transform[{}].{} of the table {}: `{}`", self.rule, self.key, self.table, self.expression)?;
        if let Some(row) = &self.row {
            write!(f, " at the row {row}")?;
        }
        write!(f, ": {}", self.message)
    }
}
