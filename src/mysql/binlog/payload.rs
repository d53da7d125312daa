//! Compressed transactions: one event that holds a whole transaction's events.

use super::cursor::Cursor;
use super::error::{BinlogError, BinlogErrorKind};
use super::event::{EventHeader, HEADER_LEN};
use super::event_type::EventType;
use std::io::{ErrorKind, Read};

/// A compressed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionPayload<'a> {
    compression: Compression,
    /// How many bytes there are unpacked, as the server says.
    pub uncompressed_size: Option<u64>,
    payload: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Zstd,
}

impl<'a> TransactionPayload<'a> {
    /// Reads the numbered fields in front of the payload.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, BinlogErrorKind> {
        const END: u64 = 0;
        const SIZE: u64 = 1;
        const COMPRESSION: u64 = 2;
        const UNCOMPRESSED_SIZE: u64 = 3;
        let mut c = Cursor::new(bytes);
        let (mut compression, mut uncompressed_size, mut size) = (Compression::Zstd, None, None);
        loop {
            let field = c.lenenc()?;
            if field == END {
                break;
            }
            let mut value = Cursor::new(c.lenenc_bytes()?);
            match field {
                SIZE => size = Some(value.lenenc_len()?),
                COMPRESSION => {
                    compression = match value.lenenc()? {
                        0 => Compression::Zstd,
                        255 => Compression::None,
                        _ => return Err(BinlogErrorKind::Unsupported("an unknown way of compression")),
                    }
                }
                UNCOMPRESSED_SIZE => uncompressed_size = Some(value.lenenc()?),
                _ => {}
            }
        }
        let payload = match size {
            Some(size) => c.take(size)?,
            None => c.rest(),
        };
        Ok(Self { compression, uncompressed_size, payload })
    }

    /// Unpacks the events one after another, so that only one of them is in memory. No more than `limit` bytes are
    /// unpacked in all.
    ///
    /// # Errors
    /// The unpacker can't be set up.
    pub fn events(&self, limit: u64) -> Result<PayloadEvents<'a>, BinlogError> {
        let source: Box<dyn Read + Send + 'a> = match self.compression {
            Compression::None => Box::new(self.payload),
            Compression::Zstd => Box::new(self.zstd().map_err(|e| payload_error(BinlogErrorKind::Unpack(e)))?),
        };
        Ok(PayloadEvents { source, event: Vec::new(), left: limit, limit, failed: false })
    }

    fn zstd(&self) -> std::io::Result<impl Read + Send + use<'a>> {
        /// The largest window that zstd's own levels use; 2^27 bytes is what a reader must be ready for.
        const MAX_WINDOW_LOG: u32 = 27;
        let mut decoder = zstd::stream::read::Decoder::with_buffer(self.payload)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Ok(decoder)
    }
}

fn payload_error(kind: BinlogErrorKind) -> BinlogError {
    BinlogError::new(EventType::TRANSACTION_PAYLOAD, 0, kind)
}

/// The events of a compressed transaction.
pub struct PayloadEvents<'a> {
    source: Box<dyn Read + Send + 'a>,
    event: Vec<u8>,
    left: u64,
    limit: u64,
    failed: bool,
}

impl PayloadEvents<'_> {
    /// The next event's bytes, for [`EventParser::parse_inner`](super::EventParser::parse_inner); `None` at the end.
    ///
    /// # Errors
    /// The payload is damaged, cut off or larger than allowed. After an error there are no more events.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, BinlogError> {
        if self.failed {
            return Ok(None);
        }
        match self.read() {
            Ok(true) => Ok(Some(&self.event)),
            Ok(false) => Ok(None),
            Err(kind) => {
                self.failed = true;
                Err(payload_error(kind))
            }
        }
    }

    fn read(&mut self) -> Result<bool, BinlogErrorKind> {
        self.event.clear();
        if self.fill(HEADER_LEN as u64)? == 0 {
            return Ok(false);
        }
        let header = EventHeader::parse(&self.event).map_err(|e| e.kind)?;
        let body = u64::from(header.event_size)
            .checked_sub(HEADER_LEN as u64)
            .ok_or(BinlogErrorKind::Malformed("an event inside is shorter than its header"))?;
        if self.event.len() < HEADER_LEN || self.fill(body)? < body {
            return Err(BinlogErrorKind::Truncated);
        }
        Ok(true)
    }

    /// Appends up to `n` bytes to the event and says how many there were.
    fn fill(&mut self, n: u64) -> Result<u64, BinlogErrorKind> {
        // One byte more than is left tells a payload that goes on from one that ends there.
        let most = n.min(self.left.saturating_add(1));
        let got = match (&mut self.source).take(most).read_to_end(&mut self.event) {
            Ok(got) => got as u64,
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Err(BinlogErrorKind::Truncated),
            Err(e) => return Err(BinlogErrorKind::Unpack(e)),
        };
        self.left = self.left.checked_sub(got).ok_or(BinlogErrorKind::TooLarge { limit: self.limit })?;
        Ok(got)
    }
}
