//! Where in the binlog a moment is.

use super::error::CatalogError;
use super::position::{binlog_files, first_position};
use crate::mysql::wire::{ConnectOptions, Connection, DumpRequest, DumpStart, WireError};
use rowferry_model::{BinlogPosition, Offset};
use std::time::Duration;

/// The start of the last file that began before this moment (milliseconds since 1970): no later change is before it.
/// The reader drops what comes too early. Each file that is looked at costs a short connection as a replica.
///
/// # Errors
/// The server refuses, or a file is purged meanwhile.
pub fn position_for_timestamp(options: &ConnectOptions, server_id: u32, millis: i64) -> Result<Offset, CatalogError> {
    let mut connection = Connection::connect(options)?;
    let files = binlog_files(&mut connection)?;
    // Events have whole seconds: one of the same second may still be in the file before.
    let wanted = millis.div_euclid(1000);
    let (mut low, mut high) = (0, files.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let Some(file) = files.get(middle) else { break };
        if began_at(options, server_id, &file.name)? < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match low.checked_sub(1).and_then(|i| files.get(i)) {
        Some(file) => Ok(Offset { position: BinlogPosition::new(&*file.name, 4), gtids: None, rows: 0 }),
        None => first_position(&mut connection),
    }
}

/// The time at which a file was begun, in seconds since 1970.
fn began_at(options: &ConnectOptions, server_id: u32, file: &str) -> Result<i64, CatalogError> {
    const FORMAT_DESCRIPTION: u8 = 15;
    let request = DumpRequest {
        server_id,
        start: DumpStart::Position(BinlogPosition::new(file, 4)),
        heartbeat: Duration::from_secs(10),
        replica_uuid: None,
    };
    let mut stream = Connection::connect(options)?.start_dump(&request)?;
    while let Some(event) = stream.next()? {
        if let Some((&[a, b, c, d], [FORMAT_DESCRIPTION, ..])) = event.split_first_chunk::<4>() {
            return Ok(i64::from(u32::from_le_bytes([a, b, c, d])));
        }
    }
    Err(WireError::Protocol(format!("binlog file `{file}` has no format description")).into())
}
