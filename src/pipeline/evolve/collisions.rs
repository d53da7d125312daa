//! Tables that are merged into one target and have rows with the same key there, which overwrite each other.

use super::coerce::row_key;
use arrow_row::{RowConverter, SortField};
use rowferry_model::{ChangeBatch, TableId, TableSchema};
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The metadata columns of transforms that say which table a row comes from.
const SOURCE_COLUMNS: [&str; 3] = ["__namespace_name__", "__schema_name__", "__table_name__"];

/// Whether a column of this name holds where the row comes from, as a transform without an alias names it.
pub fn names_source(column: &str) -> bool {
    SOURCE_COLUMNS.contains(&column)
}

/// A target whose key does not say which table a row comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRisk {
    /// The target.
    pub target: TableId,
    /// The tables that go there.
    pub sources: Vec<TableId>,
    /// The columns of its key.
    pub key: Vec<String>,
}

impl KeyRisk {
    /// The risk of a target that several tables go to. `names_source` says which columns tell the source: for a transform
    /// with aliases more than [`names_source`](names_source()) knows. `None`: the key has such a column, there is no key,
    /// or only one table goes there.
    pub fn of(
        target: &TableId,
        sources: &[TableId],
        schema: &TableSchema,
        names_source: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let key = &schema.primary_key;
        let safe = sources.len() < 2 || key.is_empty() || key.iter().any(|column| names_source(column));
        (!safe).then(|| Self { target: target.clone(), sources: sources.to_vec(), key: key.clone() })
    }
}

impl fmt::Display for KeyRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.join(", ");
        write!(
            f,
            "{} tables go to {}, whose key ({key}) does not say which one a row comes from: rows with the same key \
             overwrite each other. Unless the tables never share a key, add the source to it with a transform: \
             `projection: __schema_name__, __table_name__, \\*` and `primary-keys: __schema_name__, __table_name__, {key}`",
            self.sources.len(),
            self.target
        )
    }
}

/// Two tables have a row with the same key in one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The target.
    pub target: TableId,
    /// The table whose row came first.
    pub first: TableId,
    /// The table whose row overwrites it.
    pub second: TableId,
    /// The key, for example `id=7`.
    pub key: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} and {} both have a row {} for {}: one overwrites the other",
            self.first, self.second, self.key, self.target
        )
    }
}

/// What a [`Detector`] has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two tables have the same key.
    Collision(Collision),
    /// So many keys are remembered as may be; further ones are not looked at.
    Full(usize),
}

/// Looks for keys that come from two tables, in memory of fixed size. Keys are remembered as 64-bit hashes: of a million
/// keys, two different ones look the same once in forty million runs.
#[derive(Debug)]
pub struct Detector {
    /// Which source had the key of this hash first.
    seen: HashMap<u64, u32>,
    sources: Vec<TableId>,
    /// Pairs of sources that have been reported for a target.
    reported: HashSet<(TableId, u32, u32)>,
    most: usize,
    full: bool,
}

impl Detector {
    /// A detector that remembers this many keys at most; each takes 20 to 40 bytes.
    pub fn new(most: usize) -> Self {
        Self { seen: HashMap::new(), sources: Vec::new(), reported: HashSet::new(), most, full: false }
    }

    /// Looks at rows that the snapshot of `source` has read, in the shape of their target. Each pair of tables is reported
    /// once for a target, and that the memory is full once at all. A table without a key has no collisions.
    pub fn observe(&mut self, source: &TableId, routed: &ChangeBatch) -> Vec<Finding> {
        let mut findings = Vec::new();
        let key = routed.schema().key_indices();
        if self.full || key.is_empty() {
            return findings;
        }
        let Some(source) = self.source(source) else { return findings };
        let columns: Vec<_> = key.iter().map(|index| routed.column(*index).clone()).collect();
        let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
        // Every type of the stream can be a row's part.
        let Ok(converter) = RowConverter::new(fields) else { return findings };
        let Ok(rows) = converter.convert_columns(&columns) else { return findings };
        for (row, bytes) in rows.iter().enumerate() {
            let mut hasher = DefaultHasher::new();
            routed.table().hash(&mut hasher);
            bytes.as_ref().hash(&mut hasher);
            let room = self.seen.len() < self.most;
            match self.seen.entry(hasher.finish()) {
                Entry::Occupied(first) if *first.get() != source => {
                    let first = *first.get();
                    findings.extend(self.report(routed, row, first, source));
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(free) if room => {
                    free.insert(source);
                }
                Entry::Vacant(_) => {
                    self.full = true;
                    self.seen = HashMap::new();
                    findings.push(Finding::Full(self.most));
                    break;
                }
            }
        }
        findings
    }

    fn source(&mut self, source: &TableId) -> Option<u32> {
        let index = self.sources.iter().position(|known| known == source).unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        u32::try_from(index).ok()
    }

    fn report(&mut self, routed: &ChangeBatch, row: usize, first: u32, second: u32) -> Option<Finding> {
        let pair = (routed.table().clone(), first.min(second), first.max(second));
        if !self.reported.insert(pair) {
            return None;
        }
        let source = |index: u32| usize::try_from(index).ok().and_then(|index| self.sources.get(index)).cloned();
        Some(Finding::Collision(Collision {
            target: routed.table().clone(),
            first: source(first)?,
            second: source(second)?,
            key: row_key(routed, row),
        }))
    }
}
