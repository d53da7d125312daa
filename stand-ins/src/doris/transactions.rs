//! Load transactions and their labels: all of it is recorded, but for the time-outs, which are the manual's.

use super::world::World;
use std::time::Duration;

/// `stream_load_default_precommit_timeout_second` of the frontends.
const PRECOMMIT_TIMEOUT: Duration = Duration::from_secs(3600);

/// What tells a repeated request to begin from another one.
#[derive(Clone, Debug)]
pub struct Own {
    pub request: String,
}

/// Why a transaction does not begin.
#[derive(Debug)]
pub enum NotBegun {
    Refused(String),
    /// The words, and what has become of the label.
    LabelTaken(String, &'static str),
}

impl World {
    pub fn begin(
        &mut self,
        database: &str,
        table: &str,
        label: &str,
        timeout: i64,
        request: &str,
    ) -> Result<u64, NotBegun> {
        let refused = |text: String| Err(NotBegun::Refused(text));
        if !self.databases.contains_key(database) {
            return refused(format!("errCode = 7, detailMessage = unknown database, database={database}"));
        }
        let Some(table_id) = self.table(database, table).map(|t| t.id) else {
            return refused(format!("errCode = 7, detailMessage = table not found, tableName={table}"));
        };
        if label.is_empty() {
            return refused("errCode = 2, detailMessage = empty label in begin request".to_owned());
        }
        let ok = |c: char| c.is_alphabetic() || c.is_ascii_digit() || matches!(c, '-' | '_' | ':');
        if label.chars().count() > 128 || !label.chars().all(ok) {
            return refused(format!(
                "errCode = 2, detailMessage = Label format error. regex: ^[\\-_A-Za-z0-9:\\p{{L}}]{{1,128}}$, label: {label}"
            ));
        }
        if timeout > 259_200 {
            return refused(format!(
                "errCode = 2, detailMessage = Invalid timeout: {timeout}. Timeout should be lower than \
                 Config.max_stream_load_timeout_second: 259200"
            ));
        }
        if timeout < 1 {
            return refused(format!(
                "errCode = 2, detailMessage = Invalid timeout: {timeout}. Timeout should be higher than \
                 Config.min_load_timeout_second: 1"
            ));
        }
        if let Some(i) = self.by_label(database, label) {
            let t = &self.transactions[i];
            let job = match t.state {
                "ABORTED" => None,
                "PREPARE" if t.own.request == request && !request.is_empty() => return Ok(t.id),
                "PREPARE" => Some("RUNNING"),
                "PRECOMMITTED" => Some("PRECOMMITTED"),
                _ => Some("FINISHED"),
            };
            if let Some(job) = job {
                let words = format!(
                    "errCode = 2, detailMessage = Label [{label}] has already been used, relate to txn [{}], status [{}].",
                    t.id, t.state
                );
                return Err(NotBegun::LabelTaken(words, job));
            }
        }
        let timeouts = [Duration::from_secs(timeout as u64), PRECOMMIT_TIMEOUT];
        Ok(self.open(database, label, table_id, timeouts, Own { request: request.to_owned() }))
    }

    /// The end of a load with two phases.
    pub fn precommit(&mut self, id: u64) -> Result<(), String> {
        self.tick();
        let now = self.now();
        let Some(t) = self.transactions.iter_mut().find(|t| t.id == id) else { return Err(not_found(id)) };
        match t.state {
            "PREPARE" => {
                t.state = "PRECOMMITTED";
                t.prepared = Some(now);
                Ok(())
            }
            "ABORTED" => Err(format!("errCode = 2, detailMessage = {}", t.reason)),
            _ => Ok(()),
        }
    }

    /// The end of a load without.
    pub fn commit(&mut self, id: u64) -> Result<(), String> {
        self.tick();
        let now = self.now();
        let Some(t) = self.transactions.iter_mut().find(|t| t.id == id) else { return Err(not_found(id)) };
        match t.state {
            "ABORTED" => Err(format!(
                "errCode = 2, detailMessage = transaction [{id}] is already aborted. abort reason: {}",
                t.reason
            )),
            "COMMITTED" | "VISIBLE" => Ok(()),
            _ => {
                t.state = "COMMITTED";
                t.committed = Some(now);
                self.tick();
                Ok(())
            }
        }
    }

    pub fn rollback(&mut self, id: u64, reason: &str) -> Result<(), String> {
        self.tick();
        match self.transactions.iter_mut().find(|t| t.id == id) {
            Some(t) if !t.is_over() && t.state != "COMMITTED" => {
                t.abort(reason);
                Ok(())
            }
            _ => Err("errCode = 2, detailMessage = transaction not found".to_owned()),
        }
    }

    /// `_stream_load_2pc`: by number or by label, which must wait for its commit then.
    pub fn second_phase(
        &mut self,
        database: &str,
        id: Option<u64>,
        label: Option<&str>,
        operation: &str,
    ) -> Result<u64, String> {
        self.tick();
        let error = |text: String| Err(format!("errCode = 2, detailMessage = {text}"));
        if !self.databases.contains_key(database) {
            return error(format!("unknown database, database={database}"));
        }
        let at = match (id, label) {
            (Some(id), _) => self.transactions.iter().position(|t| t.id == id && t.database == database),
            (None, Some(label)) => {
                let Some(i) = self.by_label(database, label) else {
                    return error(format!("transaction not found, label={label}"));
                };
                if self.transactions[i].state != "PRECOMMITTED" {
                    return error(format!("running transaction not found, label={label}"));
                }
                Some(i)
            }
            (None, None) => None,
        };
        if !matches!(operation, "commit" | "abort") {
            return error("transaction operation should be 'commit' or 'abort'".to_owned());
        }
        let Some(i) = at else { return Err(not_found(id.unwrap_or(0))) };
        let t = self.transactions[i].clone();
        let there = self.table_by_id(t.table_id).is_some();
        match (operation, t.state) {
            ("commit", "PRECOMMITTED") if !there => {
                Err(format!("errCode = 7, detailMessage = table not found, tableId={}", t.table_id))
            }
            ("commit", "PRECOMMITTED") => self.commit(t.id).map(|()| t.id),
            ("commit", "ABORTED") => {
                error(format!("transaction [{}] is already aborted. abort reason: {}", t.id, t.reason))
            }
            ("commit", "PREPARE") => error(format!("transaction [{}] is prepare, not pre-committed.", t.id)),
            ("commit", state) => {
                error(format!("transaction [{}] is already {}, not pre-committed.", t.id, state.to_lowercase()))
            }
            (_, "ABORTED") => error(format!("transaction [{}] is already aborted, abort reason: {}", t.id, t.reason)),
            (_, state @ ("COMMITTED" | "VISIBLE")) => {
                error(format!("transaction [{}] is already {state}, could not abort.", t.id))
            }
            _ => self.rollback(t.id, "User Abort").map(|()| t.id),
        }
    }
}

fn not_found(id: u64) -> String {
    format!("errCode = 2, detailMessage = transaction [{id}] not found")
}
