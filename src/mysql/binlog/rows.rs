//! Rows events: which table, what happened, which columns; the row images themselves stay bytes until they are decoded.

use super::cursor::{Cursor, bit};
use super::error::BinlogErrorKind;
use super::event::FormatDescription;
use super::event_type::EventType;
use super::mariadb;
use bytes::Bytes;
use std::borrow::Cow;

/// What happened to the rows of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// They are new: one image a row.
    Insert,
    /// They changed: an image from before and one from after for each row.
    Update,
    /// They changed, and JSON documents in the image from after may be differences to the one from before.
    PartialUpdate,
    /// They were deleted: one image a row.
    Delete,
}

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    /// The number that the last TABLE_MAP event gave the table.
    pub table_id: u64,
    /// What happened.
    pub kind: RowsKind,
    /// The statement's last event: what the TABLE_MAP events said holds no longer.
    pub end_of_statement: bool,
    /// How many columns the table has.
    pub columns: usize,
    /// Which columns the first image of a row has, as a little-endian bitmap.
    pub present: &'a [u8],
    /// Which columns the image from after an update has; empty for other kinds.
    pub present_after: &'a [u8],
    /// The images. Owned only if the event was compressed by itself, as MariaDB does.
    pub images: Cow<'a, [u8]>,
}

/// More columns than a table can have.
const MAX_COLUMNS: usize = 4096;

impl<'a> RowsEvent<'a> {
    /// Reads a rows event; `None` if the type is not one of theirs.
    pub(crate) fn parse(
        event_type: EventType,
        bytes: &'a [u8],
        format: &FormatDescription,
    ) -> Result<Option<Self>, BinlogErrorKind> {
        use RowsKind::{Delete, Insert, PartialUpdate, Update};
        let (kind, version, compressed) = match event_type {
            EventType::WRITE_ROWS_V1 => (Insert, 1, false),
            EventType::UPDATE_ROWS_V1 => (Update, 1, false),
            EventType::DELETE_ROWS_V1 => (Delete, 1, false),
            EventType::WRITE_ROWS => (Insert, 2, false),
            EventType::UPDATE_ROWS => (Update, 2, false),
            EventType::DELETE_ROWS => (Delete, 2, false),
            EventType::PARTIAL_UPDATE_ROWS => (PartialUpdate, 2, false),
            EventType::MARIADB_WRITE_ROWS_COMPRESSED_V1 => (Insert, 1, true),
            EventType::MARIADB_UPDATE_ROWS_COMPRESSED_V1 => (Update, 1, true),
            EventType::MARIADB_DELETE_ROWS_COMPRESSED_V1 => (Delete, 1, true),
            EventType::MARIADB_WRITE_ROWS_COMPRESSED => (Insert, 2, true),
            EventType::MARIADB_UPDATE_ROWS_COMPRESSED => (Update, 2, true),
            EventType::MARIADB_DELETE_ROWS_COMPRESSED => (Delete, 2, true),
            _ => return Ok(None),
        };
        let mut c = Cursor::new(bytes);
        // Very old servers wrote the table's number in four bytes: then the fixed part has six.
        let table_id = c.uint_le(if format.post_header_len(event_type) == Some(6) { 4 } else { 6 })?;
        let flags = c.u16()?;
        if version == 2 {
            let extra = usize::from(c.u16()?)
                .checked_sub(2)
                .ok_or(BinlogErrorKind::Malformed("the extra data is shorter than its own length"))?;
            c.take(extra)?;
        }
        let columns = c.lenenc_len()?;
        if columns > MAX_COLUMNS {
            return Err(BinlogErrorKind::Malformed("it has more than 4096 columns"));
        }
        let bitmap = columns.div_ceil(8);
        let present = c.take(bitmap)?;
        let present_after: &[u8] = if matches!(kind, Update | PartialUpdate) { c.take(bitmap)? } else { &[] };
        let images = if compressed { Cow::Owned(mariadb::unpack(c.rest())?) } else { Cow::Borrowed(c.rest()) };
        const END_OF_STATEMENT: u16 = 1;
        Ok(Some(Self {
            table_id,
            kind,
            end_of_statement: flags & END_OF_STATEMENT != 0,
            columns,
            present,
            present_after,
            images,
        }))
    }

    /// Whether each image has every column (`binlog_row_image=FULL`).
    pub fn is_full(&self) -> bool {
        let full = |bitmap: &[u8]| (0..self.columns).all(|i| bit(bitmap, i));
        full(self.present) && (self.present_after.is_empty() || full(self.present_after))
    }

    /// The event without its borrow: what a group of rows keeps until it is decoded. The images stay in `packet` if
    /// that is where they are; else they are copied.
    pub fn to_raw(&self, packet: Option<&Bytes>) -> RawRows {
        let images = match (&self.images, packet) {
            (Cow::Borrowed(images), Some(packet)) => {
                let start = (images.as_ptr() as usize).wrapping_sub(packet.as_ptr() as usize);
                match start.checked_add(images.len()) {
                    Some(end) if end <= packet.len() => packet.slice(start..end),
                    _ => Bytes::copy_from_slice(images),
                }
            }
            (Cow::Borrowed(images), None) => Bytes::copy_from_slice(images),
            (Cow::Owned(images), _) => Bytes::from(images.clone()),
        };
        RawRows {
            kind: self.kind,
            columns: self.columns,
            present: self.present.into(),
            present_after: self.present_after.into(),
            images,
        }
    }

    /// The row images, for a decoder.
    pub fn images(&self) -> RowImages<'_> {
        RowImages {
            kind: self.kind,
            columns: self.columns,
            present: self.present,
            present_after: self.present_after,
            bytes: &self.images,
        }
    }
}

/// The row images of one event, undecoded and owned.
#[derive(Clone, Debug)]
pub struct RawRows {
    /// What happened.
    pub kind: RowsKind,
    /// How many columns the table has.
    pub columns: usize,
    /// Which columns the first image of a row has.
    pub present: Box<[u8]>,
    /// Which columns the image from after an update has; empty for other kinds.
    pub present_after: Box<[u8]>,
    /// The images.
    pub images: Bytes,
}

impl RawRows {
    /// The row images, for a decoder.
    pub fn images(&self) -> RowImages<'_> {
        RowImages {
            kind: self.kind,
            columns: self.columns,
            present: &self.present,
            present_after: &self.present_after,
            bytes: &self.images,
        }
    }
}

/// The row images of one event, as a decoder takes them.
#[derive(Clone, Copy, Debug)]
pub struct RowImages<'a> {
    /// What happened.
    pub kind: RowsKind,
    /// How many columns the table has.
    pub columns: usize,
    /// Which columns the first image of a row has.
    pub present: &'a [u8],
    /// Which columns the image from after an update has; empty for other kinds.
    pub present_after: &'a [u8],
    /// The images, one after another.
    pub bytes: &'a [u8],
}
