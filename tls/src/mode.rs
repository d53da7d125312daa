//! Whether a connection is encrypted, and whom it may be with.

use std::fmt;
use std::str::FromStr;

/// How connections are encrypted, in the words of MySQL's `sslMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// If the server can, without a look at its certificate: guards against listeners, not against impostors.
    #[default]
    Preferred,
    /// Always; the server's certificate is not looked at.
    Required,
    /// Always; the certificate must be signed by a known authority.
    VerifyCa,
    /// Always; and it must be for the host name.
    VerifyIdentity,
}

impl TlsMode {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Disabled, Self::Preferred, Self::Required, Self::VerifyCa, Self::VerifyIdentity];

    /// Whether the server must show a certificate that is trusted.
    pub fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyIdentity)
    }

    /// Whether the user asks for encryption, rather than take it where it is to be had.
    pub fn demands(self) -> bool {
        !matches!(self, Self::Disabled | Self::Preferred)
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disabled => "DISABLED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        })
    }
}

/// A word that is no mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not one of {}", TlsMode::ALL.map(|mode| mode.to_string()).join(", "))]
pub struct UnknownMode;

impl FromStr for TlsMode {
    type Err = UnknownMode;

    /// In any case, with `-` for `_` as in MySQL's own programs.
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let word = text.replace('-', "_").to_ascii_uppercase();
        Self::ALL.into_iter().find(|mode| mode.to_string() == word).ok_or(UnknownMode)
    }
}
