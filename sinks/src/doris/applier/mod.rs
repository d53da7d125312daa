//! Changes tables: looks at what is there, says what is missing, does it, and looks again.

mod steps;

use super::catalog;
use super::config::{Config, Mode};
use super::row_plan::check_table;
use super::shared::Shared;
use super::sql::{SqlClient, SqlError};
use crate::olap::jobs::{self, JobList};
use crate::olap::load_error::LoadError;
use crate::{MetadataApplier, SinkError};
use async_trait::async_trait;
use rowferry_model::{SchemaChange, TableId, TableSchema};
use std::sync::Arc;
use std::time::Duration;
use steps::{Step, steps};
use tokio::time::Instant;

/// How often a change is begun anew after the connection broke, or a job was in its way.
const ATTEMPTS: u32 = 5;
/// More steps than any change has.
const MAX_STEPS: usize = 4096;
/// The first version with light schema changes and the types that the sink makes.
const OLDEST: (u32, u32, u32) = (1, 2, 0);
/// The first version that makes tables without a sort key.
const KEYLESS_SINCE: (u32, u32, u32) = (2, 0, 0);

/// Applies schema changes to Doris.
pub(super) struct DorisApplier {
    config: Arc<Config>,
    shared: Arc<Shared>,
    /// Made when it is needed first.
    sql: Option<SqlClient>,
    version: Option<Option<(u32, u32, u32)>>,
}

/// How an attempt ended.
enum Attempt {
    Done,
    /// Look again: the connection broke, or another job was in the way.
    Again(SinkError),
}

impl DorisApplier {
    /// An applier; nothing is connected yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>) -> Self {
        Self { config, shared, sql: None, version: None }
    }

    fn sql(&mut self) -> Result<&mut SqlClient, SinkError> {
        let client = match self.sql.take() {
            Some(client) => client,
            None => SqlClient::new(&self.config)?,
        };
        Ok(self.sql.insert(client))
    }

    /// One try to bring a table to the shape behind a change.
    async fn attempt(
        &mut self,
        change: &SchemaChange,
        after: Option<&TableSchema>,
        deadline: Instant,
    ) -> Result<Attempt, SinkError> {
        let table = change.table();
        let mut present = match catalog::inspect(self.sql()?, table).await {
            Ok(present) => present,
            Err(error) => return again(table, "looking at", &error),
        };
        let mut todo = steps(&self.config, change, after, present.as_ref())?;
        let mut done = 0;
        while let Some(step) = todo.first().cloned() {
            if let Step::Create { keyless, .. } = step {
                self.check_version(table, keyless).await?;
            }
            if let Attempt::Again(error) = self.execute(table, &step, deadline).await? {
                return Ok(Attempt::Again(error));
            }
            done += 1;
            if step.is_final() || done > MAX_STEPS {
                break;
            }
            // What comes next depends on what is there now, not on what should be.
            present = match catalog::inspect(self.sql()?, table).await {
                Ok(present) => present,
                Err(error) => return again(table, "looking at", &error),
            };
            todo.remove(0);
            if todo.is_empty() {
                todo = steps(&self.config, change, after, present.as_ref())?;
                if todo.first() == Some(&step) {
                    return Err(SinkError::permanent(format!(
                        "Doris accepted a change of {table}, but the table has not changed: {}",
                        step.sql()
                    )));
                }
            }
        }
        Ok(Attempt::Done)
    }

    async fn execute(&mut self, table: &TableId, step: &Step, deadline: Instant) -> Result<Attempt, SinkError> {
        let mut before = 0;
        if step.is_alter() {
            self.discard_stale(table).await?;
            // A job of somebody else, or of this change before a crash.
            self.wait(table, u64::MAX, deadline).await?;
            before = match self.sql()?.latest(table).await {
                Ok(job) => job.map_or(0, |j| j.id),
                Err(unread) if unread.refused => return Err(SinkError::permanent(unread.message)),
                Err(unread) => return Ok(Attempt::Again(SinkError::transient(unread.message))),
            };
        }
        tracing::info!("doris: {}", step.sql());
        match self.sql()?.query(step.sql()).await {
            Ok(_) => {}
            Err(error) if error.is_busy() => {
                self.wait(table, u64::MAX, deadline).await?;
                return Ok(Attempt::Again(SinkError::transient(format!("{table} is busy: {error}"))));
            }
            Err(error @ SqlError::Server(_)) => return Err(step.refused(table, &error)),
            Err(error) => return again(table, "changing", &error),
        }
        if step.is_alter() {
            self.wait(table, before, deadline).await?;
        }
        Ok(Attempt::Done)
    }

    async fn wait(&mut self, table: &TableId, after: u64, deadline: Instant) -> Result<(), SinkError> {
        jobs::wait("Doris", "schema.evolution.timeout", self.sql()?, table, after, deadline).await
    }

    /// Rolls back what an earlier attempt has left open: it would keep the job waiting.
    async fn discard_stale(&self, table: &TableId) -> Result<(), SinkError> {
        if self.config.mode != Mode::TwoPhase {
            return Ok(());
        }
        let (shared, table) = (Arc::clone(&self.shared), table.clone());
        match tokio::task::spawn_blocking(move || shared.discard_stale(&table)).await {
            Ok(result) => result.map_err(LoadError::into_sink_error),
            Err(error) => Err(SinkError::permanent(format!("doris sink: a thread ended unexpectedly: {error}"))),
        }
    }

    /// What a server version can't do is told before data moves.
    async fn check_version(&mut self, table: &TableId, keyless: bool) -> Result<(), SinkError> {
        let version = match self.version {
            Some(version) => version,
            None => {
                let version = catalog::version(self.sql()?)
                    .await
                    .map_err(|e| unreachable_server("asking for the version", &e))?;
                *self.version.insert(version)
            }
        };
        let Some(v) = version else { return Ok(()) };
        let (oldest, what) = if keyless { (KEYLESS_SINCE, "without a key ") } else { (OLDEST, "") };
        if v < oldest {
            return Err(SinkError::permanent(format!(
                "{table} can't be made {what}by Doris {}.{}.{}: {}.{} is the oldest that can",
                v.0, v.1, v.2, oldest.0, oldest.1
            )));
        }
        Ok(())
    }
}

fn unreachable_server(doing: &str, error: &SqlError) -> SinkError {
    match error {
        SqlError::Denied(message) => SinkError::permanent(format!("Doris refuses the user while {doing}: {message}"))
            .hint(
                "the user needs SELECT, LOAD, ALTER, CREATE and DROP on the target databases, see docs/sinks/doris.md",
            ),
        SqlError::Server(_) => SinkError::permanent(format!("Doris fails while {doing}: {error}")),
        SqlError::Connection(_) => SinkError::transient(format!("Doris can't be reached while {doing}: {error}")),
    }
}

/// A broken connection: look again. Everything else stays.
fn again(table: &TableId, doing: &str, error: &SqlError) -> Result<Attempt, SinkError> {
    let sink_error = unreachable_server(&format!("{doing} {table}"), error);
    match error {
        SqlError::Connection(_) => Ok(Attempt::Again(sink_error)),
        _ => Err(sink_error),
    }
}

#[async_trait]
impl MetadataApplier for DorisApplier {
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
                    tracing::warn!("doris: once more after: {error}");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                    attempt += 1;
                }
            }
        }
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        let doing = "asking for the databases";
        self.sql()?.query("SHOW DATABASES").await.map_err(|e| unreachable_server(doing, &e))?;
        if let Ok(Some(v)) = catalog::version(self.sql()?).await
            && v < OLDEST
        {
            return Err(SinkError::permanent(format!("Doris {}.{}.{} is too old: 1.2 is the oldest", v.0, v.1, v.2)));
        }
        let shared = Arc::clone(&self.shared);
        let table = TableId::new("information_schema", "tables");
        let asked = tokio::task::spawn_blocking(move || shared.client.state(&table, "rowferry-probe")).await;
        match asked {
            Ok(result) => result.map(|_| ()).map_err(LoadError::into_sink_error),
            Err(error) => Err(SinkError::permanent(format!("doris sink: a thread ended unexpectedly: {error}"))),
        }
    }
}
