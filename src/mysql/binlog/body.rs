//! What an event says, by type.

use super::cursor::Cursor;
use super::error::BinlogErrorKind;
use super::event::{EventHeader, FLAG_IGNORABLE, FormatDescription};
use super::event_type::EventType;
use super::gtid::{self, GtidEvent, MariadbGtidEvent};
use super::payload::TransactionPayload;
use super::query::QueryEvent;
use super::rows::RowsEvent;
use super::table_map::RawTableMap;
use rowferry_model::{MariadbGtidSet, MysqlGtidSet};

/// What an event says.
#[derive(Debug)]
pub enum EventBody<'a> {
    /// The layout of what follows; [`EventParser::format`](super::EventParser::format) has it.
    FormatDescription,
    /// The log goes on in another file.
    Rotate {
        /// Where in that file.
        position: u64,
        /// The file's name.
        file: &'a [u8],
    },
    /// A statement: DDL, BEGIN, COMMIT, SAVEPOINT, or under statement format any other.
    Query(QueryEvent<'a>),
    /// The commit of a transaction.
    Xid(u64),
    /// The next transaction's identifier, also the tagged form.
    Gtid(GtidEvent),
    /// A transaction without an identifier begins. Its UUID and number are zero.
    AnonymousGtid(GtidEvent),
    /// All identifiers of the files before this one.
    PreviousGtids(MysqlGtidSet),
    /// The next transaction's identifier at a MariaDB server.
    MariadbGtid(MariadbGtidEvent),
    /// The last identifiers of each domain before this file, at a MariaDB server.
    MariadbGtidList(MariadbGtidSet),
    /// Which table the following rows events mean by a number, and its columns' types.
    TableMap(RawTableMap<'a>),
    /// Rows of one table.
    Rows(RowsEvent<'a>),
    /// A whole transaction, compressed.
    TransactionPayload(TransactionPayload<'a>),
    /// The statement that the rows come from, as text in the server's charset; for logs only.
    RowsQuery(&'a [u8]),
    /// The server is there, and has sent everything up to this place.
    Heartbeat {
        /// The file; empty in older servers' heartbeats before the first file.
        file: &'a [u8],
        /// The position, if the heartbeat carries all 64 bits; else the header's `log_pos` has the low 32.
        position: Option<u64>,
    },
    /// The server was stopped; the next file goes on.
    Stop,
    /// Something happened at the server that the log does not have.
    Incident {
        /// The incident's number; 1: events were lost.
        code: u16,
        /// The server's words.
        message: &'a [u8],
    },
    /// The end of a prepared XA transaction; its outcome comes later as an `XA COMMIT` or `XA ROLLBACK` statement.
    XaPrepare {
        /// `XA COMMIT … ONE PHASE`: this *is* the commit.
        one_phase: bool,
        /// The format identifier.
        format_id: u32,
        /// The global part of the transaction's name.
        gtrid: &'a [u8],
        /// The branch part.
        bqual: &'a [u8],
    },
    /// A part of a statement in statement format: INTVAR, RAND, USER_VAR or one of LOAD DATA's.
    StatementPart,
    /// An event without meaning for a reader of rows.
    Ignored,
}

impl<'a> EventBody<'a> {
    /// Reads what follows the header, without the checksum.
    pub(crate) fn parse(
        header: &EventHeader,
        format: &FormatDescription,
        bytes: &'a [u8],
    ) -> Result<Self, BinlogErrorKind> {
        let mut c = Cursor::new(bytes);
        let event_type = header.event_type;
        Ok(match event_type {
            EventType::FORMAT_DESCRIPTION => {
                return Err(BinlogErrorKind::Malformed("a format description inside a compressed transaction"));
            }
            EventType::ROTATE => Self::Rotate { position: c.u64()?, file: c.rest() },
            EventType::QUERY | EventType::EXECUTE_LOAD_QUERY => {
                Self::Query(QueryEvent::parse(event_type, bytes, format)?)
            }
            EventType::MARIADB_QUERY_COMPRESSED => Self::Query(QueryEvent::parse_compressed(bytes)?),
            EventType::XID => Self::Xid(c.u64()?),
            EventType::GTID => Self::Gtid(GtidEvent::parse(bytes)?),
            EventType::ANONYMOUS_GTID => Self::AnonymousGtid(GtidEvent::parse(bytes)?),
            EventType::GTID_TAGGED => Self::Gtid(GtidEvent::parse_tagged(bytes)?),
            EventType::PREVIOUS_GTIDS => Self::PreviousGtids(gtid::previous_gtids(bytes)?),
            EventType::MARIADB_GTID => Self::MariadbGtid(MariadbGtidEvent::parse(header.server_id, bytes)?),
            EventType::MARIADB_GTID_LIST => Self::MariadbGtidList(gtid::mariadb_gtid_list(bytes)?),
            EventType::TABLE_MAP => Self::TableMap(RawTableMap::parse(bytes, format)?),
            EventType::TRANSACTION_PAYLOAD => Self::TransactionPayload(TransactionPayload::parse(bytes)?),
            EventType::ROWS_QUERY => {
                c.u8()?;
                Self::RowsQuery(c.rest())
            }
            EventType::MARIADB_ANNOTATE_ROWS => Self::RowsQuery(bytes),
            EventType::HEARTBEAT => Self::Heartbeat { file: bytes, position: None },
            EventType::HEARTBEAT_V2 => heartbeat_v2(c)?,
            EventType::STOP => Self::Stop,
            EventType::INCIDENT => {
                let code = c.u16()?;
                let message = match c.u8() {
                    Ok(n) => c.take(usize::from(n))?,
                    Err(_) => &[],
                };
                Self::Incident { code, message }
            }
            EventType::XA_PREPARE => {
                let one_phase = c.u8()? != 0;
                let format_id = c.u32()?;
                let (gtrid, bqual) = (c.u32()? as usize, c.u32()? as usize);
                Self::XaPrepare { one_phase, format_id, gtrid: c.take(gtrid)?, bqual: c.take(bqual)? }
            }
            EventType::MARIADB_START_ENCRYPTION => {
                return Err(BinlogErrorKind::Unsupported(
                    "the file is encrypted; read it from the server, which decrypts it, instead of from disk",
                ));
            }
            EventType::PRE_GA_WRITE_ROWS | EventType::PRE_GA_UPDATE_ROWS | EventType::PRE_GA_DELETE_ROWS => {
                return Err(BinlogErrorKind::Unsupported(
                    "rows in the form of MySQL 5.1's test versions are not supported",
                ));
            }
            EventType::START_V3 => {
                return Err(BinlogErrorKind::Unsupported(
                    "the file's format is older than version 4; servers before MySQL 5.0 are not supported",
                ));
            }
            EventType::INTVAR
            | EventType::RAND
            | EventType::USER_VAR
            | EventType::LOAD
            | EventType::NEW_LOAD
            | EventType::CREATE_FILE
            | EventType::APPEND_BLOCK
            | EventType::EXEC_LOAD
            | EventType::DELETE_FILE
            | EventType::BEGIN_LOAD_QUERY => Self::StatementPart,
            EventType::SLAVE
            | EventType::IGNORABLE
            | EventType::TRANSACTION_CONTEXT
            | EventType::VIEW_CHANGE
            | EventType::MARIADB_BINLOG_CHECKPOINT => Self::Ignored,
            _ => {
                if let Some(rows) = RowsEvent::parse(event_type, bytes, format)? {
                    Self::Rows(rows)
                } else if header.flags & FLAG_IGNORABLE != 0 {
                    Self::Ignored
                } else {
                    return Err(BinlogErrorKind::Unknown);
                }
            }
        })
    }
}

/// Fields as type, length and value; unknown ones are skipped.
fn heartbeat_v2(mut c: Cursor<'_>) -> Result<EventBody<'_>, BinlogErrorKind> {
    const END: u64 = 0;
    const FILE: u64 = 1;
    const POSITION: u64 = 2;
    let (mut file, mut position): (&[u8], _) = (&[], None);
    while !c.is_empty() {
        let field = c.lenenc()?;
        if field == END {
            break;
        }
        let value = c.lenenc_bytes()?;
        match field {
            FILE => file = value,
            POSITION => position = Some(Cursor::new(value).lenenc()?),
            _ => {}
        }
    }
    Ok(EventBody::Heartbeat { file, position })
}
