//! Which authorities a server's certificate may come from.

use std::path::{Path, PathBuf};

/// The variable that OpenSSL and the programs around it know.
pub const AUTHORITIES: &str = "SSL_CERT_FILE";

/// Which authorities a server's certificate may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Authorities {
    /// The public ones. They sign for everybody: a certificate of theirs says something only together with its name.
    #[default]
    Public,
    /// Those of a PEM file that the environment names, which often has the public ones.
    Environment(PathBuf),
    /// Those of a PEM file that the user names for this server.
    Named(PathBuf),
}

impl Authorities {
    /// Those of the file that the environment names, or the public ones.
    pub fn of_environment() -> Self {
        let file = std::env::var_os(AUTHORITIES).filter(|name| !name.is_empty());
        file.map_or(Self::Public, |name| Self::Environment(name.into()))
    }

    /// The PEM file; `None`: the public ones.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Public => None,
            Self::Environment(file) | Self::Named(file) => Some(file),
        }
    }
}
