//! What can be wrong with an event.

use super::cursor::Short;
use super::event_type::EventType;

/// An event of the binlog can't be read. Names the event and where in the log it ends.
#[derive(Debug, thiserror::Error)]
#[error("the binlog's {event} event that ends at position {end_pos}: {kind}")]
pub struct BinlogError {
    /// The event's type; `EventType(0)` where not even that could be read.
    pub event: EventType,
    /// The position behind the event, as its header says; 0 where it is not known.
    pub end_pos: u64,
    /// What is wrong.
    pub kind: BinlogErrorKind,
}

impl BinlogError {
    pub(crate) fn new(event: EventType, end_pos: u64, kind: BinlogErrorKind) -> Self {
        Self { event, end_pos, kind }
    }

    /// Whether reading the same event again may succeed: bytes that were damaged on their way.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, BinlogErrorKind::Checksum { .. } | BinlogErrorKind::Length { .. })
    }
}

/// What is wrong with an event.
#[derive(Debug, thiserror::Error)]
pub enum BinlogErrorKind {
    /// The bytes end before the event does.
    #[error("it is cut off")]
    Truncated,
    /// The header's length is not the number of bytes that came.
    #[error("its header says {header} bytes, but {actual} came")]
    Length {
        /// What the header says.
        header: u64,
        /// What came.
        actual: u64,
    },
    /// The checksum is not the one that the bytes have.
    #[error("its checksum is {stored:08x}, but the bytes that came have {computed:08x}")]
    Checksum {
        /// The checksum in the event.
        stored: u32,
        /// The checksum of the event's bytes.
        computed: u32,
    },
    /// A field has a value that it can't have.
    #[error("{0}")]
    Malformed(&'static str),
    /// An event that rowferry doesn't know, and that the server doesn't mark as one that may be ignored.
    #[error("rowferry does not know this type of event, and the server does not mark it as one that may be ignored")]
    Unknown,
    /// An event that rowferry knows and can't read.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A compressed part is larger than allowed.
    #[error("unpacked it has more than the {limit} bytes that are allowed")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A compressed part can't be unpacked.
    #[error("its compressed part can't be unpacked: {0}")]
    Unpack(std::io::Error),
    /// The file does not begin as a binlog does.
    #[error("{0}")]
    NotABinlog(&'static str),
}

impl From<Short> for BinlogErrorKind {
    fn from(_: Short) -> Self {
        Self::Truncated
    }
}
