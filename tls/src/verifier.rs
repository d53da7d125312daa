//! Which certificates are trusted: any; those of an authority; those of an authority for this host.

use super::certificates::authorities;
use super::error::SetUpError;
use super::mode::TlsMode;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::path::Path;
use std::sync::Arc;

/// What a mode wants of a certificate. The authority's file is read only where the mode verifies.
///
/// # Errors
/// The authority's certificates can't be read or used.
pub(super) fn verifier(
    mode: TlsMode,
    authority: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, SetUpError> {
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if !mode.verifies() {
        return Ok(Arc::new(Lenient { webpki: None, schemes }));
    }
    let webpki = WebPkiServerVerifier::builder_with_provider(authorities(authority)?, Arc::clone(provider))
        .build()
        .map_err(SetUpError::Authority)?;
    Ok(match mode {
        TlsMode::VerifyIdentity => webpki,
        _ => Arc::new(Lenient { webpki: Some(webpki), schemes }),
    })
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

    // Without an authority, a signature by an unknown key proves nothing, and checking it would refuse the version 1
    // certificates that older servers made for themselves.
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
