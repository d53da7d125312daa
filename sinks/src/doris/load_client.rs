//! Stream loads and their two-phase commits over HTTP. Blocking.

use super::config::{Config, Mode};
use super::load_error::refused;
use super::nodes::{Nodes, SERVICE, body};
use crate::SinkError;
use crate::olap::answer::{refused_rows, segment, status, text, words};
use crate::olap::frontends::Frontends;
use crate::olap::http::{Client, Request, Timeouts};
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::loads::LoadReport;
use flate2::Compression;
use flate2::write::GzEncoder;
use rowferry_model::TableId;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;
use ureq::http::Method;

const CONNECT: Duration = Duration::from_secs(30);
const WAIT_FOR_CONTINUE: Duration = Duration::from_secs(30);
/// How long an answer to a load is waited for.
const LONGEST_ANSWER: Duration = Duration::from_secs(30 * 60);

/// What has become of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelState {
    /// Nothing is known of it, any more or yet.
    Unknown,
    /// Its load is under way.
    Running,
    /// It waits for its commit.
    PreCommitted,
    /// It is committed and about to be seen.
    Committed,
    /// Its rows are seen.
    Visible,
    /// It is gone.
    Aborted,
}

/// What a load came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// The transaction's number, where the server gives it.
    pub(super) transaction: Option<u64>,
    pub(super) report: LoadReport,
}

/// What a commit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// Now, or before.
    Yes,
    /// The transaction was aborted, with the server's words.
    Aborted(String),
    /// The server does not know it, or its table.
    Unknown(String),
}

/// A client of all frontends and backends.
pub(super) struct LoadClient {
    nodes: Nodes,
    headers: Vec<(String, String)>,
    mode: Mode,
    gzip: bool,
}

/// The frontends, asked with the user's credentials.
///
/// # Errors
/// User and password can't be written in a header.
pub(super) fn frontends(config: &Config) -> Result<Frontends, SinkError> {
    let timeouts = Timeouts {
        connect: CONNECT,
        wait_for_continue: WAIT_FOR_CONTINUE,
        // A peer that is gone without a word must not stop the pipeline for ever.
        answer: Some(LONGEST_ANSWER),
    };
    let http = Client::new(&config.username, &config.password, timeouts)
        .map_err(|e| SinkError::permanent(format!("doris sink: user and password can't be used: {e}")))?;
    Ok(Frontends::new(http, config.frontends.clone(), SERVICE))
}

impl LoadClient {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// User and password can't be written in a header.
    pub(super) fn new(config: &Config) -> Result<Self, SinkError> {
        Ok(Self {
            nodes: Nodes::new(frontends(config)?, config),
            headers: config.load_headers.clone(),
            mode: config.mode,
            gzip: config.gzip,
        })
    }

    /// Loads rows, with a header that names columns. With two phases they wait for `commit` then; without they are seen at once, or soon.
    ///
    /// # Errors
    /// A row is refused, the label is taken, or no node can be reached.
    pub(super) fn load(
        &self,
        table: &TableId,
        label: Option<&str>,
        columns: Option<(&str, &str)>,
        rows: &[u8],
    ) -> Result<Loaded, LoadError> {
        let mut headers: Vec<(&str, &str)> = self.headers.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        headers.extend(label.map(|l| ("label", l)));
        headers.extend(columns);
        if self.mode == Mode::TwoPhase {
            headers.push(("two_phase_commit", "true"));
        }
        self.send(table, &headers, rows)
    }

    /// Loads rows into a table of the sink's own: in one phase, and of what the user has set with nothing but how rows
    /// are read. They are seen soon.
    ///
    /// # Errors
    /// A row is refused, the label is taken, or no node can be reached.
    pub(super) fn load_own(
        &self,
        table: &TableId,
        label: &str,
        columns: &str,
        rows: &[u8],
    ) -> Result<Loaded, LoadError> {
        // What says how rows are read.
        let read_as = |name: &str| name == "format" || name.eq_ignore_ascii_case("timezone");
        let users = self.headers.iter().filter(|(name, _)| read_as(name)).map(|(k, v)| (k.as_str(), v.as_str()));
        let own = [("label", label), ("columns", columns), ("strict_mode", "true"), ("timeout", "600")];
        let headers: Vec<(&str, &str)> = own.into_iter().chain(users).collect();
        self.send(table, &headers, rows)
    }

    fn send(&self, table: &TableId, headers: &[(&str, &str)], rows: &[u8]) -> Result<Loaded, LoadError> {
        let path = format!("/api/{}/{}/_stream_load", segment(table.database()), segment(table.table()));
        let compressed = if self.gzip { Some(gzip(rows)?) } else { None };
        let request = Request {
            method: Method::PUT,
            path: &path,
            headers,
            body: compressed.as_deref().unwrap_or(rows),
            expect_continue: true,
        };
        let answer = self.nodes.backend(&request)?;
        match status(&answer) {
            // The second: committed, and seen a little later.
            "Success" | "Publish Timeout" => Ok(Loaded {
                transaction: answer.get("TxnId").and_then(Value::as_u64),
                report: LoadReport { filtered: answer.get("NumberFilteredRows").and_then(Value::as_u64).unwrap_or(0) },
            }),
            "Label Already Exists" => Err(LoadError::new(Cause::LabelExists, words(&answer))),
            _ => {
                let reason = refused_rows(self.nodes.frontends.http(), &answer);
                Err(refused("load", &table.to_string(), &reason))
            }
        }
    }

    /// Commits a prepared transaction; a second time is no error.
    ///
    /// # Errors
    /// The server refuses for a reason that may pass, or no node can be reached.
    pub(super) fn commit(&self, table: &TableId, transaction: u64) -> Result<Committed, LoadError> {
        let id = transaction.to_string();
        let answer = self.second_phase(table, ("txn_id", &id), "commit")?;
        let said = words(&answer);
        let lower = said.to_ascii_lowercase();
        // The words are all there is; all of them are recorded.
        Ok(match status(&answer) {
            "Success" | "OK" => Committed::Yes,
            _ if lower.contains("already committed") || lower.contains("already visible") => Committed::Yes,
            _ if lower.contains("already aborted") => Committed::Aborted(said),
            _ if lower.contains("not found") => Committed::Unknown(said),
            _ => return Err(refused("commit to", &table.to_string(), &said)),
        })
    }

    /// Ends a transaction without effect, by its number or, once it waits for its commit, by its label.
    ///
    /// # Errors
    /// It is committed, the server refuses, or no node can be reached.
    pub(super) fn abort(&self, table: &TableId, transaction: Option<u64>, label: &str) -> Result<(), LoadError> {
        let id = transaction.map(|id| id.to_string());
        let name = id.as_ref().map_or(("label", label), |id| ("txn_id", id.as_str()));
        let answer = self.second_phase(table, name, "abort")?;
        let said = words(&answer);
        let lower = said.to_ascii_lowercase();
        let gone = lower.contains("already aborted")
            || lower.contains("transaction not found")
            || lower.contains("] not found");
        match status(&answer) {
            "Success" | "OK" => Ok(()),
            _ if gone => Ok(()),
            _ => Err(refused("roll back on", &table.to_string(), &said)),
        }
    }

    fn second_phase(&self, table: &TableId, name: (&str, &str), operation: &str) -> Result<Value, LoadError> {
        let path = format!("/api/{}/_stream_load_2pc", segment(table.database()));
        let headers = [name, ("txn_operation", operation)];
        let request =
            Request { method: Method::PUT, path: &path, headers: &headers, body: &[], expect_continue: false };
        self.nodes.backend(&request)
    }

    /// What has become of a label.
    ///
    /// # Errors
    /// The server refuses, or no frontend can be reached.
    pub(super) fn state(&self, table: &TableId, label: &str) -> Result<LabelState, LoadError> {
        let path = format!("/api/{}/get_load_state?label={}", segment(table.database()), segment(label));
        let request = Request { method: Method::GET, path: &path, headers: &[], body: &[], expect_continue: false };
        let answer = match self.nodes.frontends.ask(&request).and_then(|answer| body(&answer)) {
            Ok(answer) => answer,
            Err(error) if error.message.contains("unknown databases") => return Ok(LabelState::Unknown),
            Err(error) => return Err(error),
        };
        Ok(match text(&answer, "data").unwrap_or_default() {
            "UNKNOWN" => LabelState::Unknown,
            "PREPARE" => LabelState::Running,
            "PRECOMMITTED" => LabelState::PreCommitted,
            "COMMITTED" => LabelState::Committed,
            "VISIBLE" => LabelState::Visible,
            "ABORTED" => LabelState::Aborted,
            other => {
                let message = format!("Doris gives the unknown state `{other}` for the label {label} of {table}");
                return Err(LoadError::new(Cause::Refused, message));
            }
        })
    }
}

/// The number that a server names in `relate to txn [18036]`.
pub(super) fn transaction_in(words: &str) -> Option<u64> {
    let (_, rest) = words.split_once("txn [")?;
    rest.split(']').next()?.trim().parse().ok()
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|e| LoadError::new(Cause::Refused, format!("rows can't be compressed: {e}")))
}
