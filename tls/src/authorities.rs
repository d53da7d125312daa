//! Which authorities a server's certificate may come from, where no option says it.

use std::path::PathBuf;

/// The variable that OpenSSL and the programs around it know.
pub const AUTHORITIES: &str = "SSL_CERT_FILE";

/// The PEM file that the environment names; `None`: the public authorities count.
pub fn authorities() -> Option<PathBuf> {
    std::env::var_os(AUTHORITIES).filter(|name| !name.is_empty()).map(PathBuf::from)
}
