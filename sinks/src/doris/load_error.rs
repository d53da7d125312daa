//! What Doris' words say about trying again.

use crate::olap::load_error::{Hopeless, LoadError};

/// The server's refusal of an operation, in its words.
pub(super) fn refused(operation: &str, table: &str, words: &str) -> LoadError {
    LoadError::refused(format!("Doris refuses to {operation} {table}: {words}"), words, &OWN)
}

const OWN: [Hopeless; 5] = [
    (
        "too many filtered rows",
        Some("the rows that Doris refused are quoted; does the table have the types that the sink would give it?"),
    ),
    ("access denied", Some("the user needs LOAD on the tables, see docs/sinks/doris.md")),
    ("there is no 100-continue header", Some("a proxy before Doris takes the Expect header away")),
    ("has sequence column", Some("set `sink.properties.function_column.sequence_col`, as the table asks for it")),
    ("only be `sync_mode`", None),
];
