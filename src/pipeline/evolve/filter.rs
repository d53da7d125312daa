//! Which schema changes reach the sink: `include.schema.changes` and `exclude.schema.changes`, as the configuration has
//! resolved them.

use super::describe;
use rowferry_model::{SchemaChange, SchemaChangeKind};
use std::collections::BTreeSet;

/// The kinds of changes that a sink is told of.
#[derive(Clone, Debug)]
pub struct Filter {
    kinds: BTreeSet<SchemaChangeKind>,
}

impl Filter {
    /// A filter that passes these kinds.
    pub fn new(kinds: BTreeSet<SchemaChangeKind>) -> Self {
        Self { kinds }
    }

    /// Whether a change of this kind passes.
    pub fn accepts(&self, kind: SchemaChangeKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether a change passes; one that doesn't is logged, for its rows will go on in the old shape.
    pub fn passes(&self, change: &SchemaChange) -> bool {
        let passes = self.accepts(change.kind());
        if !passes {
            tracing::info!(
                target_table = %change.table(),
                change = describe::change(change),
                "a schema change is left out, as the sink's include and exclude lists say"
            );
        }
        passes
    }
}
