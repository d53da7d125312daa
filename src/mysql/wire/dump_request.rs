//! What a reader of the binlog asks for, as bytes.

use rowferry_model::{BinlogPosition, GtidSet, MysqlGtidSet, Uuid};
use std::time::Duration;

/// Where the stream begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpStart {
    /// At a place in a file: the start of an event.
    Position(BinlogPosition),
    /// With everything that is not in this set, whichever server it is. The flavour must be the server's.
    Gtids(GtidSet),
}

/// A request for the binlog stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRequest {
    /// The reader's id among the server's replicas: no two readers may have the same.
    pub server_id: u32,
    /// Where to begin.
    pub start: DumpStart,
    /// After so much silence the server sends a heartbeat; after two and a half times as much the stream counts as
    /// dead.
    pub heartbeat: Duration,
    /// The reader's own UUID: by it MySQL recognises that a reader has come back, and drops its old connection.
    pub replica_uuid: Option<Uuid>,
}

pub(super) const COM_BINLOG_DUMP: u8 = 0x12;
pub(super) const COM_REGISTER_REPLICA: u8 = 0x15;
pub(super) const COM_BINLOG_DUMP_GTID: u8 = 0x1e;

/// MariaDB: send the events with the text of row statements too.
const MARIADB_SEND_ANNOTATE_ROWS: u16 = 2;
/// MySQL: the file and position are given.
const THROUGH_POSITION: u16 = 2;
/// MySQL: the GTIDs are given.
const THROUGH_GTID: u16 = 4;

/// The registration: how the reader shows up in `SHOW REPLICAS`.
pub(super) fn register(server_id: u32) -> Vec<u8> {
    const HOST: &[u8] = b"rowferry";
    let mut out = server_id.to_le_bytes().to_vec();
    out.push(HOST.len() as u8);
    out.extend_from_slice(HOST);
    // No user, no password, port 0, rank 0, source id 0.
    out.extend_from_slice(&[0; 12]);
    out
}

/// The request by file and position.
pub(super) fn dump(server_id: u32, file: &str, pos: u32, mariadb: bool) -> Vec<u8> {
    let mut out = pos.to_le_bytes().to_vec();
    let flags = if mariadb { MARIADB_SEND_ANNOTATE_ROWS } else { 0 };
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&server_id.to_le_bytes());
    out.extend_from_slice(file.as_bytes());
    out
}

/// The request by GTIDs, or by a file and a position of 64 bits together with an empty set.
pub(super) fn dump_gtid(server_id: u32, file: &str, pos: u64, gtids: &MysqlGtidSet) -> Vec<u8> {
    let flags = if file.is_empty() { THROUGH_GTID } else { THROUGH_GTID | THROUGH_POSITION };
    let mut out = flags.to_le_bytes().to_vec();
    out.extend_from_slice(&server_id.to_le_bytes());
    out.extend_from_slice(&(file.len() as u32).to_le_bytes());
    out.extend_from_slice(file.as_bytes());
    out.extend_from_slice(&pos.to_le_bytes());
    let set = encode_gtid_set(gtids);
    out.extend_from_slice(&(set.len() as u32).to_le_bytes());
    out.extend_from_slice(&set);
    out
}

/// A GTID set in the binary form of MySQL. With a tag in it the form is that of MySQL 8.3 and later: the count is
/// framed by the form's number, and each UUID is followed by its tag.
pub fn encode_gtid_set(gtids: &MysqlGtidSet) -> Vec<u8> {
    let count = gtids.iter().count() as u64;
    let tagged = gtids.iter().any(|(_, tag, _)| !tag.is_empty());
    let head = if tagged { 1 << 56 | count << 8 | 1 } else { count };
    let mut out = head.to_le_bytes().to_vec();
    for (uuid, tag, intervals) in gtids.iter() {
        out.extend_from_slice(&uuid.0);
        if tagged {
            // A variable-length integer whose lowest bit says that it is one byte long; a tag has 32 bytes at most.
            out.push((tag.len() as u8) << 1);
            out.extend_from_slice(tag.as_bytes());
        }
        out.extend_from_slice(&(intervals.len() as u64).to_le_bytes());
        for (start, end) in intervals {
            out.extend_from_slice(&start.to_le_bytes());
            // The end is exclusive on the wire.
            out.extend_from_slice(&(end + 1).to_le_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests;
