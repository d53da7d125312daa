//! Which changes of a DDL the sink has made already, so that a crash in the middle does not repeat them.
//!
//! A DDL may mean several changes of several targets, and some can't be told apart by looking at the target: after a
//! rename and a new column of the old name, the same rename looks due again. So each change that the sink has made is
//! noted at once. Behind a crash the DDL comes again, the same changes are planned from the same saved schemas, and those
//! that are noted are taken as made. Only the one that was under way is repeated, and the sink looks at the target first.

use crate::checkpoint::DdlProgress;
use rowferry_model::BinlogPosition;

/// The changes of the DDL that is being followed.
#[derive(Debug, Default)]
pub(super) struct DdlSteps {
    noted: DdlProgress,
    /// How many changes this run has passed.
    passed: usize,
    settled: bool,
}

impl DdlSteps {
    /// What the last run has noted.
    pub(super) fn of(noted: Option<DdlProgress>) -> Self {
        Self { noted: noted.unwrap_or_default(), ..Self::default() }
    }

    /// A DDL begins.
    pub(super) fn begin(&mut self, server: &str, position: &BinlogPosition) {
        if self.noted.server != server || self.noted.position != *position {
            self.noted = DdlProgress { server: server.to_owned(), position: position.clone(), made: Vec::new() };
        }
        self.passed = 0;
        self.settled = false;
    }

    /// Whether everything before the DDL must still be made durable: `true` once.
    pub(super) fn must_settle(&mut self) -> bool {
        !std::mem::replace(&mut self.settled, true)
    }

    /// What became of the next change in the run before: `true`, it was made; `false`, the sink could not.
    pub(super) fn made_before(&mut self) -> Option<bool> {
        let made = self.noted.made.get(self.passed).copied()?;
        self.passed += 1;
        Some(made)
    }

    /// What has become of the next change; gives what is to be saved.
    pub(super) fn note(&mut self, made: bool) -> &DdlProgress {
        self.noted.made.push(made);
        self.passed = self.noted.made.len();
        &self.noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_of_the_same_ddl_is_known_behind_a_crash_and_of_no_other() {
        let (here, there) = (BinlogPosition::new("b.1", 100), BinlogPosition::new("b.1", 200));
        let mut first = DdlSteps::of(None);
        first.begin("server", &here);
        assert!(first.must_settle() && !first.must_settle());
        assert_eq!(first.made_before(), None);
        first.note(true);
        let saved = first.note(false).clone();
        let mut second = DdlSteps::of(Some(saved.clone()));
        second.begin("server", &here);
        assert_eq!([second.made_before(), second.made_before(), second.made_before()], [Some(true), Some(false), None]);
        assert_eq!(second.note(true).made, [true, false, true]);
        for (server, position) in [("server", &there), ("other", &here)] {
            let mut other = DdlSteps::of(Some(saved.clone()));
            other.begin(server, position);
            assert_eq!(other.made_before(), None);
        }
    }
}
