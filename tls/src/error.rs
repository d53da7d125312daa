//! What may go wrong. Whether another try can help is in the kind: only [`HandshakeError::Broken`] may pass.

use std::io;
use std::path::PathBuf;

/// A client can't be made: settings and files are not what they should be.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// A file can't be read, or has nothing in it that is wanted.
    #[error("cannot read {what} in {}: {reason}", .path.display())]
    Unreadable {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A certificate can't be an authority's.
    #[error("{} is no authority: {reason}", .path.display())]
    NoAuthority {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: rustls::Error,
    },
    /// The authority's certificates are of no use together.
    #[error("cannot use the authority's certificates: {0}")]
    Authority(#[source] rustls::client::VerifierBuilderError),
    /// The client's certificate and key don't fit together.
    #[error("cannot use the client's key: {0}")]
    Identity(#[source] rustls::Error),
    /// No version of TLS can be spoken.
    #[error("cannot set TLS up: {0}")]
    Versions(#[source] rustls::Error),
}

/// A connection can't be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// What was connected to can be in no certificate.
    #[error("`{host}` is not a host name: {reason}")]
    Host {
        /// The host.
        host: String,
        /// Why.
        reason: rustls_pki_types::InvalidDnsNameError,
    },
    /// The handshake can't begin.
    #[error("cannot start: {0}")]
    Start(#[source] rustls::Error),
    /// The two sides don't agree, or the certificate is not trusted.
    #[error("the handshake failed: {0}")]
    Refused(#[source] rustls::Error),
    /// The connection broke, or the time is over.
    #[error("the handshake broke off: {0}")]
    Broken(#[source] io::Error),
}
