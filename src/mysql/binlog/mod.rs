//! Bytes into columns: events of the binlog and rows of text results, into the same Arrow builders.
//!
//! ```text
//! packet ─ EventParser ─┬─ TableMap  ─ RawTableMap::columns ─ RowPlan::new(map, TableDef, TableSchema) ─┐ once a table
//!                       ├─ Rows      ─ RowsEvent::to_raw ─ RawRows ─── RowsDecoder(plan)::decode ───────┴─ finish ─ batch
//!                       ├─ TransactionPayload ─ events() ─ EventParser::parse_inner ─ as above
//!                       └─ Query, Xid, Gtid, Rotate, Heartbeat …
//! text row ─ TextDecoder(TextPlan)::decode ─ finish ─ batch
//! ```
//!
//! Nothing here does IO, and no bytes can make it panic. A plan compares what the TABLE_MAP event says with the tracked
//! table and refuses to decode what does not fit. Events and values say what is wrong with them in [`BinlogError`],
//! [`PlanError`] and [`DecodeError`].

mod body;
mod builders;
mod charset;
mod charset_tables;
mod column_decoder;
mod column_metadata;
mod cursor;
mod decimal;
mod decode_error;
mod error;
mod event;
mod event_type;
mod file;
mod geometry;
mod gtid;
mod json_diff;
mod json_number;
mod jsonb;
mod mariadb;
mod mariadb_types;
mod multi_byte;
mod multi_byte_tables;
mod payload;
mod query;
mod row_decode;
mod row_plan;
mod rows;
mod table_map;
mod temporal;
mod text_row;

pub use body::EventBody;
pub use builders::{BatchBuilder, DecodeStats};
pub use charset::{Charset, charset_of_collation};
pub use decode_error::{DecodeError, ValueError};
pub use error::{BinlogError, BinlogErrorKind};
pub use event::{
    Checksum, Event, EventHeader, EventParser, FLAG_ARTIFICIAL, FLAG_IGNORABLE, FLAG_IN_USE, FormatDescription,
    HEADER_LEN,
};
pub use event_type::EventType;
pub use file::BinlogFileReader;
pub use gtid::{GtidEvent, MariadbGtidEvent};
pub use jsonb::JsonStyle;
pub use multi_byte::MultiByte;
pub use payload::{PayloadEvents, TransactionPayload};
pub use query::QueryEvent;
pub use row_decode::{BatchLimits, Progress, RowsDecoder};
pub use row_plan::{BeforeImages, DecodeOptions, PlanError, RowPlan};
pub use rows::{RawRows, RowImages, RowsEvent, RowsKind};
pub use table_map::{RawTableMap, TableMap, WireColumn, WireType};
pub use text_row::{TextDecoder, TextPlan};

pub(crate) use geometry::write as write_geometry;
pub(crate) use json_diff::apply as apply_json_diff;
pub(crate) use jsonb::write as write_json;
