//! The MySQL source.

/// Bytes into columns: binlog events and text rows.
pub mod binlog;
/// What the server says of itself and of its tables.
pub mod catalog;
/// What must be right before the first row is read.
pub mod preflight;
/// The binlog reader: events into groups of rows, transactions, offsets.
pub mod reader;
/// The snapshot and its joint with the binlog.
pub mod snapshot;
/// The client side of MySQL's protocol: connections, text results, the binlog stream.
pub mod wire;
