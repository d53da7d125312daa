//! Named places where tests make the process die, as `kill -9` would.

/// The names, in the order in which a pipeline passes them.
pub const NAMES: [&str; 10] = [
    "chunk-armed",
    "chunk-read",
    "chunk-written",
    "rows-written",
    "before-prepare",
    "before-save",
    "before-commit",
    "after-commit",
    "ddl-applied",
    "after-ddl",
];

/// Aborts the process when `ROWFERRY_FAILPOINT` names this place: `name`, or `name:N` for the N-th time it is passed.
pub fn pass(name: &'static str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);
    debug_assert!(NAMES.contains(&name), "{name} is not in NAMES");
    let wanted = WANTED.get_or_init(|| {
        let value = std::env::var("ROWFERRY_FAILPOINT").ok()?;
        let (name, times) = value.split_once(':').unwrap_or((&value, "1"));
        Some((name.to_owned(), times.parse().unwrap_or(1)))
    });
    if let Some((wanted, times)) = wanted
        && wanted == name
        && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *times
    {
        // No unwinding, no flushing: what was not durable is lost, as in a crash.
        std::process::abort();
    }
}
