//! From saved state, or from nothing, to an attempt that can run.

use super::attempt::{Attempt, TableEntry, TablePhase};
use super::decode::{self, DecodeBatches};
use super::route::Router;
use super::run::store_error;
use super::settings::{Settings, Startup};
use super::snapshot::{TableToPlan, start_planner, start_readers};
use crate::checkpoint::{Checkpoint, Phase, SnapshotProgress, Store, TableState};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Metrics, TableProgress};
use crate::mysql::binlog::{BatchLimits, BeforeImages, DecodeOptions, JsonStyle, TextPlan};
use crate::mysql::catalog::{self, LowerCaseTableNames, TableInfo};
use crate::mysql::preflight::{PreflightWants, Severity, preflight};
use crate::mysql::reader::{BinlogReader, CapturedTables, ReaderOptions, StreamPoint, Tracked};
use crate::mysql::snapshot::{ChunkKey, TableJoin};
use crate::mysql::wire::Connection;
use rowferry_model::{BinlogPosition, Offset, TableId};
use rowferry_sinks::SinkContext;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::watch;

/// Which tables a pipeline takes, and where to.
pub trait TableChoice: Send + Sync {
    /// Whether a table is captured.
    fn captures(&self, table: &TableId) -> bool;
    /// The column that the user wants a table to be cut by.
    fn chunk_key(&self, table: &TableId) -> Option<String>;
    /// The targets of a table; none: no rule matches.
    ///
    /// # Errors
    /// A rule can't be applied to it.
    fn targets(&self, table: &TableId) -> Result<Vec<TableId>>;
    /// The option that names the tables, as written: for messages.
    fn describe(&self) -> String;
}

/// What the server was asked before an attempt.
struct Source {
    server: String,
    offset: Offset,
    tables: Vec<(TableId, TableState)>,
    estimates: BTreeMap<TableId, u64>,
    fold_case: bool,
    use_gtids: bool,
    ddl: rowferry_sql::ddl::DdlContext,
    skip_before_seconds: u32,
}

/// Prepares an attempt: asks the server, opens the sink, starts the threads.
pub(super) async fn start<'a>(
    settings: &'a Settings,
    choice: &dyn TableChoice,
    store: &'a mut Store,
    metrics: &Arc<Metrics>,
    stop: watch::Receiver<bool>,
) -> Result<Attempt<'a>> {
    let saved = store.load().map_err(store_error)?;
    let last = saved.as_ref().map(|c| (c.id, c.committable.clone()));
    let last_checkpoint = saved.as_ref().map_or(0, |c| c.id);
    let source = tokio::task::block_in_place(|| ask_server(settings, choice, saved))?;

    let context = SinkContext {
        pipeline: settings.name.clone(),
        parallelism: settings.parallelism,
        time_zone: settings.time_zone.clone(),
        instance: store.instance().map_err(store_error)?,
    };
    let mut sink = rowferry_sinks::build(&settings.sink_type, &settings.sink_options, &context)?;
    sink.events.recover(last).await?;

    let router = Router::new(source.tables.iter().map(|(id, _)| id), |table| choice.targets(table))?;
    let mut tables = BTreeMap::new();
    let mut to_plan = Vec::new();
    for (id, state) in source.tables {
        let estimated_rows = source.estimates.get(&id).copied().unwrap_or_default();
        let (entry, plan) =
            table_entry(settings, choice, &sink, &router, &id, state, estimated_rows, last_checkpoint > 0)?;
        let (rows, done) = match &entry.phase {
            TablePhase::Chunks(join) => (join.progress().rows, false),
            TablePhase::WholeWaiting => (0, false),
            TablePhase::WholeAt(_) | TablePhase::Streaming => (0, true),
        };
        if settings.startup.has_snapshot() {
            metrics.set_table(&id, TableProgress { rows, estimated_rows, done });
        }
        to_plan.extend(plan);
        tables.insert(id, entry);
    }

    let captured = CapturedTables::new(tables.values().map(|t| t.tracked.clone()), source.fold_case);
    let (items, segments) = crossbeam_channel::bounded(1);
    // From the first event on: the place that a whole table's rows show must not fall inside a segment.
    let whole = |t: &TableEntry| matches!(t.phase, TablePhase::WholeWaiting | TablePhase::WholeAt(_));
    let seal_each = Arc::new(AtomicBool::new(tables.values().any(whole)));
    let segment_bytes = (settings.memory / 16).clamp(256 << 10, 4 << 20);
    let options = ReaderOptions {
        connect: settings.connect.clone(),
        server_id: settings.server_id,
        replica_uuid: context.instance.parse().ok(),
        heartbeat: settings.heartbeat,
        max_retries: settings.max_retries,
        segment_bytes,
        decode: DecodeOptions {
            json: settings.binlog_json,
            before_images: if sink.events.capabilities().before_images {
                BeforeImages::All
            } else {
                BeforeImages::KeyChanges
            },
        },
        op_ts: settings.op_ts,
        skip_before_seconds: source.skip_before_seconds,
        use_gtids: source.use_gtids,
        seal_each: seal_each.clone(),
        server_uuid: source.server.clone(),
    };
    let reader = BinlogReader::new(options, captured, source.offset.clone(), source.ddl, items);
    let handle = reader.handle();
    let batches = DecodeBatches { limits: BatchLimits { rows: 8192, bytes: segment_bytes * 2 }, op_ts: settings.op_ts };
    let stream = decode::start(segments, settings.parallelism.min(2), batches, metrics.clone())?;
    decode::spawn("binlog".into(), move || reader.run())?;
    let planned = if to_plan.is_empty() {
        None
    } else {
        Some(start_planner(settings.connect.clone(), to_plan, settings.chunk, settings.parallelism * 2)?)
    };
    let point = StreamPoint {
        at: source.offset.position.clone(),
        offset: source.offset,
        boundary: true,
        seconds: 0,
        caught_up: false,
        transactions: 0,
        bytes: 0,
    };
    Ok(Attempt {
        settings,
        store,
        metrics: metrics.clone(),
        sink,
        router,
        tables,
        server: source.server,
        last_checkpoint,
        point,
        stream,
        reader: handle,
        seal_each,
        planned,
        readers: start_readers(&settings.connect, settings.parallelism)?,
        stop,
        asking: None,
    })
}

#[expect(clippy::too_many_arguments, reason = "one call site; the parts belong to different owners")]
fn table_entry(
    settings: &Settings,
    choice: &dyn TableChoice,
    sink: &rowferry_sinks::Sink,
    router: &Router,
    id: &TableId,
    state: TableState,
    estimated_rows: u64,
    resumed: bool,
) -> Result<(TableEntry, Option<TableToPlan>)> {
    let tracked = Tracked::new(id.clone(), state.def, &settings.mapping)?;
    for target in router.targets(id) {
        sink.events.check(target, &tracked.schema)?;
        if tracked.schema.primary_key.is_empty() && !sink.events.capabilities().keyless_tables {
            return Err(Error::new(ErrorKind::Preflight, "RF-CFG-021", "the sink can't hold a table without a key")
                .with("table", id)
                .hint("give the table a primary key, or leave it out with `tables.exclude`"));
        }
    }
    let mut plan = None;
    let mut text_plan = None;
    let phase = match state.phase {
        Phase::Streaming => TablePhase::Streaming,
        Phase::StreamingFrom(at) => TablePhase::WholeAt(at),
        Phase::Snapshot(progress) => {
            let name = id.to_string();
            text_plan = Some(Arc::new(
                TextPlan::new(&name, &tracked.def, &tracked.schema, JsonStyle::Server).map_err(|e| {
                    Error::permanent("RF-SNP-002", "a table's rows can't be decoded").with("table", id).caused_by(e)
                })?,
            ));
            match ChunkKey::of(&tracked.def, choice.chunk_key(id).as_deref()) {
                None => TablePhase::WholeWaiting,
                Some(key) => {
                    let progress = SnapshotProgress { estimated_rows, ..progress };
                    plan = Some(TableToPlan {
                        tracked: tracked.clone(),
                        key: key.clone(),
                        estimated_rows,
                        done: progress.done.clone(),
                    });
                    let mut join = TableJoin::new(id.clone(), tracked.schema.clone(), key, &progress).map_err(|e| {
                        Error::permanent("RF-SNP-001", "the snapshot can't be joined with the binlog").caused_by(e)
                    })?;
                    if resumed && !sink.events.capabilities().exactly_once {
                        join.pass_all_deletes();
                    }
                    TablePhase::Chunks(Box::new(join))
                }
            }
        }
    };
    Ok((TableEntry { tracked, phase, created: state.created, text_plan, estimated_rows }, plan))
}

fn ask_server(settings: &Settings, choice: &dyn TableChoice, saved: Option<Checkpoint>) -> Result<Source> {
    let mut connection = Connection::connect(&settings.connect)?;
    let server = catalog::server_identity(&mut connection)?;
    let ddl = catalog::ddl_context(&mut connection)?;
    let fold_case = catalog::lower_case_table_names(&mut connection)? != LowerCaseTableNames::Sensitive;
    let use_gtids = catalog::gtid_mode(&mut connection)?.eq_ignore_ascii_case("ON");
    let found: Vec<TableInfo> =
        catalog::list_tables(&mut connection)?.into_iter().filter(|t| choice.captures(&t.id)).collect();
    let wanted: Vec<TableId> = match &saved {
        Some(saved) => saved.tables.iter().map(|(id, _)| id.clone()).collect(),
        None => found.iter().map(|t| t.id.clone()).collect(),
    };
    check_server(&mut connection, settings, choice, &wanted)?;
    // The place comes first: what is read after it is at least as new.
    let fresh = match &saved {
        Some(_) => None,
        None => Some(start_offset(&mut connection, settings)?),
    };
    let estimates = found.iter().map(|t| (t.id.clone(), t.approximate_rows.unwrap_or_default())).collect();
    let (offset, tables, skip_before_seconds) = match (saved, fresh) {
        (Some(saved), _) => {
            if saved.server != server && saved.offset.gtids.is_none() {
                return Err(Error::permanent(
                    "RF-SRC-031",
                    "the saved position belongs to another server, and without GTIDs it means nothing here",
                )
                .with("server then", &saved.server)
                .with("server now", &server)
                .hint("point `hostname` at the old server, or start again with a new state directory"));
            }
            catalog::check_offset(&mut connection, &saved.offset)?;
            for table in found.iter().filter(|t| !saved.tables.iter().any(|(id, _)| *id == t.id)) {
                tracing::warn!(table = %table.id, "this table matches `tables` but was not there when the pipeline began; it is left out");
            }
            // What lies before the time is left out also when the run died before it came there.
            let skip = match settings.startup {
                Startup::Timestamp(millis) => seconds(millis),
                _ => 0,
            };
            (saved.offset, saved.tables, skip)
        }
        (None, fresh) => {
            let (offset, skip) = fresh.unwrap_or_default();
            if found.is_empty() {
                return Err(Error::new(ErrorKind::Preflight, "RF-SRC-010", "no table matches")
                    .with("tables", choice.describe())
                    .hint("`rowferry check --connect` shows what each pattern matches; the user must be allowed to SELECT the tables"));
            }
            let ids: Vec<TableId> = found.iter().map(|t| t.id.clone()).collect();
            let phase = if settings.startup.has_snapshot() {
                Phase::Snapshot(SnapshotProgress::default())
            } else {
                Phase::Streaming
            };
            let tables = catalog::table_defs(&mut connection, &ids)?
                .into_iter()
                .map(|(id, def)| (id, TableState { def, phase: phase.clone(), created: false }))
                .collect();
            (offset, tables, skip)
        }
    };
    Ok(Source { server, offset, tables, estimates, fold_case, use_gtids, ddl, skip_before_seconds })
}

/// Whole seconds since the epoch, as events have them.
fn seconds(millis: i64) -> u32 {
    u32::try_from(millis / 1000).unwrap_or(u32::MAX)
}

/// Where a pipeline without state starts, and the time before which transactions are left out.
fn start_offset(connection: &mut Connection, settings: &Settings) -> Result<(Offset, u32)> {
    Ok(match &settings.startup {
        Startup::Initial | Startup::Snapshot | Startup::Latest => (catalog::binlog_position(connection)?, 0),
        Startup::Earliest => (catalog::first_position(connection)?, 0),
        Startup::Timestamp(millis) => {
            let offset = catalog::position_for_timestamp(&settings.connect, settings.server_id, *millis)?;
            (offset, seconds(*millis))
        }
        Startup::Specific(offset) => {
            let mut offset = offset.clone();
            if offset.gtids.is_none() && offset.position == BinlogPosition::default() {
                offset = catalog::first_position(connection)?;
            }
            catalog::check_offset(connection, &offset)?;
            (offset, 0)
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
    if tables.is_empty() {
        return Err(Error::new(ErrorKind::Preflight, "RF-SRC-010", "no table matches")
            .with("tables", choice.describe())
            .hint("`rowferry check --connect` shows what each pattern matches; the user must be allowed to SELECT the tables"));
    }
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
