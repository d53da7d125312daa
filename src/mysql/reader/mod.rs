//! The binlog reader: one thread that frames, checks and groups; decoding comes later, elsewhere.
//!
//! Rows stay bytes here. They are gathered by table until a *segment* is sealed: at a transaction's end once there is
//! nothing more to read or enough has been gathered, before a DDL statement, and in the middle of a transaction only when
//! that is too large to be held.

mod group;
mod stream;
mod tables;

pub use group::{Group, Segment, StreamPoint};
pub use stream::{BinlogReader, ReaderHandle, ReaderOptions, StreamItem};
pub use tables::{CapturedTables, Tracked};
