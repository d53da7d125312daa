//! Failures on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// When a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The operation has had no effect.
    Before,
    /// It has had its effect; only the answer is lost or wrong.
    After,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// The connection is closed without an answer.
    Drop,
    /// An answer with status 500.
    Status500,
    /// An answer with `Status: FAILED` (HTTP) or error 1064 (SQL) and these words.
    Refuse(String),
    /// The answer comes later.
    Delay(Duration),
    /// The answer comes once the gate is open.
    Wait(Gate),
}

impl FaultAction {
    /// Waits if it is late that this lets the answer be; `false`: it does something else.
    pub fn waits(&self) -> bool {
        match self {
            Self::Delay(time) => std::thread::sleep(*time),
            Self::Wait(gate) => gate.wait(),
            _ => return false,
        }
        true
    }
}

/// What holds answers up until a test has seen what it wants to see, however long that takes.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn wait(&self) {
        while !self.0.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gate {}

/// A failure that waits for its operation.
#[derive(Clone, Debug)]
pub struct Fault {
    /// `begin`, `load`, `prepare`, `commit`, `rollback`, `state`, `stream_load`, or `sql:` and the statement's start.
    pub operation: String,
    /// How many operations pass first.
    pub skip: u32,
    /// How many are struck.
    pub times: u32,
    pub when: When,
    pub action: FaultAction,
}

/// The fault that strikes an operation, if any.
pub fn strike(faults: &mut [Fault], operation: &str) -> Option<(When, FaultAction)> {
    for fault in faults {
        let hit = match fault.operation.strip_prefix("sql:") {
            Some(start) => operation.strip_prefix("sql:").is_some_and(|sql| sql.starts_with(start)),
            None => fault.operation == operation,
        };
        if !hit || fault.times == 0 {
            continue;
        }
        if fault.skip > 0 {
            fault.skip -= 1;
            continue;
        }
        fault.times -= 1;
        return Some((fault.when, fault.action.clone()));
    }
    None
}
