//! The transport: TCP, or TLS over it.

use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection's bytes.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub(super) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// How long one read and one write may take.
    pub(super) fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        let tcp = match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => &tls.sock,
        };
        // Zero would be refused.
        let timeout = Some(timeout.max(Duration::from_millis(1)));
        tcp.set_read_timeout(timeout)?;
        tcp.set_write_timeout(timeout)
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buf),
            Self::Tls(tls) => tls.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(buf),
            Self::Tls(tls) => tls.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
