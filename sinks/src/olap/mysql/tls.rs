//! TLS by rustls: whether a connection is encrypted, and which certificates are trusted.

use crate::olap::authorities::{OWN_AUTHORITY, OWN_AUTHORITY_MEANS};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::fmt;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How connections are encrypted, in the words of MySQL's `sslMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Never.
    Disabled,
    /// If the server can.
    #[default]
    Preferred,
    /// Always; the server's certificate is not looked at.
    Required,
    /// Always; the certificate must be signed by a known authority.
    VerifyCa,
    /// Always; and it must be for the host name.
    VerifyIdentity,
}

impl TlsMode {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Disabled, Self::Preferred, Self::Required, Self::VerifyCa, Self::VerifyIdentity];

    /// Whether the server must show a certificate that is trusted.
    pub(crate) fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyIdentity)
    }

    /// Whether the user asks for encryption, rather than take it where it is to be had.
    pub(super) fn demands(self) -> bool {
        !matches!(self, Self::Disabled | Self::Preferred)
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disabled => "DISABLED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        })
    }
}

/// How a client encrypts.
#[derive(Clone)]
pub(crate) struct Tls {
    mode: TlsMode,
    config: Arc<ClientConfig>,
}

impl fmt::Debug for Tls {
    // The rest is rustls' own, with all authorities that there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({})", self.mode)
    }
}

impl Tls {
    /// Reads the authority's certificates (a PEM file; `None`: the public ones) where the mode needs them.
    ///
    /// # Errors
    /// They can't be read or used: in words.
    pub(crate) fn new(mode: TlsMode, authority: Option<&Path>) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let webpki = if mode.verifies() {
            let verifier = WebPkiServerVerifier::builder_with_provider(roots(authority)?, Arc::clone(&provider));
            Some(verifier.build().map_err(|e| format!("cannot use the authority's certificates: {e}"))?)
        } else {
            None
        };
        let schemes = provider.signature_verification_algorithms.supported_schemes();
        let verifier: Arc<dyn ServerCertVerifier> = match webpki {
            Some(webpki) if mode == TlsMode::VerifyIdentity => webpki,
            webpki => Arc::new(Lenient { webpki, schemes }),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| format!("cannot set TLS up: {e}"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self { mode, config: Arc::new(config) })
    }

    /// The mode.
    pub(crate) fn mode(&self) -> TlsMode {
        self.mode
    }

    /// Makes a connection an encrypted one, in this time. `address`: the `host:port` that the user wrote.
    pub(super) fn start(
        &self,
        address: &str,
        tcp: TcpStream,
        timeout: Duration,
    ) -> Result<StreamOwned<ClientConnection, TcpStream>, TlsFailure> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|e| TlsFailure::Unusable(format!("`{host}` is not a host name: {e}")))?;
        let mut connection = ClientConnection::new(Arc::clone(&self.config), name)
            .map_err(|e| TlsFailure::Unusable(format!("cannot start: {e}")))?;
        let mut tcp = tcp;
        self.shake_hands(&mut connection, &mut tcp, Instant::now() + timeout)?;
        Ok(StreamOwned::new(connection, tcp))
    }

    /// The socket's own time-outs end a silent server, the deadline one that sends byte by byte.
    fn shake_hands(
        &self,
        connection: &mut ClientConnection,
        tcp: &mut TcpStream,
        deadline: Instant,
    ) -> Result<(), TlsFailure> {
        while connection.is_handshaking() {
            if Instant::now() >= deadline {
                return Err(TlsFailure::Broken(io::ErrorKind::TimedOut.into()));
            }
            while connection.wants_write() {
                connection.write_tls(tcp).map_err(TlsFailure::Broken)?;
            }
            if !connection.is_handshaking() {
                break;
            }
            match connection.read_tls(tcp) {
                Ok(0) => return Err(TlsFailure::Broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(TlsFailure::Broken(e)),
            }
            if let Err(error) = connection.process_new_packets() {
                // The alert that says why is all that the server's log will have. That it can't be sent changes nothing.
                let _ = connection.write_tls(tcp);
                return Err(TlsFailure::Unusable(self.explain(&error)));
            }
        }
        while connection.wants_write() {
            connection.write_tls(tcp).map_err(TlsFailure::Broken)?;
        }
        Ok(())
    }

    /// An error in words, with the way out where there is one.
    fn explain(&self, error: &rustls::Error) -> String {
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
            _ => format!("the handshake failed: {error}"),
        }
    }
}

/// Why a connection could not be encrypted.
#[derive(Debug)]
pub(super) enum TlsFailure {
    /// The connection broke: another try may end otherwise.
    Broken(io::Error),
    /// The two sides don't agree, in words.
    Unusable(String),
}

/// Takes certificates whatever their name, and without an authority any: what encrypts need not identify.
#[derive(Debug)]
struct Lenient {
    webpki: Option<Arc<WebPkiServerVerifier>>,
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(webpki) = &self.webpki else { return Ok(ServerCertVerified::assertion()) };
        // The name is the last thing that is looked at: this error says that all else was well.
        match webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    // Without an authority, a signature by an unknown key proves nothing.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.webpki {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(webpki) => webpki.verify_tls12_signature(message, cert, dss),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.webpki {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(webpki) => webpki.verify_tls13_signature(message, cert, dss),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

fn roots(authority: Option<&Path>) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    let Some(path) = authority else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(Arc::new(roots));
    };
    let unreadable =
        |e: &dyn fmt::Display| format!("cannot read the authority's certificates in {}: {e}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| unreadable(&e))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| unreadable(&e))?;
        roots.add(certificate).map_err(|e| format!("{} is no authority: {e}", path.display()))?;
    }
    if roots.is_empty() {
        return Err(unreadable(&"there is none, as PEM"));
    }
    Ok(Arc::new(roots))
}
