//! A table of the sink's own that shows whether backends read Arrow as they should: a version that reads timestamps in
//! another zone, say, would store other times without a word.

use super::super::config::Config;
use super::super::row_plan::row_plan;
use super::super::shared::Shared;
use super::super::sql::SqlClient;
use super::sample::Sample;
use super::settled;
use super::targets::{failed, read};
use crate::SinkError;
use crate::olap::applier::{Failure, list, properties, table_name};
use crate::olap::body::{BatchEncoder, LEAVE_FORMAT_OUT};
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::quote;
use crate::olap::rows::Rows;
use rowferry_model::TableId;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What the table's name begins with; the pipeline's instance follows.
const NAME: &str = "rowferry_arrow_check_";
/// How long loaded rows may take to be seen.
const VISIBLE_WAIT: Duration = Duration::from_secs(60);
/// Options that say where a table's replicas lie, as the user's own tables have them.
const PLACE: [&str; 3] = ["replication_num", "replication_allocation", "storage_policy"];

/// The check of one database.
pub(super) struct Canary {
    config: Arc<Config>,
    shared: Arc<Shared>,
    sql: SqlClient,
    table: TableId,
    pub(super) visible_wait: Duration,
}

impl Canary {
    /// Nothing is done yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>, sql: SqlClient, database: &str) -> Self {
        let instance = config.instance.chars().filter(char::is_ascii_alphanumeric).take(32).collect::<String>();
        let table = TableId::new(database, format!("{NAME}{instance}"));
        Self { config, shared, sql, table, visible_wait: VISIBLE_WAIT }
    }

    /// Makes the table, loads it, reads it and drops it again, whatever comes out. Blocking.
    ///
    /// # Errors
    /// What is read is not what was sent, or the check can't be made.
    pub(super) fn prove(&self) -> Result<(), SinkError> {
        let drop = format!("DROP TABLE IF EXISTS {} FORCE", table_name(&self.table));
        self.run("dropping", &drop)?;
        let result = self.check();
        match self.run("dropping", &drop) {
            Err(error) if result.is_ok() => Err(error),
            // What the check itself said counts more.
            _ => result,
        }
    }

    fn check(&self) -> Result<(), SinkError> {
        let sample = Sample::new(&self.table)?;
        self.run("making", &self.create(&sample))?;
        let cant = |e: LoadError| self.cant(e);
        let natural = row_plan(&self.table, sample.batch.schema(), true, &self.config.format)?;
        let targets = read(&self.sql, &self.table).map_err(cant)?;
        let plan = settled(&self.table, sample.batch.schema(), natural, &targets)?;
        let mut encoder = BatchEncoder::new(&plan, &sample.batch, &self.config.zone)?;
        // Several streams: a backend that reads the first alone loses rows.
        let mut body = Vec::new();
        while !encoder.is_done() {
            encoder.fill(&mut body, usize::MAX, 2)?;
        }
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
        let label = self.shared.labels(&self.table).plain(run, 0);
        let header = plan.load_columns.as_ref().map(|c| c.header.as_str()).unwrap_or_default();
        self.shared.client.load_own(&self.table, &label, header, &body).map_err(cant)?;
        self.compare(&sample)
    }

    fn create(&self, sample: &Sample) -> String {
        let columns = list(&sample.columns, |c| format!("{} {} NULL", quote::name(&c.name), c.target));
        let key = quote::name(&sample.key);
        let place = self.config.table_properties.iter().filter(|(k, _)| PLACE.contains(&k.as_str())).cloned();
        format!(
            "CREATE TABLE {} ({columns}) UNIQUE KEY ({key}) DISTRIBUTED BY HASH ({key}) BUCKETS 1{}",
            table_name(&self.table),
            properties(&place.collect::<Vec<_>>())
        )
    }

    /// Reads until all rows are seen. That they are not yet, or that a read fails, says nothing of how Arrow is read.
    fn compare(&self, sample: &Sample) -> Result<(), SinkError> {
        let items = list(&sample.columns, |c| c.selected());
        let key = quote::name(&sample.key);
        let select = format!("SELECT {items} FROM {} ORDER BY {key}", table_name(&self.table));
        let deadline = Instant::now() + self.visible_wait;
        let mut pause = Duration::from_millis(20);
        loop {
            tracing::debug!("doris: {select}");
            let reason = match self.sql.run(&select) {
                Ok(rows) if rows.rows.len() >= sample.rows => {
                    return sample.difference(&rows).map_or(Ok(()), |difference| Err(self.differs(&difference)));
                }
                Ok(rows) => format!("{} of {} rows that were loaded are seen", rows.rows.len(), sample.rows),
                Err(Failure::Denied(words)) => {
                    let doing = format!("reading {}", self.table);
                    return Err(self.cant(failed(&doing, Failure::Denied(words))));
                }
                Err(failure) => failure.to_string(),
            };
            if Instant::now() >= deadline {
                return Err(self.cant(LoadError::new(Cause::Busy, format!("{} can't be read: {reason}", self.table))));
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    fn run(&self, doing: &str, sql: &str) -> Result<Rows, SinkError> {
        tracing::debug!("doris: {sql}");
        self.sql.run(sql).map_err(|e| self.cant(failed(&format!("{doing} {}", self.table), e)))
    }

    /// The check can't be made.
    fn cant(&self, error: LoadError) -> SinkError {
        let why = format!(
            "{}; without a table of its own the sink can't see whether backends read Arrow as they should",
            error.message
        );
        if error.may_pass() {
            return SinkError::transient(why);
        }
        let rights = error.hint.map(|hint| format!("{hint}; or ")).unwrap_or_default();
        SinkError::permanent(why).hint(format!("{rights}{LEAVE_FORMAT_OUT}"))
    }

    fn differs(&self, difference: &str) -> SinkError {
        SinkError::permanent(format!(
            "a backend of Doris does not read Arrow as it should: in {}, made to see that, {difference}",
            self.table
        ))
        .hint(LEAVE_FORMAT_OUT)
    }
}
