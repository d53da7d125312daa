//! Reading one chunk, or a whole table without a usable key.

use super::key::ChunkKey;
use super::plan::{PlannedChunk, keyset_cut, unexpected};
use crate::error::{Error, Result};
use crate::mysql::binlog::{TextDecoder, TextPlan};
use crate::mysql::catalog::{self, quote_table};
use crate::mysql::wire::{ConnectOptions, Connection, WireError};
use arrow_array::RecordBatch;
use rowferry_model::{BinlogPosition, GtidSet, Offset, TableId};
use rowferry_sql::Flavor;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A chunk to read.
#[derive(Clone, Debug)]
pub struct ChunkTask {
    /// The table.
    pub table: TableId,
    /// Its chunk key.
    pub key: ChunkKey,
    /// How its rows become columns.
    pub plan: Arc<TextPlan>,
    /// The range.
    pub chunk: PlannedChunk,
    /// The statement that makes the table as `plan` knows it: [`catalog::create_statement`].
    pub definition: Arc<str>,
    /// Which of the table's definitions that is.
    pub generation: u32,
    /// Where the stream was when the chunk was armed: all before it must be visible before the chunk is read.
    pub armed_at: Offset,
    /// When all that the stream has shown of the table should be visible; counts where the server can't be asked.
    pub visible_from: Instant,
    /// Rows a batch.
    pub batch_rows: usize,
    /// Rows that a chunk may have; more, and it is split.
    pub max_rows: u64,
    /// Bytes that a chunk may have; more, and it is split.
    pub max_bytes: usize,
}

/// A chunk's rows.
#[derive(Debug)]
pub struct ChunkRead {
    /// The rows in key order.
    pub batches: Vec<RecordBatch>,
    /// The server's position behind the read: what the rows show was written before it.
    pub high: BinlogPosition,
}

/// What came of reading a chunk.
#[derive(Debug)]
pub enum ReadOutcome {
    /// Its rows.
    Read(ChunkRead),
    /// It is too large; these chunks cover it.
    Split(Vec<PlannedChunk>),
    /// The table is not any more, or not yet, what the stream says it is here: nothing was read.
    DefinitionChanged,
}

/// How long a transaction that the stream has shown may take to become visible before something must be wrong.
const VISIBLE_WITHIN: Duration = Duration::from_secs(60);

/// Reads a chunk. `seen` is what this server is known to show to reads already, and spares a question where nothing is new.
///
/// # Errors
/// The server can't be asked, or a value can't be decoded.
pub fn read_chunk(
    connection: &mut Connection,
    connect: &ConnectOptions,
    task: &ChunkTask,
    seen: &mut Option<GtidSet>,
) -> Result<ReadOutcome> {
    match read_rows(connection, connect, task, seen) {
        Err(error) if tells_of_ddl(&error) => Ok(ReadOutcome::DefinitionChanged),
        Err(error) if !error.is_transient() => {
            let mut fresh = Connection::connect(connect)?;
            if is_still(&mut fresh, &task.table, &task.definition)? {
                Err(error)
            } else {
                Ok(ReadOutcome::DefinitionChanged)
            }
        }
        other => other,
    }
}

/// Whether the server refused to read because a DDL came in between. The table may be what it was all the same: one that
/// was truncated, or dropped and made again.
pub fn tells_of_ddl(error: &Error) -> bool {
    // ER_TABLE_DEF_CHANGED: a read view that is older than the table; ER_NO_SUCH_TABLE; ER_BAD_FIELD_ERROR.
    const CODES: [u16; 3] = [1412, 1146, 1054];
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<WireError>());
    cause.and_then(WireError::code).is_some_and(|code| CODES.contains(&code))
}

/// Whether a table is still made by this statement.
pub fn is_still(connection: &mut Connection, table: &TableId, definition: &str) -> Result<bool> {
    Ok(catalog::create_statement(connection, table)?.as_deref() == Some(definition))
}

fn read_rows(
    connection: &mut Connection,
    connect: &ConnectOptions,
    task: &ChunkTask,
    seen: &mut Option<GtidSet>,
) -> Result<ReadOutcome> {
    let consistent = wait_until_visible(connection, &task.armed_at, task.visible_from, seen)?;
    let condition = task.key.range_condition(task.chunk.low.as_ref(), task.chunk.high.as_ref());
    let filter = if condition.is_empty() { String::new() } else { format!(" WHERE {condition}") };
    let sql = format!(
        "SELECT {} FROM {}{filter} ORDER BY {}",
        task.plan.select_list().join(", "),
        quote_table(&task.table),
        task.key.order_by()
    );
    let mut batches = Vec::new();
    let (mut rows, mut bytes) = (0u64, 0usize);
    let mut too_large = false;
    {
        let mut decoder = TextDecoder::new(task.plan.clone());
        let mut stream = connection.query_stream(&sql)?;
        while let Some(row) = stream.next_row()? {
            rows += 1;
            bytes += row.len();
            if (rows > task.max_rows || bytes > task.max_bytes) && rows > 1 {
                too_large = true;
                break;
            }
            decoder.decode(row).map_err(|e| decode_error(&task.table, e))?;
            if decoder.batch().rows() >= task.batch_rows {
                batches.push(decoder.finish().map_err(|e| decode_error(&task.table, e))?.1);
            }
        }
        if !too_large && decoder.batch().rows() > 0 {
            batches.push(decoder.finish().map_err(|e| decode_error(&task.table, e))?.1);
        }
    }
    if too_large {
        // What is left of the result is not worth reading.
        let mut fresh = Connection::connect(connect)?;
        let parts = split(&mut fresh, task, rows)?;
        *connection = fresh;
        return Ok(parts);
    }
    if consistent {
        connection.execute("ROLLBACK")?;
    }
    let high = catalog::binlog_position(connection)?.position;
    // In this order: a DDL that is not seen here stands behind the high watermark.
    if !is_still(connection, &task.table, &task.definition)? {
        return Ok(ReadOutcome::DefinitionChanged);
    }
    Ok(ReadOutcome::Read(ChunkRead { batches, high }))
}

/// Cuts a chunk that turned out too large into parts of half as many rows as fitted.
fn split(connection: &mut Connection, task: &ChunkTask, fitted: u64) -> Result<ReadOutcome> {
    let size = (fitted / 2).max(1);
    let mut parts = Vec::new();
    let mut low = task.chunk.low.clone();
    loop {
        let cut = keyset_cut(connection, &task.table, &task.key, low.as_ref(), task.chunk.high.as_ref(), size)?;
        let mut order = task.chunk.order.clone();
        order.push(parts.len() as u32);
        let high = cut.clone().or_else(|| task.chunk.high.clone());
        parts.push(PlannedChunk { order, low: low.take(), high });
        match cut {
            Some(cut) => low = Some(cut),
            None => break,
        }
    }
    if parts.len() == 1 {
        return Err(Error::permanent("RF-SNP-004", "a chunk is too large to be held and can't be split further")
            .with("table", &task.table)
            .with("rows", fitted)
            .hint("choose a column with more values in `scan.incremental.snapshot.chunk.key-column`, or raise `rowferry.memory`"));
    }
    Ok(ReadOutcome::Split(parts))
}

/// Waits until all that the stream has shown before `armed_at` is visible to reads: the server writes a transaction
/// into its log, and sends it to us, before it commits it in the engine. Tells whether a transaction was opened whose
/// read view is the one that was checked.
fn wait_until_visible(
    connection: &mut Connection,
    armed_at: &Offset,
    visible_from: Instant,
    seen: &mut Option<GtidSet>,
) -> Result<bool> {
    let server = connection.server();
    // Before 5.7, MySQL counts a transaction among the executed ones when it is in the log, as the stream does.
    let executed = armed_at.gtids.as_ref().filter(|_| server.mysql_since(50_700));
    let deadline = Instant::now() + VISIBLE_WITHIN;
    let mut pause = Duration::from_micros(200);
    loop {
        let (visible, consistent) = match (executed, server.flavor) {
            (_, Flavor::Mariadb) => {
                // MariaDB tells the log position that a read view stands for.
                connection.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")?;
                match catalog::snapshot_position(connection)? {
                    Some(at) if at >= armed_at.position => (true, true),
                    Some(_) => {
                        connection.execute("ROLLBACK")?;
                        (false, false)
                    }
                    None => (true, true),
                }
            }
            // What was visible once stays so.
            (Some(gtids), Flavor::Mysql) if seen.as_ref() == Some(gtids) => (true, false),
            (Some(gtids), Flavor::Mysql) => {
                let sql = format!("SELECT GTID_SUBSET('{gtids}', @@GLOBAL.gtid_executed) AS seen");
                let rows = connection.query(&sql)?;
                (rows.first().and_then(|r| r.get("seen")) == Some("1"), false)
            }
            // There is nothing to ask; the gap between log and engine is one commit's length.
            (None, Flavor::Mysql) => {
                std::thread::sleep(visible_from.saturating_duration_since(Instant::now()));
                (true, false)
            }
        };
        if visible {
            seen.clone_from(&armed_at.gtids);
            return Ok(consistent);
        }
        if Instant::now() > deadline {
            return Err(Error::transient("RF-SNP-005", "what the binlog has shown does not become visible to reads")
                .with("position", &armed_at.position));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reads a whole table at one exact place of the binlog, which it gives: `on_batch` gets the rows, and stops the read by
/// giving `false`. Gives `false` itself, and no rows, if the table is not made by the statement `definition`.
///
/// MariaDB tells the place that a read view stands for. MySQL does not: the table is locked for reading for the moment
/// in which the read view is opened and the position is asked for.
///
/// # Errors
/// The server can't be asked, the lock is not allowed, or a value can't be decoded.
#[expect(clippy::too_many_arguments, reason = "one call site; two connections, what is read, and where it goes")]
pub fn read_whole(
    connection: &mut Connection,
    locker: &mut Connection,
    table: &TableId,
    plan: &Arc<TextPlan>,
    definition: &str,
    batch_rows: usize,
    mut on_position: impl FnMut(BinlogPosition) -> bool,
    mut on_batch: impl FnMut(RecordBatch) -> bool,
) -> Result<bool> {
    let mut still = true;
    let at = if connection.server().flavor == Flavor::Mariadb {
        connection.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")?;
        catalog::snapshot_position(connection)?.ok_or_else(|| unexpected(table, "the read view's position"))?
    } else {
        connection.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        locker.execute("SET autocommit = 0")?;
        locker.execute(&format!("LOCK TABLES {} READ", quote_table(table))).map_err(|e| {
            Error::permanent("RF-SNP-006", "a table without a usable key can't be read exactly without a moment's lock")
                .with("table", table)
                .caused_by(e)
                .hint(format!(
                    "GRANT LOCK TABLES ON {}.* TO the user, give the table a primary key, or leave it out with `tables.exclude`",
                    catalog::quote_identifier(table.database())
                ))
        })?;
        let opened = connection
            .execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            .map_err(Error::from)
            .and_then(|_| catalog::binlog_position(locker).map_err(Error::from));
        still = is_still(locker, table, definition)?;
        locker.execute("UNLOCK TABLES")?;
        opened?.position
    };
    // A DDL that comes between this and the first row makes the server refuse to read.
    if !still || (connection.server().flavor == Flavor::Mariadb && !is_still(connection, table, definition)?) {
        return Ok(false);
    }
    if !on_position(at) {
        return Ok(true);
    }
    let sql = format!("SELECT {} FROM {}", plan.select_list().join(", "), quote_table(table));
    let mut decoder = TextDecoder::new(plan.clone());
    let mut stream = connection.query_stream(&sql)?;
    while let Some(row) = stream.next_row()? {
        decoder.decode(row).map_err(|e| decode_error(table, e))?;
        if decoder.batch().rows() >= batch_rows && !on_batch(decoder.finish().map_err(|e| decode_error(table, e))?.1) {
            return Ok(true);
        }
    }
    if decoder.batch().rows() > 0 {
        on_batch(decoder.finish().map_err(|e| decode_error(table, e))?.1);
    }
    drop(stream);
    connection.execute("ROLLBACK")?;
    Ok(true)
}

fn decode_error(table: &TableId, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::permanent("RF-SNP-002", "a row of the snapshot can't be decoded").with("table", table).caused_by(error)
}
