//! One connection.

use super::client::Login;
use super::packet::{Reader, read, write};
use super::tls;
use crate::olap::rows::Rows;
use rowferry_tls::{Stream, TlsMode};
use sha1::{Digest, Sha1};
use std::io::{self, BufReader};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const LONG_FLAG: u32 = 1 << 2;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
/// `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
const MAX_PACKET: u32 = 1 << 26;
const COM_QUERY: u8 = 3;
const NATIVE: &str = "mysql_native_password";
const CLEAR: &str = "mysql_clear_password";
/// How StarRocks and MySQL say that they take encrypted connections only.
const TLS_WANTED: [u16; 2] = [5205, 3159];

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
    /// The connection can't be encrypted as the user wants it.
    #[error("{address}: TLS: {reason}")]
    Tls {
        /// The server.
        address: String,
        /// Why, and the way out.
        reason: String,
        /// Whether another try may end otherwise.
        may_pass: bool,
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

impl SqlError {
    /// Whether there may be a connection the next time.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Connection { .. } | Self::Tls { may_pass: true, .. })
    }
}

/// A connection that is logged in.
pub(super) struct Session {
    stream: BufReader<Stream>,
    address: String,
    sequence: u8,
    timeout: Duration,
}

impl Session {
    /// Connects and logs in.
    ///
    /// # Errors
    /// There is no connection, it can't be encrypted, or the login is refused.
    pub(super) fn connect(address: &str, login: &Login) -> Result<Self, SqlError> {
        let mut session = match Self::open(address, login, login.tls.mode() != TlsMode::Disabled) {
            Err(SqlError::Tls { reason, may_pass, .. }) if login.tls.mode() == TlsMode::Preferred => {
                tracing::warn!(
                    "{address}: the server's TLS cannot be used, going on without encryption ({reason}); set \
                     `sslMode=REQUIRED` in `jdbc-url` to refuse this, or `sslMode=DISABLED` to silence this warning"
                );
                match Self::open(address, login, false) {
                    // A server that takes nothing else: what is wrong with TLS is the cause.
                    Err(SqlError::Tls { .. }) => {
                        return Err(SqlError::Tls { address: address.to_owned(), reason, may_pass });
                    }
                    other => other?,
                }
            }
            other => other?,
        };
        session.set_timeout(login.answer_timeout)?;
        Ok(session)
    }

    fn open(address: &str, login: &Login, with_tls: bool) -> Result<Self, SqlError> {
        let stream = Stream::Plain(tcp(address, login.connect_timeout)?);
        let mut session = Self {
            stream: BufReader::new(stream),
            address: address.to_owned(),
            sequence: 0,
            timeout: login.connect_timeout,
        };
        session.set_timeout(login.connect_timeout)?;
        session.login(login, with_tls)?;
        Ok(session)
    }

    fn set_timeout(&mut self, timeout: Duration) -> Result<(), SqlError> {
        self.timeout = timeout;
        let stream = self.stream.get_ref();
        stream
            .set_read_timeout(Some(timeout))
            .and_then(|()| stream.set_write_timeout(Some(timeout)))
            .map_err(|e| self.broken(e))
    }

    fn broken(&self, source: io::Error) -> SqlError {
        SqlError::Connection { address: self.address.clone(), source: self.timed(source) }
    }

    /// A time-out of a socket is told as a resource that is not there.
    fn timed(&self, source: io::Error) -> io::Error {
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {:?}", self.timeout))
            }
            _ => source,
        }
    }

    fn protocol(&self, reason: impl Into<String>) -> SqlError {
        SqlError::Protocol { address: self.address.clone(), reason: reason.into() }
    }

    fn tls(&self, reason: impl Into<String>) -> SqlError {
        SqlError::Tls { address: self.address.clone(), reason: reason.into(), may_pass: false }
    }

    fn read(&mut self) -> Result<Vec<u8>, SqlError> {
        read(&mut self.stream, &mut self.sequence).map_err(|e| self.broken(e))
    }

    fn write(&mut self, payload: &[u8]) -> Result<(), SqlError> {
        write(self.stream.get_mut(), &mut self.sequence, payload).map_err(|e| self.broken(e))
    }

    fn login(&mut self, login: &Login, with_tls: bool) -> Result<(), SqlError> {
        let greeting = self.read()?;
        if greeting.first() == Some(&0xff) {
            return Err(server_error(&greeting));
        }
        let (capabilities, nonce) =
            parse_greeting(&greeting).ok_or_else(|| self.protocol("the server does not greet as MySQL does"))?;
        let mut wanted = LONG_FLAG | PROTOCOL_41 | SECURE_CONNECTION | capabilities & PLUGIN_AUTH;
        let mode = login.tls.mode();
        if with_tls && capabilities & SSL != 0 {
            wanted |= SSL;
            self.start_tls(login, wanted)?;
        } else if mode.demands() {
            return Err(self.tls(format!(
                "the server offers none, and `jdbc-url` asks for it (sslMode={mode}); give the frontend a certificate \
                 (`ssl_keystore_location` in its fe.conf), or set `sslMode=PREFERRED` on a trusted network"
            )));
        }
        let scramble = native_scramble(login.password.reveal(), &nonce);
        let mut response = head(wanted);
        response.extend_from_slice(login.user.as_bytes());
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
            let secret = self.secret(&plugin, trim_nul(reader.0), login)?;
            self.write(&secret)?;
            answer = self.read()?;
        }
        match answer.first() {
            Some(0) => Ok(()),
            Some(0xff) => Err(match server_error(&answer) {
                SqlError::Server { code, message, .. } if TLS_WANTED.contains(&code) => self.tls(format!(
                    "the server takes nothing else ({message}, error {code}), and `jdbc-url` has sslMode={mode}; set \
                     `sslMode=REQUIRED` there"
                )),
                error => error,
            }),
            _ => Err(self.protocol("the server's answer to the login is not understood")),
        }
    }

    /// What proves who we are, in the way that the server asks for.
    fn secret(&self, plugin: &str, nonce: &[u8], login: &Login) -> Result<Vec<u8>, SqlError> {
        let password = &login.password;
        match plugin {
            NATIVE => Ok(native_scramble(password.reveal(), nonce)),
            // Whoever sits between could ask for it as well: only a server that is known by its certificate gets it.
            CLEAR if self.stream.get_ref().is_tls() && login.tls.identifies() => {
                Ok([password.reveal().as_bytes(), &[0]].concat())
            }
            CLEAR => Err(self.protocol(format!(
                "the server asks for the password in clear text ({CLEAR}): only over TLS to a server that is \
                 known by its certificate; set `sslMode=VERIFY_IDENTITY` in `jdbc-url`, or `VERIFY_CA` with the \
                 server's own authority in `trustCertificateKeyStoreUrl`"
            ))),
            _ => Err(self
                .protocol(format!("the server asks for a login by `{plugin}`; give the user a password by {NATIVE}"))),
        }
    }

    /// Goes on encrypted.
    fn start_tls(&mut self, login: &Login, wanted: u32) -> Result<(), SqlError> {
        self.write(&head(wanted))?;
        if !self.stream.buffer().is_empty() {
            // Bytes in the clear behind the greeting would be taken for encrypted ones.
            return Err(self.protocol("the server spoke before the TLS handshake"));
        }
        let tcp = match self.stream.get_ref() {
            Stream::Plain(tcp) => tcp.try_clone().map_err(|e| self.broken(e))?,
            Stream::Tls(_) => return Err(self.protocol("TLS within TLS")),
        };
        let encrypted = tls::start(&login.tls, &self.address, tcp, login.connect_timeout, |e| self.timed(e))?;
        self.stream = BufReader::new(encrypted);
        Ok(())
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

/// What a request for TLS and a login begin with.
fn head(capabilities: u32) -> Vec<u8> {
    let mut head = Vec::with_capacity(128);
    head.extend_from_slice(&capabilities.to_le_bytes());
    head.extend_from_slice(&MAX_PACKET.to_le_bytes());
    head.push(CHARSET);
    head.extend_from_slice(&[0; 23]);
    head
}

fn tcp(address: &str, timeout: Duration) -> Result<TcpStream, SqlError> {
    let broken = |source| SqlError::Connection { address: address.to_owned(), source };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for to in address.to_socket_addrs().map_err(broken)? {
        match TcpStream::connect_timeout(&to, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(broken)?;
                return Ok(stream);
            }
            Err(e) => last = e,
        }
    }
    Err(broken(last))
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
