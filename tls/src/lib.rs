//! TLS on a MySQL connection: what a user asks for in the words of MySQL's JDBC driver, which certificates are trusted,
//! and the stream that is plain or encrypted. By rustls; blocking.
//!
//! MySQL's own packets are the callers': they ask the server for TLS and hand the socket over. So are defaults, refusals
//! and the names of options: callers turn these errors into their own.

mod authorities;
mod certificates;
mod client;
mod error;
mod mode;
mod stream;
mod trust_store;
mod verifier;
mod words;

pub use authorities::{AUTHORITIES, Authorities};
pub use client::{Client, Identity};
pub use error::{HandshakeError, SetUpError};
pub use mode::{TlsMode, UnknownMode};
pub use stream::Stream;
pub use trust_store::{TRUST_STORE, TRUST_STORE_TYPE, TrustStoreError, trust_store};
pub use words::{Problem, WORDS, Wish, WordError};
