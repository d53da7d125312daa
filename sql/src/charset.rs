//! MySQL's and MariaDB's character sets and collations.

use crate::{CharSet, ServerVersion};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// One character set of [`table`].
struct Entry {
    name: &'static str,
    max_bytes: u32,
    /// The default collation, but see [`default_collation`].
    default: String,
}

struct Table {
    by_name: HashMap<&'static str, Entry>,
    /// Collation to character set.
    by_collation: HashMap<String, &'static str>,
    by_id: HashMap<u16, String>,
}

/// The character sets, from `charsets.txt`.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { by_name: HashMap::new(), by_collation: HashMap::new(), by_id: HashMap::new() };
        for line in include_str!("charsets.txt").lines().filter(|l| !l.starts_with('#')) {
            let mut words = line.split(' ');
            let (Some(name), Some(max_bytes)) = (words.next(), words.next().and_then(|n| n.parse().ok())) else {
                continue;
            };
            let mut default = None;
            for (suffix, id) in words.filter_map(|w| w.split_once(':')) {
                let collation = format!("{name}{suffix}");
                default.get_or_insert_with(|| collation.clone());
                if let Ok(id) = id.parse() {
                    table.by_id.insert(id, collation.clone());
                }
                table.by_collation.insert(collation, name);
            }
            let default = default.unwrap_or_else(|| name.to_owned());
            table.by_name.insert(name, Entry { name, max_bytes, default });
        }
        table
    })
}

/// The name under which [`table`] knows a character set or collation: lower case, and `utf8` is `utf8mb3`.
fn canonical(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("utf8") {
        Some("") => "utf8mb3".to_owned(),
        Some(rest) if rest.starts_with('_') => format!("utf8mb3{rest}"),
        _ => name,
    }
}

/// The name by which a server shows a character set or collation: older ones say `utf8` for `utf8mb3`.
fn shown(canonical: &str, server: ServerVersion) -> Arc<str> {
    let old = !(server.mysql_since(80_030) || server.mariadb_since(100_600));
    match canonical.strip_prefix("utf8mb3") {
        Some(rest) if old => format!("utf8{rest}").into(),
        _ => canonical.into(),
    }
}

/// The default collation of a character set.
fn default_collation(entry: &Entry, server: ServerVersion) -> Arc<str> {
    if server.mariadb_since(110_500) && matches!(entry.name, "utf8mb3" | "utf8mb4" | "ucs2" | "utf16" | "utf32") {
        return format!("{}_uca1400_ai_ci", entry.name).into();
    }
    if entry.name == "utf8mb4" && server.mysql_since(80_000) {
        return "utf8mb4_0900_ai_ci".into();
    }
    shown(&entry.default, server)
}

impl CharSet {
    /// A character set with its default collation on that server; `utf8` and `utf8mb3` are the same one. `None` for a
    /// name that is not known.
    pub fn with_default_collation(name: &str, server: ServerVersion) -> Option<Self> {
        let entry = table().by_name.get(canonical(name).as_str())?;
        Some(Self { name: shown(entry.name, server), collation: default_collation(entry, server) })
    }

    /// The character set of a collation, with that collation. `None` for a name that is not known.
    pub fn of_collation(collation: &str, server: ServerVersion) -> Option<Self> {
        let collation = canonical(collation);
        let name = table().by_collation.get(&collation)?;
        Some(Self { name: shown(name, server), collation: shown(&collation, server) })
    }

    /// The collation of an id, as the wire protocol, the binlog's Query and TABLE_MAP events write it. `None` for an
    /// id that is not known.
    pub fn of_id(id: u16, server: ServerVersion) -> Option<Self> {
        let collation = table().by_id.get(&id)?;
        Self::of_collation(collation, server)
    }

    /// The most bytes that one character takes; `None` for a name that is not known.
    pub fn max_bytes(&self) -> Option<u32> {
        charset_max_bytes(&self.name)
    }

    /// The pseudo character set of bytes.
    pub fn binary() -> Self {
        Self { name: "binary".into(), collation: "binary".into() }
    }
}

/// The most bytes that one character of a character set takes; `None` for a name that is not known.
pub fn charset_max_bytes(name: &str) -> Option<u32> {
    table().by_name.get(canonical(name).as_str()).map(|e| e.max_bytes)
}

#[cfg(test)]
mod tests;
