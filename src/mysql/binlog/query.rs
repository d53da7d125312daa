//! QUERY events: a statement and the session that it ran in.

use super::charset::{Charset, charset_of_collation};
use super::cursor::{Cursor, Short};
use super::error::BinlogErrorKind;
use super::event::FormatDescription;
use super::event_type::EventType;
use super::mariadb;
use std::borrow::Cow;

/// A statement and the session that it ran in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryEvent<'a> {
    /// The connection that ran it.
    pub thread_id: u32,
    /// The error that the server met when it ran the statement; 0 for none.
    pub error_code: u16,
    /// The default database, in UTF-8; empty for none.
    pub database: &'a [u8],
    /// The statement in the charset of [`client_charset`](Self::client_charset).
    pub sql: Cow<'a, [u8]>,
    /// The session's `sql_mode`, where it was written.
    pub sql_mode: Option<u64>,
    /// Collation ids of `character_set_client`, `collation_connection` and `collation_server`.
    pub charsets: Option<(u16, u16, u16)>,
    /// The collation id of the default database, where it differs from the server's.
    pub database_collation: Option<u16>,
    /// The collation id that `utf8mb4` alone stands for, where the server is newer than MySQL 5.7.
    pub utf8mb4_collation: Option<u16>,
    /// The session's `time_zone`, where the statement depends on it.
    pub time_zone: Option<&'a [u8]>,
    /// Databases that the statement changed, as far as the server lists them.
    pub updated_databases: Vec<&'a [u8]>,
}

/// The parts in front of the statement.
struct Head<'a> {
    thread_id: u32,
    error_code: u16,
    status: &'a [u8],
    database: &'a [u8],
    sql: &'a [u8],
}

impl<'a> QueryEvent<'a> {
    pub(crate) fn parse(
        event_type: EventType,
        bytes: &'a [u8],
        format: &FormatDescription,
    ) -> Result<Self, BinlogErrorKind> {
        // The fixed part of EXECUTE_LOAD_QUERY has a file id, two offsets and a flag more.
        let extra = if event_type == EventType::EXECUTE_LOAD_QUERY { 13 } else { 0 };
        let head = Self::head(bytes, extra, format.post_header_len(event_type).is_none_or(|n| n >= 13))?;
        Ok(Self::build(&head, Cow::Borrowed(head.sql)))
    }

    /// MariaDB's compressed form.
    pub(crate) fn parse_compressed(bytes: &'a [u8]) -> Result<Self, BinlogErrorKind> {
        let head = Self::head(bytes, 0, true)?;
        let sql = mariadb::unpack(head.sql)?;
        Ok(Self::build(&head, Cow::Owned(sql)))
    }

    fn head(bytes: &'a [u8], extra: usize, has_status: bool) -> Result<Head<'a>, Short> {
        let mut c = Cursor::new(bytes);
        let thread_id = c.u32()?;
        let _exec_time = c.u32()?;
        let database_len = usize::from(c.u8()?);
        let error_code = c.u16()?;
        let status_len = if has_status { usize::from(c.u16()?) } else { 0 };
        c.take(extra)?;
        let status = c.take(status_len)?;
        let database = c.take(database_len)?;
        c.u8()?;
        Ok(Head { thread_id, error_code, status, database, sql: c.rest() })
    }

    fn build(head: &Head<'a>, sql: Cow<'a, [u8]>) -> Self {
        let mut event = Self {
            thread_id: head.thread_id,
            error_code: head.error_code,
            database: head.database,
            sql,
            sql_mode: None,
            charsets: None,
            database_collation: None,
            utf8mb4_collation: None,
            time_zone: None,
            updated_databases: Vec::new(),
        };
        // A status variable has no length of its own: behind one that is unknown nothing can be read. Servers write
        // the ones that matter first.
        let _ = event.read_status(Cursor::new(head.status));
        event
    }

    fn read_status(&mut self, mut c: Cursor<'a>) -> Result<(), Short> {
        while !c.is_empty() {
            match c.u8()? {
                // flags, auto_increment_*, lc_time_names, table_map_for_update, master_data_written
                0 | 3 | 10 => drop(c.take(4)?),
                7 => drop(c.take(2)?),
                9 | 17 | 129 => drop(c.take(8)?),
                1 => self.sql_mode = Some(c.u64()?),
                // catalog, in the form of 5.0.0 with a zero byte behind it and in the later one
                2 => {
                    let n = usize::from(c.u8()?);
                    c.take(n + 1)?;
                }
                6 => {
                    let n = usize::from(c.u8()?);
                    c.take(n)?;
                }
                4 => self.charsets = Some((c.u16()?, c.u16()?, c.u16()?)),
                5 => {
                    let n = usize::from(c.u8()?);
                    self.time_zone = Some(c.take(n)?);
                }
                8 => self.database_collation = Some(c.u16()?),
                // invoker: user and host
                11 => {
                    for _ in 0..2 {
                        let n = usize::from(c.u8()?);
                        c.take(n)?;
                    }
                }
                12 => {
                    const TOO_MANY: u8 = 254;
                    let n = c.u8()?;
                    if n != TOO_MANY {
                        for _ in 0..n {
                            self.updated_databases.push(c.until_nul()?);
                        }
                    }
                }
                // microseconds, also MariaDB's
                13 | 128 => drop(c.take(3)?),
                16 | 19 | 20 | 130 => drop(c.take(1)?),
                18 => self.utf8mb4_collation = Some(c.u16()?),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// The name of the statement's charset, `character_set_client`; `None` if the event doesn't say, or rowferry doesn't
    /// know its collation.
    pub fn client_charset_name(&self) -> Option<&'static str> {
        self.charsets.and_then(|(id, ..)| charset_of_collation(id.into()))
    }

    /// The charset of the statement: `character_set_client`. UTF-8 where the event doesn't say.
    ///
    /// # Errors
    /// The id of a collation that rowferry doesn't know.
    pub fn client_charset(&self) -> Result<Charset, u16> {
        match self.charsets {
            None => Ok(Charset::Utf8),
            Some((id, ..)) => Charset::of_collation(id).ok_or(id),
        }
    }

    /// The statement as text.
    ///
    /// # Errors
    /// The id of a collation that rowferry doesn't know.
    pub fn sql_text(&self) -> Result<String, u16> {
        let mut text = Vec::with_capacity(self.sql.len());
        self.client_charset()?.decode(&self.sql, &mut text);
        Ok(String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }
}
