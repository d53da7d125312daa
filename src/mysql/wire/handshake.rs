//! The packets of the connection phase.

use super::bytes::{Reader, put_lenenc, put_lenenc_bytes};
use super::error::WireError;

pub(super) mod caps {
    //! Capability bits.
    pub(in crate::mysql::wire) const LONG_PASSWORD: u32 = 1;
    pub(in crate::mysql::wire) const LONG_FLAG: u32 = 1 << 2;
    pub(in crate::mysql::wire) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(in crate::mysql::wire) const PROTOCOL_41: u32 = 1 << 9;
    pub(in crate::mysql::wire) const SSL: u32 = 1 << 11;
    pub(in crate::mysql::wire) const TRANSACTIONS: u32 = 1 << 13;
    pub(in crate::mysql::wire) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(in crate::mysql::wire) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(in crate::mysql::wire) const CONNECT_ATTRS: u32 = 1 << 20;
    pub(in crate::mysql::wire) const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    pub(in crate::mysql::wire) const DEPRECATE_EOF: u32 = 1 << 24;
}

/// `utf8mb4_general_ci`: known to every server from 5.5.3 on.
const UTF8MB4: u8 = 45;
/// What we accept: the server's own maximum.
const MAX_PACKET: u32 = 1 << 30;

/// What the server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The version text.
    pub version: String,
    /// The connection's number, as in `SHOW PROCESSLIST`.
    pub connection_id: u32,
    /// The capability bits.
    pub capabilities: u32,
    /// The random bytes that passwords are scrambled with, without the NUL at the end.
    pub nonce: Vec<u8>,
    /// The way of authentication that the server would use.
    pub auth_plugin: String,
}

impl Greeting {
    /// Reads the greeting (protocol version 10).
    ///
    /// # Errors
    /// It is cut short or of another protocol version.
    pub fn parse(packet: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader(packet);
        match reader.u8() {
            Some(10) => {}
            other => {
                return Err(WireError::protocol(format!(
                    "the peer does not greet as MySQL does (protocol version {other:?} instead of 10)"
                )));
            }
        }
        let mut read = || {
            let version = String::from_utf8_lossy(reader.until_nul()).into_owned();
            let connection_id = reader.u32()?;
            let mut nonce = reader.take(8)?.to_vec();
            reader.u8()?;
            let mut capabilities = u32::from(reader.u16()?);
            let mut auth_plugin = String::new();
            if reader.u8().is_some() {
                reader.u16()?;
                capabilities |= u32::from(reader.u16()?) << 16;
                let nonce_len = usize::from(reader.u8()?);
                reader.take(10)?;
                if capabilities & caps::SECURE_CONNECTION != 0 {
                    let second = reader.take(nonce_len.saturating_sub(8).max(13).min(reader.0.len()))?;
                    nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
                }
                if capabilities & caps::PLUGIN_AUTH != 0 {
                    auth_plugin = String::from_utf8_lossy(reader.until_nul()).into_owned();
                }
            }
            Some(Self { version, connection_id, capabilities, nonce, auth_plugin })
        };
        read().ok_or_else(|| WireError::protocol("the server's greeting is cut short"))
    }
}

/// The server asks for another way of authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSwitch {
    /// The way's name.
    pub plugin: String,
    /// Its random bytes.
    pub nonce: Vec<u8>,
}

impl AuthSwitch {
    /// Reads the request, its 0xFE included; one of a single byte asks for the way of MySQL 4.0.
    pub fn parse(packet: &[u8]) -> Self {
        let mut reader = Reader(packet.get(1..).unwrap_or_default());
        if reader.0.is_empty() {
            return Self { plugin: "mysql_old_password".to_owned(), nonce: Vec::new() };
        }
        let plugin = String::from_utf8_lossy(reader.until_nul()).into_owned();
        Self { plugin, nonce: reader.0.strip_suffix(&[0]).unwrap_or(reader.0).to_vec() }
    }
}

/// The capabilities that are used with a server that offers these.
pub(super) fn negotiate(offered: u32, database: bool, tls: bool) -> u32 {
    let mut wanted = caps::LONG_PASSWORD
        | caps::LONG_FLAG
        | caps::PROTOCOL_41
        | caps::TRANSACTIONS
        | caps::SECURE_CONNECTION
        | caps::PLUGIN_AUTH
        | caps::CONNECT_ATTRS
        | caps::PLUGIN_AUTH_LENENC
        | caps::DEPRECATE_EOF;
    if database {
        wanted |= caps::CONNECT_WITH_DB;
    }
    if tls {
        wanted |= caps::SSL;
    }
    wanted & offered
}

fn put_head(out: &mut Vec<u8>, capabilities: u32) {
    out.extend_from_slice(&capabilities.to_le_bytes());
    out.extend_from_slice(&MAX_PACKET.to_le_bytes());
    out.push(UTF8MB4);
    out.extend_from_slice(&[0; 23]);
}

/// The request to go on with TLS.
pub(super) fn tls_request(capabilities: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    put_head(&mut out, capabilities);
    out
}

/// The answer to the greeting.
pub(super) fn response(
    capabilities: u32,
    user: &str,
    auth: &[u8],
    database: Option<&str>,
    plugin: &str,
) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::with_capacity(256);
    put_head(&mut out, capabilities);
    out.extend_from_slice(user.as_bytes());
    out.push(0);
    if capabilities & caps::PLUGIN_AUTH_LENENC != 0 {
        put_lenenc_bytes(&mut out, auth);
    } else {
        let len = u8::try_from(auth.len()).map_err(|_| WireError::Auth("the password is too long".to_owned()))?;
        out.push(len);
        out.extend_from_slice(auth);
    }
    if capabilities & caps::CONNECT_WITH_DB != 0 {
        out.extend_from_slice(database.unwrap_or_default().as_bytes());
        out.push(0);
    }
    if capabilities & caps::PLUGIN_AUTH != 0 {
        out.extend_from_slice(plugin.as_bytes());
        out.push(0);
    }
    if capabilities & caps::CONNECT_ATTRS != 0 {
        let mut attributes = Vec::new();
        for (name, value) in
            [("program_name", "rowferry"), ("_client_name", "rowferry"), ("_client_version", env!("CARGO_PKG_VERSION"))]
        {
            put_lenenc_bytes(&mut attributes, name.as_bytes());
            put_lenenc_bytes(&mut attributes, value.as_bytes());
        }
        put_lenenc(&mut out, attributes.len() as u64);
        out.extend_from_slice(&attributes);
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
