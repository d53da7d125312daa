//! ALTER jobs.

use super::values;
use super::world::{Column, World};
use std::time::Duration;

/// A job as `SHOW ALTER TABLE COLUMN` shows it.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: u64,
    pub database: String,
    pub table: String,
    pub table_id: u64,
    pub state: &'static str,
    pub message: String,
    pub created: Duration,
    pub finished: Option<Duration>,
    /// The number from which on transactions know the new columns; earlier ones are waited for.
    pub watershed: Option<u64>,
    pub running_since: Option<Duration>,
    /// What the table becomes.
    pub columns: Vec<Column>,
}

impl Job {
    pub fn is_over(&self) -> bool {
        matches!(self.state, "FINISHED" | "CANCELLED")
    }
}

impl World {
    pub fn has_running_job(&self, database: &str, table: &str) -> bool {
        let Some(table) = self.table(database, table) else { return false };
        self.jobs.iter().any(|j| j.table_id == table.id && !j.is_over())
    }

    /// PENDING, WAITING_TXN while earlier loads are open, RUNNING, FINISHED.
    pub fn tick_jobs(&mut self) {
        let now = self.now();
        for i in 0..self.jobs.len() {
            let pulse = self.pulse;
            if self.jobs[i].is_over() {
                continue;
            }
            let table_id = self.jobs[i].table_id;
            if self.table_by_id(table_id).is_none() {
                self.jobs[i].state = "CANCELLED";
                self.jobs[i].message = "table does not exist".to_owned();
                self.jobs[i].finished = Some(now);
                continue;
            }
            if self.jobs[i].state == "PENDING" && now >= self.jobs[i].created + pulse {
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
            let job = self.jobs[i].clone();
            if job.state == "RUNNING" && now >= job.running_since.unwrap() + pulse {
                let result = self.rewrite(&job);
                self.jobs[i].finished = Some(now);
                match result {
                    Ok(()) => self.jobs[i].state = "FINISHED",
                    Err(message) => {
                        self.jobs[i].state = "CANCELLED";
                        self.jobs[i].message = message;
                    }
                }
            }
        }
    }

    /// Converts the rows; a value that can't be converted cancels the job.
    fn rewrite(&mut self, job: &Job) -> Result<(), String> {
        let table = self.table_by_id(job.table_id).ok_or("table does not exist")?;
        let mut rows = table.rows.clone();
        for row in rows.values_mut() {
            for column in &job.columns {
                match table.columns.iter().find(|c| c.id == column.id) {
                    Some(old) if old.ty != column.ty => {
                        if let Some(text) = row.get(&column.id).cloned().flatten() {
                            let new = values::from_text(&text, &column.ty)
                                .map_err(|e| format!("failed to convert column {}: {e}", column.name))?;
                            row.insert(column.id, Some(new));
                        }
                    }
                    Some(_) => {}
                    None => {
                        row.insert(column.id, values::default_of(column));
                    }
                }
            }
        }
        table.rows = rows;
        table.columns = job.columns.clone();
        Ok(())
    }
}
