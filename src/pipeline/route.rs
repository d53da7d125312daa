//! Which target table a source table goes to.

use crate::error::{Error, ErrorKind, Result};
use rowferry_model::TableId;
use std::collections::HashMap;

/// The targets of each captured table, worked out once.
#[derive(Debug, Default)]
pub(super) struct Router {
    targets: HashMap<TableId, Vec<TableId>>,
}

impl Router {
    /// Works the targets out; `route` gives a table's targets, none for "no rule matches".
    ///
    /// # Errors
    /// Two tables go to one target: merging them is not part of this version.
    pub(super) fn new<'t>(
        tables: impl IntoIterator<Item = &'t TableId>,
        route: impl Fn(&TableId) -> Result<Vec<TableId>>,
    ) -> Result<Self> {
        let mut router = Self::default();
        let mut sources: HashMap<TableId, TableId> = HashMap::new();
        for table in tables {
            let mut targets = route(table)?;
            if targets.is_empty() {
                targets.push(table.clone());
            }
            for target in &targets {
                if let Some(other) = sources.insert(target.clone(), table.clone())
                    && other != *table
                {
                    return Err(Error::new(
                        ErrorKind::Config,
                        "RF-CFG-020",
                        "two tables are routed to one target, and this version can't merge tables",
                    )
                    .with("tables", format!("{other}, {table}"))
                    .with("target", target));
                }
            }
            router.targets.insert(table.clone(), targets);
        }
        Ok(router)
    }

    /// The targets of a table; none for a table that is not captured.
    pub(super) fn targets(&self, table: &TableId) -> &[TableId] {
        self.targets.get(table).map_or(&[], Vec::as_slice)
    }
}
