//! HTTP to frontends and backends: requests with a password, redirects that keep it, `Expect: 100-continue`.
//!
//! Blocking: a load is one long request that a thread of its own waits for.

#[cfg(test)]
mod tests;

use super::authorities;
use super::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rowferry_tls::Authorities;
use rustls::{AlertDescription, CertificateError};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use ureq::http::{HeaderName, HeaderValue, Method, Request as HttpRequest, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use url::Url;

/// How many redirects in a row are followed.
const MAX_REDIRECTS: usize = 5;
/// How much of an answer is read. Answers are a few hundred bytes; an error URL may point to a large file.
const MAX_ANSWER: u64 = 256 * 1024;

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For `100 Continue` before the body is sent anyway.
    pub(crate) wait_for_continue: Duration,
    /// For the answer once a request is sent; `None`: for ever.
    pub(crate) answer: Option<Duration>,
}

/// A request.
pub(crate) struct Request<'a> {
    /// The method.
    pub(crate) method: Method,
    /// Path and query, beginning with `/`.
    pub(crate) path: &'a str,
    /// Headers besides `Authorization`, `Expect` and `Content-Length`.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub(crate) body: &'a [u8],
    /// Whether to wait for `100 Continue` before the body.
    pub(crate) expect_continue: bool,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// The body, cut off at 256 KiB.
    pub(crate) body: String,
    /// Scheme, host and port of the node that answered in the end.
    pub(crate) node: Url,
}

/// A request failed without an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// No connection: the node has seen nothing of the request.
    #[error("cannot connect to {node}: {reason}")]
    Connect {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// The connection broke, or no answer came in time: the node may have acted on the request.
    #[error("no answer from {node}: {reason}")]
    Broken {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// The two sides don't agree on TLS: the node has seen nothing of the request.
    #[error("TLS with {node}: {reason}")]
    Tls {
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// The request can't be written, or the redirect can't be followed.
    #[error("{0}")]
    Invalid(String),
}

/// A client with one user's credentials.
pub(crate) struct Client {
    agent: ureq::Agent,
    authorization: HeaderValue,
    /// Why nobody's certificate can be checked, if so.
    no_authorities: Option<String>,
    /// Whether it was told that a redirect leads out of TLS.
    told: AtomicBool,
}

impl Client {
    /// A client.
    ///
    /// # Errors
    /// The credentials can't be written in a header.
    pub(crate) fn new(user: &str, password: &Secret, timeouts: Timeouts) -> Result<Self, HttpError> {
        let mut authorization =
            HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(format!("{user}:{}", password.reveal()))))
                .map_err(|e| HttpError::Invalid(e.to_string()))?;
        authorization.set_sensitive(true);
        // Who does without TLS must not fail for what only that needs.
        let (authorities, no_authorities) = match Authorities::of_environment().file().map(read_authorities).transpose()
        {
            Ok(authorities) => (authorities.unwrap_or(RootCerts::WebPki), None),
            Err(reason) => (RootCerts::WebPki, Some(reason)),
        };
        let agent = ureq::Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(authorities).build())
            .http_status_as_error(false)
            // A redirect must keep method, body and password, which no client does by itself across hosts.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Frontends close connections behind loads. A connection that is new can't be one that died unnoticed.
            .max_idle_connections(0)
            .max_idle_connections_per_host(0)
            .timeout_connect(Some(timeouts.connect))
            .timeout_resolve(Some(timeouts.connect))
            .timeout_await_100(Some(timeouts.wait_for_continue))
            .timeout_recv_response(timeouts.answer)
            .timeout_recv_body(timeouts.answer)
            .user_agent(concat!("rowferry/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Self { agent, authorization, no_authorities, told: AtomicBool::new(false) })
    }

    /// Sends a request and follows redirects with the same method, headers, body and password.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) fn send(&self, node: &Url, request: &Request<'_>) -> Result<Answer, HttpError> {
        let mut url =
            node.join(request.path).map_err(|e| HttpError::Invalid(format!("{node}{}: {e}", request.path)))?;
        for _ in 0..=MAX_REDIRECTS {
            match self.once(&url, request)? {
                Step::Done(answer) => return Ok(answer),
                Step::Redirect(to) => url = to,
            }
        }
        Err(HttpError::Invalid(format!("{} answers with more than {MAX_REDIRECTS} redirects", origin(node))))
    }

    fn once(&self, url: &Url, request: &Request<'_>) -> Result<Step, HttpError> {
        let invalid = |e: &dyn std::fmt::Display| HttpError::Invalid(format!("a request to {}: {e}", origin(url)));
        if url.scheme() == "https"
            && let Some(reason) = &self.no_authorities
        {
            return Err(invalid(reason));
        }
        let mut builder = HttpRequest::builder()
            .method(request.method.clone())
            .uri(url.as_str())
            .header(header::AUTHORIZATION, self.authorization.clone())
            // No connection is used again. And where an answer comes instead of `100 Continue`, `ureq` reads on
            // behind it: until the server closes, or for as long as an answer may take.
            .header(header::CONNECTION, "close");
        for (name, value) in request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| invalid(&e))?;
            // Names of tables and columns travel in headers as the UTF-8 that they are.
            builder = builder.header(name, HeaderValue::from_bytes(value.as_bytes()).map_err(|e| invalid(&e))?);
        }
        if request.expect_continue {
            builder = builder.header(header::EXPECT, "100-continue");
        }
        let result = if request.method == Method::GET {
            builder.body(()).map_err(|e| invalid(&e)).map(|r| self.agent.run(r))?
        } else {
            builder.body(request.body).map_err(|e| invalid(&e)).map(|r| self.agent.run(r))?
        };
        let mut response = result.map_err(|e| failure(url, &e))?;
        let status = response.status().as_u16();
        if matches!(status, 301 | 302 | 307 | 308)
            && let Some(location) = response.headers().get(header::LOCATION)
        {
            let location = std::str::from_utf8(location.as_bytes()).map_err(|e| invalid(&e))?;
            let mut to = url.join(location).map_err(|e| invalid(&format!("a redirect that is no address: {e}")))?;
            // Doris puts user and password into the address: they travel in the header, and belong in no message.
            let stripped = to.set_username("").and_then(|()| to.set_password(None));
            if stripped.is_err() || !matches!(to.scheme(), "http" | "https") {
                return Err(invalid(&format!("a redirect to a `{}` address", to.scheme())));
            }
            if url.scheme() == "https" && to.scheme() == "http" && !self.told.swap(true, Ordering::Relaxed) {
                // Frontends behind a balancer that ends TLS do this, and backends without TLS take nothing else.
                tracing::warn!(
                    "{} redirects to {}: from there on, password and rows go without encryption",
                    origin(url),
                    origin(&to)
                );
            }
            return Ok(Step::Redirect(to));
        }
        let mut body = Vec::new();
        response
            .body_mut()
            .as_reader()
            .take(MAX_ANSWER)
            .read_to_end(&mut body)
            .map_err(|e| HttpError::Broken { node: origin(url), reason: e.to_string() })?;
        let mut node = url.clone();
        node.set_path("/");
        node.set_query(None);
        Ok(Step::Done(Answer { status, body: String::from_utf8_lossy(&body).into_owned(), node }))
    }
}

enum Step {
    Done(Answer),
    Redirect(Url),
}

/// Scheme, host and port, for messages.
fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn read_authorities(file: &Path) -> Result<RootCerts, String> {
    let unreadable = |e: &dyn std::fmt::Display| {
        format!("cannot read the certificates in {} ({}): {e}", file.display(), rowferry_tls::AUTHORITIES)
    };
    let text = std::fs::read(file).map_err(|e| unreadable(&e))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|e| unreadable(&e))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() { Err(unreadable(&"there is none")) } else { Ok(certificates.into()) }
}

/// What keeps the two sides from encrypting at all, in words. It lies within the error of the transport.
fn tls_failure(error: &ureq::Error) -> Option<String> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        _ => return None,
    };
    match error {
        // The second: of an authority of the same name.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            Some(format!(
                "the server's certificate is not from a known authority ({error}); name a file with that authority, \
                 as PEM, by the variable {}",
                rowferry_tls::AUTHORITIES
            ))
        }
        _ if error.to_string().contains(authorities::OWN_AUTHORITY) => {
            Some(format!("{} ({error})", authorities::OWN_AUTHORITY_MEANS))
        }
        rustls::Error::InvalidMessage(_) => Some(format!("{error}; does that port speak https?")),
        rustls::Error::InvalidCertificate(_)
        | rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion) => {
            Some(error.to_string())
        }
        // What else there is may come in the middle of a load.
        _ => None,
    }
}

fn failure(url: &Url, error: &ureq::Error) -> HttpError {
    let node = origin(url);
    if let Some(reason) = tls_failure(error) {
        return HttpError::Tls { node, reason };
    }
    let reason = error.to_string();
    let unsent = match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Timeout(what) => matches!(what, ureq::Timeout::Connect | ureq::Timeout::Resolve),
        ureq::Error::Io(e) => {
            matches!(
                e.kind(),
                std::io::ErrorKind::ConnectionRefused
                    | std::io::ErrorKind::HostUnreachable
                    | std::io::ErrorKind::NetworkUnreachable
                    | std::io::ErrorKind::AddrNotAvailable
            )
        }
        _ => false,
    };
    if unsent { HttpError::Connect { node, reason } } else { HttpError::Broken { node, reason } }
}
