//! A session with a server.

use super::auth::{self, Channel, Plugin};
use super::dump_request;
use super::error::WireError;
use super::framing::{PacketReader, is_timeout, write_packet};
use super::handshake::{self, AuthSwitch, Greeting, caps};
use super::options::ConnectOptions;
use super::packet::{ColumnMeta, OkInfo, TextValues, parse_err, parse_ok};
use super::result::{ResultStream, Row};
use rowferry_sql::ServerVersion;
use rowferry_tls::{Client, HandshakeError, Stream, TlsMode};
use std::io;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;

/// A session with a server: one statement at a time, blocking.
#[derive(Debug)]
pub struct Connection {
    pub(super) stream: Stream,
    pub(super) reader: PacketReader,
    server: ServerVersion,
    server_text: String,
    connection_id: u32,
    capabilities: u32,
    read_timeout: Option<Duration>,
    /// The stream of packets is not at a boundary: nothing can be asked any more.
    broken: bool,
}

/// Shuts a connection down from another thread: whoever is blocked in it gets an error at once.
#[derive(Debug)]
pub struct Stopper(TcpStream);

impl Stopper {
    /// Shuts the connection down. Doing so twice, or after it was closed, does nothing.
    pub fn stop(&self) {
        // An error says that the connection is gone already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn tcp(options: &ConnectOptions) -> Result<TcpStream, WireError> {
    let failed = |source| WireError::Connect { host: options.host.clone(), port: options.port, source };
    let addresses = (options.host.as_str(), options.port).to_socket_addrs().map_err(failed)?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, options.connect_timeout.max(Duration::from_millis(1))) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(failed)?;
                return Ok(stream);
            }
            Err(e) => last = e,
        }
    }
    Err(failed(last))
}

fn start_tls(
    options: &ConnectOptions,
    mut stream: Stream,
    reader: &mut PacketReader,
    capabilities: u32,
) -> Result<(Stream, Channel), WireError> {
    write_packet(&mut stream, reader.sequence_mut(), &handshake::tls_request(capabilities))
        .map_err(|source| WireError::Io { doing: "asking for TLS", source })?;
    if reader.has_buffered() {
        // Bytes in the clear behind the greeting would be taken for encrypted ones.
        return Err(WireError::protocol("the server spoke before the TLS handshake"));
    }
    let Stream::Plain(tcp) = stream else { return Err(WireError::protocol("TLS within TLS")) };
    let client = Client::new(options.tls, &options.authorities, options.client_identity.as_ref())
        .map_err(|e| WireError::Tls(e.to_string()))?;
    // Each read has its time-out; without a deadline for all together a server could go on byte by byte for ever.
    let deadline = Instant::now() + options.connect_timeout;
    let encrypted = client.start(&options.host, tcp, Some(deadline)).map_err(|error| match error {
        HandshakeError::Broken(error) if is_timeout(&error) && options.tls.demands() => {
            WireError::Timeout { doing: "waiting for the TLS handshake", after: options.connect_timeout }
        }
        // A server that knows old versions only just closes the connection: no less a reason to stop.
        HandshakeError::Broken(error) => WireError::Tls(format!("the handshake failed: {error}")),
        other => WireError::Tls(other.to_string()),
    })?;
    Ok((encrypted, if client.identifies() { Channel::Verified } else { Channel::Encrypted }))
}

impl Connection {
    /// Connects, logs in and sets the session up: utf8mb4, UTC, `sql_mode` empty (so that zero dates can be read), no
    /// limits on time or rows, generous timeouts.
    ///
    /// # Errors
    /// Any of that fails.
    pub fn connect(options: &ConnectOptions) -> Result<Self, WireError> {
        let mut connection = match Self::log_in(options, options.tls != TlsMode::Disabled) {
            Err(WireError::Tls(reason)) if options.tls == TlsMode::Preferred => {
                tracing::warn!(
                    host = %options.host, port = options.port, %reason,
                    "the server's TLS cannot be used, going on without encryption; \
                     require TLS to refuse this, or disable it to silence this warning"
                );
                Self::log_in(options, false)?
            }
            other => other?,
        };
        connection.set_up_session(options)?;
        connection.set_read_timeout(options.read_timeout)?;
        Ok(connection)
    }

    fn log_in(options: &ConnectOptions, with_tls: bool) -> Result<Self, WireError> {
        let mut stream = Stream::Plain(tcp(options)?);
        let after = options.connect_timeout;
        stream
            .set_read_timeout(Some(after))
            .and_then(|()| stream.set_write_timeout(Some(after)))
            .map_err(|source| WireError::Io { doing: "connecting", source })?;
        let mut reader = PacketReader::default();
        let packet = reader.next(&mut stream).map_err(|e| timed(e, "waiting for the greeting", after))?;
        if packet.first() == Some(&0xff) {
            return Err(WireError::Server(parse_err(packet)));
        }
        let greeting = Greeting::parse(packet)?;
        let offered = greeting.capabilities;
        if offered & caps::PROTOCOL_41 == 0 || offered & caps::SECURE_CONNECTION == 0 {
            return Err(WireError::Unsupported(format!("the server ({}) is too old", greeting.version)));
        }
        let tls_offered = offered & caps::SSL != 0;
        if with_tls && !tls_offered && options.tls.demands() {
            return Err(WireError::Tls("the server offers none".to_owned()));
        }
        let tls = with_tls && tls_offered;
        let capabilities = handshake::negotiate(offered, options.database.is_some(), tls);
        let mut channel = Channel::Plain;
        if tls {
            (stream, channel) = start_tls(options, stream, &mut reader, capabilities)?;
        }
        let mut connection = Self {
            stream,
            reader,
            // A text without numbers is an old server's: nothing newer is asked of it.
            server: ServerVersion::parse(&greeting.version).unwrap_or(ServerVersion::mysql(0)),
            server_text: greeting.version.clone(),
            connection_id: greeting.connection_id,
            capabilities,
            read_timeout: Some(after),
            broken: false,
        };
        connection.authenticate(options, &greeting, channel)?;
        Ok(connection)
    }

    fn authenticate(
        &mut self,
        options: &ConnectOptions,
        greeting: &Greeting,
        channel: Channel,
    ) -> Result<(), WireError> {
        let password = options.password.reveal();
        let mut nonce = greeting.nonce.clone();
        // Where the server's default is unknown to us, the user's own way may still be known: it will ask for it.
        let mut plugin = match Plugin::find(&greeting.auth_plugin) {
            Some(Plugin::Clear | Plugin::Ed25519) | None => Plugin::Native,
            Some(known) => known,
        };
        let first = plugin.first_answer(password, &nonce, channel)?;
        let response =
            handshake::response(self.capabilities, &options.user, &first, options.database.as_deref(), plugin.name())?;
        self.write(&response)?;
        // Enough for a switch, a key and an end; a server that goes on asking is none.
        for _ in 0..8 {
            let packet = self.read()?.to_vec();
            match packet.split_first() {
                Some((0x00, _)) => {
                    *self.reader.sequence_mut() = 0;
                    return Ok(());
                }
                Some((0xff, _)) => {
                    let error = parse_err(&packet);
                    // 1045 and its kin are about who one is; 1040 and others pass.
                    return Err(match error.code {
                        1044 | 1045 | 1130 | 1251 | 1275 | 1698 | 1820 | 1862 | 3118 | 3159 | 3955 => {
                            WireError::Auth(error.to_string())
                        }
                        _ => WireError::Server(error),
                    });
                }
                Some((0xfe, _)) => {
                    let switch = AuthSwitch::parse(&packet);
                    plugin = Plugin::find(&switch.plugin).ok_or_else(|| auth::unknown_plugin(&switch.plugin))?;
                    nonce = switch.nonce;
                    self.write(&plugin.first_answer(password, &nonce, channel)?)?;
                }
                Some((0x01, more)) => match (plugin, more) {
                    (Plugin::CachingSha2, [auth::FAST_AUTH_OK]) => {}
                    (Plugin::CachingSha2, [auth::FULL_AUTH]) if channel.is_encrypted() => {
                        self.write(&auth::with_nul(password.as_bytes()))?;
                    }
                    (Plugin::CachingSha2, [auth::FULL_AUTH]) => self.write(&[auth::REQUEST_KEY_CACHING])?,
                    (Plugin::CachingSha2 | Plugin::Sha256, pem) if channel == Channel::Plain => {
                        self.write(&auth::under_public_key(password, &nonce, pem)?)?;
                    }
                    _ => return Err(WireError::protocol("unexpected data during authentication")),
                },
                Some((0x02, _)) => {
                    return Err(WireError::Auth(
                        "the server asks this user for a second factor; create a user for rowferry with one".to_owned(),
                    ));
                }
                _ => return Err(WireError::protocol("unexpected packet during authentication")),
            }
        }
        Err(WireError::protocol("authentication does not end"))
    }

    fn set_up_session(&mut self, options: &ConnectOptions) -> Result<(), WireError> {
        let timeout = options.session_timeout.as_secs().clamp(1, 31_536_000);
        // A limit that the server sets for everybody must not cut a snapshot short.
        let mut set = format!(
            "SET SESSION time_zone='+00:00', sql_mode='', autocommit=1, wait_timeout={timeout}, \
             net_write_timeout={timeout}, net_read_timeout={timeout}, sql_big_selects=1, \
             sql_select_limit=18446744073709551615"
        );
        if self.server.mysql_since(50_708) {
            set.push_str(", max_execution_time=0");
        }
        if self.server.mysql_since(80_003) {
            // Else the numbers of rows are up to a day old.
            set.push_str(", information_schema_stats_expiry=0");
        }
        if self.server.mysql_since(80_030) {
            // Else a generated invisible key is in the binlog but not in information_schema.
            set.push_str(", show_gipk_in_create_table_and_information_schema=ON");
        }
        if self.server.mariadb_since(100_101) {
            set.push_str(", max_statement_time=0");
        }
        self.execute("SET NAMES utf8mb4")?;
        self.execute(&set)?;
        if let Some(isolation) = options.isolation {
            self.execute(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", isolation.sql()))?;
        }
        Ok(())
    }

    /// Sets the longest silence while an answer is awaited; `None`: wait for ever.
    ///
    /// # Errors
    /// The socket refuses.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) -> Result<(), WireError> {
        self.read_timeout = timeout;
        self.stream
            .set_read_timeout(timeout)
            .map_err(|source| WireError::Io { doing: "setting the read timeout", source })
    }

    /// Which server it is.
    pub fn server(&self) -> ServerVersion {
        self.server
    }

    /// Its version as it calls itself.
    pub fn server_text(&self) -> &str {
        &self.server_text
    }

    /// The connection's number, as in `SHOW PROCESSLIST` and `KILL`.
    pub fn id(&self) -> u32 {
        self.connection_id
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.stream.is_tls()
    }

    /// Whether another statement can be sent.
    pub fn is_usable(&self) -> bool {
        !self.broken
    }

    /// A handle that shuts this connection down from another thread.
    ///
    /// # Errors
    /// The system has no more handles.
    pub fn stopper(&self) -> Result<Stopper, WireError> {
        let tcp = self.stream.socket().try_clone();
        tcp.map(Stopper).map_err(|source| WireError::Io { doing: "cloning the socket", source })
    }

    pub(super) fn break_off(&mut self) {
        self.broken = true;
    }

    pub(super) fn write(&mut self, payload: &[u8]) -> Result<(), WireError> {
        let sequence = self.reader.sequence_mut();
        write_packet(&mut self.stream, sequence, payload).map_err(|source| {
            self.broken = true;
            WireError::Io { doing: "sending", source }
        })
    }

    pub(super) fn read(&mut self) -> Result<&[u8], WireError> {
        match self.reader.next(&mut self.stream) {
            Ok(packet) => Ok(packet),
            Err(e) => {
                self.broken = true;
                Err(timed(e, "waiting for an answer", self.read_timeout.unwrap_or_default()))
            }
        }
    }

    /// The packet that was read last.
    pub(super) fn last(&self) -> &[u8] {
        self.reader.last()
    }

    pub(super) fn command(&mut self, command: u8, argument: &[u8]) -> Result<(), WireError> {
        if self.broken {
            return Err(WireError::Unusable);
        }
        let mut payload = Vec::with_capacity(argument.len() + 1);
        payload.push(command);
        payload.extend_from_slice(argument);
        *self.reader.sequence_mut() = 0;
        self.write(&payload)
    }

    /// The answer to a command that gives no rows.
    pub(super) fn read_ok(&mut self) -> Result<OkInfo, WireError> {
        let packet = self.read()?;
        match packet.first() {
            Some(0x00) => parse_ok(packet),
            Some(0xff) => Err(WireError::Server(parse_err(packet))),
            _ => {
                self.broken = true;
                Err(WireError::protocol("the answer is neither OK nor an error"))
            }
        }
    }

    /// Runs a statement and reads its result row by row.
    ///
    /// # Errors
    /// The server refuses it, or the connection breaks.
    pub fn query_stream(&mut self, sql: &str) -> Result<ResultStream<'_>, WireError> {
        let columns = self.start_query(sql)?;
        let done = columns.is_none();
        let deprecate_eof = self.capabilities & caps::DEPRECATE_EOF != 0;
        Ok(ResultStream { connection: self, columns: columns.unwrap_or_default(), deprecate_eof, done })
    }

    /// Sends a statement and reads up to the first row; `None`: there is no result set.
    fn start_query(&mut self, sql: &str) -> Result<Option<Arc<[ColumnMeta]>>, WireError> {
        self.command(COM_QUERY, sql.as_bytes())?;
        let packet = self.read()?;
        let count = match packet.first() {
            Some(0x00) => return parse_ok(packet).map(|_| None),
            Some(0xff) => return Err(WireError::Server(parse_err(packet)).with_statement(sql)),
            _ => super::bytes::Reader(packet).lenenc(),
        };
        // 0xFB, a request for a local file, is no number either: it was not offered, so it must not come.
        let Some(count @ 1..=4096) = count else {
            self.broken = true;
            return Err(WireError::protocol("the answer to a statement is malformed"));
        };
        let mut columns = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let column = ColumnMeta::parse(self.read()?).inspect_err(|_| self.broken = true)?;
            columns.push(column);
        }
        if self.capabilities & caps::DEPRECATE_EOF == 0 {
            self.read()?;
        }
        Ok(Some(columns.into()))
    }

    /// Runs a statement with a small result.
    ///
    /// # Errors
    /// The server refuses it, the connection breaks, or a row is malformed.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>, WireError> {
        let mut stream = self.query_stream(sql)?;
        let columns = Arc::clone(&stream.columns);
        let mut rows = Vec::new();
        loop {
            let Some(row) = stream.next_row().map_err(|e| e.with_statement(sql))? else { return Ok(rows) };
            let values: Vec<_> = TextValues::new(row).map(|v| v.map(Box::from)).collect();
            if values.len() != columns.len() {
                return Err(WireError::protocol(format!(
                    "a row of {} values for {} columns",
                    values.len(),
                    columns.len()
                )));
            }
            rows.push(Row { columns: Arc::clone(&columns), values });
        }
    }

    /// Runs a statement that gives one row or none.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub fn query_first(&mut self, sql: &str) -> Result<Option<Row>, WireError> {
        Ok(self.query(sql)?.into_iter().next())
    }

    /// Runs a statement that gives no rows.
    ///
    /// # Errors
    /// The server refuses it, the connection breaks, or it gives rows.
    pub fn execute(&mut self, sql: &str) -> Result<OkInfo, WireError> {
        self.command(COM_QUERY, sql.as_bytes())?;
        self.read_ok().map_err(|e| e.with_statement(sql))
    }

    /// Registers as a replica without reading anything: tells whether the user may. It lasts until the connection ends.
    ///
    /// # Errors
    /// The user lacks REPLICATION SLAVE, or the connection breaks.
    pub fn register_replica(&mut self, server_id: u32) -> Result<(), WireError> {
        self.command(dump_request::COM_REGISTER_REPLICA, &dump_request::register(server_id))?;
        self.read_ok().map(drop)
    }

    /// Asks whether the server still answers.
    ///
    /// # Errors
    /// It does not.
    pub fn ping(&mut self) -> Result<(), WireError> {
        self.command(COM_PING, &[])?;
        self.read_ok().map(drop)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.broken {
            // Spares the server a warning about an aborted connection; it is closed either way.
            let _ = self.command(COM_QUIT, &[]);
        }
    }
}

/// Says what was awaited and for how long.
pub(super) fn timed(error: WireError, doing: &'static str, after: Duration) -> WireError {
    match error {
        WireError::Timeout { .. } => WireError::Timeout { doing, after },
        other => other,
    }
}
