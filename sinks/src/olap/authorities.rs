//! Which authorities a server's certificate may come from, where no option says it.

use std::path::PathBuf;

/// The variable that OpenSSL and the programs around it know.
pub(crate) const VARIABLE: &str = "SSL_CERT_FILE";

/// The PEM file that the environment names; `None`: the public authorities count.
pub(crate) fn file() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// How the library tells that a certificate is its own authority's.
pub(crate) const OWN_AUTHORITY: &str = "CaUsedAsEndEntity";
/// What that means.
pub(crate) const OWN_AUTHORITY_MEANS: &str = "the server's certificate is itself an authority's, as a self-signed one is: make one for \
                                              the server and have the authority sign it";
