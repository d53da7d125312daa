//! MySQL's text protocol, as much as a frontend answers to: login, also over TLS, and statements one at a time.
//!
//! No prepared statements and no variables are asked for: frontends refuse the first for DDL and know few of the
//! second.

mod client;
mod packet;
mod session;
mod tls;

#[cfg(test)]
mod tests;

pub(crate) use client::{Client, Login};
pub(crate) use session::SqlError;
