//! The types of events.

use std::fmt;

/// The type of an event, as its header has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventType(pub u8);

macro_rules! types {
    ($($name:ident = $code:literal,)*) => {
        #[expect(missing_docs, reason = "the names are MySQL's and MariaDB's")]
        impl EventType {
            $(pub const $name: Self = Self($code);)*

            /// The name as the servers' documentation has it, if the type is known.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

types! {
    START_V3 = 1,
    QUERY = 2,
    STOP = 3,
    ROTATE = 4,
    INTVAR = 5,
    LOAD = 6,
    SLAVE = 7,
    CREATE_FILE = 8,
    APPEND_BLOCK = 9,
    EXEC_LOAD = 10,
    DELETE_FILE = 11,
    NEW_LOAD = 12,
    RAND = 13,
    USER_VAR = 14,
    FORMAT_DESCRIPTION = 15,
    XID = 16,
    BEGIN_LOAD_QUERY = 17,
    EXECUTE_LOAD_QUERY = 18,
    TABLE_MAP = 19,
    PRE_GA_WRITE_ROWS = 20,
    PRE_GA_UPDATE_ROWS = 21,
    PRE_GA_DELETE_ROWS = 22,
    WRITE_ROWS_V1 = 23,
    UPDATE_ROWS_V1 = 24,
    DELETE_ROWS_V1 = 25,
    INCIDENT = 26,
    HEARTBEAT = 27,
    IGNORABLE = 28,
    ROWS_QUERY = 29,
    WRITE_ROWS = 30,
    UPDATE_ROWS = 31,
    DELETE_ROWS = 32,
    GTID = 33,
    ANONYMOUS_GTID = 34,
    PREVIOUS_GTIDS = 35,
    TRANSACTION_CONTEXT = 36,
    VIEW_CHANGE = 37,
    XA_PREPARE = 38,
    PARTIAL_UPDATE_ROWS = 39,
    TRANSACTION_PAYLOAD = 40,
    HEARTBEAT_V2 = 41,
    GTID_TAGGED = 42,
    MARIADB_ANNOTATE_ROWS = 160,
    MARIADB_BINLOG_CHECKPOINT = 161,
    MARIADB_GTID = 162,
    MARIADB_GTID_LIST = 163,
    MARIADB_START_ENCRYPTION = 164,
    MARIADB_QUERY_COMPRESSED = 165,
    MARIADB_WRITE_ROWS_COMPRESSED_V1 = 166,
    MARIADB_UPDATE_ROWS_COMPRESSED_V1 = 167,
    MARIADB_DELETE_ROWS_COMPRESSED_V1 = 168,
    MARIADB_WRITE_ROWS_COMPRESSED = 169,
    MARIADB_UPDATE_ROWS_COMPRESSED = 170,
    MARIADB_DELETE_ROWS_COMPRESSED = 171,
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "type-{}", self.0),
        }
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
