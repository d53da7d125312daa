//! TLS at the servers' side, and an authority of each test's own.

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// What is encrypted, and as whom a server shows itself.
#[derive(Clone, Debug, Default)]
pub struct Encryption {
    /// The servers' certificate; `None`: nothing can be encrypted.
    pub certificate: Option<Arc<ServerConfig>>,
    /// Whether the MySQL port takes encrypted connections only. It offers them as soon as there is a certificate.
    pub required: bool,
    /// Whether the HTTP ports speak https, and nothing else.
    pub https: bool,
    /// Whether the backends do without it all the same.
    pub plain_backends: bool,
}

impl Encryption {
    /// How the addresses of the backends' HTTP ports begin.
    pub fn scheme(&self) -> &'static str {
        if self.https && !self.plain_backends { "https" } else { "http" }
    }

    /// What an HTTP port makes of a connection.
    pub(crate) fn http(&self, stream: TcpStream, backend: bool) -> Stream {
        match &self.certificate {
            Some(certificate) if self.https && !(backend && self.plain_backends) => {
                Stream::accept(stream, Arc::clone(certificate))
            }
            _ => Stream::Plain(stream),
        }
    }
}

/// Makes certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub pem: String,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "an authority for tests");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A server with a certificate for these names and addresses.
    pub fn server(&self, names: &[&str]) -> Arc<ServerConfig> {
        self.server_that_asks(names, None)
    }

    /// A server like that; where an authority is given, it takes only clients with a certificate of that one.
    pub fn server_that_asks(&self, names: &[&str], clients: Option<&Self>) -> Arc<ServerConfig> {
        let (certificate, key) = self.certificate(names);
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let clients = match clients {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
                let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
                builder.build().unwrap()
            }
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        Arc::new(config)
    }

    /// A client's certificate and its key, as PEM.
    pub fn client(&self) -> (String, String) {
        let (certificate, key) = self.certificate(&["client.example"]);
        (certificate.pem(), key.serialize_pem())
    }

    fn certificate(&self, names: &[&str]) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        (CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap(), key)
    }
}

/// A connection.
pub enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// The handshake takes place with the first byte that is read.
    pub fn accept(stream: TcpStream, config: Arc<ServerConfig>) -> Self {
        Self::Tls(Box::new(StreamOwned::new(ServerConnection::new(config).unwrap(), stream)))
    }

    /// Says that nothing more comes, where TLS has a word for it.
    pub fn close(&mut self) -> io::Result<()> {
        if let Self::Tls(stream) = self {
            stream.conn.send_close_notify();
        }
        self.flush()
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
