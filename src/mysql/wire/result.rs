//! Results in the text protocol.

use super::connection::Connection;
use super::error::WireError;
use super::packet::{ColumnMeta, STATUS_MORE_RESULTS, eof_status, parse_err, parse_ok};
use std::sync::Arc;

/// A row of a small result, kept whole. Values are found by name: which columns a `SHOW` statement has, and in which
/// order, differs by version.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) columns: Arc<[ColumnMeta]>,
    pub(super) values: Vec<Option<Box<[u8]>>>,
}

impl Row {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Whether there is such a column; names are compared without case.
    pub fn has(&self, name: &str) -> bool {
        self.index_of(name).is_some()
    }

    /// A value as bytes; `None` for NULL or where there is no such column.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.values.get(self.index_of(name)?)?.as_deref()
    }

    /// A value as text; `None` for NULL, where there is no such column, or where the bytes are not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// A value by its place, as text.
    pub fn at(&self, index: usize) -> Option<&str> {
        std::str::from_utf8(self.values.get(index)?.as_deref()?).ok()
    }

    /// A value that must be there.
    ///
    /// # Errors
    /// It is NULL, not UTF-8, or there is no such column.
    pub fn require(&self, name: &str) -> Result<&str, WireError> {
        self.get(name).ok_or_else(|| WireError::protocol(format!("the server's answer has no value for `{name}`")))
    }

    /// A number that must be there.
    ///
    /// # Errors
    /// As [`Row::require`], or it is not a number of that type.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, WireError> {
        let text = self.require(name)?;
        text.parse().map_err(|_| WireError::protocol(format!("`{text}` is not a number that fits `{name}`")))
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }
}

/// A result that is read row by row. Dropped before its end, it makes its connection unusable: what is left may be
/// more than one would want to read.
#[derive(Debug)]
pub struct ResultStream<'a> {
    pub(super) connection: &'a mut Connection,
    pub(super) columns: Arc<[ColumnMeta]>,
    pub(super) deprecate_eof: bool,
    pub(super) done: bool,
}

impl ResultStream<'_> {
    /// The result's columns; empty where the statement gave no result set.
    pub fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }

    /// The next row's payload in the text protocol ([`super::TextValues`] splits it), or `None` at the end. It is
    /// valid until the next call.
    ///
    /// # Errors
    /// The connection breaks, or the server ends the result with an error.
    pub fn next_row(&mut self) -> Result<Option<&[u8]>, WireError> {
        if self.done {
            return Ok(None);
        }
        let packet = self.connection.read()?;
        match packet.first() {
            Some(0xff) => {
                // The error ends the result: the connection is at a clean boundary again.
                self.done = true;
                Err(WireError::Server(parse_err(packet)))
            }
            Some(0xfe) if ends_result(packet, self.deprecate_eof) => {
                self.done = true;
                let status = if self.deprecate_eof { parse_ok(packet)?.status } else { eof_status(packet) };
                if status & STATUS_MORE_RESULTS != 0 {
                    self.connection.break_off();
                    return Err(WireError::protocol("more than one result"));
                }
                Ok(None)
            }
            // The packet is the one just read: asking for it again only ends the first borrow.
            _ => Ok(Some(self.connection.last())),
        }
    }
}

/// 0xFE also starts a row whose first value has 16 MiB or more.
fn ends_result(packet: &[u8], deprecate_eof: bool) -> bool {
    if deprecate_eof { packet.len() < super::MAX_CHUNK } else { packet.len() < 9 }
}

impl Drop for ResultStream<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.connection.break_off();
        }
    }
}
