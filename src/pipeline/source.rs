//! What the server is asked before an attempt: which tables there are, what they are, and where to begin.

use super::settings::{Settings, Startup};
use super::start::TableChoice;
use crate::checkpoint::{Checkpoint, Phase, SnapshotProgress, TableState};
use crate::error::{Error, ErrorKind, Result};
use crate::mysql::catalog::{self, Defined, LowerCaseTableNames, TableInfo};
use crate::mysql::preflight::{PreflightWants, Severity, preflight};
use crate::mysql::reader::{Bystanders, Skip, online_change_of};
use crate::mysql::snapshot::ChunkKey;
use crate::mysql::wire::Connection;
use rowferry_model::{BinlogPosition, Offset, TableId};
use rowferry_sql::TableDef;
use rowferry_sql::ddl::DdlContext;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the server was asked before an attempt.
pub(super) struct Source {
    pub(super) server: String,
    /// Where reading begins.
    pub(super) offset: Offset,
    /// The tables with their definition at that place.
    pub(super) tables: Vec<SourceTable>,
    pub(super) fold_case: bool,
    pub(super) use_gtids: bool,
    /// How the server reads statements.
    pub(super) context: DdlContext,
    pub(super) skip_before_seconds: u32,
    pub(super) skip: Skip,
    pub(super) bystanders: Bystanders,
}

/// A table of the pipeline.
pub(super) struct SourceTable {
    pub(super) id: TableId,
    pub(super) state: TableState,
    /// The statement that makes it at the server, if it is there as the state says it is.
    pub(super) statement: Option<Arc<str>>,
    /// Rows by the server's estimate.
    pub(super) estimated_rows: u64,
}

/// Whether a table is to be captured: tables that gh-ost and pt-online-schema-change fill are not, where they are followed.
pub(super) fn captures(settings: &Settings, choice: &dyn TableChoice, table: &TableId) -> bool {
    choice.captures(table)
        && !(settings.online_schema_changes && online_change_of(table).is_some_and(|real| choice.captures(&real)))
}

/// Asks the server.
pub(super) fn ask_server(settings: &Settings, choice: &dyn TableChoice, saved: Option<Checkpoint>) -> Result<Source> {
    let mut connection = Connection::connect(&settings.connect)?;
    let server = catalog::server_identity(&mut connection)?;
    let context = catalog::ddl_context(&mut connection)?;
    let fold_case = catalog::lower_case_table_names(&mut connection)? != LowerCaseTableNames::Sensitive;
    let use_gtids = catalog::gtid_mode(&mut connection)?.eq_ignore_ascii_case("ON");
    let list = |connection: &mut Connection| -> Result<Vec<TableInfo>> {
        Ok(catalog::list_tables(connection)?.into_iter().filter(|t| captures(settings, choice, &t.id)).collect())
    };
    let mut found = list(&mut connection)?;
    let mut tries = 10;
    let (offset, mut tables, bystanders) = loop {
        let asked = match saved.clone() {
            Some(saved) => go_on(&mut connection, settings, choice, &found, &server, saved),
            None => begin(&mut connection, settings, choice, &found),
        };
        let error = match asked {
            Ok(asked) => break asked,
            Err(error) => error,
        };
        // A table that goes away while the server is asked about it is no reason to end.
        let again = list(&mut connection)?;
        if tries == 0 || again.iter().map(|t| &t.id).eq(found.iter().map(|t| &t.id)) {
            return Err(error);
        }
        tries -= 1;
        found = again;
    };
    let estimates: BTreeMap<&TableId, u64> =
        found.iter().map(|t| (&t.id, t.approximate_rows.unwrap_or_default())).collect();
    for table in &mut tables {
        table.estimated_rows = estimates.get(&table.id).copied().unwrap_or_default();
    }
    // What lies before the time is left out also when the run died before it came there.
    let skip_before_seconds = match settings.startup {
        Startup::Timestamp(millis) => u32::try_from(millis / 1000).unwrap_or(u32::MAX),
        _ => 0,
    };
    let skip = match &settings.startup {
        Startup::Specific(start) if is_still_at(start, &offset) => settings.skip,
        _ => Skip::default(),
    };
    Ok(Source { server, offset, tables, fold_case, use_gtids, context, skip_before_seconds, skip, bystanders })
}

/// Whether no transaction behind a start has been read to its end.
fn is_still_at(start: &Offset, offset: &Offset) -> bool {
    if start.gtids.is_some() { start.gtids == offset.gtids } else { start.position == offset.position }
}

type Begun = (Offset, Vec<SourceTable>, Bystanders);

/// A pipeline without state.
fn begin(
    connection: &mut Connection,
    settings: &Settings,
    choice: &dyn TableChoice,
    found: &[TableInfo],
) -> Result<Begun> {
    let ids: Vec<TableId> = found.iter().map(|t| t.id.clone()).collect();
    if ids.is_empty() {
        return Err(Error::new(ErrorKind::Preflight, "RF-SRC-010", "no table matches")
            .with("tables", choice.describe())
            .hint("`rowferry check --connect` shows what each pattern matches; the user must be allowed to SELECT the tables"));
    }
    check_server(connection, settings, choice, &ids)?;
    let mut bystanders = Bystanders::default();
    for (name, charset) in catalog::database_charsets(connection)? {
        bystanders.catalog.insert_database(name, charset);
    }
    let old = old_offset(connection, settings)?;
    let (defined, now) = catalog::definitions_at(connection, &ids)?;
    let offset = match old {
        Some(offset) => {
            // The definitions are today's; the log begins before.
            bystanders.defined_at = Some(now.position);
            offset
        }
        None => now,
    };
    let phase =
        if settings.startup.has_snapshot() { Phase::Snapshot(SnapshotProgress::default()) } else { Phase::Streaming };
    let tables = defined.into_iter().map(|d| source_table(d, phase.clone(), None)).collect();
    Ok((offset, tables, bystanders))
}

fn source_table(defined: Defined, phase: Phase, since: Option<BinlogPosition>) -> SourceTable {
    let Defined { table, def, statement } = defined;
    let state = TableState { def: Arc::new(def), phase, since };
    SourceTable { id: table, state, statement: Some(statement.into()), estimated_rows: 0 }
}

/// A pipeline with state.
fn go_on(
    connection: &mut Connection,
    settings: &Settings,
    choice: &dyn TableChoice,
    found: &[TableInfo],
    server: &str,
    saved: Checkpoint,
) -> Result<Begun> {
    let there: Vec<TableId> = saved
        .tables
        .iter()
        .filter(|(id, state)| {
            !matches!(state.phase, Phase::Gone | Phase::GoneInSnapshot(_)) && found.iter().any(|t| t.id == *id)
        })
        .map(|(id, _)| id.clone())
        .collect();
    check_server(connection, settings, choice, &there)?;
    let saved = if saved.server == server { saved } else { on_another_server(connection, server, saved)? };
    catalog::check_offset(connection, &saved.offset)?;
    let mut tables = Vec::with_capacity(saved.tables.len());
    let reading = |state: &TableState| matches!(state.phase, Phase::Snapshot(_));
    let ids: Vec<TableId> = saved.tables.iter().filter(|(_, s)| reading(s)).map(|(id, _)| id.clone()).collect();
    let (now, _) = catalog::definitions_at(connection, &ids)?;
    let mut now: BTreeMap<TableId, Defined> = now.into_iter().map(|d| (d.table.clone(), d)).collect();
    for (id, state) in saved.tables {
        let now = now.remove(&id).filter(|now| is_same(&now.def, &state.def));
        tables.push(SourceTable { id, state, statement: now.map(|d| d.statement.into()), estimated_rows: 0 });
    }
    let new: Vec<TableId> =
        found.iter().map(|t| t.id.clone()).filter(|id| !tables.iter().any(|t| t.id == *id)).collect();
    if settings.newly_added_tables && !new.is_empty() {
        let (defined, at) = catalog::definitions_at(connection, &new)?;
        for new in defined {
            tracing::info!(table = %new.table, "this table is new to the pipeline: its snapshot is read");
            tables.push(source_table(new, Phase::Snapshot(SnapshotProgress::default()), Some(at.position.clone())));
        }
    } else {
        for table in new {
            tracing::warn!(%table, "this table matches `tables` but was not there when the pipeline began; it is left out: scan.newly-added-table.enabled is off");
        }
    }
    Ok((saved.offset, tables, Arc::unwrap_or_clone(saved.bystanders)))
}

/// State that was saved with another server: its GTIDs hold here, its places do not.
fn on_another_server(connection: &mut Connection, server: &str, mut saved: Checkpoint) -> Result<Checkpoint> {
    let refused = |what: &str| {
        Error::permanent("RF-SRC-031", what)
            .with("server then", &saved.server)
            .with("server now", server)
            .hint("point `hostname` at the old server, or start again with a new state directory")
    };
    if saved.offset.gtids.is_none() || !catalog::gtid_mode(connection)?.eq_ignore_ascii_case("ON") {
        return Err(refused("the saved position belongs to another server, and without GTIDs it means nothing here"));
    }
    let waits = |state: &TableState| {
        matches!(state.phase, Phase::StreamingFrom(_))
            || state.since.as_ref().is_some_and(|since| *since > saved.offset.position)
    };
    if let Some((table, _)) = saved.tables.iter().find(|(_, state)| waits(state)) {
        return Err(refused("a table was read as it was at a place of another server's log").with("table", table));
    }
    tracing::warn!(before = %saved.server, now = server, "another server answers; going on by GTID");
    for (_, state) in &mut saved.tables {
        state.since = None;
    }
    Arc::make_mut(&mut saved.bystanders).defined_at = None;
    saved.offset.position = BinlogPosition::default();
    Ok(saved)
}

/// Whether rows of a table with one definition are those of the other: what does not show in rows may differ.
pub(super) fn is_same(a: &TableDef, b: &TableDef) -> bool {
    a.primary_key == b.primary_key
        && a.columns.len() == b.columns.len()
        && a.columns
            .iter()
            .zip(&b.columns)
            .all(|(a, b)| (&a.name, &a.column_type, a.nullable) == (&b.name, &b.column_type, b.nullable))
}

/// The place before now at which a pipeline without state is to start; `None`: now.
fn old_offset(connection: &mut Connection, settings: &Settings) -> Result<Option<Offset>> {
    Ok(match &settings.startup {
        Startup::Initial | Startup::Snapshot | Startup::Latest => None,
        Startup::Earliest => Some(catalog::first_position(connection)?),
        Startup::Timestamp(millis) => {
            Some(catalog::position_for_timestamp(&settings.connect, settings.server_id, *millis)?)
        }
        Startup::Specific(offset) => {
            let mut offset = offset.clone();
            if offset.gtids.is_none() && offset.position == BinlogPosition::default() {
                offset = catalog::first_position(connection)?;
            }
            catalog::check_offset(connection, &offset)?;
            Some(offset)
        }
    })
}

/// What must be right at the server: tells all of it at once.
fn check_server(
    connection: &mut Connection,
    settings: &Settings,
    choice: &dyn TableChoice,
    tables: &[TableId],
) -> Result<()> {
    let mut wants = PreflightWants::new(tables.to_vec());
    wants.zone_offset = settings.server_zone_offset;
    if settings.startup.has_snapshot() {
        wants.tables_without_key = catalog::table_defs(connection, tables)?
            .into_iter()
            .filter(|(id, def)| ChunkKey::of(def, choice.chunk_key(id).as_deref()).is_none())
            .map(|(id, _)| id)
            .collect();
    }
    let report = preflight(connection, &wants)?;
    for finding in report.findings.iter().filter(|f| f.severity == Severity::Warning) {
        tracing::warn!(subject = %finding.subject, remedy = finding.remedy.as_deref().unwrap_or_default(), "{}", finding.message);
    }
    let problems: Vec<String> = report.errors().map(ToString::to_string).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let mut error = Error::new(ErrorKind::Preflight, "RF-SRC-011", "the MySQL server is not ready for this pipeline");
    for problem in problems {
        error = error.with("problem", problem.trim_end().replace('\n', "\n    "));
    }
    Err(error)
}
