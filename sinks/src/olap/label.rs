//! Labels: the names of transactions. The same rows after a crash get the same label, so that what is left of the
//! first attempt is found.

use rowferry_model::TableId;

/// Begins every label, so that an administrator sees whose it is.
const MARK: &str = "rf";

/// The labels of one table.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    stem: String,
}

impl Labels {
    /// The labels of a table: at most 119 characters with a prefix of 41.
    pub(crate) fn new(prefix: &str, instance: &str, table: &TableId) -> Self {
        Self { stem: format!("{prefix}{MARK}_{instance}_{:016x}", hash(table)) }
    }

    /// The label of the `sequence`th transaction that belongs to a checkpoint.
    pub(crate) fn transaction(&self, checkpoint: u64, sequence: u32) -> String {
        format!("{}_{checkpoint}_{sequence}", self.stem)
    }

    /// The label of a load without a transaction, which `run` tells from those of other runs.
    pub(crate) fn plain(&self, run: u64, sequence: u64) -> String {
        format!("{}_r{run:x}_{sequence}", self.stem)
    }
}

/// FNV-1a of both names: names may hold what labels may not, and must map to the same label in every version.
fn hash(table: &TableId) -> u64 {
    let bytes = table.database().bytes().chain([0]).chain(table.table().bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
