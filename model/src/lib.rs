//! What flows through rowferry, from the source to the sinks: which table ([`TableId`]), of which shape
//! ([`TableSchema`]), which rows ([`ChangeBatch`]), which changes of shape ([`SchemaChange`]), in one ordered
//! stream of [`Event`]s, and how far the reading has come ([`Offset`]).
//!
//! This crate does no IO and knows neither MySQL's wire format nor any sink.

mod batch;
mod change;
mod data_type;
mod event;
mod gtid;
mod offset;
mod schema;
mod table_id;

pub use batch::{BatchError, ChangeBatch, Changes, RowOp};
pub use change::{AddedColumn, AlteredColumn, ColumnPosition, SchemaChange, SchemaChangeKind};
pub use data_type::DataType;
pub use event::{CheckpointId, Event};
pub use gtid::{GtidError, GtidSet, MariadbGtidSet, MysqlGtidSet, Uuid};
pub use offset::{BinlogPosition, Offset};
pub use schema::{Column, SchemaError, TableSchema};
pub use table_id::TableId;

pub use arrow_array;
pub use arrow_buffer;
pub use arrow_schema;
