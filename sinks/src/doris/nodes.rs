//! Which nodes take loads.

use super::config::Config;
use crate::olap::answer::{parse, unauthorized, words};
use crate::olap::frontends::{Frontends, Service};
use crate::olap::http::{Answer, Request};
use crate::olap::load_error::{Cause, LoadError};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::http::Method;
use url::Url;

/// Who is asked, and what messages say of it.
pub(super) const SERVICE: Service = Service {
    sink: "doris",
    option: "fenodes",
    server: "Doris",
    hint: "check `username` and `password`, and that the user has LOAD on the tables",
    tls_hint: "`fenodes` and `benodes` take `https://host:port` for ports that speak TLS and `http://host:port` for others; name \
               backends without TLS by `benodes`; a certificate must be for the host name that is used",
};
/// How long a list of backends is taken for true.
const LIST_LIFE: Duration = Duration::from_secs(30);
/// How often the frontends are asked for a redirect to a backend that can be reached.
const REDIRECTS: usize = 3;

/// Frontends and backends.
pub(super) struct Nodes {
    pub(super) frontends: Frontends,
    fixed: Vec<Url>,
    redirect: bool,
    listed: Mutex<Option<(Instant, Vec<Url>)>>,
    turn: AtomicUsize,
}

impl Nodes {
    /// Nothing is connected yet.
    pub(super) fn new(frontends: Frontends, config: &Config) -> Self {
        Self {
            frontends,
            fixed: config.backends.clone(),
            redirect: config.auto_redirect,
            listed: Mutex::new(None),
            turn: AtomicUsize::new(0),
        }
    }

    /// Sends a request to a backend: directly, or by way of a frontend. Another one is taken where one can't be reached.
    ///
    /// # Errors
    /// None can be reached, or the one that can answers with a failure.
    pub(super) fn backend(&self, request: &Request<'_>) -> Result<Value, LoadError> {
        let mut last = None;
        for node in self.candidates()? {
            match self.frontends.ask_node(&node, request) {
                Ok(answer) => return body(&answer),
                Err(error) if error.is_unsent() => {
                    tracing::warn!("doris: {}", error.message);
                    last = Some(error.or(last));
                }
                Err(error) => return Err(error),
            }
        }
        // The list may be old.
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(last.unwrap_or_else(|| LoadError::new(Cause::Busy, "Doris has no backend that is alive")))
    }

    fn candidates(&self) -> Result<Vec<Url>, LoadError> {
        if self.redirect {
            let frontends: Vec<Url> = self.frontends.addresses().cloned().collect();
            return Ok((0..REDIRECTS).flat_map(|_| frontends.iter().cloned()).collect());
        }
        let mut nodes = if self.fixed.is_empty() { self.list()? } else { self.fixed.clone() };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let n = nodes.len();
        nodes.rotate_left(turn.checked_rem(n).unwrap_or(0));
        Ok(nodes)
    }

    /// The backends that a frontend knows to be alive.
    fn list(&self) -> Result<Vec<Url>, LoadError> {
        let known = self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((since, nodes)) = known
            && since.elapsed() < LIST_LIFE
        {
            return Ok(nodes);
        }
        let request = Request {
            method: Method::GET,
            path: "/api/backends?is_alive=true",
            headers: &[],
            body: &[],
            expect_continue: false,
        };
        let answer = self.frontends.ask(&request)?;
        let scheme = answer.node.scheme().to_owned();
        let listed = body(&answer)?;
        let backends = listed.pointer("/data/backends").and_then(Value::as_array).ok_or_else(|| {
            LoadError::new(Cause::Refused, format!("{} does not list its backends: {listed}", answer.node))
        })?;
        let nodes: Vec<Url> = backends
            .iter()
            // `is_alive=true` filters in some versions only.
            .filter(|b| b.get("is_alive").and_then(Value::as_bool) != Some(false))
            .filter_map(|b| {
                let host = b.get("ip").and_then(Value::as_str)?;
                let port = b.get("http_port").and_then(Value::as_u64)?;
                let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
                Url::parse(&format!("{scheme}://{host}:{port}/")).ok()
            })
            .collect();
        if !nodes.is_empty() {
            *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), nodes.clone()));
        }
        Ok(nodes)
    }
}

/// The JSON of an answer. Failures of the HTTP layer come with status 200 and a `code`.
///
/// # Errors
/// It is no JSON, or its `code` says that the request failed.
pub(super) fn body(answer: &Answer) -> Result<Value, LoadError> {
    let body = parse(answer)?;
    let said = || body.get("data").and_then(Value::as_str).map_or_else(|| words(&body), str::to_owned);
    match body.get("code").and_then(Value::as_i64) {
        None | Some(0) => Ok(body),
        Some(401) => Err(unauthorized(answer, &said(), SERVICE.hint)),
        Some(code) => Err(super::load_error::refused(
            "answer",
            &format!("a request to {}", answer.node),
            &format!("{} (code {code})", said()),
        )),
    }
}
