//! Changes tables: looks at what is there, says what is missing, does it, and looks again.

mod columns;
mod ddl;
mod dialect;
mod jobs;
mod renames;
mod steps;
mod table;

#[cfg(test)]
pub(crate) use columns::default_sql;
pub(crate) use ddl::{ColumnClause, list, properties, table_name, table_properties};
pub(crate) use dialect::{Connection, Dialect, Failure, Version};

use super::attempts::{Attempts, Transactions};
use super::each::each;
use crate::{MetadataApplier, SinkError};
use async_trait::async_trait;
use jobs::{LATEST, Waiting};
use rowferry_model::{SchemaChange, TableId, TableSchema};
use std::sync::Arc;
use std::time::Duration;
use steps::{Step, steps};
use table::{TargetTable, inspect};
use tokio::time::Instant;

/// How often a change is begun anew after the connection broke, or a job was in its way.
const ATTEMPTS: u32 = 5;
/// More steps than any change has.
const MAX_STEPS: usize = 4096;
/// A label that nobody uses, and a table that is always there.
const PROBE: (&str, &str, &str) = ("information_schema", "tables", "rowferry-probe");

/// Applies schema changes to one server.
pub(crate) struct Applier<D: Dialect> {
    dialect: D,
    connection: Box<dyn Connection>,
    attempts: Arc<Attempts<D::Client>>,
    /// Once it was asked for; `None` in it: the server does not tell.
    version: Option<Option<Version>>,
}

/// How an attempt ended.
enum Attempt {
    Done,
    /// Look again: the connection broke, or another job was in the way.
    Again(SinkError),
}

impl<D: Dialect> Applier<D> {
    /// An applier; nothing is connected yet.
    pub(crate) fn new(dialect: D, connection: Box<dyn Connection>, attempts: Arc<Attempts<D::Client>>) -> Self {
        Self { dialect, connection, attempts, version: None }
    }

    async fn inspect(&mut self, table: &TableId) -> Result<Option<TargetTable<D>>, Failure> {
        inspect(self.connection.as_mut(), table).await
    }

    /// One try to bring a table to the shape behind a change.
    async fn attempt(
        &mut self,
        change: &SchemaChange,
        after: Option<&TableSchema>,
        deadline: Instant,
    ) -> Result<Attempt, SinkError> {
        let table = change.table();
        let mut present = match self.inspect(table).await {
            Ok(present) => present,
            Err(error) => return again::<D>(table, "looking at", &error),
        };
        let mut todo = steps(&self.dialect, change, after, present.as_ref())?;
        if !todo.is_empty()
            && D::needs_version(change)
            && let Attempt::Again(error) = self.check_version(change).await?
        {
            return Ok(Attempt::Again(error));
        }
        let mut done = 0;
        while let Some(step) = todo.first().cloned() {
            if let Attempt::Again(error) = self.execute(table, &step, deadline).await? {
                return Ok(Attempt::Again(error));
            }
            done += 1;
            if step.is_final() || done > MAX_STEPS {
                break;
            }
            // What comes next depends on what is there now, not on what should be.
            present = match self.inspect(table).await {
                Ok(present) => present,
                Err(error) => return again::<D>(table, "looking at", &error),
            };
            todo.remove(0);
            if todo.is_empty() {
                todo = steps(&self.dialect, change, after, present.as_ref())?;
                if todo.first() == Some(&step) {
                    return Err(SinkError::permanent(format!(
                        "{} accepted a change of {table}, but the table has not changed: {}",
                        D::SERVER,
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
            before = match jobs::latest::<D>(self.connection.as_mut(), table).await {
                Ok(job) => job.map(|j| j.id),
                Err(error) => return again::<D>(table, LATEST, &error),
            };
        }
        tracing::info!("{}: {}", D::Client::SINK, step.sql());
        match self.connection.query(step.sql()).await {
            Ok(_) => {}
            Err(error @ Failure::Busy(_)) => {
                self.wait(table, u64::MAX, deadline).await?;
                return Ok(Attempt::Again(SinkError::transient(format!("{table} is busy: {error}"))));
            }
            Err(error @ (Failure::Refused(_) | Failure::Missing(_))) => return Err(refused::<D>(table, step, &error)),
            Err(error @ Failure::Denied(_)) => {
                return Err(failed::<D>(&format!("changing {table} by {}", step.sql()), &error));
            }
            Err(error @ Failure::Lost(_)) => return again::<D>(table, "changing", &error),
        }
        if step.is_alter() {
            self.wait(table, before.unwrap_or(0), deadline).await?;
        }
        Ok(Attempt::Done)
    }

    async fn wait(&mut self, table: &TableId, after: u64, deadline: Instant) -> Result<(), SinkError> {
        jobs::wait::<D>(self.connection.as_mut(), table, Waiting { after, deadline }).await
    }

    /// Rolls back what an earlier attempt has left open: it would keep the job waiting. Also where this run has no
    /// transactions: an earlier one may have had other options.
    async fn discard_stale(&self, table: &TableId) -> Result<(), SinkError> {
        each(D::Client::SINK, 1, vec![table.clone()], |table| {
            let attempts = Arc::clone(&self.attempts);
            move || attempts.discard_stale(&table)
        })
        .await
    }

    async fn ask_version(&mut self) -> Result<Option<Version>, Failure> {
        let (sql, column) = D::VERSION;
        match self.connection.query(sql).await {
            Ok(rows) => Ok(rows.first(column).and_then(D::parse_version)),
            Err(error @ (Failure::Lost(_) | Failure::Denied(_))) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// What a server version can't do is told before data moves.
    async fn check_version(&mut self, change: &SchemaChange) -> Result<Attempt, SinkError> {
        let version = match self.version {
            Some(version) => version,
            None => match self.ask_version().await {
                Ok(version) => *self.version.insert(version),
                Err(error) => return again::<D>(change.table(), "asking for the version before a change of", &error),
            },
        };
        version.map_or(Ok(()), |version| D::check_version(version, change)).map(|()| Attempt::Done)
    }
}

/// A statement without an effect on tables failed.
fn failed<D: Dialect>(doing: &str, error: &Failure) -> SinkError {
    let server = D::SERVER;
    match error {
        Failure::Lost(_) => SinkError::transient(format!("{server} can't be reached while {doing}: {error}")),
        Failure::Denied(_) => SinkError::permanent(format!("{server} refuses the user while {doing}: {error}"))
            .hint(format!("the user needs {}, see docs/sinks/{}.md", D::RIGHTS, D::Client::SINK)),
        Failure::Missing(_) | Failure::Busy(_) | Failure::Refused(_) => {
            SinkError::permanent(format!("{server} fails while {doing}: {error}"))
        }
    }
}

/// A broken connection: look again. Everything else stays.
fn again<D: Dialect>(table: &TableId, doing: &str, error: &Failure) -> Result<Attempt, SinkError> {
    let sink_error = failed::<D>(&format!("{doing} {table}"), error);
    match error {
        Failure::Lost(_) => Ok(Attempt::Again(sink_error)),
        _ => Err(sink_error),
    }
}

/// A statement that changes a table was refused.
fn refused<D: Dialect>(table: &TableId, step: &Step, error: &Failure) -> SinkError {
    let text = format!("{} refuses a change of {table}: {error}; the statement was: {}", D::SERVER, step.sql());
    let words = error.to_string();
    if D::UNSUPPORTED.iter().any(|part| words.contains(part)) {
        SinkError::unsupported(text)
    } else if words.contains("replication num") {
        SinkError::permanent(text)
            .hint("with fewer than three backends set `table.create.properties.replication_num: 1`")
    } else {
        SinkError::permanent(text)
    }
}

#[async_trait]
impl<D: Dialect> MetadataApplier for Applier<D> {
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError> {
        D::check_table(change.table())?;
        let deadline = Instant::now() + self.dialect.timeout();
        let mut attempt = 1;
        let mut pause = Duration::from_millis(100);
        loop {
            match self.attempt(change, after, deadline).await? {
                Attempt::Done => return Ok(()),
                Attempt::Again(error) if attempt == ATTEMPTS || Instant::now() >= deadline => return Err(error),
                Attempt::Again(error) => {
                    tracing::warn!("{}: once more after: {error}", D::Client::SINK);
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                    attempt += 1;
                }
            }
        }
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        let doing = "asking for the databases";
        self.connection.query("SHOW DATABASES").await.map_err(|e| failed::<D>(doing, &e))?;
        if let Ok(Some(version)) = self.ask_version().await {
            D::check_server(version)?;
        }
        // Loads go another way, which must be open too.
        each(D::Client::SINK, 1, vec![TableId::new(PROBE.0, PROBE.1)], |table| {
            let attempts = Arc::clone(&self.attempts);
            move || attempts.client.known(&table, PROBE.2).map(|_| ())
        })
        .await
    }
}
