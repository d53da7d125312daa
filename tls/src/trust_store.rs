//! Connector/J's trust store: the file with the authority's certificates.

use std::path::PathBuf;
use url::Url;

/// The property with the file's URL.
pub const TRUST_STORE: &str = "trustCertificateKeyStoreUrl";
/// The property with the file's format.
pub const TRUST_STORE_TYPE: &str = "trustCertificateKeyStoreType";

/// The driver's default.
const DEFAULT_TYPE: &str = "JKS";
const PEM: &str = "PEM";

/// A trust store can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustStoreError {
    /// It is no PEM file.
    #[error("`{TRUST_STORE}` names a key store of Java ({kind}), which rowferry can't read")]
    OfJava {
        /// Its type.
        kind: String,
    },
    /// It is no file.
    #[error("`{TRUST_STORE}={url}` is not the `file:` URL of a file")]
    NotAFile {
        /// What it is.
        url: String,
    },
}

impl TrustStoreError {
    /// The way out, where it isn't plain.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OfJava { .. } => Some(format!(
                "export the authority's certificates as PEM (`keytool -exportcert -rfc`) and add `{TRUST_STORE_TYPE}={PEM}`"
            )),
            Self::NotAFile { .. } => None,
        }
    }
}

/// The file that a trust store of this type is.
///
/// # Errors
/// It is a key store of Java, as it is for the driver where no type is given, or not the URL of a file.
pub fn trust_store(url: &str, kind: Option<&str>) -> Result<PathBuf, TrustStoreError> {
    let kind = kind.unwrap_or(DEFAULT_TYPE);
    if !kind.eq_ignore_ascii_case(PEM) {
        return Err(TrustStoreError::OfJava { kind: kind.to_owned() });
    }
    // The driver takes what is no URL for a file.
    let path = match Url::parse(url) {
        Ok(parsed) if parsed.scheme() == "file" => parsed.to_file_path().ok(),
        Ok(_) => None,
        Err(_) => Some(PathBuf::from(url)),
    };
    path.ok_or_else(|| TrustStoreError::NotAFile { url: url.to_owned() })
}

#[cfg(test)]
mod tests;
