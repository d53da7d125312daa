//! Binlog files as bytes.

use super::error::{BinlogError, BinlogErrorKind};
use super::event::{EventHeader, HEADER_LEN};
use super::event_type::EventType;

/// What a binlog file begins with.
const MAGIC: &[u8; 4] = b"\xfebin";
/// What a file begins with that MySQL has encrypted.
const ENCRYPTED: &[u8; 4] = b"\xfdbin";

/// The raw events of a binlog file that is in memory, one after another.
#[derive(Clone, Debug)]
pub struct BinlogFileReader<'a> {
    rest: &'a [u8],
    position: u64,
}

impl<'a> BinlogFileReader<'a> {
    /// Reads the file's first bytes.
    ///
    /// # Errors
    /// It is not a binlog, or it is encrypted.
    pub fn new(file: &'a [u8]) -> Result<Self, BinlogError> {
        let not = |why| BinlogError::new(EventType(0), 0, BinlogErrorKind::NotABinlog(why));
        match file.split_first_chunk::<4>() {
            Some((MAGIC, rest)) => Ok(Self { rest, position: 4 }),
            Some((ENCRYPTED, _)) => {
                Err(not("the file is encrypted; read it from the server, which decrypts it, instead of from disk"))
            }
            _ => Err(not("the file does not begin as a binlog does")),
        }
    }

    /// Where in the file the next event begins.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next event's bytes, for [`EventParser::parse`](super::EventParser::parse); `None` at the end.
    ///
    /// # Errors
    /// The file ends within an event. There are no more events then.
    pub fn next_event(&mut self) -> Result<Option<&'a [u8]>, BinlogError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let rest = std::mem::take(&mut self.rest);
        let header = EventHeader::parse(rest)?;
        let size = header.event_size as usize;
        match rest.split_at_checked(size) {
            Some((event, rest)) if size >= HEADER_LEN => {
                self.rest = rest;
                self.position += size as u64;
                Ok(Some(event))
            }
            _ => Err(header.error(BinlogErrorKind::Truncated)),
        }
    }
}
