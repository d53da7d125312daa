//! Schema changes: from the source's DDL to the sink.

use super::attempt::Attempt;
use super::evolve::Planned;
use super::start::targets_of;
use super::tables::{TableEntry, TablePhase, join_error, snapshot_phase, text_plan};
use super::transform::TableTransform;
use crate::checkpoint::SnapshotProgress;
use crate::config::SchemaChangeBehavior;
use crate::error::{Error, ErrorKind, Result};
use crate::failpoint;
use crate::metrics::Metrics;
use crate::mysql::reader::{Bystanders, Ddl, StreamPoint, TableChange, Tracked};
use crate::mysql::snapshot::ChunkKey;
use rowferry_model::{SchemaChange, TableId};
use rowferry_sinks::Retry;
use std::sync::Arc;

impl Attempt<'_> {
    /// Follows a DDL: everything before it is made visible, the sink's tables are changed, and what comes next is of the
    /// new shape. A crash on the way repeats the DDL, which finds what it did.
    pub(super) async fn follow(
        &mut self,
        ddl: Ddl,
        point: StreamPoint,
        bystanders: Option<Box<Bystanders>>,
    ) -> Result<()> {
        // What was read before the DDL is written before it.
        self.close_chunks().await?;
        self.steps.begin(&self.point.server, &ddl.position);
        let mut applied = false;
        for change in &ddl.tables {
            applied |= self.follow_table(change, &ddl).await?;
        }
        self.point = point;
        if let Some(bystanders) = bystanders {
            self.bystanders = Arc::new(*bystanders);
        }
        if applied && self.point.boundary {
            failpoint::pass("after-ddl");
            self.checkpoint().await?;
        }
        self.resume_suspended().await
    }

    async fn follow_table(&mut self, change: &TableChange, ddl: &Ddl) -> Result<bool> {
        let table = &change.table;
        let Some(entry) = self.tables.get(table) else {
            return match &change.tracked {
                Some(tracked) => self.take_new(tracked, change, ddl).await,
                None => Ok(false),
            };
        };
        // What a whole read shows is behind the DDL already, whose last one leads back to what was read.
        if matches!(&entry.phase, TablePhase::WholeAt(at) if ddl.position <= *at) {
            // Even a table that was dropped and made again: its rows up to that place have been read.
            if let (Some(entry), Some(tracked)) = (self.tables.get_mut(table), change.tracked.clone()) {
                entry.tracked = tracked;
            }
            return Ok(false);
        }
        if let Some(tracked) = &change.tracked {
            warn_of_what_the_log_lacks(&entry.tracked, tracked, change, ddl);
        }
        let mut applied = false;
        let mut schema = entry.tracked.schema.clone();
        let mut transform = entry.transform.clone();
        for change in &change.changes {
            for change in transform.change(self.settings.transforms.as_deref(), &mut schema, change)? {
                applied |= self.pass_on(table, &change, ddl).await?;
            }
        }
        if let Some(tracked) = &change.tracked {
            // Defaults and moved columns have no event of their own.
            transform.settle(self.settings.transforms.as_deref(), tracked)?;
            self.targets.set_upstream(table, transform.schema(&tracked.schema));
        }
        if let Some(entry) = self.tables.get_mut(table) {
            entry.transform = transform;
        }
        self.redefine(change)?;
        Ok(applied)
    }

    /// A table that has just appeared.
    async fn take_new(&mut self, tracked: &Tracked, change: &TableChange, ddl: &Ddl) -> Result<bool> {
        let table = &tracked.table;
        tracing::info!(%table, position = %ddl.position, "a new table is captured from here on");
        let to = targets_of(self.choice.as_ref(), table)?;
        // What was created and changed in one statement has its last schema from the start.
        let schema = change.changes.iter().rev().find_map(|c| match c {
            SchemaChange::CreateTable { schema, .. } => Some(schema.clone()),
            _ => None,
        });
        let source = schema.unwrap_or_else(|| tracked.schema.clone());
        let transform = TableTransform::of(self.settings.transforms.as_deref(), table, &source)?;
        let schema = transform.schema(&source).clone();
        if schema.primary_key.is_empty() && !self.sink.events.capabilities().keyless_tables {
            return Err(Error::new(ErrorKind::Permanent, "RF-CFG-021", "the sink can't hold a table without a key")
                .with("table", table)
                .with("position", &ddl.position)
                .hint("give the table a primary key, or leave it out with `tables.exclude`"));
        }
        self.targets.register(table, &schema, &to);
        self.tables.insert(table.clone(), TableEntry::new(tracked.clone(), transform, 0));
        let planned = self.targets.create(table)?;
        self.apply(planned, Some(ddl)).await
    }

    /// Carries one change of a source table to its targets; `true`: the sink was told of it.
    async fn pass_on(&mut self, table: &TableId, change: &SchemaChange, ddl: &Ddl) -> Result<bool> {
        // A run that died may have created the target as the table was, and no checkpoint knows of it: the change must
        // find it so.
        if !matches!(change, SchemaChange::CreateTable { .. }) && !self.targets.is_created(table) {
            self.create(table).await?;
        }
        let planned = self
            .targets
            .plan(table, change)
            .map_err(|e| Error::from(e).with("statement", &ddl.statement).with("position", &ddl.position))?;
        self.apply(planned, Some(ddl)).await
    }

    /// Targets that are there already get what their tables have and they lack: a table may have become part of a merge.
    pub(super) async fn adapt_targets(&mut self) -> Result<()> {
        let there: Vec<TableId> = self
            .tables
            .iter()
            .filter(|(_, t)| !matches!(t.phase, TablePhase::Gone(_)))
            .filter(|(id, _)| self.targets.is_created(id))
            .map(|(id, _)| id.clone())
            .collect();
        for table in there {
            self.create(&table).await?;
        }
        Ok(())
    }

    /// Tells the sink to create a table's targets, once.
    pub(super) async fn create(&mut self, table: &TableId) -> Result<()> {
        let planned = self.targets.create(table)?;
        if !planned.is_empty() {
            self.apply(planned, None).await?;
        }
        Ok(())
    }

    /// Makes the sink do what was planned; `true`: it was told of something.
    async fn apply(&mut self, mut planned: Vec<Planned>, ddl: Option<&Ddl>) -> Result<bool> {
        // A table that is only created has no rows before: that can wait.
        let waits =
            planned.iter().all(|p| matches!(p.change, SchemaChange::CreateTable { .. })) && !self.point.boundary;
        if ddl.is_some() && !planned.is_empty() && !waits && self.steps.must_settle() {
            self.settle(ddl).await?;
        }
        let mut told = false;
        while !planned.is_empty() {
            let next = planned.remove(0);
            match ddl.and_then(|_| self.steps.made_before()) {
                Some(true) => {
                    self.targets.applied(&next);
                    told = true;
                    continue;
                }
                Some(false) => {
                    self.targets.tolerated(&next, &mut planned);
                    told = true;
                    continue;
                }
                None => {}
            }
            let checked = match &next.after {
                Some(after) => self.sink.events.check(&next.target, after),
                None => Ok(()),
            };
            let done = match checked {
                Ok(()) => {
                    let limit = self.settings.schema_change_timeout;
                    let apply = self.sink.metadata.apply(&next.change, next.after.as_deref());
                    match tokio::time::timeout(limit, apply).await {
                        Ok(done) => done,
                        Err(_) => return Err(too_slow(&next, ddl, limit)),
                    }
                }
                Err(error) => Err(error),
            };
            told = true;
            match done {
                Ok(()) => {
                    failpoint::pass("ddl-applied");
                    Metrics::add(&self.metrics.schema_changes, 1);
                    self.targets.applied(&next);
                    self.note(ddl, true)?;
                }
                Err(error)
                    if error.retry() == Retry::Unsupported
                        && self.settings.targets.behavior == SchemaChangeBehavior::TryEvolve
                        && !matches!(next.change, SchemaChange::CreateTable { .. }) =>
                {
                    let lacking = self.targets.tolerated(&next, &mut planned);
                    tracing::warn!(target_table = %next.target, %error, "the sink can't follow a schema change: {lacking}");
                    self.note(ddl, false)?;
                }
                Err(error) => {
                    let mut error =
                        Error::from(error).with("target", &next.target).with("change", next.change.kind().tag());
                    if let Some(ddl) = ddl {
                        error = error.with("statement", &ddl.statement).with("position", &ddl.position);
                    }
                    return Err(error);
                }
            }
        }
        Ok(told)
    }

    /// Notes what has become of a change of a DDL.
    fn note(&mut self, ddl: Option<&Ddl>, made: bool) -> Result<()> {
        if ddl.is_none() {
            return Ok(());
        }
        let progress = self.steps.note(made);
        self.store.note_ddl(progress).map_err(super::run::store_error)
    }

    /// Makes everything before a DDL visible.
    async fn settle(&mut self, ddl: Option<&Ddl>) -> Result<()> {
        if self.point.boundary {
            return self.checkpoint().await;
        }
        let mut error = Error::permanent(
            "RF-DDL-004",
            "a schema change comes while an XA transaction is prepared: what stands before it can't be made visible",
        );
        if let Some(ddl) = ddl {
            error = error.with("statement", &ddl.statement).with("position", &ddl.position);
        }
        Err(error.hint("start again with a new snapshot, at a time when `XA RECOVER` lists nothing"))
    }

    /// Gives a table its new definition, or notes that it is gone.
    fn redefine(&mut self, change: &TableChange) -> Result<()> {
        let table = &change.table;
        let chunk_key = self.choice.chunk_key(table);
        let Some(entry) = self.tables.get_mut(table) else { return Ok(()) };
        let Some(tracked) = change.tracked.clone() else {
            let dropped = change.changes.iter().any(|c| matches!(c, SchemaChange::DropTable { .. }));
            let left = match &entry.phase {
                TablePhase::Chunks(join) if !dropped => Some(join.progress()),
                TablePhase::Chunks(_) | TablePhase::WholeWaiting => Some(SnapshotProgress::default()),
                TablePhase::Gone(Some(left)) => Some(left.clone()),
                TablePhase::WholeAt(_) | TablePhase::Streaming | TablePhase::Gone(None) => None,
            };
            entry.phase = TablePhase::Gone(left);
            return Ok(());
        };
        let before = std::mem::replace(&mut entry.tracked, tracked);
        match &mut entry.phase {
            // It came with rows, and such rows were still to be read.
            TablePhase::Gone(Some(left)) if change.with_rows => {
                let key = |def| ChunkKey::of(def, chunk_key.as_deref());
                let alike = match (key(&before.def), key(&entry.tracked.def)) {
                    (Some(before), Some(now)) => before.is_alike(&now),
                    (before, now) => before.is_none() && now.is_none(),
                };
                let left = if alike { std::mem::take(left) } else { SnapshotProgress::default() };
                entry.generation += 1;
                entry.statement = None;
                snapshot_phase(entry, chunk_key.as_deref(), left)?;
            }
            TablePhase::Gone(_) => entry.phase = TablePhase::Streaming,
            TablePhase::Streaming | TablePhase::WholeAt(_) => {}
            TablePhase::WholeWaiting => {
                entry.generation += 1;
                entry.statement = None;
                entry.text_plan = Some(text_plan(&entry.tracked)?);
            }
            TablePhase::Chunks(join) => {
                entry.generation += 1;
                entry.statement = None;
                entry.text_plan = Some(text_plan(&entry.tracked)?);
                match ChunkKey::of(&entry.tracked.def, chunk_key.as_deref()) {
                    Some(key) => join.redefine(entry.tracked.schema.clone(), key).map_err(join_error)?,
                    None if join.progress().done.is_empty() => entry.phase = TablePhase::WholeWaiting,
                    None => {
                        return Err(Error::permanent(
                            "RF-SNP-007",
                            "a table has lost its key in the middle of its snapshot",
                        )
                        .with("table", table)
                        .hint("start again with a new state directory and empty targets"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The sink has not made a change in time. It may still make it: the next attempt looks first.
fn too_slow(planned: &Planned, ddl: Option<&Ddl>, limit: std::time::Duration) -> Error {
    let mut error = Error::transient("RF-DDL-007", "the sink has not made a schema change in time")
        .with("target", &planned.target)
        .with("change", planned.change.kind().tag())
        .with("limit", format!("{} s", limit.as_secs()));
    if let Some(ddl) = ddl {
        error = error.with("statement", &ddl.statement).with("position", &ddl.position);
    }
    error.hint("raise `schema-operator.rpc-timeout` if the target needs longer")
}

/// Says what a DDL did at the source that leaves no trace in the log.
fn warn_of_what_the_log_lacks(before: &Tracked, after: &Tracked, change: &TableChange, ddl: &Ddl) {
    let table = &change.table;
    for change in &change.changes {
        let SchemaChange::AddColumns { columns, .. } = change else { continue };
        let filled = columns.iter().filter(|added| !added.column.nullable || added.column.default.is_some());
        let names: Vec<&str> = filled.map(|added| added.column.name.as_str()).collect();
        if !names.is_empty() {
            tracing::warn!(%table, columns = names.join(", "), position = %ddl.position, "MySQL gives the rows that are there a value for a new column, without a trace in the binlog: the target has NULL there until a row is updated");
        }
    }
    let anew = change.changes.iter().any(|c| matches!(c, SchemaChange::CreateTable { .. }));
    let (old, new) = (&before.def.primary_key, &after.def.primary_key);
    let had = |column: &String| old.iter().any(|o| o.eq_ignore_ascii_case(column));
    let renamed = |column: &String| {
        change.changes.iter().any(|c| match c {
            SchemaChange::RenameColumns { names, .. } => names.iter().any(|(from, to)| to == column && had(from)),
            _ => false,
        })
    };
    // Rows that the new key tells apart may be one by the old key, which the target keeps.
    let wider = new.is_empty() || new.iter().any(|column| !had(column) && !renamed(column));
    if !anew && !old.is_empty() && wider {
        tracing::warn!(%table, before = old.join(", "), after = new.join(", "), position = %ddl.position, "the table's primary key changes, and the target keeps its own: rows that only the new key tells apart overwrite each other there. Where there are such rows, create the target anew and start with a new state directory");
    }
}
