//! The binlog stream.

use super::connection::{Connection, Stopper, timed};
use super::dump_request::{self, DumpRequest, DumpStart};
use super::error::WireError;
use super::packet::parse_err;
use rowferry_model::{BinlogPosition, GtidSet, MysqlGtidSet};
use rowferry_sql::ServerVersion;
use std::time::Duration;

/// The binlog as the server sends it, event by event.
#[derive(Debug)]
pub struct DumpStream {
    connection: Connection,
    server_id: u32,
    timeout: Duration,
    checksums: bool,
    skip: Option<Skip>,
    /// The event that names the file, put right for the position that is skipped to.
    renamed: Vec<u8>,
}

/// Counts a file's bytes up to a position that cannot be asked for.
#[derive(Debug)]
struct Skip {
    at: u64,
    until: u64,
    seen_format: bool,
}

/// The first position in a file, behind its magic number.
const FIRST: u64 = 4;

impl Connection {
    /// Becomes a replica of the server, in its eyes, and reads its binlog.
    ///
    /// Reading from a position beyond 4 GiB without GTIDs is done by reading the file from its start and dropping what
    /// comes before: the protocol has no room for a larger number there.
    ///
    /// # Errors
    /// The server refuses: for want of the REPLICATION SLAVE privilege, or a GTID set of the other flavour was given.
    /// That the position is gone shows with the first event.
    pub fn start_dump(self, request: &DumpRequest) -> Result<DumpStream, WireError> {
        self.start_dump_from(request, u32::MAX)
    }

    /// `plain`: the highest position that the plain request can name.
    fn start_dump_from(mut self, request: &DumpRequest, plain: u32) -> Result<DumpStream, WireError> {
        let checksums = self.prepare_dump(request)?;
        let timeout = request.heartbeat.mul_f64(2.5).max(Duration::from_millis(100));
        self.register_replica(request.server_id)?;
        let mut skip = None;
        let id = request.server_id;
        let (command, argument) = match &request.start {
            DumpStart::Gtids(GtidSet::Mysql(set)) if !self.server().is_mariadb() => {
                (dump_request::COM_BINLOG_DUMP_GTID, dump_request::dump_gtid(id, "", FIRST, set))
            }
            DumpStart::Gtids(GtidSet::Mariadb(_)) if self.server().is_mariadb() => {
                (dump_request::COM_BINLOG_DUMP, dump_request::dump(id, "", FIRST as u32, true))
            }
            DumpStart::Gtids(set) => {
                return Err(WireError::Unsupported(format!(
                    "the GTID set `{set}` is not one of {}: MySQL writes uuid:1-100, MariaDB domain-server-sequence",
                    self.server()
                )));
            }
            DumpStart::Position(BinlogPosition { file, pos }) => {
                let pos = (*pos).max(FIRST);
                if let Some(short) = u32::try_from(pos).ok().filter(|p| *p <= plain) {
                    let mariadb = self.server().is_mariadb();
                    (dump_request::COM_BINLOG_DUMP, dump_request::dump(id, file, short, mariadb))
                } else if !file.is_empty() && self.takes_long_positions()? {
                    let none = MysqlGtidSet::default();
                    (dump_request::COM_BINLOG_DUMP_GTID, dump_request::dump_gtid(id, file, pos, &none))
                } else {
                    tracing::warn!(
                        %file, pos,
                        "the position is beyond 4 GiB and cannot be asked for: reading the file from its start up to it"
                    );
                    self.check_size(file, pos)?;
                    skip = Some(Skip { at: FIRST, until: pos, seen_format: false });
                    let mariadb = self.server().is_mariadb();
                    (dump_request::COM_BINLOG_DUMP, dump_request::dump(id, file, FIRST as u32, mariadb))
                }
            }
        };
        self.set_read_timeout(Some(timeout))?;
        self.command(command, &argument)?;
        Ok(DumpStream { connection: self, server_id: id, timeout, checksums, skip, renamed: Vec::new() })
    }

    /// Whether the request by GTIDs takes a file and a position together with an empty set, and so positions of 64
    /// bits. MySQL 5.6 takes them too, but was seen to leave out the rest of the file.
    fn takes_long_positions(&mut self) -> Result<bool, WireError> {
        if !self.server().mysql_since(80_000) {
            return Ok(false);
        }
        let row = self.query_first("SELECT @@GLOBAL.gtid_mode AS mode")?;
        Ok(row.is_some_and(|r| r.get("mode") == Some("ON")))
    }

    /// The server itself refuses a position behind the end of a file; where we count, we must.
    fn check_size(&mut self, file: &str, pos: u64) -> Result<(), WireError> {
        for row in self.query("SHOW BINARY LOGS")? {
            if row.get("Log_name") == Some(file) && row.number::<u64>("File_size")? < pos {
                let size = row.require("File_size")?;
                return Err(WireError::Unsupported(format!(
                    "cannot read from position {pos}: binlog file `{file}` has only {size} bytes"
                )));
            }
        }
        Ok(())
    }

    /// Sets what the dump thread reads from the session; gives whether the server writes checksums.
    fn prepare_dump(&mut self, request: &DumpRequest) -> Result<bool, WireError> {
        for statement in session_statements(self.server(), request) {
            self.execute(&statement)?;
        }
        let row = self.query_first("SELECT @@GLOBAL.binlog_checksum AS checksum")?;
        Ok(row.and_then(|r| r.get("checksum").map(|c| !c.eq_ignore_ascii_case("NONE"))).unwrap_or(false))
    }
}

/// The statements that set the user variables by which a replica tells what it understands.
fn session_statements(server: ServerVersion, request: &DumpRequest) -> Vec<String> {
    let heartbeat = request.heartbeat.as_nanos();
    // Only "I understand checksums" matters, not which: what is sent is what is in the file.
    let mut set = format!("SET @master_heartbeat_period={heartbeat}, @master_binlog_checksum='CRC32'");
    if let Some(uuid) = request.replica_uuid {
        set.push_str(&format!(", @slave_uuid='{uuid}'"));
    }
    if server.mysql_since(80_026) {
        set.push_str(&format!(", @source_heartbeat_period={heartbeat}, @source_binlog_checksum='CRC32'"));
        if let Some(uuid) = request.replica_uuid {
            set.push_str(&format!(", @replica_uuid='{uuid}'"));
        }
    }
    if server.is_mariadb() {
        // 4: knows GTID events, annotations and all else up to MariaDB 10; without it events are rewritten for the old.
        set.push_str(", @mariadb_slave_capability=4");
        if let DumpStart::Gtids(GtidSet::Mariadb(gtids)) = &request.start {
            set.push_str(&format!(
                ", @slave_connect_state='{gtids}', @slave_gtid_strict_mode=0, @slave_gtid_ignore_duplicates=0"
            ));
        }
    }
    vec![set]
}

impl DumpStream {
    /// The next event: its header, body and checksum, in place until the next call. `None`: the server ended the
    /// stream. Heartbeats are events too.
    ///
    /// # Errors
    /// [`WireError::Timeout`] when not even a heartbeat came; [`WireError::PurgedLogs`] when the position is gone;
    /// [`WireError::DuplicateServerId`] when another reader took over; else as the connection breaks.
    #[expect(clippy::should_implement_trait, reason = "an event is lent: an iterator cannot")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, WireError> {
        loop {
            let packet = match self.connection.reader.next(&mut self.connection.stream) {
                Ok(packet) => packet,
                Err(e) => {
                    self.connection.break_off();
                    return Err(timed(e, "waiting for binlog events or a heartbeat", self.timeout));
                }
            };
            match packet.split_first() {
                Some((0x00, event)) => {
                    if let Some(skip) = &mut self.skip {
                        match skip.passes(event)? {
                            Passing::Skipped => continue,
                            Passing::Kept => {}
                            Passing::Named => {
                                self.renamed = at_position(event, skip.until, self.checksums);
                                return Ok(Some(&self.renamed));
                            }
                            Passing::Arrived => self.skip = None,
                        }
                    }
                    break;
                }
                Some((0xff, _)) => {
                    let error = WireError::Server(parse_err(packet));
                    self.connection.break_off();
                    return Err(error.of_dump(self.server_id));
                }
                Some((0xfe, rest)) if rest.len() < 8 => {
                    self.connection.break_off();
                    return Ok(None);
                }
                _ => {
                    self.connection.break_off();
                    return Err(WireError::protocol("a packet of the binlog stream is malformed"));
                }
            }
        }
        Ok(self.connection.last().get(1..))
    }

    /// Whether events carry a checksum before the format description says so: the first event, an artificial rotate,
    /// comes before it.
    pub fn starts_with_checksums(&self) -> bool {
        self.checksums
    }

    /// Which server it is.
    pub fn server(&self) -> ServerVersion {
        self.connection.server()
    }

    /// The connection's number at the server.
    pub fn id(&self) -> u32 {
        self.connection.id()
    }

    /// Whether an event can be had without waiting for the network: a moment to go on reading rather than to flush.
    pub fn has_buffered(&self) -> bool {
        self.connection.reader.has_buffered()
    }

    /// A handle that ends a blocked [`DumpStream::next`] from another thread.
    ///
    /// # Errors
    /// The system has no more handles.
    pub fn stopper(&self) -> Result<Stopper, WireError> {
        self.connection.stopper()
    }
}

impl Drop for DumpStream {
    fn drop(&mut self) {
        // No command may be sent while the server is sending.
        self.connection.break_off();
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Passing {
    /// Dropped.
    Skipped,
    /// Needed by the decoder although it comes before the position.
    Kept,
    /// The event that names the file and the position where reading begins.
    Named,
    /// The first event at the position, or behind the file.
    Arrived,
}

impl Skip {
    /// Counts one event.
    fn passes(&mut self, event: &[u8]) -> Result<Passing, WireError> {
        const ROTATE: u8 = 4;
        const FORMAT_DESCRIPTION: u8 = 15;
        const HEARTBEAT: u8 = 27;
        const HEARTBEAT_V2: u8 = 41;
        const START_ENCRYPTION: u8 = 164;
        const ARTIFICIAL: u8 = 0x20;
        let (Some(kind), Some(flags)) = (event.get(4).copied(), event.get(17).copied()) else {
            return Err(WireError::protocol("a binlog event is shorter than its header"));
        };
        if matches!(kind, HEARTBEAT | HEARTBEAT_V2) {
            return Ok(Passing::Kept);
        }
        // It is not in the file itself.
        if flags & ARTIFICIAL != 0 && kind == ROTATE && !self.seen_format {
            return Ok(Passing::Named);
        }
        if self.at == self.until {
            return Ok(Passing::Arrived);
        }
        if flags & ARTIFICIAL != 0 || kind == ROTATE {
            return Err(WireError::protocol(format!(
                "the binlog file ends at byte {}, before the wanted position {}",
                self.at, self.until
            )));
        }
        self.at += event.len() as u64;
        if self.at > self.until {
            return Err(WireError::protocol(format!("no binlog event starts at the wanted position {}", self.until)));
        }
        if kind == FORMAT_DESCRIPTION {
            self.seen_format = true;
        }
        Ok(if matches!(kind, FORMAT_DESCRIPTION | START_ENCRYPTION) { Passing::Kept } else { Passing::Skipped })
    }
}

/// A rotate event that says another position, its checksum made anew: whoever counts positions counts from there.
fn at_position(rotate: &[u8], pos: u64, checksum: bool) -> Vec<u8> {
    const HEADER: usize = 19;
    let mut event = rotate.to_vec();
    if let Some(place) = event.get_mut(HEADER..HEADER + 8) {
        place.copy_from_slice(&pos.to_le_bytes());
    }
    if checksum && let Some((body, sum)) = event.split_last_chunk_mut::<4>() {
        *sum = crc32fast::hash(body).to_le_bytes();
    }
    event
}

#[cfg(test)]
mod tests;
