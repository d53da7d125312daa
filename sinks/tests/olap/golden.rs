//! All statements that the sink sends in the tests of this package, in one file that a reviewer can read.

use crate::stand_in::{self, Settings};
use crate::support::STATEMENTS;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Mutex;

static WRITING: Mutex<()> = Mutex::new(());

/// A stand-in. What was sent to it is compared in the end with the file of all statements.
pub struct StandIn(stand_in::StandIn);

impl StandIn {
    pub fn start(settings: Settings) -> Self {
        Self(stand_in::StandIn::start(settings))
    }
}

impl Deref for StandIn {
    type Target = stand_in::StandIn;

    fn deref(&self) -> &stand_in::StandIn {
        &self.0
    }
}

impl DerefMut for StandIn {
    fn deref_mut(&mut self) -> &mut stand_in::StandIn {
        &mut self.0
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let sent: Vec<String> = self.world().statements.iter().map(|(sql, _)| sql.clone()).collect();
        check(STATEMENTS, sent.iter().map(String::as_str));
    }
}

/// Compares statements with those of `tests/data/<file>`, one a line. With `ROWFERRY_BLESS` set the file gets those that
/// it lacks; what is no longer sent is found by removing the file first.
fn check<'a>(file: &str, statements: impl Iterator<Item = &'a str>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut known: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let new: Vec<String> = statements.map(|s| s.replace('\n', "\\n")).filter(|s| !known.contains(s)).collect();
    if new.is_empty() {
        return;
    }
    if std::env::var_os("ROWFERRY_BLESS").is_some() {
        known.extend(new);
        let lines: Vec<String> = known.into_iter().collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    // A failure while a test fails would end the process.
    if !std::thread::panicking() {
        panic!(
            "statements that {} does not have; look at them, and set ROWFERRY_BLESS to add them: {new:#?}",
            path.display()
        );
    }
}
