//! The threads that plan and read the snapshot.

use super::decode::spawn;
use crate::error::{Error, Result};
use crate::mysql::binlog::TextPlan;
use crate::mysql::reader::Tracked;
use crate::mysql::snapshot::{
    ChunkKey, ChunkOptions, ChunkTask, KeyBound, PlannedChunk, Planner, ReadOutcome, read_chunk, read_whole,
};
use crate::mysql::wire::{ConnectOptions, Connection};
use arrow_array::RecordBatch;
use crossbeam_channel::{Sender, bounded};
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
}

/// What the planner says.
#[derive(Debug)]
pub(super) enum Planned {
    /// A chunk to read.
    Chunk(TableId, PlannedChunk),
    /// All chunks of a table have been planned.
    TableDone(TableId),
    /// Planning has failed.
    Failed(Error),
}

/// Starts the thread that cuts tables into chunks, a few ahead of those who read them.
pub(super) fn start_planner(
    connect: ConnectOptions,
    tables: Vec<TableToPlan>,
    options: ChunkOptions,
    ahead: usize,
) -> Result<mpsc::Receiver<Planned>> {
    let (sender, receiver) = mpsc::channel(ahead.max(1));
    spawn("snapshot-plan".into(), move || {
        let plan = || -> Result<()> {
            let mut connection = Connection::connect(&connect)?;
            for table in tables {
                let id = table.tracked.table.clone();
                let mut planner =
                    Planner::new(&mut connection, id.clone(), table.key, options, table.estimated_rows, &table.done)?;
                while let Some(chunk) = planner.next(&mut connection)? {
                    if sender.blocking_send(Planned::Chunk(id.clone(), chunk)).is_err() {
                        return Ok(());
                    }
                }
                if sender.blocking_send(Planned::TableDone(id)).is_err() {
                    return Ok(());
                }
            }
            Ok(())
        };
        if let Err(error) = plan() {
            let _ = sender.blocking_send(Planned::Failed(error));
        }
    })?;
    Ok(receiver)
}

/// The threads that read chunks.
pub(super) struct ChunkReaders {
    /// Takes chunks to read.
    pub(super) tasks: Sender<ChunkTask>,
    /// What came of them.
    pub(super) outcomes: mpsc::Receiver<(TableId, Vec<u32>, Result<ReadOutcome>)>,
}

/// Starts the threads that read chunks, each with a connection of its own.
pub(super) fn start_readers(connect: &ConnectOptions, count: usize) -> Result<ChunkReaders> {
    let (tasks, work) = bounded::<ChunkTask>(count * 2);
    let (done, outcomes) = mpsc::channel(count * 2);
    for n in 0..count {
        let (work, done, connect) = (work.clone(), done.clone(), connect.clone());
        spawn(format!("snapshot-read-{n}"), move || {
            let mut connection = None;
            for task in work {
                let mut read = || -> Result<ReadOutcome> {
                    let connection = match &mut connection {
                        Some(connection) => connection,
                        none => none.insert(Connection::connect(&connect)?),
                    };
                    read_chunk(connection, &connect, &task)
                };
                let outcome = read();
                if outcome.is_err() {
                    connection = None;
                }
                if done.blocking_send((task.table.clone(), task.chunk.order.clone(), outcome)).is_err() {
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
    /// It has failed.
    Failed(Error),
}

/// Starts the thread that reads a table without a usable key.
pub(super) fn start_whole(
    connect: ConnectOptions,
    table: TableId,
    plan: Arc<TextPlan>,
    batch_rows: usize,
) -> Result<mpsc::Receiver<Whole>> {
    let (sender, receiver) = mpsc::channel(2);
    spawn("snapshot-whole".into(), move || {
        let read = || -> Result<()> {
            let mut connection = Connection::connect(&connect)?;
            let mut locker = Connection::connect(&connect)?;
            read_whole(
                &mut connection,
                &mut locker,
                &table,
                &plan,
                batch_rows,
                |at| sender.blocking_send(Whole::Position(at)).is_ok(),
                |batch| sender.blocking_send(Whole::Rows(batch)).is_ok(),
            )
        };
        let last = match read() {
            Ok(()) => Whole::Done,
            Err(error) => Whole::Failed(error),
        };
        let _ = sender.blocking_send(last);
    })?;
    Ok(receiver)
}
