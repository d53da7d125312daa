//! What an XA transaction changed that was prepared before the place where reading began.

use super::stream::behind;
use super::tables::CapturedTables;
use crate::error::{Error, Result};
use crate::mysql::binlog::{BinlogError, Checksum, EventBody, EventParser};
use crate::mysql::catalog;
use crate::mysql::wire::{ConnectOptions, Connection, DumpRequest, DumpStart};
use rowferry_model::{BinlogPosition, TableId};

/// What is known of an XA transaction that was prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prepared {
    /// It changed no captured table.
    Foreign,
    /// It changed a captured table.
    Captured,
    /// The server has no log of it any more.
    Unknown,
}

/// Looks for the XA transaction of that name in the log before `until`, from the newest file on backwards.
///
/// # Errors
/// The log can't be read.
pub(super) fn look_back(
    connect: &ConnectOptions,
    request: &DumpRequest,
    until: &BinlogPosition,
    name: &str,
    tables: &CapturedTables,
    name_of: impl Fn(u32, &[u8], &[u8]) -> String,
) -> Result<Prepared> {
    tracing::info!(transaction = name, %until, "looking for an XA transaction that was prepared before reading began");
    let files = catalog::binlog_files(&mut Connection::connect(connect)?)?;
    let before = files.iter().take_while(|file| file.name <= until.file);
    let files: Vec<&str> = before.map(|file| file.name.as_str()).collect();
    for file in files.into_iter().rev() {
        let start = BinlogPosition::new(file, 4);
        let request = DumpRequest { start: DumpStart::Position(start.clone()), ..request.clone() };
        let found = look_in(connect, &request, start, until, name, tables, &name_of)?;
        if found != Prepared::Unknown {
            return Ok(found);
        }
    }
    Ok(Prepared::Unknown)
}

fn look_in(
    connect: &ConnectOptions,
    request: &DumpRequest,
    start: BinlogPosition,
    until: &BinlogPosition,
    name: &str,
    tables: &CapturedTables,
    name_of: &impl Fn(u32, &[u8], &[u8]) -> String,
) -> Result<Prepared> {
    let mut stream = Connection::connect(connect)?.start_dump(request)?;
    let mut parser = EventParser::new(Checksum::Crc32);
    let file = start.file.clone();
    let mut at = start;
    // Whether the transaction that is being read has rows of captured tables.
    let mut captured = false;
    let mut found = Prepared::Unknown;
    while at < *until {
        let Some(bytes) = stream.next()? else { break };
        let fault = |e: BinlogError| {
            Error::permanent("RF-SRC-035", "a binlog event can't be read").with("position", &at).caused_by(e)
        };
        let event = parser.parse(bytes).map_err(fault)?;
        match event.body {
            EventBody::Rotate { file: next, .. } if String::from_utf8_lossy(next) != *file => break,
            EventBody::Gtid(_) | EventBody::AnonymousGtid(_) | EventBody::MariadbGtid(_) => captured = false,
            EventBody::Query(query) if query.sql.to_ascii_uppercase().starts_with(b"XA START") => captured = false,
            EventBody::TableMap(map) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                captured |= tables.get(&TableId::new(text(map.database), text(map.table))).is_some();
            }
            // A name may be used again and again: the last one before this place counts.
            EventBody::XaPrepare { one_phase: false, format_id, gtrid, bqual }
                if name_of(format_id, gtrid, bqual) == name =>
            {
                found = if captured { Prepared::Captured } else { Prepared::Foreign };
            }
            EventBody::Heartbeat { .. } => break,
            _ => {}
        }
        if !event.header.is_artificial() && event.header.log_pos != 0 {
            at.pos = behind(at.pos, event.header.log_pos);
        }
    }
    Ok(found)
}
