//! From saved state, or from nothing, to an attempt that can run.

use super::attempt::Attempt;
use super::collisions::CollisionWatch;
use super::ddl_steps::DdlSteps;
use super::decode::{self, DecodeBatches};
use super::evolve::Targets;
use super::run::store_error;
use super::settings::Settings;
use super::snapshot::{start_planner, start_readers};
use super::source::{SourceTable, ask_server, captures};
use super::tables::{TableEntry, TablePhase, planned_table, snapshot_phase};
use super::transform::TableTransform;
use crate::checkpoint::{Phase, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Metrics, TableProgress};
use crate::mysql::binlog::{BatchLimits, BeforeImages, DecodeOptions};
use crate::mysql::reader::{
    BinlogReader, CapturedTables, Captures, HistoryOptions, ReaderOptions, SchemaHistory, StreamPoint, Tracked,
};
use rowferry_model::TableId;
use rowferry_sinks::{Sink, SinkContext};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::{mpsc, watch};

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

/// The targets of a table: without a rule it goes to the table of its own name.
pub(super) fn targets_of(choice: &dyn TableChoice, table: &TableId) -> Result<Vec<TableId>> {
    let mut targets = choice.targets(table)?;
    if targets.is_empty() {
        targets.push(table.clone());
    }
    Ok(targets)
}

/// Prepares an attempt: asks the server, opens the sink, starts the threads.
pub(super) async fn start<'a>(
    settings: &'a Settings,
    choice: &Arc<dyn TableChoice>,
    store: &'a mut Store,
    metrics: &Arc<Metrics>,
    stop: watch::Receiver<bool>,
) -> Result<Attempt<'a>> {
    let saved = store.load().map_err(store_error)?;
    let last = saved.as_ref().map(|c| (c.id, c.committable.clone()));
    let last_checkpoint = saved.as_ref().map_or(0, |c| c.id);
    let saved_targets = saved.as_ref().map(|c| c.targets.clone()).unwrap_or_default();
    let source = tokio::task::block_in_place(|| ask_server(settings, choice.as_ref(), saved))?;

    let context = SinkContext {
        pipeline: settings.name.clone(),
        parallelism: settings.parallelism,
        time_zone: settings.time_zone.clone(),
        instance: store.instance().map_err(store_error)?,
        select: settings.select_tables,
    };
    let mut sink = rowferry_sinks::build(&settings.sink_type, &settings.sink_options, &context)?;
    sink.events.recover(last).await?;

    let mut targets = Targets::new(settings.targets.clone());
    let mut tables = BTreeMap::new();
    let mut to_plan = Vec::new();
    for table in source.tables {
        let id = table.id.clone();
        let estimated_rows = table.estimated_rows;
        let entry = table_entry(settings, choice.as_ref(), &sink, &mut targets, table, last_checkpoint > 0)?;
        let (rows, done) = match &entry.phase {
            TablePhase::Chunks(join) => (join.progress().rows, false),
            TablePhase::WholeWaiting => (0, false),
            TablePhase::WholeAt(_) | TablePhase::Streaming | TablePhase::Gone(_) => (0, true),
        };
        if settings.startup.has_snapshot() && !matches!(entry.phase, TablePhase::Gone(_)) {
            metrics.set_table(&id, TableProgress { rows, estimated_rows, done });
        }
        to_plan.extend(planned_table(&entry));
        tables.insert(id, entry);
    }
    targets.restore(saved_targets.as_ref().clone());
    let steps = DdlSteps::of(store.ddl_progress().map_err(store_error)?);
    let collisions = CollisionWatch::of(&targets, &tables, settings.memory);

    let (there, gone): (Vec<_>, Vec<_>) =
        tables.values().partition(|t: &&TableEntry| !matches!(t.phase, TablePhase::Gone(_)));
    let captured = CapturedTables::new(there.into_iter().map(|t| t.tracked.clone()), source.fold_case);
    let history = SchemaHistory::new(
        HistoryOptions { mapping: settings.mapping, new_tables: new_tables(settings, choice) },
        captured,
        gone.into_iter().map(|t| t.tracked.clone()),
        source.bystanders.clone(),
    );
    let (items, segments) = crossbeam_channel::bounded(1);
    // From the first event on: the place that a whole table's rows show must not fall inside a segment.
    let whole = |t: &TableEntry| matches!(t.phase, TablePhase::WholeWaiting | TablePhase::WholeAt(_));
    let seal_each = Arc::new(AtomicBool::new(tables.values().any(whole)));
    let bound_to_server = Arc::new(AtomicBool::new(true));
    let segment_bytes = (settings.memory / 16).clamp(256 << 10, 4 << 20);
    // A filter, for one, looks at both sides of an update. Of tables that are still to come nothing is known.
    let rules_need_before_images = settings.transforms.is_some()
        && (settings.binlog_newly_added_tables || tables.values().any(|t| t.transform.needs_before_images()));
    let options = ReaderOptions {
        connect: settings.connect.clone(),
        server_id: settings.server_id,
        replica_uuid: context.instance.parse().ok(),
        heartbeat: settings.heartbeat,
        max_retries: settings.max_retries,
        segment_bytes,
        decode: DecodeOptions {
            json: settings.binlog_json,
            before_images: if sink.events.capabilities().before_images || rules_need_before_images {
                BeforeImages::All
            } else {
                BeforeImages::KeyChanges
            },
        },
        op_ts: settings.op_ts,
        skip_before_seconds: source.skip_before_seconds,
        skip: source.skip,
        use_gtids: source.use_gtids,
        seal_each: seal_each.clone(),
        server: source.server.as_str().into(),
        bound_to_server: bound_to_server.clone(),
    };
    let reader = BinlogReader::new(options, history, source.offset.clone(), source.context, items);
    let handle = reader.handle();
    let batches = DecodeBatches { limits: BatchLimits { rows: 8192, bytes: segment_bytes * 2 }, op_ts: settings.op_ts };
    let stream = decode::start(segments, settings.parallelism.min(2), batches, metrics.clone())?;
    decode::spawn("binlog".into(), move || reader.run())?;
    let (plan_sender, planned) = mpsc::channel((settings.parallelism * 2).max(1));
    if !to_plan.is_empty() {
        start_planner(settings.connect.clone(), to_plan, settings.chunk, plan_sender.clone())?;
    }
    let point = StreamPoint {
        at: source.offset.position.clone(),
        offset: source.offset,
        server: source.server.as_str().into(),
        boundary: true,
        seconds: 0,
        caught_up: false,
        transactions: 0,
        bytes: 0,
    };
    Ok(Attempt {
        settings,
        choice: choice.clone(),
        store,
        metrics: metrics.clone(),
        sink,
        targets,
        collisions,
        steps,
        saved_targets,
        tables,
        bystanders: Arc::new(source.bystanders),
        last_checkpoint,
        point,
        stream,
        reader: handle,
        seal_each,
        bound_to_server,
        plan_sender,
        planned,
        readers: start_readers(&settings.connect, &source.server, settings.snapshot_readers, settings.parallelism * 2)?,
        stop,
        asking: None,
    })
}

/// Which tables are captured that appear in the log.
fn new_tables(settings: &Settings, choice: &Arc<dyn TableChoice>) -> Option<Captures> {
    if !settings.binlog_newly_added_tables {
        return None;
    }
    let (choice, settings) = (choice.clone(), settings.clone());
    Some(Arc::new(move |table: &TableId| captures(&settings, choice.as_ref(), table)))
}

fn table_entry(
    settings: &Settings,
    choice: &dyn TableChoice,
    sink: &Sink,
    targets: &mut Targets,
    table: SourceTable,
    resumed: bool,
) -> Result<TableEntry> {
    let SourceTable { id, state, statement, estimated_rows } = table;
    let mut tracked = Tracked::new(id.clone(), state.def, &settings.mapping)?;
    tracked.since = state.since;
    let to = targets_of(choice, &id)?;
    let transform = TableTransform::of(settings.transforms.as_deref(), &id, &tracked.schema)?;
    let schema = transform.schema(&tracked.schema).clone();
    for target in &to {
        sink.events.check(target, &schema)?;
        if schema.primary_key.is_empty() && !sink.events.capabilities().keyless_tables {
            return Err(Error::new(ErrorKind::Preflight, "RF-CFG-021", "the sink can't hold a table without a key")
                .with("table", &id)
                .hint("give the table a primary key, or leave it out with `tables.exclude`"));
        }
    }
    targets.register(&id, &schema, &to);
    let mut entry = TableEntry::new(tracked, transform, estimated_rows);
    match state.phase {
        Phase::Streaming => {}
        Phase::Gone => entry.phase = TablePhase::Gone(None),
        Phase::GoneInSnapshot(progress) => entry.phase = TablePhase::Gone(Some(progress)),
        Phase::StreamingFrom(at) => entry.phase = TablePhase::WholeAt(at),
        Phase::Snapshot(progress) => {
            entry.statement = statement;
            snapshot_phase(&mut entry, choice.chunk_key(&id).as_deref(), progress)?;
            // Rows of a part that is read again may be in the sink: behind the last checkpoint of a sink that is not exact,
            // and from before a change of the key.
            if let TablePhase::Chunks(join) = &mut entry.phase
                && resumed
            {
                join.pass_all_deletes();
            }
        }
    }
    Ok(entry)
}
