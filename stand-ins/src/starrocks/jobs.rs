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
    pub timeout: u64,
    /// The transaction number from which on loads know the new columns; earlier ones are waited for.
    pub watershed: Option<u64>,
    pub running_since: Option<Duration>,
    /// What the table becomes.
    pub columns: Vec<Column>,
}

impl World {
    pub fn has_running_job(&self, database: &str, table: &str) -> bool {
        let Some(table) = self.table(database, table) else { return false };
        self.jobs.iter().any(|j| j.table_id == table.id && !matches!(j.state, "FINISHED" | "CANCELLED"))
    }

    /// PENDING, WAITING_TXN while earlier loads are open, RUNNING, FINISHED.
    pub fn tick_jobs(&mut self) {
        let now = self.now();
        for i in 0..self.jobs.len() {
            let pulse = self.pulse;
            let job = &self.jobs[i];
            if matches!(job.state, "FINISHED" | "CANCELLED") {
                continue;
            }
            let gone =
                !self.databases.get(&job.database).is_some_and(|d| d.tables.values().any(|t| t.id == job.table_id));
            if gone {
                self.jobs[i].state = "CANCELLED";
                self.jobs[i].message = "table does not exist".to_owned();
                self.jobs[i].finished = Some(now);
                continue;
            }
            if now.saturating_sub(job.created) > Duration::from_secs(job.timeout) && job.state != "RUNNING" {
                self.jobs[i].state = "CANCELLED";
                self.jobs[i].message = "Timeout".to_owned();
                self.jobs[i].finished = Some(now);
                continue;
            }
            if job.state == "PENDING" && now >= job.created + pulse {
                let watershed = self.id();
                self.jobs[i].watershed = Some(watershed);
                self.jobs[i].state = "WAITING_TXN";
            }
            let job = &self.jobs[i];
            if job.state == "WAITING_TXN" {
                let watershed = job.watershed.unwrap();
                let open =
                    self.transactions.iter().any(|t| t.table_id == job.table_id && t.id < watershed && !t.is_over());
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
        let table = self
            .databases
            .get_mut(&job.database)
            .and_then(|d| d.tables.values_mut().find(|t| t.id == job.table_id))
            .ok_or("table does not exist")?;
        let mut rows = table.rows.clone();
        for row in rows.values_mut() {
            for column in &job.columns {
                let old = table.columns.iter().find(|c| c.id == column.id);
                match old {
                    Some(old) if old.ty != column.ty => {
                        let value = row.get(&column.id).cloned().flatten();
                        let new = match value {
                            None => None,
                            Some(text) => Some(
                                values::from_text(&text, &column.ty)
                                    .map_err(|e| format!("failed to convert column {}: {e}", column.name))?,
                            ),
                        };
                        row.insert(column.id.clone(), new);
                    }
                    Some(_) => {}
                    None => {
                        row.insert(column.id.clone(), values::default_of(column));
                    }
                }
            }
        }
        table.rows = rows;
        table.columns = job.columns.clone();
        Ok(())
    }
}
