//! The errors of a connection and of questions to the server, as errors of a run.

use crate::error::Error;
use crate::mysql::catalog;
use crate::mysql::wire::WireError;

impl From<catalog::CatalogError> for Error {
    fn from(error: catalog::CatalogError) -> Self {
        if error.is_transient() {
            return Error::transient("RF-SRC-001", "the MySQL server can't be used at the moment").caused_by(error);
        }
        match error {
            catalog::CatalogError::OffsetGone { .. } => {
                Error::permanent("RF-SRC-030", "the saved position is no longer on the server").caused_by(error)
            }
            error => Error::permanent("RF-SRC-002", "the MySQL server refused").caused_by(error),
        }
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        if matches!(error, WireError::PurgedLogs(_)) {
            return Error::permanent("RF-SRC-030", "the saved position is no longer on the server")
                .caused_by(error)
                .hint(
                    "what was purged can't be read any more: start again with a new state directory, which takes a new \
                 snapshot, or point `hostname` at a server that still has it; the saved state is left as it is",
                );
        }
        let out = if error.is_transient() {
            Error::transient("RF-SRC-001", "the MySQL server can't be used at the moment")
        } else {
            Error::permanent("RF-SRC-002", "the MySQL server refused")
        };
        out.caused_by(error)
    }
}
