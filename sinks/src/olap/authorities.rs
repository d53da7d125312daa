//! Which authorities a server's certificate may come from, where no option says it.

use std::path::PathBuf;

/// The variable that OpenSSL and the programs around it know.
pub(crate) const VARIABLE: &str = "SSL_CERT_FILE";

/// The PEM file that the environment names; `None`: the public authorities count.
pub(crate) fn file() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from)
}
