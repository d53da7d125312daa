//! The reader's loop.

use super::group::{Group, Segment, StreamPoint};
use super::handle::ReaderHandle;
use super::history::{Bystanders, Ddl, SchemaHistory};
use super::rows::NumberedTable;
use super::skip::Skip;
use super::statement::xid_of;
use crate::error::{Error, Result};
use crate::mysql::binlog::{Checksum, DecodeOptions, EventBody, EventHeader, EventParser};
use crate::mysql::catalog;
use crate::mysql::wire::{ConnectOptions, Connection, DumpRequest, DumpStart, DumpStream, Stopper};
use crossbeam_channel::Sender;
use rowferry_model::{BinlogPosition, GtidSet, Offset, Uuid};
use rowferry_sql::Flavor;
use rowferry_sql::ddl::DdlContext;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the reader needs to know.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// The server.
    pub connect: ConnectOptions,
    /// The number that this reader has among the server's replicas.
    pub server_id: u32,
    /// By this the server knows that a reader has come back.
    pub replica_uuid: Option<Uuid>,
    /// How often the server must show that it lives.
    pub heartbeat: Duration,
    /// How often a lost connection is tried again.
    pub max_retries: u32,
    /// Bytes of rows after which a segment is sealed at the next transaction's end.
    pub segment_bytes: usize,
    /// How rows are decoded.
    pub decode: DecodeOptions,
    /// Whether each row's time is wanted.
    pub op_ts: bool,
    /// Transactions before this time, in seconds since the epoch, are left out: `scan.startup.mode: timestamp`.
    pub skip_before_seconds: u32,
    /// What is left out of the first transaction: `scan.startup.specific-offset.skip-events` and `skip-rows`.
    pub skip: Skip,
    /// Whether the server has GTIDs and they are to be used.
    pub use_gtids: bool,
    /// While set, a segment is sealed at every transaction's end that has rows.
    pub seal_each: Arc<AtomicBool>,
    /// The server that `Offset::position` belongs to; empty: any.
    pub server: Arc<str>,
    /// While set, the pipeline waits for places of this server's log: another server can't go on with them.
    pub bound_to_server: Arc<AtomicBool>,
}

/// What the reader gives.
#[derive(Debug)]
pub enum StreamItem {
    /// Rows, or just a place further on.
    Segment(Segment),
    /// Reading has ended with this error.
    Failed(Error),
}

/// The identifier of the transaction that is being read.
enum CurrentGtid {
    None,
    Mysql(Uuid, String, u64),
    Mariadb(u32, u32, u64),
}

/// Reads the log of one server from an offset on.
pub struct BinlogReader {
    pub(super) options: ReaderOptions,
    pub(super) history: SchemaHistory,
    /// A DDL that the next segment carries.
    pub(super) ddl: Option<Ddl>,
    items: Sender<StreamItem>,
    stop: Arc<AtomicBool>,
    stopper: Arc<Mutex<Option<Stopper>>>,
    parser: EventParser,
    pub(super) numbers: HashMap<u64, NumberedTable>,
    pub(super) groups: Vec<Group>,
    pub(super) group_bytes: usize,
    /// Counts the segments.
    pub(super) segment: u64,
    /// The end of the last whole transaction, and the transactions up to it.
    pub(super) boundary: BinlogPosition,
    gtids: Option<GtidSet>,
    pub(super) at: BinlogPosition,
    pub(super) in_transaction: bool,
    /// Whether BEGIN was seen: then a statement does not end the transaction, as in CREATE TABLE … SELECT.
    pub(super) begun: bool,
    /// A standalone MariaDB transaction ends with its statement.
    current: CurrentGtid,
    /// Rows events of the current transaction that were taken, and how many of them are to be left out after a
    /// reconnection because they were taken before.
    pub(super) taken: u64,
    pub(super) leave_out: u64,
    /// What is to be left out from here on, and whether the event that is read is.
    pub(super) skip: Skip,
    pub(super) left_out: bool,
    /// The XA transaction that is being read, and those that were prepared and not yet committed.
    pub(super) xa: bool,
    pub(super) prepared: HashMap<String, Vec<Group>>,
    /// XA transactions that were prepared and have no rows of captured tables.
    pub(super) prepared_elsewhere: HashSet<String>,
    seconds: i64,
    transactions: u64,
    bytes: u64,
    sent: BinlogPosition,
    flavor: Flavor,
    pub(super) context: DdlContext,
}

/// The most bytes that a compressed transaction may unpack to in one piece: MySQL's own limit of an event.
pub(super) const MAX_PAYLOAD: u64 = 4 << 30;

impl BinlogReader {
    /// A reader that starts at an offset.
    pub fn new(
        options: ReaderOptions,
        history: SchemaHistory,
        from: Offset,
        context: DdlContext,
        items: Sender<StreamItem>,
    ) -> Self {
        Self {
            skip: options.skip,
            left_out: false,
            options,
            history,
            ddl: None,
            items,
            stop: Arc::default(),
            stopper: Arc::default(),
            parser: EventParser::new(Checksum::Crc32),
            numbers: HashMap::new(),
            groups: Vec::new(),
            group_bytes: 0,
            segment: 0,
            boundary: from.position.clone(),
            at: from.position.clone(),
            sent: from.position,
            gtids: from.gtids,
            in_transaction: false,
            begun: false,
            current: CurrentGtid::None,
            taken: 0,
            leave_out: 0,
            xa: false,
            prepared: HashMap::new(),
            prepared_elsewhere: HashSet::new(),
            seconds: 0,
            transactions: 0,
            bytes: 0,
            flavor: Flavor::Mysql,
            context,
        }
    }

    /// A handle that ends the reading from another thread.
    pub fn handle(&self) -> ReaderHandle {
        ReaderHandle { stop: self.stop.clone(), stopper: self.stopper.clone() }
    }

    /// Reads until it is stopped or fails for good; what came of it goes to the items.
    pub fn run(mut self) {
        let mut attempts = 0;
        loop {
            let before = self.boundary.clone();
            let error = match self.read() {
                Ok(()) => return,
                Err(error) => error,
            };
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            if self.boundary != before {
                attempts = 0;
            }
            attempts += 1;
            // A changed server is nothing that passes: the pipeline starts again from its checkpoint.
            let ends = error.code() == "RF-SRC-032";
            if !error.is_transient() || ends || attempts > self.options.max_retries {
                let _ = self.items.send(StreamItem::Failed(error));
                return;
            }
            let pause = Duration::from_millis(200 << attempts.min(7));
            tracing::warn!(code = error.code(), %error, help = error.hint_text(), attempt = attempts, pause_ms = pause.as_millis() as u64, "the binlog connection is lost; trying again");
            let until = Instant::now() + pause;
            while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// One connection's life.
    fn read(&mut self) -> Result<()> {
        let mut connection = Connection::connect(&self.options.connect)?;
        self.flavor = connection.server().flavor;
        let uuid = catalog::server_identity(&mut connection)?;
        if self.options.server.is_empty() {
            self.options.server = uuid.into();
        } else if *self.options.server != *uuid {
            self.change_server(uuid)?;
        }
        let request = self.request();
        self.parser = EventParser::new(Checksum::Crc32);
        self.numbers.clear();
        // Lost again before it came as far as the first time: what was taken then is still taken.
        self.leave_out = self.leave_out.max(self.taken);
        self.taken = 0;
        self.skip = self.options.skip;
        self.in_transaction = false;
        self.begun = false;
        self.at = self.boundary.clone();
        let mut stream = connection.start_dump(&request)?;
        if let Ok(mut stopper) = self.stopper.lock() {
            *stopper = Some(stream.stopper()?);
        }
        tracing::info!(from = %Offset { position: self.boundary.clone(), gtids: self.gtids.clone(), rows: 0 }, "reading the binlog");
        self.follow(&mut stream)
    }

    /// Another server answers than before: its log is the same by GTID, but has other places.
    fn change_server(&mut self, now: String) -> Result<()> {
        if self.gtids.is_none() || !self.options.use_gtids {
            return Err(Error::permanent(
                "RF-SRC-031",
                "another server answers, and without GTIDs its log can't be continued",
            )
            .with("server before", &self.options.server)
            .with("server now", &now)
            .hint("switch GTIDs on (gtid_mode=ON) for fail-over, or point `hostname` at the old server"));
        }
        // How much of a transaction was taken is known in events, which another server may cut otherwise.
        if self.taken > 0 {
            return Err(Error::transient("RF-SRC-032", "another server answers in the middle of a transaction"));
        }
        if self.options.bound_to_server.load(Ordering::Relaxed) {
            return Err(Error::transient("RF-SRC-032", "another server answers in the middle of a snapshot"));
        }
        tracing::warn!(before = %self.options.server, %now, "another server answers; going on by GTID");
        self.options.server = now.into();
        self.history.forget_places();
        self.boundary = BinlogPosition::default();
        Ok(())
    }

    fn follow(&mut self, stream: &mut DumpStream) -> Result<()> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let ready = stream.has_buffered();
            if !ready && !self.in_transaction && (!self.groups.is_empty() || self.at != self.sent) {
                self.seal(true)?;
            }
            let Some(event) = stream.next()? else {
                return Err(
                    Error::transient("RF-SRC-033", "the server ended the binlog stream").with("position", &self.at)
                );
            };
            self.bytes += event.len() as u64;
            let mut parser = std::mem::replace(&mut self.parser, EventParser::new(Checksum::None));
            let result = match parser.parse(event) {
                Ok(event) => self.event(&parser, event.header, event.body, false),
                Err(error) => Err(self.binlog_error(error)),
            };
            self.parser = parser;
            result?;
            if !self.in_transaction && !self.groups.is_empty() && self.options.seal_each.load(Ordering::Relaxed) {
                self.seal(false)?;
            }
            if self.group_bytes >= self.options.segment_bytes
                && !self.xa
                && (!self.in_transaction || self.group_bytes >= self.options.segment_bytes * 2)
            {
                self.seal(false)?;
            }
        }
    }

    fn binlog_error(&self, error: crate::mysql::binlog::BinlogError) -> Error {
        let transient = error.is_transient();
        let out = if transient {
            Error::transient("RF-SRC-034", "a binlog event is damaged")
        } else {
            Error::permanent("RF-SRC-035", "a binlog event can't be read")
        };
        out.with("position", &self.at).caused_by(error)
    }

    fn event(&mut self, parser: &EventParser, header: EventHeader, body: EventBody<'_>, inner: bool) -> Result<()> {
        if !inner && !header.is_artificial() && header.log_pos != 0 {
            self.advance(header.log_pos);
            if header.timestamp != 0 {
                self.seconds = i64::from(header.timestamp);
            }
        }
        let counts =
            !header.is_artificial() && !matches!(body, EventBody::TransactionPayload(_) | EventBody::Heartbeat { .. });
        self.left_out = counts && self.skip.event();
        match body {
            EventBody::Rotate { position, file } => {
                let start = BinlogPosition::new(String::from_utf8_lossy(file), position);
                // Asked by GTID, MariaDB names the file's start, sends nothing of what was seen before, and tells its
                // place only with the next heartbeat. The saved place belongs to the saved GTIDs: it holds meanwhile.
                let known = self.flavor == Flavor::Mariadb
                    && header.is_artificial()
                    && start.file == self.boundary.file
                    && start < self.boundary;
                self.at = if known { self.boundary.clone() } else { start };
                if !self.in_transaction {
                    self.boundary = self.at.clone();
                }
            }
            EventBody::Gtid(gtid) => {
                self.current = CurrentGtid::Mysql(gtid.uuid, gtid.tag, gtid.gno);
                self.in_transaction = true;
            }
            EventBody::AnonymousGtid(_) => {
                self.current = CurrentGtid::None;
                self.in_transaction = true;
            }
            EventBody::MariadbGtid(gtid) => {
                // MariaDB tells here what MySQL tells with `XA START`.
                if gtid.xa_prepared {
                    self.seal(false)?;
                    self.xa = true;
                }
                self.current = CurrentGtid::Mariadb(gtid.domain, gtid.server, gtid.sequence);
                self.in_transaction = true;
                if !gtid.standalone {
                    self.skip.begin();
                }
            }
            EventBody::Query(query) => self.query(query)?,
            EventBody::Xid(_) => self.commit(),
            EventBody::XaPrepare { one_phase, format_id, gtrid, bqual } => {
                // What was prepared counts once it is committed; until then no place behind it may be saved.
                if std::mem::take(&mut self.xa) && !one_phase {
                    let groups = std::mem::take(&mut self.groups);
                    let name = xid_of(format_id, gtrid, bqual);
                    // One without rows of captured tables holds nothing up.
                    if groups.is_empty() {
                        self.prepared_elsewhere.insert(name);
                    } else {
                        self.prepared.insert(name, groups);
                    }
                    self.segment += 1;
                    self.group_bytes = 0;
                }
                self.commit();
            }
            EventBody::TableMap(map) => self.table_map(map)?,
            EventBody::Rows(rows) => self.rows(&header, rows)?,
            EventBody::TransactionPayload(payload) => {
                let mut events = payload.events(MAX_PAYLOAD).map_err(|e| self.binlog_error(e))?;
                while let Some(event) = events.next_event().map_err(|e| self.binlog_error(e))? {
                    let event = parser.parse_inner(event).map_err(|e| self.binlog_error(e))?;
                    self.event(parser, event.header, event.body, true)?;
                    if self.group_bytes >= self.options.segment_bytes * 2 && !self.xa {
                        self.seal(false)?;
                    }
                }
            }
            EventBody::Heartbeat { file, position } => {
                if !self.in_transaction {
                    if !file.is_empty() {
                        let file = String::from_utf8_lossy(file);
                        if *file != *self.at.file {
                            self.at = BinlogPosition::new(file, 4);
                        }
                    }
                    match position {
                        Some(position) => self.at.pos = self.at.pos.max(position),
                        None if header.log_pos != 0 => self.advance(header.log_pos),
                        None => {}
                    }
                    self.boundary = self.at.clone();
                }
            }
            EventBody::Incident { code, message } => {
                return Err(Error::permanent("RF-SRC-036", "the server says that its log is incomplete")
                    .with("incident", code)
                    .with("message", String::from_utf8_lossy(message))
                    .with("position", &self.at)
                    .hint("changes are missing from the log: start again with a new snapshot"));
            }
            // Reading began without a GTID set: a file's head tells the set at its place.
            EventBody::PreviousGtids(set) if self.options.use_gtids && self.gtids.is_none() => {
                self.gtids = Some(GtidSet::Mysql(set));
            }
            EventBody::MariadbGtidList(set) if self.options.use_gtids && self.gtids.is_none() => {
                self.gtids = Some(GtidSet::Mariadb(set));
            }
            EventBody::FormatDescription
            | EventBody::PreviousGtids(_)
            | EventBody::MariadbGtidList(_)
            | EventBody::RowsQuery(_)
            | EventBody::Stop
            | EventBody::StatementPart
            | EventBody::Ignored => {}
        }
        Ok(())
    }

    /// Moves on to an event's end.
    fn advance(&mut self, log_pos: u32) {
        self.at.pos = behind(self.at.pos, log_pos);
    }

    /// A transaction has ended.
    pub(super) fn commit(&mut self) {
        // Without the set at the starting place a set of what came since would be a wrong one.
        match (std::mem::replace(&mut self.current, CurrentGtid::None), &mut self.gtids) {
            (CurrentGtid::Mysql(uuid, tag, gno), Some(GtidSet::Mysql(set))) => set.add(uuid, &tag, gno),
            (CurrentGtid::Mariadb(domain, server, sequence), Some(GtidSet::Mariadb(set))) => {
                set.add(domain, server, sequence);
            }
            _ => {}
        }
        self.in_transaction = false;
        self.begun = false;
        self.taken = 0;
        self.leave_out = 0;
        // A lost connection does not bring back what was left out before this place.
        self.options.skip = self.skip;
        self.transactions += 1;
        if self.boundary.file == self.at.file {
            self.boundary.pos = self.at.pos;
        } else {
            self.boundary = self.at.clone();
        }
    }

    /// How the log is asked for from here on.
    pub(super) fn request(&self) -> DumpRequest {
        let start = match &self.gtids {
            Some(gtids) if self.options.use_gtids => DumpStart::Gtids(gtids.clone()),
            _ => DumpStart::Position(BinlogPosition::new(self.boundary.file.clone(), self.boundary.pos.max(4))),
        };
        DumpRequest {
            server_id: self.options.server_id,
            start,
            heartbeat: self.options.heartbeat,
            replica_uuid: self.options.replica_uuid,
        }
    }

    /// Gives away what was gathered. Waits while the others are busy: that is the back-pressure.
    pub(super) fn seal(&mut self, caught_up: bool) -> Result<()> {
        let boundary = !self.in_transaction && self.prepared.is_empty();
        let (ddl, bystanders) = (self.ddl.take(), self.history.take_bystanders());
        self.send(self.at.clone(), boundary, caught_up, ddl, bystanders)
    }

    /// Gives away what was gathered before a DDL, whose own transaction has begun already: all of it can be saved.
    pub(super) fn seal_before_ddl(&mut self) -> Result<()> {
        self.send(self.boundary.clone(), self.prepared.is_empty(), false, None, None)
    }

    fn send(
        &mut self,
        at: BinlogPosition,
        boundary: bool,
        caught_up: bool,
        ddl: Option<Ddl>,
        bystanders: Option<Bystanders>,
    ) -> Result<()> {
        self.segment += 1;
        self.group_bytes = 0;
        self.sent.clone_from(&at);
        let point = StreamPoint {
            offset: Offset { position: self.boundary.clone(), gtids: self.gtids.clone(), rows: 0 },
            server: self.options.server.clone(),
            at,
            boundary,
            seconds: self.seconds,
            caught_up,
            transactions: std::mem::take(&mut self.transactions),
            bytes: std::mem::take(&mut self.bytes),
        };
        let groups = std::mem::take(&mut self.groups);
        let segment = Segment { groups, point, ddl: ddl.map(Box::new), bystanders: bystanders.map(Box::new) };
        if self.items.send(StreamItem::Segment(segment)).is_err() {
            // The pipeline is gone.
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

/// The place in a file behind an event, of which its header has the low 32 bits only: files may be larger. Never goes
/// back: MariaDB, asked by GTID, sends the file's head again with its old place.
pub(super) fn behind(pos: u64, log_pos: u32) -> u64 {
    const WRAP: u64 = 1 << 32;
    let next = (pos & !(WRAP - 1)) | u64::from(log_pos);
    if next < pos && pos - next > WRAP / 2 { next + WRAP } else { pos.max(next) }
}
