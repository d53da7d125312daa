//! From packets to events: header, checksum, format description.

use super::body::EventBody;
use super::cursor::Cursor;
use super::error::{BinlogError, BinlogErrorKind};
use super::event_type::EventType;

/// Bytes of an event's header.
pub const HEADER_LEN: usize = 19;
/// Bytes of a checksum.
const CHECKSUM_LEN: usize = 4;
/// The header's flag of an event that a reader may skip without knowing it.
pub const FLAG_IGNORABLE: u16 = 0x80;
/// The header's flag of an event that the server made up: it is in no file.
pub const FLAG_ARTIFICIAL: u16 = 0x20;
/// The format description's flag of a file that has not been closed.
pub const FLAG_IN_USE: u16 = 0x1;

/// How events are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Not at all.
    None,
    /// By a CRC-32 behind each event.
    Crc32,
}

/// What every event begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// Seconds since the epoch at which the statement began; 0 for events that the server makes up.
    pub timestamp: u32,
    /// The type.
    pub event_type: EventType,
    /// The server that wrote the event first.
    pub server_id: u32,
    /// The event's length in bytes with header and checksum.
    pub event_size: u32,
    /// The low 32 bits of the position behind the event in its file; 0 for made-up events and within compressed
    /// transactions. It wraps in files beyond 4 GiB: track the position by adding `event_size`.
    pub log_pos: u32,
    /// Flags.
    pub flags: u16,
}

impl EventHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// There are fewer than [`HEADER_LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, BinlogError> {
        let read = || {
            let mut c = Cursor::new(bytes);
            Ok::<_, super::cursor::Short>(Self {
                timestamp: c.u32()?,
                event_type: EventType(c.u8()?),
                server_id: c.u32()?,
                event_size: c.u32()?,
                log_pos: c.u32()?,
                flags: c.u16()?,
            })
        };
        read().map_err(|short| BinlogError::new(EventType(0), 0, short.into()))
    }

    /// Whether the server made the event up, such as the ROTATE at the start of a stream.
    pub fn is_artificial(&self) -> bool {
        self.flags & FLAG_ARTIFICIAL != 0
    }

    pub(crate) fn error(&self, kind: impl Into<BinlogErrorKind>) -> BinlogError {
        BinlogError::new(self.event_type, u64::from(self.log_pos), kind.into())
    }
}

/// How the events of a file are laid out: its FORMAT_DESCRIPTION event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatDescription {
    /// The version of the server that wrote the file, for example `9.7.4` or `10.11.18-MariaDB-log`.
    pub server_version: String,
    /// How its events are protected.
    pub checksum: Checksum,
    /// When the server wrote the file's beginning, in seconds since the epoch; 0 unless the server had just started.
    pub created: u32,
    /// Length of the fixed part of each event type's body; index 0 is type 1.
    post_header_lengths: Vec<u8>,
}

impl FormatDescription {
    /// What holds before a stream's first format description: events are laid out as version 4 does, protected as the
    /// server was asked to.
    pub fn initial(checksum: Checksum) -> Self {
        Self { server_version: String::new(), checksum, created: 0, post_header_lengths: Vec::new() }
    }

    /// Whether a MariaDB server wrote the file.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// Length of the fixed part of that type's body, if the file says it.
    pub(crate) fn post_header_len(&self, event_type: EventType) -> Option<u8> {
        let i = usize::from(event_type.0).checked_sub(1)?;
        self.post_header_lengths.get(i).copied().filter(|n| *n != 0)
    }

    /// Whether the writer knows checksums: then the format description ends with the algorithm and a checksum.
    fn knows_checksums(version: &str) -> bool {
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<u32>().unwrap_or(0));
        let version_number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        version_number >= if version.contains("MariaDB") { (5, 3, 0) } else { (5, 6, 1) }
    }

    fn parse(header: &EventHeader, event: &[u8]) -> Result<Self, BinlogError> {
        let short = |_| header.error(BinlogErrorKind::Truncated);
        let mut c = Cursor::new(event.get(HEADER_LEN..).unwrap_or_default());
        if c.u16().map_err(short)? != 4 {
            return Err(header.error(BinlogErrorKind::Unsupported(
                "the file's format is not version 4; servers before MySQL 5.0 are not supported",
            )));
        }
        let version = c.take(50).map_err(short)?;
        let version = version.split(|b| *b == 0).next().unwrap_or_default();
        let server_version = String::from_utf8_lossy(version).into_owned();
        let created = c.u32().map_err(short)?;
        if usize::from(c.u8().map_err(short)?) != HEADER_LEN {
            return Err(header.error(BinlogErrorKind::Unsupported("the length of event headers is not 19")));
        }
        let (post_header_lengths, checksum) = if Self::knows_checksums(&server_version) {
            let (lengths, tail) = c
                .rest()
                .split_last_chunk::<{ 1 + CHECKSUM_LEN }>()
                .ok_or_else(|| header.error(BinlogErrorKind::Truncated))?;
            let checksum = match tail[0] {
                0 | 255 => Checksum::None,
                1 => Checksum::Crc32,
                _ => return Err(header.error(BinlogErrorKind::Unsupported("an unknown checksum algorithm"))),
            };
            (lengths, checksum)
        } else {
            (c.rest(), Checksum::None)
        };
        if checksum == Checksum::Crc32 {
            verify(header, event)?;
        }
        Ok(Self { server_version, checksum, created, post_header_lengths: post_header_lengths.to_vec() })
    }
}

/// Checks an event's CRC-32.
fn verify(header: &EventHeader, event: &[u8]) -> Result<(), BinlogError> {
    let (bytes, stored) = event
        .split_last_chunk::<CHECKSUM_LEN>()
        .filter(|(bytes, _)| bytes.len() >= HEADER_LEN)
        .ok_or_else(|| header.error(BinlogErrorKind::Truncated))?;
    let mut crc = crc32fast::Hasher::new();
    if header.event_type == EventType::FORMAT_DESCRIPTION && header.flags & FLAG_IN_USE != 0 {
        // The flag is set after the checksum was computed, and cleared when the file is closed.
        let (head, tail) = bytes.split_at(17);
        crc.update(head);
        crc.update(&(header.flags & !FLAG_IN_USE).to_le_bytes());
        crc.update(tail.get(2..).unwrap_or_default());
    } else {
        crc.update(bytes);
    }
    let (stored, computed) = (u32::from_le_bytes(*stored), crc.finalize());
    if stored == computed { Ok(()) } else { Err(header.error(BinlogErrorKind::Checksum { stored, computed })) }
}

/// An event. Borrows the packet that it was read from.
#[derive(Debug)]
pub struct Event<'a> {
    /// The header.
    pub header: EventHeader,
    /// The rest, by type.
    pub body: EventBody<'a>,
}

/// Reads the events of one stream in order; remembers the format that the last format description announced.
#[derive(Clone, Debug)]
pub struct EventParser {
    format: FormatDescription,
    verify: bool,
}

impl EventParser {
    /// A parser of a stream whose first events, up to the first format description, are protected as told. That is
    /// `Crc32` for a file, and for a connection whatever `@master_binlog_checksum` was set to.
    pub fn new(checksum: Checksum) -> Self {
        Self { format: FormatDescription::initial(checksum), verify: true }
    }

    /// The same parser, which takes checksums off but does not check them.
    #[must_use]
    pub fn without_verification(mut self) -> Self {
        self.verify = false;
        self
    }

    /// The format that holds at the moment.
    pub fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Reads one whole event: header, body and, where the format says so, checksum.
    ///
    /// # Errors
    /// The event is cut off, damaged, malformed or of a type that must not be ignored.
    pub fn parse<'a>(&mut self, event: &'a [u8]) -> Result<Event<'a>, BinlogError> {
        let header = Self::header(event)?;
        if header.event_type == EventType::FORMAT_DESCRIPTION {
            self.format = FormatDescription::parse(&header, event)?;
            return Ok(Event { header, body: EventBody::FormatDescription });
        }
        let body = match self.format.checksum {
            Checksum::None => event,
            Checksum::Crc32 => {
                if self.verify {
                    verify(&header, event)?;
                }
                event
                    .len()
                    .checked_sub(CHECKSUM_LEN)
                    .and_then(|n| event.get(..n))
                    .ok_or_else(|| header.error(BinlogErrorKind::Truncated))?
            }
        };
        self.body(header, body)
    }

    /// Reads an event from inside a compressed transaction: it has no checksum of its own.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_inner<'a>(&self, event: &'a [u8]) -> Result<Event<'a>, BinlogError> {
        self.body(Self::header(event)?, event)
    }

    fn header(event: &[u8]) -> Result<EventHeader, BinlogError> {
        let header = EventHeader::parse(event)?;
        if u64::from(header.event_size) == event.len() as u64 {
            Ok(header)
        } else {
            let (header_size, actual) = (u64::from(header.event_size), event.len() as u64);
            Err(header.error(BinlogErrorKind::Length { header: header_size, actual }))
        }
    }

    fn body<'a>(&self, header: EventHeader, event: &'a [u8]) -> Result<Event<'a>, BinlogError> {
        let bytes = event.get(HEADER_LEN..).ok_or_else(|| header.error(BinlogErrorKind::Truncated))?;
        let body = EventBody::parse(&header, &self.format, bytes).map_err(|kind| header.error(kind))?;
        Ok(Event { header, body })
    }
}
