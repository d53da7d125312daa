//! Load transactions and their labels.

use super::world::World;
use std::time::Duration;

/// How long a prepared transaction may wait, where its request does not say.
const PREPARED_TIMEOUT: Duration = Duration::from_secs(86_400);

/// What a transaction has beside what all have.
#[derive(Clone, Debug)]
pub struct Own {
    pub table: String,
    /// The backend that coordinates it.
    pub backend: usize,
    /// What all its loads must share.
    pub parameters: Option<String>,
}

/// Why a label can't be used.
pub enum LabelTaken {
    Running,
    Finished,
}

impl World {
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
        let table_id = self.table(database, table).unwrap().id;
        let own = Own { table: table.to_owned(), backend, parameters: None };
        Ok(self.open(database, label, table_id, [Duration::from_secs(timeout), PREPARED_TIMEOUT], own))
    }

    pub fn commit(&mut self, i: usize) {
        let now = self.now();
        self.transactions[i].state = "COMMITTED";
        self.transactions[i].committed = Some(now);
        self.tick();
    }
}
