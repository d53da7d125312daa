//! TLS by rustls: which certificates are trusted.

use super::error::WireError;
use super::options::{ClientIdentity, ConnectOptions, TlsMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// Takes every certificate: `Preferred` and `Required` encrypt, they do not identify.
#[derive(Debug)]
struct AnyCertificate {
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // A signature by an unknown key proves nothing, and checking it would refuse the version 1 certificates that
    // older servers made for themselves.
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// The certificate must come from the authority; its name does not matter.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // The name is the last thing that is looked at: this error says that all else was well.
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

fn tls_error(what: &str, error: impl std::fmt::Display) -> WireError {
    WireError::Tls(format!("{what}: {error}"))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, WireError> {
    let what = format!("cannot read the certificates in {}", path.display());
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| tls_error(&what, e))?;
    if certificates.is_empty() {
        return Err(tls_error(&what, "there is none"));
    }
    Ok(certificates)
}

fn roots(ca: Option<&Path>) -> Result<Arc<RootCertStore>, WireError> {
    let mut roots = RootCertStore::empty();
    match ca {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|e| tls_error(&format!("{} is no authority", path.display()), e))?;
            }
        }
    }
    Ok(Arc::new(roots))
}

fn verifier(mode: &TlsMode, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, WireError> {
    let webpki = |ca: &Option<std::path::PathBuf>| {
        WebPkiServerVerifier::builder_with_provider(roots(ca.as_deref())?, Arc::clone(provider))
            .build()
            .map_err(|e| tls_error("cannot use the authority's certificates", e))
    };
    Ok(match mode {
        TlsMode::VerifyIdentity { ca } => webpki(ca)?,
        TlsMode::VerifyCa { ca } => Arc::new(AnyName(webpki(ca)?)),
        TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => {
            Arc::new(AnyCertificate { schemes: provider.signature_verification_algorithms.supported_schemes() })
        }
    })
}

/// Makes the connection an encrypted one.
///
/// # Errors
/// The files cannot be read, no common version or cipher is found, or the certificate is not trusted.
pub(super) fn start(
    options: &ConnectOptions,
    tcp: TcpStream,
) -> Result<rustls::StreamOwned<ClientConnection, TcpStream>, WireError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| tls_error("cannot set up", e))?
        .dangerous()
        .with_custom_certificate_verifier(verifier(&options.tls, &provider)?);
    let config = match &options.client_identity {
        None => config.with_no_client_auth(),
        Some(ClientIdentity { certificate, key }) => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_file(key)
                .map_err(|e| tls_error(&format!("cannot read the key in {}", key.display()), e))?;
            config.with_client_auth_cert(chain, private).map_err(|e| tls_error("cannot use the client's key", e))?
        }
    };
    let name = ServerName::try_from(options.host.clone()).map_err(|e| tls_error("not a host name", e))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(|e| tls_error("cannot start", e))?;
    let mut stream = rustls::StreamOwned::new(connection, tcp);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|e| tls_error("the handshake failed", e))?;
    }
    Ok(stream)
}
