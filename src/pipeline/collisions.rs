//! Watches the snapshots of merged tables for rows of different tables that have the same key.

use super::evolve::collisions::names_source;
use super::evolve::{Detector, Finding, KeyRisk, Targets};
use super::tables::TableEntry;
use rowferry_model::{ChangeBatch, TableId};
use std::collections::{BTreeMap, HashSet};

/// Bytes that a remembered key takes at most, when the map has just grown.
const BYTES_A_KEY: usize = 40;

/// The targets whose key can collide, and the keys that were seen.
#[derive(Debug)]
pub(super) struct CollisionWatch {
    targets: HashSet<TableId>,
    detector: Detector,
}

impl CollisionWatch {
    /// Warns of merges in which rows of different tables may overwrite each other. `None`: there are none. The keys that
    /// are remembered take a sixteenth of `memory`, the bytes for rows on their way.
    pub(super) fn of(targets: &Targets, tables: &BTreeMap<TableId, TableEntry>, memory: usize) -> Option<Self> {
        let mut risky = HashSet::new();
        for (target, sources) in targets.merged() {
            let Some(first) = sources.first() else { continue };
            let Some(schema) = targets.upstream(first) else { continue };
            let tells = |column: &str| {
                names_source(column) || tables.get(first).is_some_and(|table| table.transform.tells_source(column))
            };
            if let Some(risk) = KeyRisk::of(target, sources, schema, tells) {
                tracing::warn!("{risk}");
                risky.insert(target.clone());
            }
        }
        let most = (memory / 16 / BYTES_A_KEY).max(1000);
        (!risky.is_empty()).then(|| Self { targets: risky, detector: Detector::new(most) })
    }

    /// Looks at rows that the snapshot of `source` has read, in the shape of their target; says what it finds once.
    pub(super) fn look(&mut self, source: &TableId, routed: &ChangeBatch) {
        if !self.targets.contains(routed.table()) {
            return;
        }
        for finding in self.detector.observe(source, routed) {
            match finding {
                Finding::Collision(found) => tracing::warn!(
                    first = %found.first, second = %found.second, target_table = %found.target, key = found.key,
                    "{found}; further rows of these two tables are not reported"
                ),
                Finding::Full(keys) => tracing::info!(
                    keys,
                    "no more keys of merged tables can be remembered: further ones are not compared"
                ),
            }
        }
    }
}
