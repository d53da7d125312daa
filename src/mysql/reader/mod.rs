//! The binlog reader: one thread that frames, checks, groups and follows DDL; decoding comes later, elsewhere.
//!
//! Rows stay bytes here. They are gathered by table until a *segment* is sealed: at a transaction's end once there is
//! nothing more to read or enough has been gathered, before a DDL statement, and in the middle of a transaction only when
//! that is too large to be held.

mod errors;
mod from_map;
mod group;
mod handle;
mod history;
mod look_back;
mod online;
mod rebuild;
mod row_shape;
mod rows;
mod skip;
mod statement;
mod stream;
mod tables;

pub use group::{Group, Segment, StreamPoint};
pub use handle::ReaderHandle;
pub use history::{Bystanders, Captures, Ddl, HistoryOptions, SchemaHistory, TableChange};
pub use online::{Shadow, online_change_of};
pub use skip::Skip;
pub use stream::{BinlogReader, ReaderOptions, StreamItem};
pub use tables::{CapturedTables, Tracked};
