//! ALTER jobs.

use crate::world::{Column, ColumnOf, Table, Value, Vendor, World};
use std::time::Duration;

/// An ALTER job.
#[derive(Clone, Debug)]
pub struct Job<C> {
    pub id: u64,
    pub database: String,
    pub table: String,
    pub table_id: u64,
    pub state: &'static str,
    pub message: String,
    pub created: Duration,
    pub finished: Option<Duration>,
    /// In seconds; `None`: it waits for ever.
    pub timeout: Option<u64>,
    /// The number from which on transactions know the new columns; earlier ones are waited for.
    pub watershed: Option<u64>,
    pub running_since: Option<Duration>,
    /// What the table becomes.
    pub columns: Vec<C>,
}

impl<C> Job<C> {
    pub fn is_over(&self) -> bool {
        matches!(self.state, "FINISHED" | "CANCELLED")
    }

    /// What `SHOW ALTER TABLE COLUMN` calls its columns.
    pub fn headings() -> Vec<&'static str> {
        vec![
            "JobId",
            "TableName",
            "CreateTime",
            "FinishTime",
            "IndexName",
            "IndexId",
            "OriginIndexId",
            "SchemaVersion",
            "TransactionId",
            "State",
            "Msg",
            "Progress",
            "Timeout",
        ]
    }

    /// How it is shown there; `time`: how points in time are.
    pub fn cells(&self, time: fn(Duration) -> String, timeout: u64) -> Vec<Value> {
        let one = || Some("1".to_owned());
        vec![
            Some(self.id.to_string()),
            Some(self.table.clone()),
            Some(time(self.created)),
            self.finished.map(time),
            Some(self.table.clone()),
            one(),
            one(),
            Some("1:0".to_owned()),
            Some(self.watershed.map_or_else(|| "-1".to_owned(), |w| w.to_string())),
            Some(self.state.to_owned()),
            Some(self.message.clone()),
            None,
            Some(timeout.to_string()),
        ]
    }

    pub fn cancel(&mut self, message: &str, now: Duration) {
        self.state = "CANCELLED";
        self.message = message.to_owned();
        self.finished = Some(now);
    }
}

impl<V: Vendor> World<V> {
    pub fn has_running_job(&self, database: &str, table: &str) -> bool {
        let Some(table) = self.table(database, table) else { return false };
        self.jobs.iter().any(|j| j.table_id == table.id() && !j.is_over())
    }

    /// What a table becomes: at once, or by a job that takes its time and waits so many seconds at most.
    pub fn alter_table(&mut self, names: (&str, &str), columns: Vec<ColumnOf<V>>, at_once: bool, timeout: Option<u64>) {
        let now = self.now();
        let id = self.id();
        let Some(table) = self.table_mut(names.0, names.1) else { return };
        let table_id = table.id();
        if at_once {
            let (known, rows) = table.content();
            for column in columns.iter().filter(|column| !known.iter().any(|c| c.id() == column.id())) {
                for row in rows.values_mut() {
                    row.insert(column.id().clone(), column.of_old_rows());
                }
            }
            known.clone_from(&columns);
        }
        self.jobs.push(Job {
            id,
            database: names.0.to_owned(),
            table: names.1.to_owned(),
            table_id,
            state: if at_once { "FINISHED" } else { "PENDING" },
            message: String::new(),
            created: now,
            finished: at_once.then_some(now),
            timeout,
            watershed: None,
            running_since: None,
            columns,
        });
    }

    /// Cancels a table's job; whether there was one.
    pub fn cancel_job(&mut self, table_id: u64) -> bool {
        let now = self.now();
        let job = self.jobs.iter_mut().find(|j| j.table_id == table_id && !j.is_over());
        job.map(|job| job.cancel("user cancelled", now)).is_some()
    }

    /// A table's jobs, the oldest first.
    pub fn jobs_of<'a>(
        &'a self,
        database: &'a str,
        table: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Job<ColumnOf<V>>> {
        self.jobs.iter().filter(move |j| j.database == database && table.is_none_or(|t| j.table == t))
    }

    /// PENDING, WAITING_TXN while earlier loads are open, RUNNING, FINISHED.
    pub(crate) fn tick_jobs(&mut self) {
        let (now, pulse) = (self.now(), self.pulse);
        for i in 0..self.jobs.len() {
            if self.jobs[i].is_over() {
                continue;
            }
            let table_id = self.jobs[i].table_id;
            if self.table_by_id(table_id).is_none() {
                self.jobs[i].cancel("table does not exist", now);
                continue;
            }
            let job = &self.jobs[i];
            let late = job.timeout.is_some_and(|s| now.saturating_sub(job.created) > Duration::from_secs(s));
            if late && job.state != "RUNNING" {
                self.jobs[i].cancel("Timeout", now);
                continue;
            }
            if job.state == "PENDING" && now >= job.created + pulse {
                let watershed = self.id();
                self.jobs[i].watershed = Some(watershed);
                self.jobs[i].state = "WAITING_TXN";
            }
            if self.jobs[i].state == "WAITING_TXN" {
                let watershed = self.jobs[i].watershed.unwrap();
                let open = self.transactions.iter().any(|t| t.table_id == table_id && t.id < watershed && !t.is_over());
                if !open {
                    self.jobs[i].state = "RUNNING";
                    self.jobs[i].running_since = Some(now);
                }
            }
            if self.jobs[i].state == "RUNNING" && now >= self.jobs[i].running_since.unwrap() + pulse {
                let columns = self.jobs[i].columns.clone();
                match self.rewrite(table_id, columns) {
                    Ok(()) => {
                        self.jobs[i].state = "FINISHED";
                        self.jobs[i].finished = Some(now);
                    }
                    Err(message) => self.jobs[i].cancel(&message, now),
                }
            }
        }
    }

    /// Converts a table's rows; a value that can't be converted leaves all as it was.
    fn rewrite(&mut self, table_id: u64, columns: Vec<ColumnOf<V>>) -> Result<(), String> {
        let table = self.table_by_id(table_id).ok_or("table does not exist")?;
        let mut rows = table.rows().clone();
        for row in rows.values_mut() {
            for column in &columns {
                match table.columns().iter().find(|c| c.id() == column.id()) {
                    Some(old) if !old.has_type_of(column) => {
                        if let Some(text) = row.get(column.id()).cloned().flatten() {
                            let new = column
                                .converted(&text)
                                .map_err(|e| format!("failed to convert column {}: {e}", column.name()))?;
                            row.insert(column.id().clone(), Some(new));
                        }
                    }
                    Some(_) => {}
                    None => {
                        row.insert(column.id().clone(), column.of_old_rows());
                    }
                }
            }
        }
        let content = table.content();
        *content.0 = columns;
        *content.1 = rows;
        Ok(())
    }
}
