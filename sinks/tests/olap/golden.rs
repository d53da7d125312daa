//! All statements that the sink sends in the tests, in one file that a reviewer can read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

static WRITING: Mutex<()> = Mutex::new(());

/// Compares statements with those of `tests/data/<file>`, one a line. With `ROWFERRY_BLESS` set the file gets those that
/// it lacks; what is no longer sent is found by removing the file first.
pub fn check<'a>(file: &str, statements: impl Iterator<Item = &'a str>) {
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
