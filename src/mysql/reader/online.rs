//! gh-ost and pt-online-schema-change: tables that are filled beside a captured one and then take its place.

use rowferry_model::{SchemaChange, TableId};
use rowferry_sql::TableDef;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A table that is being filled to take another's place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shadow {
    /// The table whose place it will take.
    pub real: TableId,
    /// Its definition when it was made: that of the real table.
    pub base: Arc<TableDef>,
    /// What was done to it since.
    pub changes: Vec<SchemaChange>,
    /// Whether something was done to it that the changes do not show.
    pub broken: bool,
}

impl Shadow {
    /// A fresh copy of a table.
    pub(super) fn of(real: TableId, base: Arc<TableDef>) -> Self {
        Self { real, base, changes: Vec::new(), broken: false }
    }

    /// Whether what was done to the shadow leads from the real table as it is now to the shadow.
    pub(super) fn is_usable(&self, real: &TableId, now: Option<&Arc<TableDef>>) -> bool {
        !self.broken && self.real == *real && now.is_some_and(|now| *now == self.base)
    }
}

/// The table that a table's name says it is filled for: gh-ost's `_t_gho`, pt-online-schema-change's `_t_new`.
pub(super) fn peeled_name(table: &TableId) -> Option<TableId> {
    peel(table, &["_gho", "_new"])
}

/// The table for which a table of such a name is made or set aside by gh-ost (`_t_gho`, `_t_ghc`, `_t_del`) or
/// pt-online-schema-change (`_t_new`, `_t_old`).
pub fn online_change_of(table: &TableId) -> Option<TableId> {
    peel(table, &["_gho", "_ghc", "_del", "_new", "_old"])
}

fn peel(table: &TableId, endings: &[&str]) -> Option<TableId> {
    // pt-online-schema-change adds underscores until the name is free.
    let name = table.table().strip_prefix('_')?;
    let name = endings.iter().find_map(|e| name.strip_suffix(e))?.trim_start_matches('_');
    (!name.is_empty()).then(|| TableId::new(table.database(), name))
}
