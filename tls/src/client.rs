//! A client: its configuration, and the handshake.

use super::authorities::Authorities;
use super::certificates;
use super::error::{HandshakeError, SetUpError};
use super::mode::TlsMode;
use super::stream::Stream;
use super::verifier::verifier;
use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The client's own certificate, for users who must show one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The certificate chain: a PEM file.
    pub certificate: PathBuf,
    /// Its private key: a PEM file.
    pub key: PathBuf,
}

/// How a client encrypts.
#[derive(Clone)]
pub struct Client {
    mode: TlsMode,
    identifies: bool,
    config: Arc<ClientConfig>,
}

impl fmt::Debug for Client {
    // The rest is rustls' own, with all authorities that there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.mode)
    }
}

impl Client {
    /// Reads the authorities' certificates where the mode needs them, and the client's own if it has one.
    ///
    /// # Errors
    /// They can't be read or used.
    pub fn new(mode: TlsMode, authorities: &Authorities, identity: Option<&Identity>) -> Result<Self, SetUpError> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(SetUpError::Versions)?
            .dangerous()
            .with_custom_certificate_verifier(verifier(mode, authorities.file(), &provider)?);
        let config = match identity {
            None => config.with_no_client_auth(),
            Some(Identity { certificate, key }) => {
                let (chain, key) = (certificates::chain(certificate)?, certificates::private_key(key)?);
                config.with_client_auth_cert(chain, key).map_err(SetUpError::Identity)?
            }
        };
        let identifies = match mode {
            TlsMode::VerifyIdentity => true,
            TlsMode::VerifyCa => matches!(authorities, Authorities::Named(_)),
            TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => false,
        };
        Ok(Self { mode, identifies, config: Arc::new(config) })
    }

    /// The mode.
    pub fn mode(&self) -> TlsMode {
        self.mode
    }

    /// Whether a server that has passed is the one that is meant: its certificate is for its name, or from an authority
    /// that was named for it. Anybody can have one from a public authority, for a name of their own.
    pub fn identifies(&self) -> bool {
        self.identifies
    }

    /// Makes a connection with this host, a name or an address, an encrypted one. The socket's own time-outs end a
    /// silent server, the deadline one that sends byte by byte.
    ///
    /// # Errors
    /// The two sides don't agree, the certificate is not trusted, or the connection breaks before they do.
    pub fn start<S: Read + Write>(
        &self,
        host: &str,
        mut socket: S,
        deadline: Option<Instant>,
    ) -> Result<Stream<S>, HandshakeError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|reason| HandshakeError::Host { host: host.to_owned(), reason })?;
        let mut connection = ClientConnection::new(Arc::clone(&self.config), name).map_err(HandshakeError::Start)?;
        shake_hands(&mut connection, &mut socket, deadline)?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(connection, socket))))
    }
}

/// Not `complete_io`, which has no deadline and makes one kind of error of what may pass and what may not.
fn shake_hands(
    connection: &mut ClientConnection,
    socket: &mut (impl Read + Write),
    deadline: Option<Instant>,
) -> Result<(), HandshakeError> {
    while connection.is_handshaking() {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(HandshakeError::Broken(io::ErrorKind::TimedOut.into()));
        }
        send(connection, socket).map_err(HandshakeError::Broken)?;
        if !connection.is_handshaking() {
            break;
        }
        match connection.read_tls(socket) {
            Ok(0) => return Err(HandshakeError::Broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(HandshakeError::Broken(e)),
        }
        if let Err(error) = connection.process_new_packets() {
            // The alert that says why is all that the server's log will have. That it can't be sent changes nothing.
            let _ = send(connection, socket);
            return Err(HandshakeError::Refused(error));
        }
    }
    send(connection, socket).map_err(HandshakeError::Broken)
}

/// Sends what is due.
fn send(connection: &mut ClientConnection, socket: &mut (impl Read + Write)) -> io::Result<()> {
    while connection.wants_write() {
        match connection.write_tls(socket) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    socket.flush()
}

#[cfg(test)]
mod tests;
