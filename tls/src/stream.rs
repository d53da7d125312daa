//! The transport: TCP, or TLS over it.

use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection's bytes.
#[derive(Debug)]
pub enum Stream<S: Read + Write = TcpStream> {
    /// As they are.
    Plain(S),
    /// Encrypted; made by [`Client::start`](crate::Client::start).
    Tls(Box<StreamOwned<ClientConnection, S>>),
}

impl<S: Read + Write> Stream<S> {
    /// What carries them.
    pub fn socket(&self) -> &S {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &tls.sock,
        }
    }

    /// Whether they are encrypted.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

impl Stream {
    /// How long one read may take; `None`: for ever.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket().set_read_timeout(timeout.map(not_zero))
    }

    /// How long one write may take; `None`: for ever.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket().set_write_timeout(timeout.map(not_zero))
    }
}

/// A timeout of zero means "none" to some systems and is an error to the standard library.
fn not_zero(timeout: Duration) -> Duration {
    timeout.max(Duration::from_millis(1))
}

impl<S: Read + Write> Read for Stream<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buf),
            Self::Tls(tls) => tls.read(buf),
        }
    }
}

impl<S: Read + Write> Write for Stream<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(buf),
            Self::Tls(tls) => tls.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
