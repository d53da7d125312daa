//! What a statement's meaning depends on besides its text.

use crate::{CharSet, ServerVersion};
use rowferry_model::TableId;

/// The bits of a session's `sql_mode` that change how statements are read, as the binlog's Query event writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

impl SqlMode {
    /// REAL is FLOAT, not DOUBLE.
    pub const REAL_AS_FLOAT: u64 = 1;
    /// `"` quotes names, not strings.
    pub const ANSI_QUOTES: u64 = 1 << 2;
    /// MariaDB's Oracle mode; MySQL up to 5.7 has only a name for it.
    pub const ORACLE: u64 = 1 << 9;
    /// A backslash in a string is a backslash.
    pub const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;
    /// What doesn't fit is refused, in tables with transactions.
    pub const STRICT_TRANS_TABLES: u64 = 1 << 21;
    /// What doesn't fit is refused, in all tables.
    pub const STRICT_ALL_TABLES: u64 = 1 << 22;

    /// Whether that bit is set.
    pub fn has(self, bit: u64) -> bool {
        self.0 & bit != 0
    }

    /// Whether what doesn't fit is refused.
    pub fn strict(self) -> bool {
        self.has(Self::STRICT_TRANS_TABLES | Self::STRICT_ALL_TABLES)
    }

    /// Reads the names that `SELECT @@sql_mode` lists; names that don't matter here are skipped.
    pub fn parse(names: &str) -> Self {
        names.split(',').fold(Self::default(), |mode, name| {
            Self(
                mode.0
                    | match name.trim().to_ascii_uppercase().as_str() {
                        "REAL_AS_FLOAT" => Self::REAL_AS_FLOAT,
                        "ANSI_QUOTES" => Self::ANSI_QUOTES,
                        "ANSI" => Self::ANSI_QUOTES | Self::REAL_AS_FLOAT,
                        "ORACLE" => Self::ORACLE,
                        "NO_BACKSLASH_ESCAPES" => Self::NO_BACKSLASH_ESCAPES,
                        "STRICT_TRANS_TABLES" => Self::STRICT_TRANS_TABLES,
                        "STRICT_ALL_TABLES" => Self::STRICT_ALL_TABLES,
                        _ => 0,
                    },
            )
        })
    }
}

/// The session in which a statement ran. The binlog's Query event carries most of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DdlContext {
    /// The server.
    pub server: ServerVersion,
    /// The session's `sql_mode`.
    pub sql_mode: SqlMode,
    /// The session's current database; empty: none.
    pub default_database: String,
    /// The server's `lower_case_table_names`.
    pub lower_case_table_names: u8,
    /// The charset of databases that are created without one: the session's `collation_server`.
    pub server_charset: CharSet,
    /// The collation of `CHARACTER SET utf8mb4` where it is not the server's usual one: MySQL's
    /// `default_collation_for_utf8mb4`, which the Query event carries.
    pub utf8mb4_collation: Option<String>,
    /// The session's `character_set_connection`: the charset of strings in expressions.
    pub connection_charset: String,
    /// `explicit_defaults_for_timestamp`: off, TIMESTAMP columns are NOT NULL and get defaults by themselves.
    pub explicit_defaults_for_timestamp: bool,
    /// `sql_generate_invisible_primary_key`: tables without primary key get the column `my_row_id`.
    pub generate_invisible_primary_key: bool,
}

impl DdlContext {
    /// A session with the server's defaults: strict from MySQL 5.7 and MariaDB 10.2.4 on, explicit timestamps from
    /// MySQL 8.0 and MariaDB 10.10 on.
    pub fn new(server: ServerVersion, default_database: impl Into<String>) -> Self {
        let strict = server.mysql_since(50_700) || server.mariadb_since(100_204);
        let explicit = server.mysql_since(80_000) || server.mariadb_since(101_000);
        let name = if server.mysql_since(80_000) || server.mariadb_since(110_600) { "utf8mb4" } else { "latin1" };
        Self {
            server,
            sql_mode: SqlMode(if strict { SqlMode::STRICT_TRANS_TABLES } else { 0 }),
            default_database: default_database.into(),
            lower_case_table_names: 0,
            server_charset: CharSet::with_default_collation(name, server).unwrap_or_else(CharSet::binary),
            utf8mb4_collation: None,
            connection_charset: "utf8mb4".to_owned(),
            explicit_defaults_for_timestamp: explicit,
            generate_invisible_primary_key: false,
        }
    }

    /// A character set with the collation that this session gives it by default.
    pub(crate) fn charset(&self, name: &str) -> Option<CharSet> {
        let charset = CharSet::with_default_collation(name, self.server)?;
        match &self.utf8mb4_collation {
            Some(collation) if &*charset.name == "utf8mb4" => CharSet::of_collation(collation, self.server),
            _ => Some(charset),
        }
    }

    /// A table's identity as this server compares it.
    pub fn table_id(&self, database: &str, table: &str) -> TableId {
        if self.lower_case_table_names == 0 {
            TableId::new(database, table)
        } else {
            TableId::new(database.to_lowercase(), table.to_lowercase())
        }
    }

    /// A database's name as this server compares it.
    pub fn database(&self, name: &str) -> String {
        if self.lower_case_table_names == 0 { name.to_owned() } else { name.to_lowercase() }
    }
}
