//! Statements over a frontend's HTTP port: `POST /api/query/default_cluster/<db>`, as Flink CDC sends them.

use super::config::Config;
use super::load_client::http_client;
use crate::SinkError;
use crate::olap::endpoints::Endpoints;
use crate::olap::http::{Answer, Client, HttpError, Request};
use crate::olap::jobs::{Job, JobList, Unread};
use crate::olap::quote;
use async_trait::async_trait;
use rowferry_model::TableId;
use serde_json::{Value, json};
use std::sync::Arc;
use ureq::http::Method;
use url::Url;

/// A database that is always there; statements name theirs.
const PATH: &str = "/api/query/default_cluster/information_schema";

/// A statement failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SqlError {
    /// The server refused it.
    #[error("{0}")]
    Server(String),
    /// The server refuses the user.
    #[error("{0}")]
    Denied(String),
    /// No answer: whether the statement ran is unknown.
    #[error("{0}")]
    Connection(String),
}

impl SqlError {
    /// Whether it says that there is no such table or database. The same fact has several texts.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            Self::Server(text) => {
                text.contains("Unknown table")
                    || text.contains("Unknown database")
                    || text.contains("does not exist in database")
                    || text.contains("table not found")
            }
            _ => false,
        }
    }

    /// Whether it says that another operation on the table is in the way.
    pub(super) fn is_busy(&self) -> bool {
        match self {
            Self::Server(text) => {
                text.contains("is not NORMAL")
                    || text.contains("cannot be dropped. please cancel")
                    || text.contains("There are still some transactions in the COMMITTED state")
            }
            _ => false,
        }
    }
}

/// A result; NULL is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    columns: Vec<String>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    /// A value of a row by its column's name, which is compared without case.
    pub(super) fn get<'a>(&self, row: &'a [Option<String>], column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|c| c.eq_ignore_ascii_case(column))?;
        row.get(at)?.as_deref()
    }

    /// The value of the first row's column of that number.
    pub(super) fn first(&self, column: usize) -> Option<&str> {
        self.rows.first()?.get(column)?.as_deref()
    }
}

/// Sends statements to whichever frontend answers.
pub(super) struct SqlClient {
    shared: Arc<(Client, Endpoints<Url>)>,
}

impl SqlClient {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// User and password can't be written in a header.
    pub(super) fn new(config: &Config) -> Result<Self, SinkError> {
        Ok(Self { shared: Arc::new((http_client(config)?, Endpoints::new(config.frontends.clone()))) })
    }

    /// Runs one statement, on a thread where waiting is allowed. One that may have run is not sent twice.
    ///
    /// # Errors
    /// The server refuses it, or there is no answer.
    pub(super) async fn query(&self, sql: &str) -> Result<Rows, SqlError> {
        let shared = Arc::clone(&self.shared);
        let body = json!({ "stmt": sql }).to_string();
        let task = tokio::task::spawn_blocking(move || post(&shared.0, &shared.1, body.as_bytes()));
        task.await.map_err(|e| SqlError::Connection(format!("a statement's thread ended unexpectedly: {e}")))?
    }
}

fn post(http: &Client, frontends: &Endpoints<Url>, body: &[u8]) -> Result<Rows, SqlError> {
    let request = Request {
        method: Method::POST,
        path: PATH,
        headers: &[("Content-Type", "application/json;charset=UTF-8")],
        body,
        expect_continue: false,
    };
    let mut last = SqlError::Connection("`fenodes` names no frontend".to_owned());
    for (index, frontend) in frontends.candidates() {
        match http.send(frontend, &request) {
            Ok(answer) => {
                frontends.prefer(index);
                return rows(&answer);
            }
            Err(HttpError::Invalid(reason)) => return Err(SqlError::Server(reason)),
            Err(error @ HttpError::Broken { .. }) => return Err(SqlError::Connection(error.to_string())),
            Err(error @ HttpError::Connect { .. }) => {
                tracing::warn!("doris: {error}");
                last = SqlError::Connection(error.to_string());
            }
        }
    }
    Err(last)
}

/// What an answer says. Failures come with status 200 and a `code`.
fn rows(answer: &Answer) -> Result<Rows, SqlError> {
    let quoted = || answer.body.chars().take(300).collect::<String>();
    if answer.status >= 500 {
        return Err(SqlError::Connection(format!(
            "{} answers with status {}: {}",
            answer.node,
            answer.status,
            quoted()
        )));
    }
    let Ok(body) = serde_json::from_str::<Value>(&answer.body) else {
        return Err(SqlError::Server(format!(
            "{} answers with status {} and no JSON: is it the HTTP port of a Doris frontend? {}",
            answer.node,
            answer.status,
            quoted()
        )));
    };
    let said = || body.get("data").and_then(Value::as_str).map_or_else(|| body.to_string(), bare);
    match body.get("code").and_then(Value::as_i64) {
        Some(0) => {}
        Some(401) => return Err(SqlError::Denied(said())),
        _ if answer.status == 401 => return Err(SqlError::Denied(said())),
        _ if said().contains("command denied to user") => return Err(SqlError::Denied(said())),
        _ => return Err(SqlError::Server(said())),
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

/// The server's own words, without what Java puts before them.
fn bare(text: &str) -> String {
    text.split_once("detailMessage = ").map_or(text, |(_, words)| words).trim().to_owned()
}

#[async_trait]
impl JobList for SqlClient {
    async fn latest(&mut self, table: &TableId) -> Result<Option<Job>, Unread> {
        let mut sql = format!("SHOW ALTER TABLE COLUMN FROM {}", quote::name(table.database()));
        let name = table.table();
        // A name that is no plain literal is looked for here.
        if !name.contains(['"', '\'', '\\']) {
            sql.push_str(&format!(" WHERE TableName = \"{name}\""));
        }
        let rows = self.query(&sql).await.map_err(|error| Unread {
            refused: !matches!(error, SqlError::Connection(_)),
            message: error.to_string(),
        })?;
        let jobs = rows.rows.iter().filter(|row| rows.get(row, "TableName") == Some(name)).filter_map(|row| {
            Some(Job {
                id: rows.get(row, "JobId")?.parse().ok()?,
                state: rows.get(row, "State").unwrap_or_default().to_ascii_uppercase(),
                message: rows.get(row, "Msg").unwrap_or_default().to_owned(),
            })
        });
        Ok(jobs.max_by_key(|job| job.id))
    }
}
