//! MariaDB's compressed events.

use super::cursor::Cursor;
use super::error::BinlogErrorKind;
use std::io::Read;

/// The most that a compressed event may hold unpacked: MariaDB's own limit of a packet.
const MAX_UNPACKED: u64 = 1 << 30;

/// Unpacks a compressed part: a byte with the algorithm and the length's length, the length, zlib data.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, BinlogErrorKind> {
    let mut c = Cursor::new(bytes);
    let head = c.u8()?;
    if head & 0xf0 != 0x80 {
        return Err(BinlogErrorKind::Unsupported("an unknown way of compression"));
    }
    let length = match usize::from(head & 0x07) {
        n @ 1..=4 => c.uint_be(n)?,
        _ => return Err(BinlogErrorKind::Malformed("the unpacked length has not 1 to 4 bytes")),
    };
    if length > MAX_UNPACKED {
        return Err(BinlogErrorKind::TooLarge { limit: MAX_UNPACKED });
    }
    // Memory is taken as data comes, not as the header claims.
    let mut unpacked = Vec::new();
    flate2::read::ZlibDecoder::new(c.rest())
        .take(length + 1)
        .read_to_end(&mut unpacked)
        .map_err(BinlogErrorKind::Unpack)?;
    if unpacked.len() as u64 != length {
        return Err(BinlogErrorKind::Malformed("the compressed part has not the length that it announces"));
    }
    Ok(unpacked)
}
