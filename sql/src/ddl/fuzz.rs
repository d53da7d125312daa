//! What a fuzzer calls.

use super::{DdlContext, DdlOutcome, SqlMode, classify, decode_statement, parse_ddl};
use crate::{Catalog, MappingOptions, ServerVersion};

/// Reads any bytes as a statement and applies it to a small catalog; must never panic. The first byte chooses the
/// session: bit 0 MariaDB, bit 1 ANSI_QUOTES, bit 2 NO_BACKSLASH_ESCAPES, bit 3 not strict.
#[doc(hidden)]
pub fn fuzz_ddl(bytes: &[u8]) {
    let (flags, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let server = if flags & 1 == 1 { ServerVersion::mariadb(101_118) } else { ServerVersion::mysql(90_704) };
    let mut context = DdlContext::new(server, "d");
    for (bit, mode) in [(2, SqlMode::ANSI_QUOTES), (4, SqlMode::NO_BACKSLASH_ESCAPES)] {
        if flags & bit != 0 {
            context.sql_mode.0 |= mode;
        }
    }
    if flags & 8 != 0 {
        context.sql_mode.0 &= !(SqlMode::STRICT_TRANS_TABLES | SqlMode::STRICT_ALL_TABLES);
    }
    let mut catalog = Catalog::default();
    catalog.insert_database("d", context.server_charset.clone());
    for text in ["CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9))", &decode_statement(bytes, "utf8mb4")] {
        classify(text, &context);
        if let DdlOutcome::Changes(statement) = parse_ddl(text, &context) {
            for effect in catalog.apply(&statement, &context).unwrap_or_default() {
                let _ = effect.schema_changes(&MappingOptions::default());
            }
        }
    }
}
