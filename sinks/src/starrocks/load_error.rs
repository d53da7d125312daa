//! What StarRocks' words say about trying again.

use crate::olap::load_error::{Hopeless, LoadError};

/// The server's refusal of an operation, in its words.
pub(super) fn refused(operation: &str, table: &str, words: &str) -> LoadError {
    LoadError::refused(format!("StarRocks refuses to {operation} {table}: {words}"), words, &OWN)
}

const OWN: [Hopeless; 6] = [
    (
        "too many filtered rows",
        Some("the rows that StarRocks refused are quoted; does the table have the types that the sink would give it?"),
    ),
    ("access denied", Some("the user needs INSERT on the tables, see docs/sinks/starrocks.md")),
    ("mapping column is not in table", None),
    ("there is no 100-continue header", Some("a proxy before StarRocks takes the Expect header away")),
    ("primary key size exceed", Some("StarRocks takes keys of 128 bytes in all unless the backends say otherwise")),
    (
        "unknown transaction operation",
        Some("this StarRocks is older than 2.4: set `sink.at-least-once.use-transaction-stream-load: false`"),
    ),
];
