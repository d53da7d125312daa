//! The client side of MySQL's protocol: connections, text results, the binlog stream.
//!
//! Blocking, on threads: a reader's thread does nothing but read, so a runtime would only add copies. What the ready
//! made clients hide is needed here: raw rows and raw events without a copy, a read timeout, and a handle that stops a
//! blocked reader.

mod auth;
mod bytes;
mod connection;
mod dump;
mod dump_request;
mod error;
mod framing;
mod handshake;
mod options;
mod packet;
mod result;
mod rsa_key;

pub use connection::{Connection, Stopper};
pub use dump::DumpStream;
pub use dump_request::{DumpRequest, DumpStart, encode_gtid_set};
pub use error::{ServerError, WireError};
pub use framing::{MAX_CHUNK, PacketReader};
pub use handshake::{AuthSwitch, Greeting};
pub use options::{ConnectOptions, Isolation, Password};
pub use packet::{ColumnMeta, OkInfo, TextValues, parse_err, parse_ok};
pub use result::{ResultStream, Row};
pub use rowferry_tls::{Authorities, Identity as ClientIdentity, TlsMode};
pub use rsa_key::check_public_key;
