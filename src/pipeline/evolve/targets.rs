//! The state of all targets: which tables go to which, what shape each target has, and what a change makes of it.

use super::behavior::{left_behind, rewrite};
use super::filter::Filter;
use super::lattice::{Widening, difference, merge};
use super::{Coercion, EvolveError, describe};
use crate::config::{SchemaChangeBehavior, Zone};
use rowferry_model::{ChangeBatch, SchemaChange, SchemaChangeKind, TableId, TableSchema};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How targets follow their sources.
#[derive(Clone, Debug)]
pub struct Options {
    /// `schema.change.behavior`.
    pub behavior: SchemaChangeBehavior,
    /// The kinds of changes that reach the sink.
    pub kinds: BTreeSet<SchemaChangeKind>,
    /// `schema.change.skip-create-table.enabled`: the sink is never told to create a table; it has them.
    pub skip_create_table: bool,
    /// `pipeline.local-time-zone`, in which instants become wall times.
    pub zone: Zone,
}

/// A change that the sink is to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The target.
    pub target: TableId,
    /// The change; its table is the target.
    pub change: SchemaChange,
    /// The target's schema behind the change; `None`: the target is gone.
    pub after: Option<Arc<TableSchema>>,
}

/// All targets of a pipeline.
#[derive(Debug)]
pub struct Targets {
    behavior: SchemaChangeBehavior,
    filter: Filter,
    skip_create_table: bool,
    zone: Zone,
    sources: HashMap<TableId, Source>,
    targets: Vec<Target>,
    index: HashMap<TableId, usize>,
    /// Values that did not fit and became NULL.
    lost: u64,
}

#[derive(Debug)]
struct Source {
    /// `None`: the table has been dropped.
    schema: Option<Arc<TableSchema>>,
    /// Whether its targets are known to have its columns.
    introduced: bool,
    /// One for each target, in the order of the routes; a target that two routes name comes twice.
    lanes: Vec<Lane>,
}

/// The way of a source's rows to a target.
#[derive(Debug)]
struct Lane {
    target: usize,
    /// The last coercion, and the target's version that it leads to.
    cached: Option<(u64, Coercion)>,
}

#[derive(Debug)]
struct Target {
    id: TableId,
    /// The tables that go there, in the order in which they were registered.
    sources: Vec<TableId>,
    /// The schema that the target has; `None`: not created.
    evolved: Option<Arc<TableSchema>>,
    /// Counts the changes of `evolved`.
    version: u64,
}

impl Target {
    fn set(&mut self, evolved: Option<Arc<TableSchema>>) {
        self.evolved = evolved;
        self.version += 1;
    }
}

impl Targets {
    /// No targets yet.
    pub fn new(options: Options) -> Self {
        Self {
            behavior: options.behavior,
            filter: Filter::new(options.kinds),
            skip_create_table: options.skip_create_table,
            zone: options.zone,
            sources: HashMap::new(),
            targets: Vec::new(),
            index: HashMap::new(),
            lost: 0,
        }
    }

    /// How many values did not fit a target that does not follow its table, and became NULL there.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A source table with its schema, and the tables that its rows go to, in the order of the routes. Several sources
    /// may share a target: their order here is the order in which they are merged. A source that is registered again is
    /// a new one.
    pub fn register(&mut self, source: &TableId, schema: &Arc<TableSchema>, targets: &[TableId]) {
        self.forget(source);
        let mut lanes = Vec::with_capacity(targets.len());
        for id in targets {
            let target = self.target(id);
            lanes.push(Lane { target, cached: None });
            if let Some(target) = self.targets.get_mut(target)
                && !target.sources.contains(source)
            {
                target.sources.push(source.clone());
            }
        }
        self.sources.insert(source.clone(), Source { schema: Some(schema.clone()), introduced: false, lanes });
    }

    /// What the definition of a source table says after its changes have been planned: defaults, lengths and the order of
    /// columns, of which no change tells. Plans nothing.
    pub fn set_upstream(&mut self, source: &TableId, schema: &Arc<TableSchema>) {
        if let Some(source) = self.sources.get_mut(source) {
            source.schema = Some(schema.clone());
        }
    }

    /// A source table that is no longer part of the pipeline, as after it was renamed away. Its targets keep their
    /// schema and their rows.
    pub fn forget(&mut self, source: &TableId) {
        if self.sources.remove(source).is_some() {
            for target in &mut self.targets {
                target.sources.retain(|other| other != source);
            }
        }
    }

    /// The schemas that targets had at the last checkpoint, as [`saved`](Self::saved) gave them.
    pub fn restore(&mut self, saved: impl IntoIterator<Item = (TableId, Arc<TableSchema>)>) {
        for (id, schema) in saved {
            let target = self.target(&id);
            if let Some(target) = self.targets.get_mut(target) {
                // The same schema as a source's is the same object, which spares its rows a comparison.
                let known = target.sources.iter().filter_map(|source| self.sources.get(source)?.schema.as_ref());
                let same = known.into_iter().find(|known| **known == schema).cloned();
                target.set(Some(same.unwrap_or(schema)));
            }
        }
    }

    /// The schema of each target that was created and that some table goes to: for the checkpoint.
    pub fn saved(&self) -> Vec<(TableId, Arc<TableSchema>)> {
        let used = self.targets.iter().filter(|target| !target.sources.is_empty());
        used.filter_map(|target| Some((target.id.clone(), target.evolved.clone()?))).collect()
    }

    /// The schema that a target has; `None`: it has not been created.
    pub fn evolved(&self, target: &TableId) -> Option<&Arc<TableSchema>> {
        self.targets.get(*self.index.get(target)?)?.evolved.as_ref()
    }

    /// Whether one of the targets of a source has been created.
    pub fn is_created(&self, source: &TableId) -> bool {
        let created = |lane: &Lane| self.targets.get(lane.target).is_some_and(|target| target.evolved.is_some());
        self.sources.get(source).is_some_and(|source| source.lanes.iter().any(created))
    }

    /// The schema of a source table as far as changes have been planned; `None`: unknown or dropped.
    pub fn upstream(&self, source: &TableId) -> Option<&Arc<TableSchema>> {
        self.sources.get(source)?.schema.as_ref()
    }

    /// Targets that several tables go to, with these tables in the order of their registration.
    pub fn merged(&self) -> impl Iterator<Item = (&TableId, &[TableId])> {
        self.targets.iter().filter(|target| target.sources.len() > 1).map(|t| (&t.id, t.sources.as_slice()))
    }

    /// What the sink must do before a source's first rows: targets are created, with what all the tables have that go
    /// there, or get what this one has and they lack. Nothing from the second call on.
    ///
    /// # Errors
    /// The source is not registered, or a change is due where the behaviour is EXCEPTION.
    pub fn create(&mut self, source: &TableId) -> Result<Vec<Planned>, EvolveError> {
        let Some(entry) = self.sources.get_mut(source) else {
            return Err(EvolveError::UnknownTable(source.clone()));
        };
        if entry.introduced {
            return Ok(Vec::new());
        }
        entry.introduced = true;
        let mut planned = Vec::new();
        for target in self.targets_of(source) {
            planned.extend(self.introduce(source, target)?);
        }
        Ok(planned)
    }

    /// What the sink must do after a change of a source table, in this order. Nothing for a change that is known already,
    /// as after a restart. A table that was created anew under its old name, or that took the name of another one, comes
    /// as a `CreateTable`.
    ///
    /// # Errors
    /// The behaviour is EXCEPTION; a key's column goes away where the behaviour is LENIENT; the table was created anew
    /// with another key; or the change does not fit what is known of the table.
    pub fn plan(&mut self, source: &TableId, change: &SchemaChange) -> Result<Vec<Planned>, EvolveError> {
        let Some(entry) = self.sources.get_mut(source) else {
            return match change {
                SchemaChange::DropTable { .. } => Ok(Vec::new()),
                _ => Err(EvolveError::UnknownTable(source.clone())),
            };
        };
        if is_redundant(entry.schema.as_deref(), change) {
            return Ok(Vec::new());
        }
        let before = entry.schema.as_deref().cloned().unwrap_or_default();
        let after = before.apply(change).map_err(|error| EvolveError::Upstream {
            table: source.clone(),
            change: describe::change(change),
            source: error,
        })?;
        entry.schema = match change {
            SchemaChange::CreateTable { schema, .. } => Some(schema.clone()),
            _ => after.map(Arc::new),
        };
        if matches!(change, SchemaChange::CreateTable { .. }) {
            entry.introduced = true;
        }
        let mut planned = Vec::new();
        for target in self.targets_of(source) {
            planned.extend(self.plan_for(source, change, target)?);
        }
        Ok(planned)
    }

    /// The sink has made a change.
    pub fn applied(&mut self, planned: &Planned) {
        let target = self.target(&planned.target);
        if let Some(target) = self.targets.get_mut(target) {
            target.set(planned.after.clone());
        }
    }

    /// The sink can't make a change and the pipeline goes on without it, as TRY_EVOLVE wants it. The target keeps its
    /// schema; what is still to come, `rest`, is put right: columns that stay and get NULL from now on must become
    /// nullable first. Gives the words for the log.
    pub fn tolerated(&mut self, planned: &Planned, rest: &mut Vec<Planned>) -> String {
        let mut current = self.evolved(&planned.target).cloned();
        if let Some(schema) = &current
            && let Some(change) = left_behind(&planned.change, schema)
            && self.filter.passes(&change)
        {
            rest.insert(0, Planned { target: planned.target.clone(), change, after: None });
        }
        rest.retain_mut(|next| {
            if next.target != planned.target {
                return true;
            }
            match current.as_ref().map(|schema| schema.apply(&next.change)) {
                Some(Ok(after)) => {
                    next.after = after.map(Arc::new);
                    current.clone_from(&next.after);
                    true
                }
                // It builds on what could not be done.
                Some(Err(_)) | None => false,
            }
        });
        describe::lacking(&planned.change)
    }

    /// The rows of a source table for each of its targets, in the order of the routes. Rows that have the target's shape
    /// already, as always without merging and leniency, are only given the target's name.
    ///
    /// # Errors
    /// A value does not fit its target, see [`Coercion::apply`].
    pub fn route(&mut self, batch: ChangeBatch) -> Result<Vec<ChangeBatch>, EvolveError> {
        let Some(source) = self.sources.get_mut(batch.table()) else {
            return Err(EvolveError::UnknownTable(batch.table().clone()));
        };
        let last = source.lanes.len().saturating_sub(1);
        let mut routed = Vec::with_capacity(source.lanes.len());
        let mut remaining = Some(batch);
        for (index, lane) in source.lanes.iter_mut().enumerate() {
            // The last target gets the rows themselves: operations are not copied where there is only one.
            let batch = if index == last { remaining.take() } else { remaining.clone() };
            let (Some(batch), Some(target)) = (batch, self.targets.get(lane.target)) else { continue };
            let Some(evolved) = &target.evolved else {
                return Err(EvolveError::NotCreated { table: batch.table().clone(), target: target.id.clone() });
            };
            let shaped = if Arc::ptr_eq(batch.schema(), evolved) {
                batch
            } else {
                let coercion = lane.coercion(target.version, batch.schema(), evolved, self.zone);
                match self.behavior {
                    SchemaChangeBehavior::Ignore => coercion.apply_lossy(batch, &mut self.lost)?,
                    _ => coercion.apply(batch)?,
                }
            };
            routed.push(if shaped.table() == &target.id { shaped } else { shaped.with_table(target.id.clone()) });
        }
        Ok(routed)
    }

    fn target(&mut self, id: &TableId) -> usize {
        if let Some(index) = self.index.get(id) {
            return *index;
        }
        let index = self.targets.len();
        self.targets.push(Target { id: id.clone(), sources: Vec::new(), evolved: None, version: 0 });
        self.index.insert(id.clone(), index);
        index
    }

    /// The targets of a source, each once.
    fn targets_of(&self, source: &TableId) -> Vec<usize> {
        let mut seen = Vec::new();
        for lane in self.sources.get(source).map_or(&[][..], |source| &source.lanes) {
            if !seen.contains(&lane.target) {
                seen.push(lane.target);
            }
        }
        seen
    }

    /// What the tables have that go to a target, merged in the order of their registration onto what it has.
    fn merged_schema(&self, target: &Target) -> Option<Arc<TableSchema>> {
        let mut merged = target.evolved.clone();
        for source in &target.sources {
            let Some(schema) = self.upstream(source) else { continue };
            merged = Some(match merged {
                None => schema.clone(),
                Some(current) => {
                    let next = merge(&current, schema, Widening::Merge);
                    if next == *current { current } else { Arc::new(next) }
                }
            });
        }
        merged
    }

    fn introduce(&mut self, source: &TableId, target: usize) -> Result<Vec<Planned>, EvolveError> {
        let Some(entry) = self.targets.get(target) else { return Ok(Vec::new()) };
        let Some(evolved) = entry.evolved.clone() else {
            let Some(schema) = self.merged_schema(entry) else { return Ok(Vec::new()) };
            return Ok(self.plan_create(target, schema));
        };
        let Some(schema) = self.upstream(source) else { return Ok(Vec::new()) };
        let widening = if entry.sources.len() > 1 { Widening::Merge } else { Widening::Follow };
        let merged = merge(&evolved, schema, widening);
        let changes = difference(&entry.id, Some(&evolved), &merged);
        self.finish(target, changes)
    }

    fn plan_create(&mut self, target: usize, schema: Arc<TableSchema>) -> Vec<Planned> {
        let told = !self.skip_create_table && self.filter.accepts(SchemaChangeKind::CreateTable);
        let Some(target) = self.targets.get_mut(target) else { return Vec::new() };
        if told {
            let change = SchemaChange::CreateTable { table: target.id.clone(), schema: schema.clone() };
            return vec![Planned { target: target.id.clone(), change, after: Some(schema) }];
        }
        tracing::info!(target_table = %target.id, "the target is not created: it must be there");
        target.set(Some(schema));
        Vec::new()
    }

    fn plan_for(
        &mut self,
        source: &TableId,
        change: &SchemaChange,
        target: usize,
    ) -> Result<Vec<Planned>, EvolveError> {
        let Some(entry) = self.targets.get(target) else { return Ok(Vec::new()) };
        let Some(evolved) = &entry.evolved else {
            // It is created from the changed schema when rows come.
            return match change {
                SchemaChange::CreateTable { .. } => self.introduce(source, target),
                _ => Ok(Vec::new()),
            };
        };
        let changes = match change {
            _ if entry.sources.len() > 1 => match self.merged_schema(entry) {
                Some(merged) => difference(&entry.id, Some(evolved), &merged),
                None => Vec::new(),
            },
            SchemaChange::CreateTable { schema, .. } => {
                if !same_key(evolved, schema) {
                    return Err(EvolveError::KeyChanged {
                        table: source.clone(),
                        target: entry.id.clone(),
                        before: evolved.primary_key.join(", "),
                        after: schema.primary_key.join(", "),
                    });
                }
                difference(&entry.id, Some(evolved), schema)
            }
            change => vec![change.clone().with_table(entry.id.clone())],
        };
        self.finish(target, changes)
    }

    /// Rewrites changes of a target as the behaviour wants them, and leaves out what the sink isn't told of.
    fn finish(&self, target: usize, changes: Vec<SchemaChange>) -> Result<Vec<Planned>, EvolveError> {
        let mut planned = Vec::new();
        let Some(target) = self.targets.get(target) else { return Ok(planned) };
        let mut current = target.evolved.clone();
        for change in changes {
            let Some(schema) = current.clone() else { break };
            let rewritten = rewrite(self.behavior, &change, &schema)?;
            if rewritten.is_empty() {
                tracing::info!(
                    target_table = %target.id,
                    change = describe::change(&change),
                    "a schema change leaves the target as it is"
                );
            }
            for mut change in rewritten {
                let Some(schema) = &current else { break };
                if !self.filter.passes(&change) {
                    match left_behind(&change, schema).filter(|next| self.filter.accepts(next.kind())) {
                        Some(next) if self.behavior != SchemaChangeBehavior::Exception => change = next,
                        _ => continue,
                    }
                }
                if self.behavior == SchemaChangeBehavior::Exception {
                    return Err(EvolveError::Exception { table: target.id.clone(), change: describe::change(&change) });
                }
                let after = schema.apply(&change).map_err(|error| EvolveError::Upstream {
                    table: target.id.clone(),
                    change: describe::change(&change),
                    source: error,
                })?;
                current = after.map(|after| self.shared(target, after));
                planned.push(Planned { target: target.id.clone(), change, after: current.clone() });
            }
        }
        Ok(planned)
    }

    /// The schema of a source where it is the same, which spares its rows a comparison.
    fn shared(&self, target: &Target, schema: TableSchema) -> Arc<TableSchema> {
        let mut known = target.sources.iter().filter_map(|source| self.upstream(source));
        known.find(|known| ***known == schema).cloned().unwrap_or_else(|| Arc::new(schema))
    }
}

impl Lane {
    fn coercion(&mut self, version: u64, from: &Arc<TableSchema>, to: &Arc<TableSchema>, zone: Zone) -> &Coercion {
        let usable = self.cached.as_ref().is_some_and(|(cached, coercion)| {
            *cached == version && (Arc::ptr_eq(coercion.from(), from) || coercion.from() == from)
        });
        let cached = self.cached.take().filter(|_| usable);
        &self.cached.insert(cached.unwrap_or_else(|| (version, Coercion::new(from, to, zone)))).1
    }
}

/// Whether a change is one that the source table already has.
fn is_redundant(schema: Option<&TableSchema>, change: &SchemaChange) -> bool {
    let Some(schema) = schema else { return !matches!(change, SchemaChange::CreateTable { .. }) };
    match change {
        SchemaChange::CreateTable { schema: new, .. } => schema == new.as_ref(),
        SchemaChange::AddColumns { columns, .. } => {
            columns.iter().all(|added| schema.column(&added.column.name) == Some(&added.column))
        }
        SchemaChange::AlterColumns { columns, .. } => columns.iter().all(|altered| {
            schema.column(&altered.name).is_some_and(|column| {
                column.data_type == altered.data_type
                    && column.nullable == altered.nullable
                    && (altered.comment.is_none() || altered.comment == column.comment)
            })
        }),
        SchemaChange::RenameColumns { names, .. } => {
            let has = |name: &str| schema.columns.iter().any(|column| column.name == name);
            names.iter().all(|(old, new)| !has(old) && has(new))
        }
        SchemaChange::DropColumns { names, .. } => names.iter().all(|name| schema.column(name).is_none()),
        SchemaChange::AlterTableComment { comment, .. } => *comment == schema.comment,
        SchemaChange::DropTable { .. } | SchemaChange::TruncateTable { .. } => false,
    }
}

/// Whether two schemas tell rows apart by the same columns.
fn same_key(a: &TableSchema, b: &TableSchema) -> bool {
    let names = |schema: &TableSchema| -> BTreeSet<String> {
        schema.primary_key.iter().map(|name| name.to_lowercase()).collect()
    };
    names(a) == names(b)
}
