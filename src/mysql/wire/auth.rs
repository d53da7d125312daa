//! Ways of authentication: what the client answers.

use super::error::WireError;
use super::rsa_key::check_public_key;
use mysql_common::scramble::{create_response_for_ed25519, scramble_native, scramble_sha256};

/// A way of authentication that rowferry knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugin {
    Native,
    CachingSha2,
    Sha256,
    Clear,
    Ed25519,
}

/// What lies between us and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// TCP: whoever listens reads along.
    Plain,
    /// TLS with whoever has answered.
    Encrypted,
    /// TLS with a server that is known by its certificate.
    Verified,
}

impl Channel {
    pub(super) fn is_encrypted(self) -> bool {
        self != Self::Plain
    }
}

impl Plugin {
    pub(super) fn find(name: &str) -> Option<Self> {
        match name {
            "mysql_native_password" => Some(Self::Native),
            "caching_sha2_password" => Some(Self::CachingSha2),
            "sha256_password" => Some(Self::Sha256),
            "mysql_clear_password" => Some(Self::Clear),
            "client_ed25519" => Some(Self::Ed25519),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::Clear => "mysql_clear_password",
            Self::Ed25519 => "client_ed25519",
        }
    }

    /// The first answer.
    ///
    /// # Errors
    /// The password would have to be told to somebody who may not be the server.
    pub(super) fn first_answer(self, password: &str, nonce: &[u8], channel: Channel) -> Result<Vec<u8>, WireError> {
        let secret = password.as_bytes();
        if secret.is_empty() && self != Self::Ed25519 {
            return Ok(if self == Self::Clear { vec![0] } else { Vec::new() });
        }
        Ok(match self {
            Self::Native => scramble_native(nonce, secret).map(Vec::from).unwrap_or_default(),
            Self::CachingSha2 => scramble_sha256(nonce, secret).map(Vec::from).unwrap_or_default(),
            Self::Sha256 if channel.is_encrypted() => with_nul(secret),
            Self::Sha256 => vec![REQUEST_KEY_SHA256],
            // Whoever sits between could ask for it as well: only a server that is known by its certificate gets it.
            Self::Clear if channel == Channel::Verified => with_nul(secret),
            Self::Clear => {
                return Err(WireError::Auth(
                    "the server asks for the password in clear text (mysql_clear_password): only over TLS to a \
                     server that is known by its certificate; set `jdbc.properties.sslMode` to VERIFY_IDENTITY, or to \
                     VERIFY_CA with the server's own authority in `jdbc.properties.trustCertificateKeyStoreUrl`, or create a user for rowferry with caching_sha2_password (MySQL) or mysql_native_password (MariaDB)"
                        .to_owned(),
                ));
            }
            Self::Ed25519 => create_response_for_ed25519(secret, nonce).to_vec(),
        })
    }
}

/// `sha256_password`: send me your public key.
const REQUEST_KEY_SHA256: u8 = 1;
/// `caching_sha2_password`: send me your public key.
pub(super) const REQUEST_KEY_CACHING: u8 = 2;
/// `caching_sha2_password`: the scramble matched the cache; OK follows.
pub(super) const FAST_AUTH_OK: u8 = 3;
/// `caching_sha2_password`: not cached, the password itself is needed.
pub(super) const FULL_AUTH: u8 = 4;

/// The password as it goes through TLS.
pub(super) fn with_nul(secret: &[u8]) -> Vec<u8> {
    let mut out = secret.to_vec();
    out.push(0);
    out
}

/// The password under the server's public key.
///
/// # Errors
/// The key is none, or the password is too long for it.
pub(super) fn under_public_key(password: &str, nonce: &[u8], pem: &[u8]) -> Result<Vec<u8>, WireError> {
    const PADDING: usize = 42;
    let (pem, modulus_len) =
        check_public_key(pem).ok_or_else(|| WireError::protocol("the server's public key is malformed"))?;
    if nonce.is_empty() {
        return Err(WireError::protocol("the server sent no nonce"));
    }
    let mut secret = with_nul(password.as_bytes());
    if secret.len() > modulus_len - PADDING {
        return Err(WireError::Auth(format!(
            "the password is too long for the server's RSA key ({} bytes at most); use TLS",
            modulus_len - PADDING - 1
        )));
    }
    for (byte, mask) in secret.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    Ok(mysql_common::crypto::encrypt(&secret, pem.as_bytes()))
}

/// What to say where the server asks for a way that is not known.
pub(super) fn unknown_plugin(name: &str) -> WireError {
    let hint = match name {
        "mysql_old_password" => "a password of MySQL 4.0: set it again with mysql_native_password",
        "authentication_ldap_sasl_client" | "authentication_kerberos_client" | "auth_gssapi_client" | "dialog" => {
            "create a user for rowferry that logs in with a password"
        }
        _ => "create a user for rowferry with caching_sha2_password (MySQL) or mysql_native_password (MariaDB)",
    };
    WireError::Auth(format!("the server asks for `{name}`, which rowferry does not speak; {hint}"))
}
