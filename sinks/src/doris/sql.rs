//! Statements over a frontend's HTTP port: `POST /api/query/default_cluster/<db>`, as Flink CDC sends them.

use super::config::Config;
use super::load_client::frontends;
use crate::SinkError;
use crate::olap::applier::{Connection, Failure};
use crate::olap::frontends::Frontends;
use crate::olap::http::{Answer, Request};
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::rows::Rows;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use ureq::http::Method;

/// A database that is always there; statements name theirs.
const PATH: &str = "/api/query/default_cluster/information_schema";

/// Sends statements to whichever frontend answers.
#[derive(Clone)]
pub(super) struct SqlClient {
    frontends: Arc<Frontends>,
}

impl SqlClient {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// User and password can't be written in a header.
    pub(super) fn new(config: &Config) -> Result<Self, SinkError> {
        Ok(Self { frontends: Arc::new(frontends(config)?) })
    }

    /// Runs one statement. Blocking.
    ///
    /// # Errors
    /// The server refuses it, or there is no answer.
    pub(super) fn run(&self, sql: &str) -> Result<Rows, Failure> {
        post(&self.frontends, json!({ "stmt": sql }).to_string().as_bytes())
    }
}

#[async_trait]
impl Connection for SqlClient {
    /// On a thread where waiting is allowed.
    async fn query(&mut self, sql: &str) -> Result<Rows, Failure> {
        let (client, sql) = (self.clone(), sql.to_owned());
        let task = tokio::task::spawn_blocking(move || client.run(&sql));
        task.await.map_err(|e| Failure::Lost(format!("a statement's thread ended unexpectedly: {e}")))?
    }
}

fn post(frontends: &Frontends, body: &[u8]) -> Result<Rows, Failure> {
    let request = Request {
        method: Method::POST,
        path: PATH,
        headers: &[("Content-Type", "application/json;charset=UTF-8")],
        body,
        expect_continue: false,
    };
    match frontends.send(&request) {
        Ok(answer) => rows(&answer),
        Err(LoadError { cause: Cause::Refused | Cause::Tls, message, hint }) => {
            Err(Failure::Refused(hint.map_or(message.clone(), |hint| format!("{message}; {hint}"))))
        }
        Err(error) => Err(Failure::Lost(error.message)),
    }
}

/// What an answer says. Failures come with status 200 and a `code`.
fn rows(answer: &Answer) -> Result<Rows, Failure> {
    let quoted = || answer.body.chars().take(300).collect::<String>();
    if answer.status >= 500 {
        return Err(Failure::Lost(format!("{} answers with status {}: {}", answer.node, answer.status, quoted())));
    }
    let Ok(body) = serde_json::from_str::<Value>(&answer.body) else {
        return Err(Failure::Refused(format!(
            "{} answers with status {} and no JSON: is it the HTTP port of a Doris frontend? {}",
            answer.node,
            answer.status,
            quoted()
        )));
    };
    let said = || body.get("data").and_then(Value::as_str).map_or_else(|| body.to_string(), bare);
    match body.get("code").and_then(Value::as_i64) {
        Some(0) => {}
        Some(401) => return Err(Failure::Denied(said())),
        _ if answer.status == 401 => return Err(Failure::Denied(said())),
        _ if said().contains("command denied to user") => return Err(Failure::Denied(said())),
        _ => return Err(failure(said())),
    }
    let names = body.pointer("/data/meta").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let data = body.pointer("/data/data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(Rows {
        columns: names.iter().filter_map(|m| m.get("name")?.as_str()).map(str::to_owned).collect(),
        rows: data
            .iter()
            .map(|row| {
                let cells = row.as_array().map(Vec::as_slice).unwrap_or_default();
                cells
                    .iter()
                    .map(|cell| match cell {
                        Value::Null => None,
                        Value::String(text) => Some(text.clone()),
                        other => Some(other.to_string()),
                    })
                    .collect()
            })
            .collect(),
    })
}

/// What a refusal means: the same fact has several texts.
fn failure(words: String) -> Failure {
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if says(&["Unknown table", "Unknown database", "does not exist in database", "table not found"]) {
        Failure::Missing(words)
    } else if says(&[
        "is not NORMAL",
        "cannot be dropped. please cancel",
        "There are still some transactions in the COMMITTED state",
    ]) {
        Failure::Busy(words)
    } else {
        Failure::Refused(words)
    }
}

/// The server's own words, without what Java puts before them.
fn bare(text: &str) -> String {
    text.split_once("detailMessage = ").map_or(text, |(_, words)| words).trim().to_owned()
}
