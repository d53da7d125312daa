//! Connector/J's properties of TLS: what together they ask for.

use super::mode::{TlsMode, UnknownMode};

const USE_SSL: &str = "useSSL";
const REQUIRE_SSL: &str = "requireSSL";
const VERIFY: &str = "verifyServerCertificate";
const SSL_MODE: &str = "sslMode";

/// The properties that have a say in the mode.
pub const WORDS: [&str; 4] = [USE_SSL, REQUIRE_SSL, VERIFY, SSL_MODE];

/// A property's value is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{property}={text}` {problem}")]
pub struct WordError {
    /// The property.
    pub property: &'static str,
    /// Its value.
    pub text: String,
    /// What is wrong with that.
    pub problem: Problem,
}

/// What is wrong with a word; the text goes on behind the word itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A switch is on or off.
    #[error("is not a boolean")]
    NotBoolean,
    /// No mode.
    #[error(transparent)]
    UnknownMode(UnknownMode),
}

/// What the properties ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What `sslMode` says, if it is given.
    pub ssl_mode: Option<TlsMode>,
    /// What the older switches say. Where none is given: PREFERRED, for `useSSL` is on then.
    pub older: TlsMode,
}

impl Wish {
    /// Asks for the value of each property; how names are spelled, and which of several values counts, is up to the
    /// caller. A property with an error counts as one that is not given.
    pub fn read<'t>(value: impl Fn(&'static str) -> Option<&'t str>) -> (Self, Vec<WordError>) {
        let mut errors = Vec::new();
        let mut failed = |property, text: &str, problem| {
            errors.push(WordError { property, text: text.to_owned(), problem });
        };
        let mut switch = |property| {
            let text = value(property)?;
            let on = text.eq_ignore_ascii_case("true");
            if !on && !text.eq_ignore_ascii_case("false") {
                failed(property, text, Problem::NotBoolean);
                return None;
            }
            Some(on)
        };
        let (on, require, verify) = (switch(USE_SSL), switch(REQUIRE_SSL), switch(VERIFY));
        let older = match (on.unwrap_or(true), verify.unwrap_or(false), require.unwrap_or(false)) {
            (false, ..) => TlsMode::Disabled,
            (true, true, _) => TlsMode::VerifyCa,
            (true, false, true) => TlsMode::Required,
            (true, false, false) => TlsMode::Preferred,
        };
        let ssl_mode = value(SSL_MODE).and_then(|text| {
            text.parse().map_err(|problem| failed(SSL_MODE, text, Problem::UnknownMode(problem))).ok()
        });
        (Self { ssl_mode, older }, errors)
    }

    /// `sslMode` goes before the older switches, as in the driver.
    pub fn mode(&self) -> TlsMode {
        self.ssl_mode.unwrap_or(self.older)
    }
}

#[cfg(test)]
mod tests;
