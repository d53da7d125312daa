//! Which server it is.

use std::fmt;

/// The two families of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// MySQL and what is built from it.
    Mysql,
    /// MariaDB.
    Mariadb,
}

/// A server's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// The family.
    pub flavour: Flavour,
    /// 9 of 9.7.4.
    pub major: u16,
    /// 7 of 9.7.4.
    pub minor: u16,
    /// 4 of 9.7.4.
    pub patch: u16,
    /// The text as the server sent it.
    pub text: String,
}

impl ServerVersion {
    /// Reads a version text such as `8.0.36-28`, `5.5.5-10.11.6-MariaDB-log`. Numbers that are missing count as 0.
    pub fn parse(text: &str) -> Self {
        let flavour = if text.to_ascii_lowercase().contains("mariadb") { Flavour::Mariadb } else { Flavour::Mysql };
        // MariaDB calls itself 5.5.5 first, for replicas that know no two-digit major versions.
        let number = match flavour {
            Flavour::Mariadb => text.strip_prefix("5.5.5-").unwrap_or(text),
            Flavour::Mysql => text,
        };
        let mut parts = number.split('.').map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..digits).and_then(|d| d.parse::<u16>().ok()).unwrap_or(0)
        });
        let mut next = || parts.next().unwrap_or(0);
        let (major, minor, patch) = (next(), next(), next());
        Self { flavour, major, minor, patch, text: text.to_owned() }
    }

    /// The same version as the SQL reader wants it.
    pub fn for_sql(&self) -> rowferry_sql::ServerVersion {
        let number = u32::from(self.major) * 10_000 + u32::from(self.minor) * 100 + u32::from(self.patch);
        match self.flavour {
            Flavour::Mysql => rowferry_sql::ServerVersion::mysql(number),
            Flavour::Mariadb => rowferry_sql::ServerVersion::mariadb(number),
        }
    }

    /// Whether it is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.flavour == Flavour::Mariadb
    }

    /// Whether it is MySQL of this version or a later one.
    pub fn is_mysql_since(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.flavour == Flavour::Mysql && (self.major, self.minor, self.patch) >= (major, minor, patch)
    }

    /// Whether it is MariaDB of this version or a later one.
    pub fn is_mariadb_since(&self, major: u16, minor: u16, patch: u16) -> bool {
        self.flavour == Flavour::Mariadb && (self.major, self.minor, self.patch) >= (major, minor, patch)
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.flavour {
            Flavour::Mysql => "MySQL",
            Flavour::Mariadb => "MariaDB",
        };
        write!(f, "{name} {}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_both_families() {
        for (text, flavour, numbers) in [
            ("9.7.4", Flavour::Mysql, (9, 7, 4)),
            ("5.6.24-log", Flavour::Mysql, (5, 6, 24)),
            ("8.0.36-28", Flavour::Mysql, (8, 0, 36)),
            ("5.5.5-10.11.14-MariaDB-0+deb12u2-log", Flavour::Mariadb, (10, 11, 14)),
            ("11.8.2-MariaDB", Flavour::Mariadb, (11, 8, 2)),
            ("", Flavour::Mysql, (0, 0, 0)),
            ("x.y", Flavour::Mysql, (0, 0, 0)),
        ] {
            let v = ServerVersion::parse(text);
            assert_eq!((v.flavour, (v.major, v.minor, v.patch)), (flavour, numbers), "{text}");
        }
        assert!(ServerVersion::parse("8.4.0").is_mysql_since(8, 2, 0));
        assert!(!ServerVersion::parse("8.0.40").is_mysql_since(8, 2, 0));
        assert!(!ServerVersion::parse("10.11.1-MariaDB").is_mysql_since(5, 6, 0));
    }
}
