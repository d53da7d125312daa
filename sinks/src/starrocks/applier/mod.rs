//! Changes tables: looks at what is there, says what is missing, does it, and looks again.

mod steps;

use super::catalog;
use super::config::Config;
use super::row_plan::check_table;
use super::shared::Shared;
use crate::olap::endpoints::Endpoints;
use crate::olap::jobs::{self, JobList};
use crate::olap::load_error::LoadError;
use crate::olap::mysql::{Client, Login, SqlError};
use crate::{MetadataApplier, SinkError};
use async_trait::async_trait;
use rowferry_model::{SchemaChange, TableId, TableSchema};
use std::sync::Arc;
use std::time::Duration;
use steps::{Step, steps};
use tokio::time::Instant;

/// The server's own time-out for one statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);
/// How often a change is begun anew after the connection broke, or a job was in its way.
const ATTEMPTS: u32 = 5;
/// Renames need this version.
const RENAME_SINCE: (u32, u32, u32) = (3, 3, 2);

/// Applies schema changes to StarRocks.
pub(super) struct StarRocksApplier {
    config: Arc<Config>,
    shared: Arc<Shared>,
    sql: Client,
    version: Option<Option<(u32, u32, u32)>>,
}

/// How an attempt ended.
enum Attempt {
    Done,
    /// Look again: the connection broke, or another job was in the way.
    Again(SinkError),
}

impl StarRocksApplier {
    /// An applier; nothing is connected yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>) -> Self {
        let sql = Client::new(Login {
            addresses: Endpoints::new(config.sql_addresses.clone()),
            user: config.username.clone(),
            password: config.password.clone(),
            connect_timeout: config.connect_timeout,
            answer_timeout: STATEMENT_TIMEOUT,
        });
        Self { config, shared, sql, version: None }
    }

    /// One try to bring a table to the shape behind a change.
    async fn attempt(
        &mut self,
        change: &SchemaChange,
        after: Option<&TableSchema>,
        deadline: Instant,
    ) -> Result<Attempt, SinkError> {
        let table = change.table();
        let mut present = match catalog::inspect(&mut self.sql, table).await {
            Ok(present) => present,
            Err(error) => return again(table, "looking at", error),
        };
        let mut todo = steps(&self.config, change, after, present.as_ref())?;
        let mut done = 0;
        while let Some(step) = todo.first().cloned() {
            if matches!(step, Step::Rename { .. }) {
                self.check_rename(table).await?;
            }
            if let Attempt::Again(error) = self.execute(table, &step, deadline).await? {
                return Ok(Attempt::Again(error));
            }
            done += 1;
            if step.is_final() || done > MAX_STEPS {
                break;
            }
            // What comes next depends on what is there now, not on what should be.
            present = match catalog::inspect(&mut self.sql, table).await {
                Ok(present) => present,
                Err(error) => return again(table, "looking at", error),
            };
            todo.remove(0);
            if todo.is_empty() {
                todo = steps(&self.config, change, after, present.as_ref())?;
                if todo.first() == Some(&step) {
                    return Err(SinkError::permanent(format!(
                        "StarRocks accepted a change of {table}, but the table has not changed: {}",
                        step.sql()
                    )));
                }
            }
        }
        Ok(Attempt::Done)
    }

    async fn execute(&mut self, table: &TableId, step: &Step, deadline: Instant) -> Result<Attempt, SinkError> {
        let mut before = None;
        if step.is_alter() {
            self.discard_stale(table).await?;
            // A job of somebody else, or of this change before a crash.
            self.wait(table, u64::MAX, deadline).await?;
            before = match self.sql.latest(table).await {
                Ok(job) => job.map(|j| j.id),
                Err(unread) if unread.refused => return Err(SinkError::permanent(unread.message)),
                Err(unread) => return Ok(Attempt::Again(SinkError::transient(unread.message))),
            };
        }
        tracing::info!("starrocks: {}", step.sql());
        match self.sql.query(step.sql()).await {
            Ok(_) => {}
            Err(SqlError::Server { message, .. }) if is_busy(&message) => {
                self.wait(table, u64::MAX, deadline).await?;
                return Ok(Attempt::Again(SinkError::transient(format!("{table} is busy: {message}"))));
            }
            Err(error @ SqlError::Server { .. }) => return Err(step.refused(table, &error)),
            Err(error) => return again(table, "changing", error),
        }
        if step.is_alter() {
            self.wait(table, before.unwrap_or(0), deadline).await?;
        }
        Ok(Attempt::Done)
    }

    async fn wait(&mut self, table: &TableId, after: u64, deadline: Instant) -> Result<(), SinkError> {
        jobs::wait("StarRocks", "table.schema-change.timeout", &mut self.sql, table, after, deadline).await
    }

    /// Rolls back what an earlier attempt has left open: it would keep the job waiting.
    async fn discard_stale(&self, table: &TableId) -> Result<(), SinkError> {
        let (shared, table) = (Arc::clone(&self.shared), table.clone());
        match tokio::task::spawn_blocking(move || shared.discard_stale(&table)).await {
            Ok(result) => result.map_err(LoadError::into_sink_error),
            Err(error) => Err(SinkError::permanent(format!("starrocks sink: a thread ended unexpectedly: {error}"))),
        }
    }

    async fn check_rename(&mut self, table: &TableId) -> Result<(), SinkError> {
        let version = match self.version {
            Some(version) => version,
            None => {
                let version = catalog::version(&mut self.sql)
                    .await
                    .map_err(|e| unreachable_server("asking for the version", &e))?;
                self.version = Some(version);
                version
            }
        };
        match version {
            Some(v) if v < RENAME_SINCE => Err(SinkError::unsupported(format!(
                "a column of {table} is renamed, which StarRocks {}.{}.{} can't do",
                v.0, v.1, v.2
            ))
            .hint("StarRocks can since 3.3.2; or use `schema.change.behavior: lenient`")),
            _ => Ok(()),
        }
    }
}

/// More steps than any change has.
const MAX_STEPS: usize = 4096;

fn is_busy(message: &str) -> bool {
    message.contains("operation is in progress")
        || message.contains("is not NORMAL")
        || message.contains("state is not normal")
}

fn unreachable_server(doing: &str, error: &SqlError) -> SinkError {
    match error {
        SqlError::Server { code: 1045 | 5203, message, .. } => SinkError::permanent(format!(
            "StarRocks refuses the user while {doing}: {message}"
        ))
        .hint("the user needs CREATE DATABASE, CREATE TABLE, ALTER, DROP, SELECT and INSERT on the target databases"),
        SqlError::Server { .. } | SqlError::Protocol { .. } => {
            SinkError::permanent(format!("StarRocks fails while {doing}: {error}"))
        }
        SqlError::Connection { .. } => {
            SinkError::transient(format!("StarRocks can't be reached while {doing}: {error}"))
        }
    }
}

/// A broken connection: look again. Everything else stays.
fn again(table: &TableId, doing: &str, error: SqlError) -> Result<Attempt, SinkError> {
    let sink_error = unreachable_server(&format!("{doing} {table}"), &error);
    match error {
        SqlError::Connection { .. } => Ok(Attempt::Again(sink_error)),
        _ => Err(sink_error),
    }
}

#[async_trait]
impl MetadataApplier for StarRocksApplier {
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError> {
        check_table(change.table())?;
        let deadline = Instant::now() + self.config.schema_change_timeout;
        let mut attempt = 1;
        let mut pause = Duration::from_millis(100);
        loop {
            match self.attempt(change, after, deadline).await? {
                Attempt::Done => return Ok(()),
                Attempt::Again(error) if attempt == ATTEMPTS || Instant::now() >= deadline => return Err(error),
                Attempt::Again(error) => {
                    tracing::warn!("starrocks: once more after: {error}");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                    attempt += 1;
                }
            }
        }
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        let doing = "asking for the databases";
        self.sql.query("SHOW DATABASES").await.map_err(|e| unreachable_server(doing, &e))?;
        if let Ok(Some(version)) = catalog::version(&mut self.sql).await
            && version < RENAME_SINCE
        {
            tracing::warn!(
                "starrocks: version {}.{}.{} can't rename columns (3.3.2 can), and may not show microseconds (3.3.5 does)",
                version.0,
                version.1,
                version.2
            );
        }
        let shared = Arc::clone(&self.shared);
        let table = TableId::new("information_schema", "tables");
        let asked = tokio::task::spawn_blocking(move || shared.client.state(&table, "rowferry-probe")).await;
        match asked {
            Ok(result) => result.map(|_| ()).map_err(LoadError::into_sink_error),
            Err(error) => Err(SinkError::permanent(format!("starrocks sink: a thread ended unexpectedly: {error}"))),
        }
    }
}
