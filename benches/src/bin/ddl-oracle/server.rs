//! A server and what it says about its tables.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, Row, Value};
use rowferry_model::TableId;
use rowferry_sql::ddl::{DdlContext, SqlMode};
use rowferry_sql::{
    Catalog, CharSet, ColumnDef, ColumnType, DefaultValue, Flavor, Generated, Key, ServerVersion, TableDef,
};
use std::collections::BTreeMap;

/// The server refused a statement.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) code: u16,
    pub(crate) message: String,
}

impl Refused {
    /// The server took the statement, but can't show its tables afterwards.
    pub(crate) fn unreadable() -> Self {
        Self { code: 0, message: "the server can't read its own tables".to_owned() }
    }

    pub(crate) fn is_syntax(&self) -> bool {
        self.code == 1064
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// A connection.
pub(crate) struct Server {
    conn: Conn,
    url: String,
    pub(crate) version: ServerVersion,
    sql_mode: SqlMode,
    default_mode: String,
    charset: CharSet,
    explicit_timestamps: bool,
    lower_case: u8,
}

/// What a server has: its tables, and what isn't part of their definitions.
pub(crate) struct State {
    pub(crate) catalog: Catalog,
    pub(crate) tables: BTreeMap<TableId, TableDef>,
    /// CHARACTER_OCTET_LENGTH of each column.
    pub(crate) octets: BTreeMap<(TableId, String), u64>,
    pub(crate) databases: BTreeMap<String, CharSet>,
}

const SYSTEM: &str = "('mysql','information_schema','performance_schema','sys')";

fn text(value: &Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(n) => Some(n.to_string()),
        Value::UInt(n) => Some(n.to_string()),
        other => Some(other.as_sql(true)),
    }
}

impl Server {
    pub(crate) async fn connect(url: &str) -> Result<Self, mysql_async::Error> {
        let mut conn = Conn::new(Opts::from_url(url)?).await?;
        conn.query_drop("SET NAMES utf8mb4").await?;
        let row: Option<(String, String, String, u8)> = conn
            .query_first("SELECT @@version, @@GLOBAL.sql_mode, @@collation_server, @@lower_case_table_names")
            .await?;
        let (version, default_mode, collation, lower_case) = row.unwrap_or_default();
        let version = ServerVersion::parse(&version).unwrap_or(ServerVersion::mysql(90_700));
        let explicit: Option<(String, String)> =
            conn.query_first("SHOW VARIABLES LIKE 'explicit_defaults_for_timestamp'").await?;
        Ok(Self {
            conn,
            url: url.to_owned(),
            version,
            sql_mode: SqlMode::parse(&default_mode),
            default_mode,
            charset: CharSet::of_collation(&collation, version).unwrap_or_else(CharSet::binary),
            explicit_timestamps: explicit.is_some_and(|(_, value)| value == "ON"),
            lower_case,
        })
    }

    pub(crate) fn context(&self, database: &str) -> DdlContext {
        DdlContext {
            sql_mode: self.sql_mode,
            lower_case_table_names: self.lower_case,
            server_charset: self.charset.clone(),
            explicit_defaults_for_timestamp: self.explicit_timestamps,
            ..DdlContext::new(self.version, database)
        }
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, mysql_async::Error> {
        let rows: Vec<Row> = self.conn.query(sql).await?;
        Ok(rows.into_iter().map(|row| row.unwrap().iter().map(text).collect()).collect())
    }

    /// An empty database, and nothing else.
    pub(crate) async fn reset(&mut self, database: &str, strict: bool) -> Result<(), mysql_async::Error> {
        // Whatever the last statement left behind: a transaction, variables, a broken connection.
        if self.conn.query_drop("ROLLBACK").await.is_err() || self.conn.reset().await.is_err() {
            *self = Self::connect(&self.url).await?;
        }
        self.conn.query_drop("SET NAMES utf8mb4, foreign_key_checks=0").await?;
        for row in self.rows("SHOW DATABASES").await? {
            let Some(Some(name)) = row.first() else { continue };
            if !SYSTEM.contains(&format!("'{name}'")) {
                self.conn.query_drop(format!("DROP DATABASE `{}`", name.replace('`', "``"))).await?;
            }
        }
        self.conn.query_drop(format!("CREATE DATABASE `{database}`")).await?;
        self.sql_mode = SqlMode::parse(if strict { &self.default_mode } else { "" });
        let mode = if strict { self.default_mode.clone() } else { String::new() };
        self.conn.query_drop(format!("SET sql_mode='{mode}', foreign_key_checks=0")).await
    }

    /// Runs a statement in a database; an inner error is the server's refusal.
    pub(crate) async fn run_in(
        &mut self,
        database: &str,
        sql: &str,
    ) -> Result<Result<(), Refused>, mysql_async::Error> {
        let use_database = format!("USE `{}`", database.replace('`', "``"));
        // CREATE TABLE … START TRANSACTION, as replicas run it, takes effect with the transaction.
        for sql in [use_database.as_str(), sql, "COMMIT"] {
            match self.conn.query_drop(sql).await {
                Ok(()) => {}
                Err(mysql_async::Error::Server(error)) => {
                    return Ok(Err(Refused { code: error.code, message: error.message }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Ok(()))
    }

    pub(crate) async fn show_create(&mut self, table: &TableId) -> Result<String, mysql_async::Error> {
        let quoted = |name: &str| name.replace('`', "``");
        let sql = format!("SHOW CREATE TABLE `{}`.`{}`", quoted(table.database()), quoted(table.table()));
        Ok(self.rows(&sql).await?.into_iter().next().and_then(|mut row| row.get_mut(1)?.take()).unwrap_or_default())
    }

    /// What the server has.
    pub(crate) async fn catalog(&mut self) -> Result<State, mysql_async::Error> {
        let mut state = State {
            catalog: Catalog::default(),
            tables: BTreeMap::new(),
            octets: BTreeMap::new(),
            databases: BTreeMap::new(),
        };
        let sql = format!(
            "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata \
             WHERE schema_name NOT IN {SYSTEM}"
        );
        for row in self.rows(&sql).await? {
            if let [Some(name), Some(charset), Some(collation)] = &row[..] {
                let charset = CharSet { name: charset.as_str().into(), collation: collation.as_str().into() };
                state.catalog.insert_database(name.clone(), charset.clone());
                state.databases.insert(name.clone(), charset);
            }
        }
        let sql = format!(
            "SELECT table_schema, table_name, table_collation, table_comment FROM information_schema.tables \
             WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND table_schema NOT IN {SYSTEM}"
        );
        for row in self.rows(&sql).await? {
            if let [Some(database), Some(table), Some(collation), comment] = &row[..] {
                let charset = CharSet::of_collation(collation, self.version).unwrap_or_else(CharSet::binary);
                let def = TableDef {
                    columns: vec![],
                    primary_key: vec![],
                    keys: vec![],
                    charset: charset.name.to_string(),
                    collation: collation.clone(),
                    comment: comment.clone().unwrap_or_default(),
                };
                state.tables.insert(TableId::new(database.as_str(), table.as_str()), def);
            }
        }
        self.columns(&mut state).await?;
        self.keys(&mut state).await?;
        for (table, def) in &state.tables {
            state.catalog.insert_table(table.clone(), def.clone());
        }
        Ok(state)
    }

    async fn columns(&mut self, state: &mut State) -> Result<(), mysql_async::Error> {
        let sql = format!(
            "SELECT table_schema, table_name, column_name, column_type, is_nullable, column_default, extra, \
             column_comment, character_set_name, collation_name, character_octet_length \
             FROM information_schema.columns WHERE table_schema NOT IN {SYSTEM} \
             ORDER BY table_schema, table_name, ordinal_position"
        );
        for row in self.rows(&sql).await? {
            let get = |i: usize| row.get(i).cloned().flatten();
            let id = TableId::new(get(0).unwrap_or_default(), get(1).unwrap_or_default());
            let Some(def) = state.tables.get_mut(&id) else { continue };
            let name = get(2).unwrap_or_default();
            let charset = match (get(8), get(9)) {
                (Some(name), Some(collation)) => Some(CharSet { name: name.into(), collation: collation.into() }),
                _ => None,
            };
            let type_text = get(3).unwrap_or_default();
            // ENUM and SET of bytes have no charset there.
            let charset = charset.or_else(|| type_text.starts_with(['e', 's']).then(CharSet::binary));
            let column_type = match ColumnType::parse(&type_text, charset.as_ref()) {
                Ok(column_type) => column_type,
                Err(error) => return Err(mysql_async::Error::Other(format!("{id}.{name}: {error}").into())),
            };
            let extra = get(6).unwrap_or_default();
            let upper = extra.to_ascii_uppercase();
            if let Some(octets) = get(10).and_then(|n| n.parse().ok()) {
                state.octets.insert((id.clone(), name.clone()), octets);
            }
            let mut default = get(5);
            if default.is_none() && upper.contains("DEFAULT_GENERATED") {
                // MySQL does not show an expression that ALTER COLUMN gave a TEXT or BLOB.
                default = Some(String::new());
            }
            def.columns.push(ColumnDef {
                default: DefaultValue::from_information_schema(default.as_deref(), &extra, &column_type, self.version),
                name,
                column_type,
                nullable: get(4).as_deref() == Some("YES"),
                on_update: upper.contains("ON UPDATE"),
                auto_increment: upper.contains("AUTO_INCREMENT"),
                comment: get(7).unwrap_or_default(),
                generated: if upper.contains("VIRTUAL GENERATED") {
                    Some(Generated::Virtual)
                } else if upper.contains("STORED GENERATED") || upper.contains("PERSISTENT") {
                    Some(Generated::Stored)
                } else {
                    None
                },
                invisible: upper.split([' ', ',']).any(|w| w == "INVISIBLE"),
            });
        }
        Ok(())
    }

    async fn keys(&mut self, state: &mut State) -> Result<(), mysql_async::Error> {
        let functional = self.version.flavor == Flavor::Mysql && self.version.number >= 80_013;
        let sql = format!(
            "SELECT table_schema, table_name, index_name, non_unique, column_name, sub_part, {} \
             FROM information_schema.statistics WHERE table_schema NOT IN {SYSTEM} \
             ORDER BY table_schema, table_name, index_name, seq_in_index",
            if functional { "expression" } else { "NULL" }
        );
        for row in self.rows(&sql).await? {
            let get = |i: usize| row.get(i).cloned().flatten();
            let id = TableId::new(get(0).unwrap_or_default(), get(1).unwrap_or_default());
            let Some(def) = state.tables.get_mut(&id) else { continue };
            let name = get(2).unwrap_or_default();
            if name == "PRIMARY" {
                def.primary_key.extend(get(4));
                continue;
            }
            if def.keys.last().is_none_or(|k| k.name != name) {
                def.keys.push(Key { name, unique: get(3).as_deref() == Some("0"), parts: vec![] });
            }
            if let Some(key) = def.keys.last_mut() {
                key.parts.push((get(4), get(5).and_then(|n| n.parse().ok())));
            }
        }
        Ok(())
    }
}
