//! The threads that plan and read the snapshot.

use super::decode::spawn;
use crate::error::{Error, Result};
use crate::mysql::binlog::TextPlan;
use crate::mysql::catalog;
use crate::mysql::reader::Tracked;
use crate::mysql::snapshot::{
    ChunkKey, ChunkOptions, ChunkTask, KeyBound, PlannedChunk, Planner, ReadOutcome, is_still, read_chunk, read_whole,
    tells_of_ddl,
};
use crate::mysql::wire::{ConnectOptions, Connection};
use arrow_array::RecordBatch;
use crossbeam_channel::{Sender, unbounded};
use rowferry_model::{BinlogPosition, TableId};
use std::sync::Arc;
use tokio::sync::mpsc;

/// A table whose snapshot is to be cut into chunks.
#[derive(Clone, Debug)]
pub(super) struct TableToPlan {
    /// The table.
    pub(super) tracked: Tracked,
    /// What it is cut by.
    pub(super) key: ChunkKey,
    /// Rows by the server's estimate.
    pub(super) estimated_rows: u64,
    /// Ranges that are in the sink already.
    pub(super) done: Vec<(Option<KeyBound>, Option<KeyBound>)>,
    /// The statement that makes the table as it is tracked.
    pub(super) definition: Arc<str>,
    /// Which of the table's definitions that is.
    pub(super) generation: u32,
}

/// What the planner says.
#[derive(Debug)]
pub(super) enum Planned {
    /// A chunk to read, of this generation of the table.
    Chunk(TableId, u32, PlannedChunk),
    /// All chunks of a table have been planned.
    TableDone(TableId, u32),
    /// The table is not what it is tracked as.
    DefinitionChanged(TableId, u32),
    /// Planning has failed.
    Failed(Error),
}

/// Starts a thread that cuts tables into chunks, a few ahead of those who read them.
pub(super) fn start_planner(
    connect: ConnectOptions,
    tables: Vec<TableToPlan>,
    options: ChunkOptions,
    sender: mpsc::Sender<Planned>,
) -> Result<()> {
    spawn("snapshot-plan".into(), move || {
        if let Err(error) = plan_tables(&connect, tables, options, &sender) {
            let _ = sender.blocking_send(Planned::Failed(error));
        }
    })?;
    Ok(())
}

fn plan_tables(
    connect: &ConnectOptions,
    tables: Vec<TableToPlan>,
    options: ChunkOptions,
    sender: &mpsc::Sender<Planned>,
) -> Result<()> {
    let mut connection = Connection::connect(connect)?;
    for table in tables {
        let (id, generation) = (table.tracked.table.clone(), table.generation);
        let last = match plan_table(&mut connection, &table, options, sender) {
            Ok(true) => Planned::TableDone(id, generation),
            Ok(false) => return Ok(()),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => {
                // The server has no such table or column, for example.
                connection = Connection::connect(connect)?;
                if !tells_of_ddl(&error) && is_still(&mut connection, &id, &table.definition)? {
                    return Err(error);
                }
                Planned::DefinitionChanged(id, generation)
            }
        };
        if sender.blocking_send(last).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Plans one table; `false`: nobody listens any more.
fn plan_table(
    connection: &mut Connection,
    table: &TableToPlan,
    options: ChunkOptions,
    sender: &mpsc::Sender<Planned>,
) -> Result<bool> {
    let id = &table.tracked.table;
    let mut planner =
        Planner::new(connection, id.clone(), table.key.clone(), options, table.estimated_rows, &table.done)?;
    while let Some(chunk) = planner.next(connection)? {
        if sender.blocking_send(Planned::Chunk(id.clone(), table.generation, chunk)).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The threads that read chunks.
pub(super) struct ChunkReaders {
    /// Takes chunks to read.
    pub(super) tasks: Sender<ChunkTask>,
    /// What came of them.
    pub(super) outcomes: mpsc::Receiver<ChunkOutcome>,
}

/// What came of a chunk.
#[derive(Debug)]
pub(super) struct ChunkOutcome {
    /// The chunk's table.
    pub(super) table: TableId,
    /// Which of the table's definitions it was read by.
    pub(super) generation: u32,
    /// Which chunk it is.
    pub(super) order: Vec<u32>,
    /// What came of it.
    pub(super) outcome: Result<ReadOutcome>,
}

/// A connection to the server that the stream comes from. Behind a proxy another one may answer, whose log has other
/// places: what is read there can't be joined with the stream.
fn connect_to(connect: &ConnectOptions, server: &str) -> Result<Connection> {
    let mut connection = Connection::connect(connect)?;
    let now = catalog::server_identity(&mut connection)?;
    if now == server {
        return Ok(connection);
    }
    Err(Error::transient("RF-SRC-032", "another server answers in the middle of a snapshot")
        .with("server before", server)
        .with("server now", now))
}

/// Starts so many threads that read chunks, each with a connection of its own to this server. Up to `waiting` chunks
/// can wait for them.
pub(super) fn start_readers(
    connect: &ConnectOptions,
    server: &str,
    count: usize,
    waiting: usize,
) -> Result<ChunkReaders> {
    // Chunks that a DDL has made void are still waiting here when others are armed in their place.
    let (tasks, work) = unbounded::<ChunkTask>();
    let (done, outcomes) = mpsc::channel(waiting);
    for n in 0..count {
        let (work, done, connect, server) = (work.clone(), done.clone(), connect.clone(), server.to_owned());
        spawn(format!("snapshot-read-{n}"), move || {
            let mut connection = None;
            let mut seen = None;
            for task in work {
                let mut read = || -> Result<ReadOutcome> {
                    let connection = match &mut connection {
                        Some(connection) => connection,
                        none => none.insert(connect_to(&connect, &server)?),
                    };
                    read_chunk(connection, &connect, &task, &mut seen)
                };
                let outcome = read();
                if outcome.is_err() {
                    connection = None;
                    seen = None;
                }
                let ChunkTask { table, generation, chunk: PlannedChunk { order, .. }, .. } = task;
                if done.blocking_send(ChunkOutcome { table, generation, order, outcome }).is_err() {
                    return;
                }
            }
        })?;
    }
    Ok(ChunkReaders { tasks, outcomes })
}

/// What the thread that reads a whole table says.
#[derive(Debug)]
pub(super) enum Whole {
    /// The rows show the table at this place of the log.
    Position(BinlogPosition),
    /// Some rows.
    Rows(RecordBatch),
    /// There are no more.
    Done,
    /// The table is not what it is tracked as; nothing was read.
    DefinitionChanged,
    /// It has failed.
    Failed(Error),
}

/// Starts the thread that reads a table without a usable key.
pub(super) fn start_whole(
    connect: ConnectOptions,
    server: &str,
    table: TableId,
    plan: Arc<TextPlan>,
    definition: Arc<str>,
    batch_rows: usize,
) -> Result<mpsc::Receiver<Whole>> {
    let (sender, receiver) = mpsc::channel(2);
    let server = server.to_owned();
    spawn("snapshot-whole".into(), move || {
        let read = || -> Result<bool> {
            let mut connection = connect_to(&connect, &server)?;
            let mut locker = connect_to(&connect, &server)?;
            read_whole(
                &mut connection,
                &mut locker,
                &table,
                &plan,
                &definition,
                batch_rows,
                |at| sender.blocking_send(Whole::Position(at)).is_ok(),
                |batch| sender.blocking_send(Whole::Rows(batch)).is_ok(),
            )
        };
        // The server has no such table or column, for example.
        let still = || is_still(&mut Connection::connect(&connect)?, &table, &definition);
        let last = match read() {
            Ok(true) => Whole::Done,
            Ok(false) => Whole::DefinitionChanged,
            Err(error) if tells_of_ddl(&error) => Whole::DefinitionChanged,
            Err(error) if !error.is_transient() => match still() {
                Ok(false) => Whole::DefinitionChanged,
                _ => Whole::Failed(error),
            },
            Err(error) => Whole::Failed(error),
        };
        let _ = sender.blocking_send(last);
    })?;
    Ok(receiver)
}
