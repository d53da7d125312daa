//! Which server a text comes from: the same SQL means different things to different servers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Flavor {
    /// Oracle's MySQL, Percona Server and the clouds' MySQL.
    Mysql,
    /// MariaDB.
    Mariadb,
}

/// A server's flavour and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ServerVersion {
    /// Whose server it is.
    pub flavor: Flavor,
    /// `major * 10000 + minor * 100 + patch`, as version comments write it: 8.0.30 is 80030.
    pub number: u32,
}

impl ServerVersion {
    /// A MySQL of that version, for example 80030.
    pub const fn mysql(number: u32) -> Self {
        Self { flavor: Flavor::Mysql, number }
    }

    /// A MariaDB of that version, for example 101118.
    pub const fn mariadb(number: u32) -> Self {
        Self { flavor: Flavor::Mariadb, number }
    }

    /// Reads what `SELECT @@version` says, for example `8.0.36-log` or `10.11.18-MariaDB-0+deb12u1`, also with the
    /// `5.5.5-` that MariaDB's handshake puts in front. `None` where no version is in it.
    pub fn parse(version: &str) -> Option<Self> {
        let flavor = if version.to_ascii_lowercase().contains("mariadb") { Flavor::Mariadb } else { Flavor::Mysql };
        let text = match flavor {
            Flavor::Mariadb => version.strip_prefix("5.5.5-").unwrap_or(version),
            Flavor::Mysql => version,
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut parts = text[..end].split('.').map(str::parse::<u32>);
        let major = parts.next()?.ok()?;
        let minor = parts.next()?.ok()?;
        let patch = parts.next().and_then(Result::ok).unwrap_or(0);
        let number = major.checked_mul(10_000)?.checked_add(minor.checked_mul(100)?)?.checked_add(patch)?;
        Some(Self { flavor, number })
    }

    /// Whether it is a MariaDB.
    pub fn is_mariadb(self) -> bool {
        self.flavor == Flavor::Mariadb
    }

    /// Whether it is a MySQL of at least that version.
    pub fn mysql_since(self, number: u32) -> bool {
        self.flavor == Flavor::Mysql && self.number >= number
    }

    /// Whether it is a MariaDB of at least that version.
    pub fn mariadb_since(self, number: u32) -> bool {
        self.flavor == Flavor::Mariadb && self.number >= number
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_mariadb() { "MariaDB" } else { "MySQL" };
        write!(f, "{name} {}.{}.{}", self.number / 10_000, self.number / 100 % 100, self.number % 100)
    }
}

#[cfg(test)]
mod tests;
