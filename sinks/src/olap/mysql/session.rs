//! One connection.

use super::packet::{Reader, read, write};
use crate::olap::rows::Rows;
use crate::olap::secret::Secret;
use sha1::{Digest, Sha1};
use std::io::{self, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const LONG_FLAG: u32 = 1 << 2;
const PROTOCOL_41: u32 = 1 << 9;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
/// `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
const MAX_PACKET: u32 = 1 << 26;
const COM_QUERY: u8 = 3;
const NATIVE: &str = "mysql_native_password";

/// A statement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    /// The server refused it.
    #[error("{message} (error {code}, {state})")]
    Server {
        /// The error's number.
        code: u16,
        /// The SQL state.
        state: String,
        /// The server's words.
        message: String,
    },
    /// No connection, or it broke: whether the statement ran is unknown.
    #[error("{address}: {source}")]
    Connection {
        /// The server.
        address: String,
        /// What happened.
        source: io::Error,
    },
    /// The server does not answer as MySQL does, or asks for a login that is not known.
    #[error("{address}: {reason}")]
    Protocol {
        /// The server.
        address: String,
        /// What is wrong.
        reason: String,
    },
}

/// A connection that is logged in.
pub(super) struct Session {
    stream: BufReader<TcpStream>,
    address: String,
    sequence: u8,
}

impl Session {
    /// Connects and logs in.
    ///
    /// # Errors
    /// There is no connection, or the login is refused.
    pub(super) fn connect(
        address: &str,
        user: &str,
        password: &Secret,
        timeout: Duration,
        answer: Duration,
    ) -> Result<Self, SqlError> {
        let broken = |source| SqlError::Connection { address: address.to_owned(), source };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let mut stream = None;
        for to in address.to_socket_addrs().map_err(broken)? {
            match TcpStream::connect_timeout(&to, timeout) {
                Ok(connected) => {
                    stream = Some(connected);
                    break;
                }
                Err(e) => last = e,
            }
        }
        let stream = stream.ok_or(last).map_err(broken)?;
        stream.set_read_timeout(Some(answer)).map_err(broken)?;
        stream.set_write_timeout(Some(answer)).map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let mut session = Self { stream: BufReader::new(stream), address: address.to_owned(), sequence: 0 };
        session.login(user, password)?;
        Ok(session)
    }

    fn protocol(&self, reason: impl Into<String>) -> SqlError {
        SqlError::Protocol { address: self.address.clone(), reason: reason.into() }
    }

    fn read(&mut self) -> Result<Vec<u8>, SqlError> {
        read(&mut self.stream, &mut self.sequence)
            .map_err(|source| SqlError::Connection { address: self.address.clone(), source })
    }

    fn write(&mut self, payload: &[u8]) -> Result<(), SqlError> {
        write(self.stream.get_mut(), &mut self.sequence, payload)
            .map_err(|source| SqlError::Connection { address: self.address.clone(), source })
    }

    fn login(&mut self, user: &str, password: &Secret) -> Result<(), SqlError> {
        let greeting = self.read()?;
        if greeting.first() == Some(&0xff) {
            return Err(server_error(&greeting));
        }
        let (capabilities, nonce) =
            parse_greeting(&greeting).ok_or_else(|| self.protocol("the server does not greet as MySQL does"))?;
        let mut wanted = LONG_FLAG | PROTOCOL_41 | SECURE_CONNECTION;
        if capabilities & PLUGIN_AUTH != 0 {
            wanted |= PLUGIN_AUTH;
        }
        let scramble = native_scramble(password.reveal(), &nonce);
        let mut response = Vec::with_capacity(128);
        response.extend_from_slice(&wanted.to_le_bytes());
        response.extend_from_slice(&MAX_PACKET.to_le_bytes());
        response.push(CHARSET);
        response.extend_from_slice(&[0; 23]);
        response.extend_from_slice(user.as_bytes());
        response.push(0);
        response.push(scramble.len() as u8);
        response.extend_from_slice(&scramble);
        if wanted & PLUGIN_AUTH != 0 {
            response.extend_from_slice(NATIVE.as_bytes());
            response.push(0);
        }
        self.write(&response)?;
        let mut answer = self.read()?;
        if answer.first() == Some(&0xfe) {
            let mut reader = Reader(&answer[1..]);
            let plugin = String::from_utf8_lossy(reader.until_nul()).into_owned();
            if plugin != NATIVE {
                return Err(self.protocol(format!(
                    "the server asks for a login by `{plugin}`; give the user a password by {NATIVE}"
                )));
            }
            let scramble = native_scramble(password.reveal(), trim_nul(reader.0));
            self.write(&scramble)?;
            answer = self.read()?;
        }
        match answer.first() {
            Some(0) => Ok(()),
            Some(0xff) => Err(server_error(&answer)),
            _ => Err(self.protocol("the server's answer to the login is not understood")),
        }
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// The server refuses it, or the connection breaks; after the latter the session is of no more use.
    pub(super) fn query(&mut self, sql: &str) -> Result<Rows, SqlError> {
        self.sequence = 0;
        let mut command = Vec::with_capacity(sql.len() + 1);
        command.push(COM_QUERY);
        command.extend_from_slice(sql.as_bytes());
        self.write(&command)?;
        let first = self.read()?;
        match first.first() {
            Some(0) => return Ok(Rows::default()),
            Some(0xff) => return Err(server_error(&first)),
            _ => {}
        }
        let count = Reader(&first).lenenc().flatten().ok_or_else(|| self.protocol("a result without columns"))?;
        let mut rows = Rows::default();
        for _ in 0..count {
            let definition = self.read()?;
            let name = column_name(&definition).ok_or_else(|| self.protocol("a column's description is cut short"))?;
            rows.columns.push(name);
        }
        let end = self.read()?;
        if !is_eof(&end) {
            return Err(self.protocol("the columns' descriptions do not end"));
        }
        loop {
            let packet = self.read()?;
            if packet.first() == Some(&0xff) {
                return Err(server_error(&packet));
            }
            if is_eof(&packet) {
                return Ok(rows);
            }
            let mut reader = Reader(&packet);
            let mut row = Vec::with_capacity(rows.columns.len());
            for _ in 0..count {
                let value = reader.lenenc_bytes().ok_or_else(|| self.protocol("a row is cut short"))?;
                row.push(value.map(|v| String::from_utf8_lossy(v).into_owned()));
            }
            rows.rows.push(row);
        }
    }
}

fn is_eof(packet: &[u8]) -> bool {
    packet.first() == Some(&0xfe) && packet.len() < 9
}

fn trim_nul(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(&[0]).unwrap_or(bytes)
}

/// The capabilities and the nonce.
fn parse_greeting(packet: &[u8]) -> Option<(u32, Vec<u8>)> {
    let mut reader = Reader(packet);
    if reader.u8()? != 10 {
        return None;
    }
    reader.until_nul();
    reader.take(4)?;
    let mut nonce = reader.take(8)?.to_vec();
    reader.u8()?;
    let mut capabilities = u32::from(reader.u16()?);
    reader.u8()?;
    reader.u16()?;
    capabilities |= u32::from(reader.u16()?) << 16;
    reader.u8()?;
    reader.take(10)?;
    nonce.extend_from_slice(reader.until_nul());
    Some((capabilities, nonce))
}

fn column_name(packet: &[u8]) -> Option<String> {
    let mut reader = Reader(packet);
    // Catalogue, database, table, the table's own name.
    for _ in 0..4 {
        reader.lenenc_bytes()?;
    }
    reader.lenenc_bytes()?.map(|name| String::from_utf8_lossy(name).into_owned())
}

fn server_error(packet: &[u8]) -> SqlError {
    let mut reader = Reader(packet.get(1..).unwrap_or_default());
    let code = reader.u16().unwrap_or_default();
    let state = match reader.0.first() {
        Some(b'#') => {
            reader.u8();
            reader.take(5).map(|s| String::from_utf8_lossy(s).into_owned()).unwrap_or_default()
        }
        _ => String::new(),
    };
    SqlError::Server { code, state, message: String::from_utf8_lossy(reader.0).into_owned() }
}

/// `mysql_native_password`: SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password))); nothing for an empty password.
pub(super) fn native_scramble(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password.as_bytes());
    let twice = Sha1::digest(once);
    let salted = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
    once.iter().zip(salted.iter()).map(|(a, b)| a ^ b).collect()
}
