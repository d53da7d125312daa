//! What the rules of `transform` make of a table, its rows and its changes, on the way to its targets.

use crate::error::{Error, ErrorKind, Result};
use crate::mysql::reader::Tracked;
use rowferry_model::{ChangeBatch, SchemaChange, TableId, TableSchema};
use rowferry_transform::{EvalError, RuleErrors, TablePlan, Transforms};
use std::sync::Arc;

/// What happens to one table. Without a rule for it nothing does.
#[derive(Clone, Debug, Default)]
pub(super) struct TableTransform {
    plan: Option<Arc<TablePlan>>,
}

impl TableTransform {
    /// What the rules say of a table.
    ///
    /// # Errors
    /// A rule does not fit the table.
    pub(super) fn of(rules: Option<&Transforms>, table: &TableId, schema: &Arc<TableSchema>) -> Result<Self> {
        let plan = match rules {
            Some(rules) => rules.for_table(table, schema).map_err(rule_error)?,
            None => None,
        };
        Ok(Self { plan })
    }

    /// Whether the rows from before an update are needed as a whole: a property of the rule, which no DDL changes.
    pub(super) fn needs_before_images(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.needs_before_images())
    }

    /// Whether a column says which table a row comes from.
    pub(super) fn tells_source(&self, column: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.tells_source(column))
    }

    /// Whether a rule means the table.
    pub(super) fn is_active(&self) -> bool {
        self.plan.is_some()
    }

    /// The table as its targets see it.
    pub(super) fn schema<'s>(&'s self, tracked: &'s Arc<TableSchema>) -> &'s Arc<TableSchema> {
        self.plan.as_ref().map_or(tracked, |plan| plan.schema())
    }

    /// The rows as the targets get them; `None`: no row passes.
    ///
    /// # Errors
    /// An expression can't be computed for a row.
    pub(super) fn rows(&self, batch: ChangeBatch) -> Result<Option<ChangeBatch>> {
        match &self.plan {
            None => Ok(Some(batch)),
            Some(plan) => plan.apply(batch).map_err(eval_error),
        }
    }

    /// What a change of the table is for its targets. `before` is the table's schema before the change, and is moved over it.
    ///
    /// # Errors
    /// A rule does not fit the table any more.
    pub(super) fn change(
        &mut self,
        rules: Option<&Transforms>,
        before: &mut Arc<TableSchema>,
        change: &SchemaChange,
    ) -> Result<Vec<SchemaChange>> {
        match change {
            SchemaChange::CreateTable { schema, .. } => *before = schema.clone(),
            change => {
                // A table that is gone keeps its schema until another one takes its name.
                if let Ok(Some(after)) = before.apply(change) {
                    *before = Arc::new(after);
                }
            }
        }
        match (&self.plan, rules) {
            (Some(plan), Some(rules)) => {
                let evolved = rules.evolve(plan, change, before).map_err(rule_error)?;
                self.plan = Some(evolved.plan);
                Ok(evolved.changes)
            }
            _ => Ok(vec![change.clone()]),
        }
    }

    /// The table's definition says more than its changes did: defaults, lengths, the order of columns.
    ///
    /// # Errors
    /// A rule does not fit the table any more.
    pub(super) fn settle(&mut self, rules: Option<&Transforms>, tracked: &Tracked) -> Result<()> {
        if let (Some(plan), Some(rules)) = (&self.plan, rules) {
            let known = plan.schema().clone();
            self.plan = rules.for_table_like(&tracked.table, &tracked.schema, Some(&known)).map_err(rule_error)?;
        }
        Ok(())
    }
}

fn rule_error(errors: RuleErrors) -> Error {
    Error::new(ErrorKind::Config, "RF-CFG-023", "a transform rule can't be used").caused_by(errors)
}

fn eval_error(error: EvalError) -> Error {
    let out = if error.0.transient {
        Error::transient("RF-TRF-001", "a transform can't be computed at the moment")
    } else {
        Error::permanent("RF-TRF-002", "a transform can't be computed")
    };
    out.caused_by(error)
}
