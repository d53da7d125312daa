//! HTTP requests that any frontend answers.

use super::answer::checked;
use super::endpoints::Endpoints;
use super::http::{Answer, Client, HttpError, Request};
use super::load_error::{Cause, LoadError};
use url::Url;

/// Who is asked, and what messages say of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// The sink, for the log.
    pub(crate) sink: &'static str,
    /// The option that names the frontends.
    pub(crate) option: &'static str,
    /// What should answer there.
    pub(crate) server: &'static str,
    /// What to check where the user is refused.
    pub(crate) hint: &'static str,
    /// What to check where a node does not agree on TLS.
    pub(crate) tls_hint: &'static str,
}

/// All frontends of a server: the one that answered last is asked first.
pub(crate) struct Frontends {
    http: Client,
    addresses: Endpoints<Url>,
    service: Service,
}

impl Frontends {
    /// Nothing is connected yet.
    pub(crate) fn new(http: Client, addresses: Vec<Url>, service: Service) -> Self {
        Self { http, addresses: Endpoints::new(addresses), service }
    }

    /// For requests to other nodes with the same user.
    pub(crate) fn http(&self) -> &Client {
        &self.http
    }

    /// The addresses, the preferred one first.
    #[cfg(feature = "doris")]
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Url> {
        self.addresses.candidates().map(|(_, url)| url)
    }

    /// Asks the frontends in turn until one can be reached, whatever it answers.
    ///
    /// # Errors
    /// None can be reached, or the connection broke: that frontend may have acted on the request.
    pub(crate) fn send(&self, request: &Request<'_>) -> Result<Answer, LoadError> {
        let mut last = None;
        for (index, frontend) in self.addresses.candidates() {
            match self.http.send(frontend, request) {
                Ok(answer) => {
                    self.addresses.prefer(index);
                    return Ok(answer);
                }
                Err(error) => {
                    let error = self.failed(error);
                    // One that may have seen the request is not passed by.
                    if !error.is_unsent() {
                        return Err(error);
                    }
                    tracing::warn!("{}: {}", self.service.sink, error.message);
                    last = Some(error.or(last));
                }
            }
        }
        let none = || LoadError::new(Cause::Refused, format!("`{}` names no frontend", self.service.option));
        Err(last.unwrap_or_else(none))
    }

    /// Like [`send`](Self::send), for answers that carry no JSON of the load's own where they fail.
    ///
    /// # Errors
    /// None can be reached, or the one that can answers with a failure.
    pub(crate) fn ask(&self, request: &Request<'_>) -> Result<Answer, LoadError> {
        self.checked(self.send(request)?)
    }

    /// Sends a request to one node.
    ///
    /// # Errors
    /// It can't be reached, or answers with a failure.
    pub(crate) fn ask_node(&self, node: &Url, request: &Request<'_>) -> Result<Answer, LoadError> {
        self.checked(self.http.send(node, request).map_err(|e| self.failed(e))?)
    }

    fn failed(&self, error: HttpError) -> LoadError {
        let mut error = LoadError::from(error);
        if error.cause == Cause::Tls {
            error.hint = Some(self.service.tls_hint);
        }
        error
    }

    fn checked(&self, answer: Answer) -> Result<Answer, LoadError> {
        checked(answer, self.service.server, self.service.hint)
    }
}
