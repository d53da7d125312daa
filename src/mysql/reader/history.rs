//! The tables' definitions as the log leaves them: what each DDL means to the captured tables.

use super::online::{Shadow, peeled_name};
use super::tables::{CapturedTables, Tracked};
use crate::error::{Error, Result};
use rowferry_model::{BinlogPosition, SchemaChange, TableId};
use rowferry_sql::ddl::{DdlContext, DdlOutcome, DdlStatement, Touched, parse_ddl};
use rowferry_sql::{Catalog, Effect, MappingOptions, TableDef};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Says whether a table that appears while the log is read is to be captured from then on.
pub type Captures = Arc<dyn Fn(&TableId) -> bool + Send + Sync>;

/// How the tracked tables are kept.
#[derive(Clone)]
pub struct HistoryOptions {
    /// How types are mapped.
    pub mapping: MappingOptions,
    /// `scan.binlog.newly-added-table.enabled`: which tables that appear in the log are captured.
    pub new_tables: Option<Captures>,
}

impl std::fmt::Debug for HistoryOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HistoryOptions")
            .field("mapping", &self.mapping)
            .field("new_tables", &self.new_tables.is_some())
            .finish()
    }
}

/// What is known beside the captured tables' definitions: tables and databases from which a captured table may be made,
/// and how far the definitions can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bystanders {
    /// Databases with their charsets, and tables beside the captured ones.
    pub catalog: Catalog,
    /// Tables that gh-ost or pt-online-schema-change are filling.
    pub shadows: Vec<(TableId, Shadow)>,
    /// The captured tables' definitions were read from the server as it was at this place, while the log is read from an
    /// earlier one: up to it they may be newer than the log.
    pub defined_at: Option<BinlogPosition>,
    /// Captured tables whose definition is surely that of the log all the same.
    pub exact: BTreeSet<TableId>,
}

/// What a DDL means to one captured table.
#[derive(Clone, Debug)]
pub struct TableChange {
    /// The table.
    pub table: TableId,
    /// The table behind the statement; `None`: there is no such table any more.
    pub tracked: Option<Tracked>,
    /// What the stream carries of it, in order. A [`SchemaChange::CreateTable`] of a known table means: from now on it
    /// has that schema, however it came to it.
    pub changes: Vec<SchemaChange>,
    /// The table got its name by a RENAME: it may have rows that are not in the log under this name.
    pub with_rows: bool,
}

/// A DDL on captured tables.
#[derive(Clone, Debug)]
pub struct Ddl {
    /// The statement.
    pub statement: String,
    /// Where it stands in the log: its event's end.
    pub position: BinlogPosition,
    /// What it means to each table.
    pub tables: Vec<TableChange>,
}

/// Asks the server for the definitions of tables as they are now; a table that is not there is left out.
pub(super) type AskServer<'a> = &'a mut dyn FnMut(&[TableId]) -> Result<Vec<(TableId, TableDef)>>;

/// The definitions at the place to which the log was read.
#[derive(Debug)]
pub struct SchemaHistory {
    options: HistoryOptions,
    tables: CapturedTables,
    /// Captured tables that were dropped or renamed: one that comes again under the name is captured again.
    gone: BTreeMap<TableId, Tracked>,
    catalog: Catalog,
    shadows: BTreeMap<TableId, Shadow>,
    /// As [`Bystanders::defined_at`] and [`Bystanders::exact`].
    defined_at: Option<BinlogPosition>,
    exact: BTreeSet<TableId>,
    /// Whether bystanders have changed since they were last asked for.
    changed: bool,
}

impl SchemaHistory {
    /// The captured tables, those that were captured and are gone, and what stands beside them.
    pub fn new(
        options: HistoryOptions,
        tables: CapturedTables,
        gone: impl IntoIterator<Item = Tracked>,
        bystanders: Bystanders,
    ) -> Self {
        let mut catalog = bystanders.catalog;
        for tracked in tables.iter() {
            catalog.insert_table(tables.fold(&tracked.table), Arc::clone(&tracked.def));
        }
        Self {
            options,
            gone: gone.into_iter().map(|t| (tables.fold(&t.table), t)).collect(),
            tables,
            catalog,
            shadows: bystanders.shadows.into_iter().collect(),
            defined_at: bystanders.defined_at,
            exact: bystanders.exact,
            changed: false,
        }
    }

    /// The captured tables.
    pub fn tables(&self) -> &CapturedTables {
        &self.tables
    }

    /// What must be saved beside the captured tables, if it has changed since it was last taken.
    pub fn take_bystanders(&mut self) -> Option<Bystanders> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let mut catalog = self.catalog.clone();
        for tracked in self.tables.iter() {
            catalog.remove_table(&self.tables.fold(&tracked.table));
        }
        Some(Bystanders {
            catalog,
            shadows: self.shadows.iter().map(|(t, s)| (t.clone(), s.clone())).collect(),
            defined_at: self.defined_at.clone(),
            exact: self.exact.clone(),
        })
    }

    /// Another server is read: places of the log mean nothing any more.
    pub(super) fn forget_places(&mut self) {
        self.changed |= self.defined_at.take().is_some();
        self.tables.forget_places();
    }

    /// Whether a table's definition may be newer than this place of the log.
    pub(super) fn is_provisional(&self, table: &TableId, at: &BinlogPosition) -> bool {
        self.defined_at.as_ref().is_some_and(|until| at <= until) && !self.exact.contains(&self.tables.fold(table))
    }

    /// The captured tables whose definitions may be newer than the log, with the place at which they were read.
    pub(super) fn provisional_tables(&self) -> Option<(BinlogPosition, BTreeMap<TableId, Arc<TableDef>>)> {
        let until = self.defined_at.clone()?;
        let tables = self.tables.iter().map(|t| (self.tables.fold(&t.table), Arc::clone(&t.def)));
        Some((until, tables.filter(|(t, _)| !self.exact.contains(t)).collect()))
    }

    /// From here on a table's definition is that of the log.
    pub(super) fn make_exact(&mut self, table: &TableId) {
        self.changed |= self.exact.insert(self.tables.fold(table));
    }

    /// Gives a captured table another definition.
    ///
    /// # Errors
    /// A column's type has no counterpart in the stream.
    pub(super) fn redefine(&mut self, table: &TableId, def: TableDef) -> Result<TableChange> {
        let tracked = Tracked::new(table.clone(), Arc::new(def), &self.options.mapping)?;
        self.catalog.insert_table(self.tables.fold(table), Arc::clone(&tracked.def));
        self.tables.insert(tracked.clone());
        let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&tracked.schema) };
        Ok(TableChange { table: table.clone(), tracked: Some(tracked), changes: vec![change], with_rows: false })
    }

    /// Does to the tracked tables what a DDL did on the server; gives what it means to captured ones.
    ///
    /// # Errors
    /// What the statement does to a captured table can't be told, not even by asking the server.
    pub(super) fn apply(
        &mut self,
        text: &str,
        context: &DdlContext,
        at: &BinlogPosition,
        ask: AskServer<'_>,
    ) -> Result<Vec<TableChange>> {
        let mut changes = Vec::new();
        match parse_ddl(text, context) {
            DdlOutcome::Ignored(reason) => tracing::debug!(statement = text, %reason, "DDL without effect"),
            DdlOutcome::Unknown { reason, touched } => self.unknown(text, &touched, at, &reason, ask, &mut changes)?,
            DdlOutcome::Changes(statement) => {
                // Tables whose definition was read behind this place know the statement already.
                let ahead: Vec<(TableId, Option<Arc<TableDef>>)> = self
                    .tables
                    .iter()
                    .filter(|t| t.is_ahead_of(at) || self.is_provisional(&t.table, at))
                    .map(|t| self.tables.fold(&t.table))
                    .map(|t| (t.clone(), self.catalog.table(&t).cloned()))
                    .collect();
                let before = self.catalog.clone();
                match self.catalog.apply(&statement, context) {
                    Ok(effects) => {
                        self.changed |= self.concerns_bystanders(&statement, &effects);
                        for effect in effects {
                            // What a table was before it was made does not matter.
                            let made = matches!(&effect, Effect::Created { table, .. }
                                if !self.tables.get(table).is_some_and(|t| t.is_ahead_of(at)));
                            if made || !ahead.iter().any(|(t, _)| t == effect.table()) {
                                self.effect(effect, &before, at, ask, &mut changes)
                                    .map_err(|e| e.with("statement", text.trim()).with("position", at))?;
                            }
                        }
                        for (table, def) in ahead {
                            if let Some(def) = def
                                && !self.exact.contains(&table)
                            {
                                self.catalog.insert_table(table, def);
                            }
                        }
                    }
                    Err(error) => {
                        let touched = rowferry_sql::ddl::touched_tables(text, context);
                        self.unknown(text, &touched, at, &error.to_string(), ask, &mut changes)?;
                    }
                }
            }
        }
        Ok(changes)
    }

    fn concerns_bystanders(&self, statement: &DdlStatement, effects: &[Effect]) -> bool {
        let database = matches!(
            statement,
            DdlStatement::CreateDatabase { .. } | DdlStatement::AlterDatabase { .. } | DdlStatement::DropDatabase(_)
        );
        database || effects.iter().any(|e| matches!(e, Effect::Renamed { .. }) || self.tables.get(e.table()).is_none())
    }

    /// The table's own spelling, if it is captured or was.
    fn ours(&self, table: &TableId) -> Option<TableId> {
        let gone = || self.gone.get(&self.tables.fold(table)).map(|t| t.table.clone());
        self.tables.get(table).map(|t| t.table.clone()).or_else(gone)
    }

    /// Whether a table that appears is to be captured.
    fn is_new(&self, table: &TableId) -> bool {
        self.options.new_tables.as_ref().is_some_and(|captures| captures(table))
    }

    fn effect(
        &mut self,
        effect: Effect,
        before: &Catalog,
        at: &BinlogPosition,
        ask: AskServer<'_>,
        out: &mut Vec<TableChange>,
    ) -> Result<()> {
        match &effect {
            Effect::Created { table, def } => {
                if let Some(ours) = self.ours(table).or_else(|| self.is_new(table).then(|| table.clone())) {
                    let tracked = self.track(&ours, def)?;
                    self.changed |= self.defined_at.is_some() && self.exact.insert(self.tables.fold(&ours));
                    push(out, ours, Some(tracked), effect.schema_changes(&self.options.mapping).map_err(unsupported)?);
                } else {
                    if self.options.new_tables.is_none() {
                        tracing::debug!(%table, "a new table is not captured: scan.binlog.newly-added-table.enabled is off");
                    }
                    self.cast_shadow(table, def);
                }
            }
            Effect::Altered { table, after, .. } => {
                if let Some(tracked) = self.tables.get(table) {
                    let table = tracked.table.clone();
                    let tracked = self.track(&table, after)?;
                    let changes = effect.schema_changes(&self.options.mapping).map_err(unsupported)?;
                    let changes = changes.into_iter().map(|c| c.with_table(table.clone())).collect();
                    push(out, table, Some(tracked), changes);
                } else if let Some(shadow) = self.shadows.get_mut(table) {
                    // A table that is only being filled may hold types that its real table never gets.
                    match effect.schema_changes(&self.options.mapping) {
                        Ok(changes) => shadow.changes.extend(changes),
                        Err(_) => shadow.broken = true,
                    }
                }
            }
            Effect::Renamed { from, to, def } => self.renamed(from, to, def.as_ref(), before, at, ask, out)?,
            Effect::Dropped { table, .. } => {
                self.shadows.remove(table);
                if let Some(tracked) = self.tables.remove(table) {
                    let table = tracked.table.clone();
                    self.gone.insert(self.tables.fold(&table), tracked);
                    push(out, table, None, effect.schema_changes(&self.options.mapping).map_err(unsupported)?);
                }
            }
            Effect::Truncated { table } => {
                if let Some(tracked) = self.tables.get(table) {
                    let changes = vec![SchemaChange::TruncateTable { table: tracked.table.clone() }];
                    push(out, tracked.table.clone(), Some(tracked.clone()), changes);
                }
            }
            Effect::PartitionsChanged { table, clause } => {
                if let Some(tracked) = self.tables.get(table) {
                    tracing::warn!(table = %tracked.table, clause, position = %at, "rows of partitions come or go without a trace in the binlog: the target keeps its rows");
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one effect, and what it is judged by")]
    fn renamed(
        &mut self,
        from: &TableId,
        to: &TableId,
        def: Option<&Arc<TableDef>>,
        before: &Catalog,
        at: &BinlogPosition,
        ask: AskServer<'_>,
        out: &mut Vec<TableChange>,
    ) -> Result<()> {
        let shadow = self.shadows.remove(from);
        if let Some(tracked) = self.tables.remove(from) {
            tracing::warn!(table = %from, to = %to, position = %at, "a captured table is renamed: under its new name it is another table");
            let table = tracked.table.clone();
            self.gone.insert(self.tables.fold(&table), tracked);
            push(out, table, None, vec![]);
        }
        let ours = self.ours(to);
        let Some(table) = ours.clone().or_else(|| self.is_new(to).then(|| to.clone())) else { return Ok(()) };
        let def = match def {
            Some(def) => Arc::clone(def),
            // Later than the log: its first rows tell.
            None if self.is_provisional(&table, at) && self.tables.get(&table).is_some() => return Ok(()),
            None => match ask(std::slice::from_ref(&table))?.pop() {
                Some((_, def)) => Arc::new(def),
                None => {
                    return Err(Error::permanent(
                        "RF-DDL-003",
                        "a table takes the place of a captured one, and its definition is not known",
                    )
                    .with("table", &table)
                    .with("from", from)
                    .hint("start again with a new snapshot and a new state directory"));
                }
            },
        };
        let tracked = self.track(&table, &def)?;
        // What was done to the shadow since it was a copy of the table is what happens to the table now.
        let changes = match shadow {
            Some(shadow) if ours.is_some() && shadow.is_usable(&table, before.table(&self.tables.fold(&table))) => {
                shadow.changes.into_iter().map(|c| c.with_table(table.clone())).collect()
            }
            _ => {
                tracing::warn!(table = %table, from = %from, position = %at, "a table takes this name: the rows that it has already are not in the binlog and do not reach the target, which keeps those that it has");
                vec![SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&tracked.schema) }]
            }
        };
        push(out, table.clone(), Some(tracked), changes);
        out.iter_mut().filter(|c| c.table == table).for_each(|c| c.with_rows = true);
        Ok(())
    }

    fn track(&mut self, table: &TableId, def: &Arc<TableDef>) -> Result<Tracked> {
        let tracked = Tracked::new(table.clone(), Arc::clone(def), &self.options.mapping)?;
        self.catalog.insert_table(self.tables.fold(table), Arc::clone(def));
        self.gone.remove(&self.tables.fold(table));
        self.tables.insert(tracked.clone());
        Ok(tracked)
    }

    /// Notes a table that gh-ost or pt-online-schema-change has made as a copy of a captured one.
    fn cast_shadow(&mut self, table: &TableId, def: &Arc<TableDef>) {
        let Some(real) = peeled_name(table) else { return };
        let copy = self.tables.get(&real).is_some_and(|t| t.def == *def);
        if copy {
            self.shadows.insert(table.clone(), Shadow::of(real, Arc::clone(def)));
        }
    }

    /// A statement whose effect on captured tables the text does not tell.
    fn unknown(
        &mut self,
        text: &str,
        touched: &Touched,
        at: &BinlogPosition,
        reason: &str,
        ask: AskServer<'_>,
        out: &mut Vec<TableChange>,
    ) -> Result<()> {
        let captured: Vec<TableId> = match touched {
            Touched::None => vec![],
            Touched::Tables(tables) => {
                // What stands beside the captured tables is not what was known of it any more.
                for table in tables {
                    if self.ours(table).is_none() {
                        self.changed |= self.catalog.remove_table(table).is_some();
                        self.shadows.remove(table);
                    }
                }
                let new = tables.iter().filter(|t| self.ours(t).is_none() && self.is_new(t));
                tables.iter().filter_map(|t| self.ours(t)).chain(new.cloned()).collect()
            }
            Touched::Database(name) => self.tables.of_database(name),
            Touched::Unknown => self.tables.iter().map(|t| t.table.clone()).collect(),
        };
        let mut captured: Vec<TableId> = captured
            .into_iter()
            .filter(|t| !self.is_provisional(t, at) && !self.tables.get(t).is_some_and(|t| t.is_ahead_of(at)))
            .collect();
        // The same order each time the log is read.
        captured.sort();
        if captured.is_empty() {
            tracing::debug!(statement = text, reason, position = %at, "DDL on other tables");
            return Ok(());
        }
        let now = ask(&captured)?;
        for table in captured {
            let before = self.tables.get(&table).cloned();
            let after = now.iter().find(|(t, _)| *t == table).map(|(_, def)| def.clone());
            match (before, after) {
                (Some(before), Some(after)) if *before.def == after => {}
                (_, Some(after)) if !matches!(touched, Touched::Unknown) => {
                    tracing::warn!(%table, statement = text, reason, position = %at, "this statement could not be followed; the server was asked for the table's definition");
                    let tracked = self.track(&table, &Arc::new(after))?;
                    let create =
                        SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&tracked.schema) };
                    push(out, table, Some(tracked), vec![create]);
                }
                (None, None) => {}
                _ => {
                    return Err(Error::permanent("RF-DDL-002", "a statement in the binlog can't be understood")
                        .with("table", table)
                        .with("statement", text.trim())
                        .with("reason", reason)
                        .with("position", at)
                        .hint("start again with a new snapshot and a new state directory, or leave the table out with `tables.exclude`; please report the statement"));
                }
            }
        }
        Ok(())
    }
}

fn unsupported(error: rowferry_sql::UnsupportedType) -> Error {
    Error::permanent("RF-SRC-020", "a column's type is not supported")
        .caused_by(error)
        .hint("leave the table out with `tables.exclude`")
}

/// Adds to what a statement means to a table: one statement may drop a table and make it again.
fn push(out: &mut Vec<TableChange>, table: TableId, tracked: Option<Tracked>, changes: Vec<SchemaChange>) {
    match out.iter_mut().find(|c| c.table == table) {
        Some(change) => {
            change.tracked = tracked;
            change.changes.extend(changes);
        }
        None => out.push(TableChange { table, tracked, changes, with_rows: false }),
    }
}
