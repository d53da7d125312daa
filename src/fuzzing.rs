//! What the fuzz targets run: every parser of outside bytes, with the invariants that must hold for any input. Not part
//! of the library's interface.

mod every_type;
mod files;
mod state;
mod wire;

use crate::mysql::binlog::{
    BatchLimits, BinlogFileReader, Checksum, DecodeOptions, EventBody, EventParser, JsonStyle, RowImages, RowPlan,
    RowsDecoder, RowsKind, TextDecoder, TextPlan, apply_json_diff, write_geometry, write_json,
};
use crate::mysql::wire::encode_gtid_set;
use every_type::every_type;
use rowferry_model::GtidSet;
use std::sync::{Arc, LazyLock};

pub use files::{column_type, config, ddl, table_patterns, transform};
pub use state::saved_state;
pub use wire::packets;

/// Unpacked bytes of a compressed transaction that are looked at.
const MAX_UNPACKED: u64 = 1 << 20;

/// An event, or a file of events, with the events inside compressed ones.
pub fn event(data: &[u8]) {
    let mut parser = EventParser::new(Checksum::None).without_verification();
    if let Ok(mut events) = BinlogFileReader::new(data) {
        while let Ok(Some(event)) = events.next_event() {
            one_event(&mut parser, event);
        }
    } else {
        one_event(&mut parser, data);
    }
}

fn one_event(parser: &mut EventParser, bytes: &[u8]) {
    let Ok(event) = parser.parse(bytes) else { return };
    match &event.body {
        EventBody::TableMap(raw) => drop(raw.columns()),
        EventBody::Query(query) => drop(query.sql_text()),
        EventBody::TransactionPayload(payload) => {
            let Ok(mut events) = payload.events(MAX_UNPACKED) else { return };
            while let Ok(Some(inner)) = events.next_event() {
                if let Ok(event) = parser.parse_inner(inner)
                    && let EventBody::TableMap(raw) = event.body
                {
                    drop(raw.columns());
                }
            }
        }
        _ => {}
    }
}

/// The body of a TABLE_MAP event.
pub fn table_map(data: &[u8]) {
    self::event(&framed(19, data));
}

/// The body of a QUERY event, its status variables first of all.
pub fn query(data: &[u8]) {
    self::event(&framed(2, data));
}

/// An event of this type with this body.
fn framed(event_type: u8, body: &[u8]) -> Vec<u8> {
    let mut event = vec![0; 4];
    event.push(event_type);
    event.extend_from_slice(&[0; 4]);
    event.extend_from_slice(&(body.len() as u32 + 19).to_le_bytes());
    event.extend_from_slice(&[0; 6]);
    event.extend_from_slice(body);
    event
}

/// Row images of a table with a column of every type. The first byte chooses the kind of event.
pub fn rows(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    static PLAN: LazyLock<Option<Arc<RowPlan>>> = LazyLock::new(|| {
        let (map, table, schema) = every_type()?;
        RowPlan::new(&map, &table, &schema, DecodeOptions::default()).ok()
    });
    let Some(plan) = PLAN.as_ref() else { return };
    let kind = match kind % 4 {
        0 => RowsKind::Insert,
        1 => RowsKind::Update,
        2 => RowsKind::PartialUpdate,
        _ => RowsKind::Delete,
    };
    let columns = plan.schema().columns.len();
    let all = vec![0xff; columns.div_ceil(8)];
    let images = RowImages { kind, columns, present: &all, present_after: &all, bytes };
    let mut decoder = RowsDecoder::new(Arc::clone(plan));
    let _ = decoder.skip(&images, 0, 3);
    let limits = BatchLimits { rows: 2, bytes: 1 << 16 };
    let mut from = 0;
    while let Ok(progress) = decoder.decode(&images, from, &limits) {
        let _ = decoder.finish();
        if progress.next >= bytes.len() || progress.next == from {
            break;
        }
        from = progress.next;
    }
    let _ = decoder.finish();
}

/// A JSON document; what can be written must be valid JSON.
pub fn jsonb(data: &[u8]) {
    let mut text = Vec::new();
    if write_json(data, JsonStyle::Server, &mut text).is_ok() {
        let mut compact = Vec::new();
        let again = write_json(data, JsonStyle::Compact, &mut compact);
        assert!(again.is_ok() && compact.len() <= text.len(), "a document was written only once");
    }
    let _ = write_geometry(data, &mut text);
}

/// Differences to a JSON document. The first byte says how long the document is.
pub fn json_diff(data: &[u8]) {
    let Some((length, rest)) = data.split_first() else { return };
    let (document, differences) = rest.split_at(usize::from(*length).min(rest.len()));
    let _ = apply_json_diff(document, differences, JsonStyle::Server, &mut Vec::new());
}

/// A row of a text result.
pub fn text_row(data: &[u8]) {
    static PLAN: LazyLock<Option<Arc<TextPlan>>> = LazyLock::new(|| {
        let (_, table, schema) = every_type()?;
        TextPlan::new("t", &table, &schema, JsonStyle::Compact).ok().map(Arc::new)
    });
    let Some(plan) = PLAN.as_ref() else { return };
    let mut decoder = TextDecoder::new(Arc::clone(plan));
    let _ = decoder.decode(data);
    let _ = decoder.finish();
}

/// A GTID set as text: what was read is written and read again as the same.
pub fn gtid_set(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(set) = text.parse::<GtidSet>()
        && !set.is_empty()
    {
        if let GtidSet::Mysql(set) = &set {
            let _ = encode_gtid_set(set);
        }
        assert_eq!(set.to_string().parse::<GtidSet>().ok(), Some(set), "a GTID set reads back as another one");
    }
}

#[cfg(test)]
mod tests;
