//! Events about transactions' identifiers.

use super::cursor::Cursor;
use super::error::BinlogErrorKind;
use rowferry_model::{MariadbGtidSet, MysqlGtidSet, Uuid};

/// The beginning of a transaction at a MySQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtidEvent {
    /// The server that the transaction comes from.
    pub uuid: Uuid,
    /// The tag, in lower case; empty for none.
    pub tag: String,
    /// The transaction's number.
    pub gno: u64,
    /// The log's order of the last transaction that this one depends on; 0 where the server doesn't say.
    pub last_committed: u64,
    /// The log's order of this transaction, from 1 in each file; 0 where the server doesn't say.
    pub sequence_number: u64,
    /// Microseconds since the epoch at which this server committed it, where the server says it (from 8.0).
    pub commit_timestamp: Option<u64>,
    /// Bytes of the transaction in the log, this event included, where the server says it (from 8.0).
    pub transaction_length: Option<u64>,
}

impl GtidEvent {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(bytes);
        c.u8()?;
        let uuid = Uuid(c.array()?);
        let gno = c.u64()?;
        let mut event = Self {
            uuid,
            tag: String::new(),
            gno,
            last_committed: 0,
            sequence_number: 0,
            commit_timestamp: None,
            transaction_length: None,
        };
        // Each server version appended something; what is not there was written by an older one.
        const LOGICAL_CLOCK: u8 = 2;
        if c.u8() != Ok(LOGICAL_CLOCK) {
            return Ok(event);
        }
        event.last_committed = c.u64()?;
        event.sequence_number = c.u64()?;
        let Ok(timestamp) = c.uint_le(7) else { return Ok(event) };
        const HAS_ORIGINAL: u64 = 1 << 55;
        event.commit_timestamp = Some(timestamp & !HAS_ORIGINAL);
        if timestamp & HAS_ORIGINAL != 0 {
            c.uint_le(7)?;
        }
        event.transaction_length = c.lenenc().ok();
        Ok(event)
    }

    /// The tagged form: numbered fields in MySQL's serialization format, in rising order, those with default values
    /// left out.
    pub(crate) fn parse_tagged(bytes: &[u8]) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(bytes);
        let _version = c.varlen()?;
        let _size = c.varlen()?;
        let last_needed = c.varlen()?;
        let mut event = Self {
            uuid: Uuid([0; 16]),
            tag: String::new(),
            gno: 0,
            last_committed: 0,
            sequence_number: 0,
            commit_timestamp: None,
            transaction_length: None,
        };
        while !c.is_empty() {
            let field = c.varlen()?;
            match field {
                0 => {
                    c.varlen()?;
                }
                1 => {
                    for byte in &mut event.uuid.0 {
                        *byte = u8::try_from(c.varlen()?)
                            .map_err(|_| BinlogErrorKind::Malformed("a byte of the UUID is larger than 255"))?;
                    }
                }
                2 => event.gno = signed(c.varlen()?),
                3 => {
                    let n = usize::try_from(c.varlen()?).map_err(|_| BinlogErrorKind::Truncated)?;
                    event.tag = tag(c.take(n)?)?;
                }
                4 => event.last_committed = signed(c.varlen()?),
                5 => event.sequence_number = signed(c.varlen()?),
                6 => event.commit_timestamp = Some(c.varlen()?),
                8 => event.transaction_length = Some(c.varlen()?),
                7 | 9 | 10 | 11 => {
                    c.varlen()?;
                }
                // Fields come in rising order and later servers append theirs: nothing that is needed follows.
                _ if field > last_needed => break,
                _ => return Err(BinlogErrorKind::Unsupported("it has a field that rowferry must know and does not")),
            }
        }
        Ok(event)
    }
}

/// Signed numbers have their sign in the lowest bit. The counters here are never negative.
fn signed(encoded: u64) -> u64 {
    encoded >> 1
}

fn tag(bytes: &[u8]) -> Result<String, BinlogErrorKind> {
    match std::str::from_utf8(bytes) {
        Ok(tag) if tag.len() <= 32 => Ok(tag.to_ascii_lowercase()),
        _ => Err(BinlogErrorKind::Malformed("a GTID's tag is not a name of up to 32 characters")),
    }
}

/// Reads the set of a PREVIOUS_GTIDS event.
pub(crate) fn previous_gtids(bytes: &[u8]) -> Result<MysqlGtidSet, BinlogErrorKind> {
    let mut c = Cursor::new(bytes);
    let head = c.u64()?;
    // The highest byte says whether entries have tags; then the count lies one byte higher.
    let tagged = head >> 56 != 0;
    let count = if tagged { head << 8 >> 16 } else { head };
    let mut set = MysqlGtidSet::default();
    for _ in 0..count {
        let uuid = Uuid(c.array()?);
        let tag = if tagged {
            let n = usize::try_from(c.varlen()?).map_err(|_| BinlogErrorKind::Truncated)?;
            tag(c.take(n)?)?
        } else {
            String::new()
        };
        for _ in 0..c.u64()? {
            let (start, end) = (c.u64()?, c.u64()?);
            if start == 0 || end <= start {
                return Err(BinlogErrorKind::Malformed("a range of GTIDs is empty or ends before it starts"));
            }
            set.add_range(uuid, &tag, start, end - 1);
        }
    }
    Ok(set)
}

/// The beginning of a transaction at a MariaDB server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MariadbGtidEvent {
    /// The replication domain.
    pub domain: u32,
    /// The server that the transaction comes from.
    pub server: u32,
    /// The transaction's number in its domain.
    pub sequence: u64,
    /// No COMMIT follows: the single statement that comes next, such as a DDL, is the whole transaction.
    pub standalone: bool,
    /// The transaction ends with an `XA PREPARE`: it takes effect only with a later `XA COMMIT`.
    pub xa_prepared: bool,
    /// The event is the outcome of an XA transaction that was prepared earlier.
    pub xa_completed: bool,
}

impl MariadbGtidEvent {
    const STANDALONE: u8 = 1;
    const PREPARED_XA: u8 = 64;
    const COMPLETED_XA: u8 = 128;

    pub(crate) fn parse(server: u32, bytes: &[u8]) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(bytes);
        let (sequence, domain, flags) = (c.u64()?, c.u32()?, c.u8()?);
        Ok(Self {
            domain,
            server,
            sequence,
            standalone: flags & Self::STANDALONE != 0,
            xa_prepared: flags & Self::PREPARED_XA != 0,
            xa_completed: flags & Self::COMPLETED_XA != 0,
        })
    }
}

/// Reads the set of a MariaDB GTID_LIST event. A domain may have several servers; the last one listed is the newest.
pub(crate) fn mariadb_gtid_list(bytes: &[u8]) -> Result<MariadbGtidSet, BinlogErrorKind> {
    let mut c = Cursor::new(bytes);
    let count = c.u32()? & 0x0fff_ffff;
    let mut set = MariadbGtidSet::default();
    for _ in 0..count {
        let (domain, server, sequence) = (c.u32()?, c.u32()?, c.u64()?);
        set.add(domain, server, sequence);
    }
    Ok(set)
}
