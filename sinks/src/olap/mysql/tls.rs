//! TLS with a frontend: what its errors mean here, and the way out.

use super::session::SqlError;
use crate::olap::authorities::{OWN_AUTHORITY, OWN_AUTHORITY_MEANS};
use rowferry_tls::{Client, HandshakeError, Stream};
use rustls::CertificateError;
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Makes a connection an encrypted one, in this time. `address`: the `host:port` that the user wrote; `timed`: how the
/// session tells a time-out.
///
/// # Errors
/// The two sides don't agree, or the connection breaks: the latter may pass.
pub(super) fn start(
    tls: &Client,
    address: &str,
    tcp: TcpStream,
    timeout: Duration,
    timed: impl FnOnce(io::Error) -> io::Error,
) -> Result<Stream, SqlError> {
    tls.start(host(address), tcp, Some(Instant::now() + timeout)).map_err(|error| {
        let may_pass = matches!(error, HandshakeError::Broken(_));
        let reason = match error {
            HandshakeError::Broken(error) => HandshakeError::Broken(timed(error)).to_string(),
            HandshakeError::Refused(error) => explain(error),
            error => error.to_string(),
        };
        SqlError::Tls { address: address.to_owned(), reason, may_pass }
    })
}

fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

/// A refusal in words, with the way out where there is one.
fn explain(error: rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            format!("{error}; connect by a name that the certificate has, or use `sslMode=VERIFY_CA` in `jdbc-url`")
        }
        // The second: of an authority of the same name.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            format!(
                "the server's certificate is not from a known authority ({error}); name that authority in \
                 `jdbc-url` by `trustCertificateKeyStoreUrl=file:…&trustCertificateKeyStoreType=PEM`"
            )
        }
        _ if error.to_string().contains(OWN_AUTHORITY) => format!("{OWN_AUTHORITY_MEANS} ({error})"),
        _ => HandshakeError::Refused(error).to_string(),
    }
}
