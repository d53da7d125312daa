//! Stream load and its transactions over HTTP. Blocking.

use super::config::Config;
use super::load_error::refused;
use crate::SinkError;
use crate::olap::answer::{parse, refused_rows, segment, status, text, words};
use crate::olap::frontends::{Frontends, Service};
use crate::olap::http::{Client, Request, Timeouts};
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::loads::LoadReport;
use rowferry_model::TableId;
use serde_json::Value;
use std::time::Duration;
use ureq::http::Method;
use url::Url;

const SERVICE: Service = Service {
    sink: "starrocks",
    option: "load-url",
    server: "a StarRocks frontend",
    hint: "check `username` and `password`, and that the user has INSERT on the tables",
    tls_hint: "`load-url` takes `https://host:port` for ports that speak TLS and `host:port` for others; a certificate must be \
               for the host name that is used",
};
/// How long an answer is waited for where the user sets no limit.
const LONGEST_ANSWER: Duration = Duration::from_secs(30 * 60);

/// An open transaction.
#[derive(Clone, Debug)]
pub(super) struct Transaction {
    /// Its label.
    pub(super) label: String,
    /// The node that coordinates it: what it holds, no other node knows.
    node: Url,
}

/// What has become of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LabelState {
    /// Nothing is known of it, any more or yet.
    Unknown,
    /// The transaction is open.
    Open,
    /// It waits for its commit.
    Prepared,
    /// It is committed and about to be seen.
    Committed,
    /// Its rows are seen.
    Visible,
    /// It is gone, with the reason.
    Aborted(String),
}

/// A client of all frontends.
pub(super) struct LoadClient {
    frontends: Frontends,
    headers: Vec<(String, String)>,
    timeout: String,
    idle_timeout: Option<String>,
    prepared_timeout: Option<String>,
}

impl LoadClient {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// User and password can't be written in a header.
    pub(super) fn new(config: &Config) -> Result<Self, SinkError> {
        let timeouts = Timeouts {
            connect: config.connect_timeout,
            wait_for_continue: config.wait_for_continue,
            // A peer that is gone without a word must not stop the pipeline for ever.
            answer: Some(config.socket_timeout.unwrap_or(LONGEST_ANSWER)),
        };
        let http = Client::new(&config.username, &config.password, timeouts)
            .map_err(|e| SinkError::permanent(format!("starrocks sink: user and password can't be used: {e}")))?;
        Ok(Self {
            frontends: Frontends::new(http, config.load_urls.clone(), SERVICE),
            headers: config.load_headers.clone(),
            timeout: config.transaction_timeout.to_string(),
            idle_timeout: config.idle_timeout.map(|n| n.to_string()),
            prepared_timeout: config.prepared_timeout.map(|n| n.to_string()),
        })
    }

    /// Opens a transaction.
    ///
    /// # Errors
    /// The label is taken, no node can be reached, or the server refuses.
    pub(super) fn begin(&self, table: &TableId, label: &str) -> Result<Transaction, LoadError> {
        let mut headers =
            vec![("db", table.database()), ("table", table.table()), ("label", label), ("timeout", &self.timeout)];
        if let Some(idle) = &self.idle_timeout {
            headers.push(("idle_transaction_timeout", idle));
        }
        let answer = self.frontends.ask(&post("/api/transaction/begin", &headers))?;
        let body = parse(&answer)?;
        match status(&body) {
            "OK" => Ok(Transaction { label: label.to_owned(), node: answer.node }),
            "LABEL_ALREADY_EXISTS" | "Label Already Exists" => Err(LoadError::new(Cause::LabelExists, words(&body))),
            _ if words(&body).contains("has already been used") => {
                Err(LoadError::new(Cause::LabelExists, words(&body)))
            }
            _ => Err(refused("begin a transaction on", &table.to_string(), &words(&body))),
        }
    }

    /// Writes rows into an open transaction.
    ///
    /// # Errors
    /// A row is refused, or the transaction is lost.
    pub(super) fn load(
        &self,
        table: &TableId,
        transaction: &Transaction,
        columns: Option<&str>,
        body: &[u8],
    ) -> Result<LoadReport, LoadError> {
        let mut headers = self.load_headers(columns);
        headers.extend([("db", table.database()), ("table", table.table()), ("label", &transaction.label)]);
        let request = Request {
            method: Method::PUT,
            path: "/api/transaction/load",
            headers: &headers,
            body,
            expect_continue: true,
        };
        let answer = parse(&self.frontends.ask_node(&transaction.node, &request)?)?;
        match status(&answer) {
            "OK" => Ok(report(&answer)),
            _ => Err(self.load_refused(table, &answer)),
        }
    }

    /// Makes a transaction's rows durable.
    ///
    /// # Errors
    /// The transaction is lost, or the node can't be reached.
    pub(super) fn prepare(&self, table: &TableId, transaction: &Transaction) -> Result<(), LoadError> {
        let mut headers = vec![("db", table.database()), ("label", transaction.label.as_str())];
        if let Some(timeout) = &self.prepared_timeout {
            headers.push(("prepared_timeout", timeout));
        }
        let request = post("/api/transaction/prepare", &headers);
        let answer = parse(&self.frontends.ask_node(&transaction.node, &request)?)?;
        match status(&answer) {
            "OK" => Ok(()),
            _ => Err(self.load_refused(table, &answer)),
        }
    }

    /// Commits a prepared transaction; a second time is no error.
    ///
    /// # Errors
    /// The server refuses, or no node can be reached.
    pub(super) fn commit(&self, table: &TableId, label: &str) -> Result<(), LoadError> {
        let headers = [("db", table.database()), ("label", label)];
        let answer = parse(&self.frontends.ask(&post("/api/transaction/commit", &headers))?)?;
        match status(&answer) {
            "OK" => Ok(()),
            _ => Err(refused("commit to", &table.to_string(), &words(&answer))),
        }
    }

    /// Ends a transaction without effect; a second time is no error.
    ///
    /// # Errors
    /// The server refuses, or no node can be reached.
    pub(super) fn roll_back(&self, table: &TableId, label: &str) -> Result<(), LoadError> {
        let headers = [("db", table.database()), ("label", label)];
        let answer = parse(&self.frontends.ask(&post("/api/transaction/rollback", &headers))?)?;
        if status(&answer) == "OK" {
            return Ok(());
        }
        let refusal = words(&answer);
        // A frontend that did not see the transaction begin doesn't know its node. It can still cancel the load.
        let path = format!("/api/{}/{}/_cancel?label={label}", segment(table.database()), segment(table.table()));
        let answer = parse(&self.frontends.ask(&post(&path, &[]))?)?;
        match status(&answer) {
            "OK" => Ok(()),
            _ => Err(refused("roll back on", &table.to_string(), &refusal)),
        }
    }

    /// What has become of a label.
    ///
    /// # Errors
    /// The server refuses, or no node can be reached.
    pub(super) fn state(&self, table: &TableId, label: &str) -> Result<LabelState, LoadError> {
        let path = format!("/api/{}/get_load_state?label={}", segment(table.database()), segment(label));
        let request = Request { method: Method::GET, path: &path, headers: &[], body: &[], expect_continue: false };
        let answer = parse(&self.frontends.ask(&request)?)?;
        let state = text(&answer, "state").unwrap_or_default();
        Ok(match state {
            "UNKNOWN" => LabelState::Unknown,
            "PREPARE" => LabelState::Open,
            "PREPARED" => LabelState::Prepared,
            "COMMITTED" => LabelState::Committed,
            "VISIBLE" => LabelState::Visible,
            "ABORTED" => LabelState::Aborted(text(&answer, "reason").unwrap_or_default().to_owned()),
            _ if words(&answer).contains("unknown database") => LabelState::Unknown,
            _ => return Err(refused("tell a label's state of", &table.to_string(), &words(&answer))),
        })
    }

    /// Loads rows at once, without a transaction.
    ///
    /// # Errors
    /// A row is refused, the label is taken, or no node can be reached.
    pub(super) fn stream_load(
        &self,
        table: &TableId,
        label: &str,
        columns: Option<&str>,
        body: &[u8],
    ) -> Result<LoadReport, LoadError> {
        let path = format!("/api/{}/{}/_stream_load", segment(table.database()), segment(table.table()));
        let mut headers = self.load_headers(columns);
        headers.push(("label", label));
        let request = Request { method: Method::PUT, path: &path, headers: &headers, body, expect_continue: true };
        let answer = parse(&self.frontends.ask(&request)?)?;
        match status(&answer) {
            // Committed; it is seen a little later.
            "Success" | "OK" | "Publish Timeout" => Ok(report(&answer)),
            "Label Already Exists" | "LABEL_ALREADY_EXISTS" => Err(LoadError::new(Cause::LabelExists, words(&answer))),
            _ => Err(self.load_refused(table, &answer)),
        }
    }

    fn load_headers<'a>(&'a self, columns: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
        let own = self.headers.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        own.chain(columns.map(|c| ("columns", c))).collect()
    }

    /// A refused load, with the first rows that were refused where the server kept them.
    fn load_refused(&self, table: &TableId, answer: &Value) -> LoadError {
        let mut reason = refused_rows(self.frontends.http(), answer);
        if let Some(log) = text(answer, "RejectedRecordPath").filter(|p| !p.is_empty()) {
            reason = format!("{reason}; all of them: {log}");
        }
        refused("load", &table.to_string(), &reason)
    }
}

fn post<'a>(path: &'a str, headers: &'a [(&'a str, &'a str)]) -> Request<'a> {
    Request { method: Method::POST, path, headers, body: &[], expect_continue: false }
}

fn report(body: &Value) -> LoadReport {
    LoadReport { filtered: body.get("NumberFilteredRows").and_then(Value::as_u64).unwrap_or(0) }
}
