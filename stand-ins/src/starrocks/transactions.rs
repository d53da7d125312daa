//! Load transactions and their labels.

use super::world::{Value, World};
use std::collections::HashMap;
use std::time::Duration;

/// A row that a load brings: the key, and the values by column id; `None`: the row is to go.
pub type Change = (Vec<String>, Option<HashMap<String, Value>>);

#[derive(Clone, Debug)]
pub struct Transaction {
    pub id: u64,
    pub database: String,
    pub label: String,
    pub table: String,
    pub table_id: u64,
    pub state: &'static str,
    pub reason: String,
    pub changes: Vec<Change>,
    pub begun: Duration,
    pub prepared: Option<Duration>,
    pub committed: Option<Duration>,
    /// In seconds, for the way from open to prepared.
    pub timeout: u64,
    /// In seconds, for the way from prepared to committed.
    pub prepared_timeout: u64,
    /// The backend that coordinates it.
    pub backend: usize,
    /// What all its loads must share.
    pub parameters: Option<String>,
}

impl Transaction {
    pub fn is_over(&self) -> bool {
        matches!(self.state, "VISIBLE" | "ABORTED")
    }
}

/// Why a label can't be used.
pub enum LabelTaken {
    Running,
    Finished,
}

impl World {
    pub fn tick_transactions(&mut self) {
        let now = self.now();
        for i in 0..self.transactions.len() {
            let t = &mut self.transactions[i];
            match t.state {
                "PREPARE" if now > t.begun + Duration::from_secs(t.timeout) => {
                    t.state = "ABORTED";
                    t.reason = "timeout by txn manager".to_owned();
                }
                "PREPARED" if now > t.prepared.unwrap() + Duration::from_secs(t.prepared_timeout) => {
                    t.state = "ABORTED";
                    t.reason = "timeout by txn manager".to_owned();
                }
                "COMMITTED" if now >= t.committed.unwrap() + self.publish_delay => self.publish(i),
                _ => {}
            }
        }
    }

    /// Committed rows are seen.
    fn publish(&mut self, i: usize) {
        self.transactions[i].state = "VISIBLE";
        let t = self.transactions[i].clone();
        let Some(table) =
            self.databases.get_mut(&t.database).and_then(|d| d.tables.values_mut().find(|x| x.id == t.table_id))
        else {
            return;
        };
        for (key, row) in t.changes {
            match row {
                Some(row) => {
                    table.rows.insert(key, row);
                }
                None => {
                    table.rows.remove(&key);
                }
            }
        }
    }

    /// The last transaction of a label: an aborted one frees it.
    pub fn by_label(&mut self, database: &str, label: &str) -> Option<usize> {
        self.tick();
        self.transactions.iter().rposition(|t| t.database == database && t.label == label)
    }

    pub fn begin(
        &mut self,
        database: &str,
        table: &str,
        label: &str,
        timeout: u64,
        backend: usize,
    ) -> Result<u64, LabelTaken> {
        if let Some(i) = self.by_label(database, label) {
            match self.transactions[i].state {
                "ABORTED" => {}
                "VISIBLE" => return Err(LabelTaken::Finished),
                _ => return Err(LabelTaken::Running),
            }
        }
        let id = self.id();
        let table_id = self.table(database, table).unwrap().id;
        let begun = self.now();
        self.transactions.push(Transaction {
            id,
            database: database.to_owned(),
            label: label.to_owned(),
            table: table.to_owned(),
            table_id,
            state: "PREPARE",
            reason: String::new(),
            changes: Vec::new(),
            begun,
            prepared: None,
            committed: None,
            timeout,
            prepared_timeout: 86_400,
            backend,
            parameters: None,
        });
        Ok(id)
    }

    pub fn commit(&mut self, i: usize) {
        let now = self.now();
        self.transactions[i].state = "COMMITTED";
        self.transactions[i].committed = Some(now);
        self.tick();
    }

    pub fn abort(&mut self, i: usize, reason: &str) {
        self.transactions[i].state = "ABORTED";
        self.transactions[i].reason = reason.to_owned();
        self.transactions[i].changes.clear();
    }
}
