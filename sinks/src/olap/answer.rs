//! What frontends and backends answer to loads.

use super::http::{Answer, Client, Request};
use super::load_error::{Cause, LoadError};
use serde_json::Value;
use ureq::http::Method;
use url::Url;

/// How many of the refused rows are quoted, and how much of them.
const QUOTED_LINES: usize = 3;
const QUOTED_BYTES: usize = 1500;
/// How much of an answer that is not understood is quoted, in characters.
const QUOTED_ANSWER: usize = 300;

/// Answers that carry no JSON of the load's own. `server` and `hint` are for messages: what should have answered, and
/// what to check where the user is refused.
///
/// # Errors
/// The status says that the request failed.
pub(crate) fn checked(answer: Answer, server: &str, hint: &'static str) -> Result<Answer, LoadError> {
    match answer.status {
        200..=299 => Ok(answer),
        401 | 403 => {
            let said = serde_json::from_str(&answer.body).ok().map(|body: Value| words(&body));
            Err(unauthorized(&answer, &said.unwrap_or_else(|| answer.body.clone()), hint))
        }
        500.. => {
            let said = answer.body.chars().take(QUOTED_ANSWER).collect::<String>();
            Err(LoadError::new(Cause::Busy, format!("{} answers with status {}: {said}", answer.node, answer.status)))
        }
        status => Err(LoadError::new(
            Cause::Refused,
            format!("{} answers with status {status}: is it the HTTP port of {server}?", answer.node),
        )),
    }
}

/// The user is refused.
pub(crate) fn unauthorized(answer: &Answer, said: &str, hint: &'static str) -> LoadError {
    let mut error = LoadError::new(Cause::Refused, format!("{} refuses the user: {said}", answer.node));
    error.hint = Some(hint);
    error
}

/// An answer's JSON.
///
/// # Errors
/// It is none.
pub(crate) fn parse(answer: &Answer) -> Result<Value, LoadError> {
    serde_json::from_str(&answer.body).map_err(|e| {
        let said = answer.body.chars().take(QUOTED_ANSWER).collect::<String>();
        LoadError::new(Cause::Unknown, format!("{} does not answer with JSON ({e}): {said}", answer.node))
    })
}

/// A field that is a text.
pub(crate) fn text<'a>(body: &'a Value, key: &str) -> Option<&'a str> {
    body.get(key).and_then(Value::as_str)
}

/// The status that an answer gives.
pub(crate) fn status(body: &Value) -> &str {
    text(body, "Status").or_else(|| text(body, "status")).unwrap_or_default()
}

/// What an answer says of itself.
pub(crate) fn words(body: &Value) -> String {
    text(body, "Message").or_else(|| text(body, "msg")).filter(|m| !m.is_empty()).map_or_else(
        || body.to_string(),
        |m| match m.split_once("Exception: ") {
            Some((class, rest)) if class.starts_with("class ") => rest.to_owned(),
            _ => m.to_owned(),
        },
    )
}

/// The first lines behind an error URL: the rows that were refused, and why. `None`: they can't be had.
fn first_lines(http: &Client, url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|u| matches!(u.scheme(), "http" | "https"))?;
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let request = Request { method: Method::GET, path: &path, headers: &[], body: &[], expect_continue: false };
    let answer = http.send(&url, &request).ok().filter(|a| a.status == 200)?;
    let mut lines = answer.body.lines().take(QUOTED_LINES).collect::<Vec<_>>().join(" | ");
    if lines.len() > QUOTED_BYTES {
        let end = (0..=QUOTED_BYTES).rev().find(|i| lines.is_char_boundary(*i)).unwrap_or(0);
        lines.truncate(end);
        lines.push('…');
    }
    (!lines.is_empty()).then_some(lines)
}

/// What a refused load says of itself, with the first rows that were refused where the server kept them.
pub(crate) fn refused_rows(http: &Client, body: &Value) -> String {
    let reason = words(body);
    match text(body, "ErrorURL").filter(|u| !u.is_empty()) {
        None => reason,
        Some(url) => match first_lines(http, url) {
            Some(lines) => format!("{reason}; the first refused rows: {lines}"),
            None => format!("{reason}; the refused rows: {url}"),
        },
    }
}

/// A name as a part of a path.
pub(crate) fn segment(name: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'$') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
