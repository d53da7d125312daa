#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;
use crate::ddl::{DdlContext, DdlOutcome, parse_ddl};
use crate::{MappingOptions, ServerVersion};
use rowferry_model::{ColumnPosition, SchemaChange};

struct Session {
    catalog: Catalog,
    context: DdlContext,
}

impl Session {
    fn new(server: ServerVersion) -> Self {
        let context = DdlContext::new(server, "d");
        let mut catalog = Catalog::default();
        catalog.insert_database("d", context.server_charset.clone());
        Self { catalog, context }
    }

    fn mysql() -> Self {
        Self::new(ServerVersion::mysql(90_704))
    }

    fn run(&mut self, text: &str) -> Vec<Effect> {
        match parse_ddl(text, &self.context) {
            DdlOutcome::Changes(statement) => self.catalog.apply(&statement, &self.context).expect(text),
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The schema changes in short.
    fn changes(&mut self, text: &str) -> Vec<String> {
        let options = MappingOptions { include_comments: true, ..MappingOptions::default() };
        let effects = self.run(text);
        effects.iter().flat_map(|e| e.schema_changes(&options).unwrap()).map(|c| short(&c)).collect()
    }

    fn columns(&self, table: &str) -> String {
        let def = self.catalog.table(&TableId::new("d", table)).expect(table);
        let shown = def.columns.iter().map(|c| {
            let null = if c.nullable { "" } else { " not null" };
            let default = c.default.as_ref().map_or(String::new(), |d| format!(" default {}", d.text()));
            format!("{} {}{null}{default}", c.name, c.column_type)
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

fn short(change: &SchemaChange) -> String {
    match change {
        SchemaChange::CreateTable { table, .. } => format!("create {table}"),
        SchemaChange::AddColumns { columns, .. } => {
            let one = |a: &rowferry_model::AddedColumn| {
                let null = if a.column.nullable { "" } else { " not null" };
                let position = match &a.position {
                    ColumnPosition::Last => String::new(),
                    ColumnPosition::First => " first".to_owned(),
                    ColumnPosition::After(c) => format!(" after {c}"),
                    ColumnPosition::Before(c) => format!(" before {c}"),
                };
                format!("{} {}{null}{position}", a.column.name, a.column.data_type)
            };
            format!("add {}", columns.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        SchemaChange::AlterColumns { columns, .. } => {
            let one = |c: &rowferry_model::AlteredColumn| {
                format!("{} {}{}", c.name, c.data_type, if c.nullable { "" } else { " not null" })
            };
            format!("alter {}", columns.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        SchemaChange::RenameColumns { names, .. } => {
            format!("rename {}", names.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>().join(", "))
        }
        SchemaChange::DropColumns { names, .. } => format!("drop {}", names.join(", ")),
        SchemaChange::DropTable { table } => format!("drop table {table}"),
        SchemaChange::TruncateTable { table } => format!("truncate {table}"),
        SchemaChange::AlterTableComment { comment, .. } => format!("comment {comment:?}"),
    }
}

/// The statements and events of Flink CDC's recording of schema evolution.
#[test]
fn events_are_those_of_flink_cdc() {
    let mut s = Session::mysql();
    s.run(
        "CREATE TABLE c(id INT NOT NULL PRIMARY KEY, name VARCHAR(20) DEFAULT 'n', age SMALLINT, score DECIMAL(8,2), \
         note TEXT)",
    );
    for (text, expected) in [
        ("ALTER TABLE c ADD COLUMN a1 INT", vec!["add a1 INT"]),
        (
            "ALTER TABLE c ADD COLUMN a2 VARCHAR(17) NOT NULL DEFAULT 'dd' AFTER name, ADD COLUMN a3 BIGINT FIRST",
            vec!["add a2 VARCHAR(17) not null after name", "add a3 BIGINT first"],
        ),
        ("ALTER TABLE c RENAME COLUMN a1 TO a1r", vec!["rename a1 a1r"]),
        (
            "ALTER TABLE c CHANGE COLUMN score score2 DECIMAL(12,4)",
            vec!["alter score DECIMAL(12, 4)", "rename score score2"],
        ),
        ("ALTER TABLE c MODIFY COLUMN age BIGINT", vec!["alter age BIGINT"]),
        ("ALTER TABLE c MODIFY COLUMN name VARCHAR(50) NOT NULL DEFAULT 'q'", vec!["alter name VARCHAR(50) not null"]),
        ("ALTER TABLE c DROP COLUMN note", vec!["drop note"]),
        ("ALTER TABLE c ALTER COLUMN a2 SET DEFAULT 'ee', ADD INDEX ix(age)", vec![]),
        (
            "ALTER TABLE c MODIFY COLUMN age INT, ADD COLUMN z1 JSON, DROP COLUMN a3, RENAME COLUMN a1r TO a1rr",
            vec!["alter age INT", "add z1 STRING", "drop a3", "rename a1r a1rr"],
        ),
        ("ALTER TABLE c ADD COLUMN (m1 INT, m2 VARCHAR(5) CHARACTER SET latin1)", vec!["add m1 INT, m2 VARCHAR(5)"]),
        ("ALTER TABLE c COMMENT='cc'", vec!["comment Some(\"cc\")"]),
        ("TRUNCATE TABLE c", vec!["truncate d.c"]),
        ("RENAME TABLE c TO e", vec![]),
        ("DROP TABLE e", vec!["drop table d.e"]),
    ] {
        assert_eq!(s.changes(text), expected, "{text}");
    }
}

/// Where the order of the clauses does not work in the stream.
#[test]
fn clauses_that_need_one_another() {
    let mut s = Session::mysql();
    s.run("CREATE TABLE t (a INT, b VARCHAR(3), c DATE)");
    assert_eq!(s.changes("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a"), ["rename a b, b a"]);
    assert_eq!(s.columns("t"), "b int, a varchar(3), c date");
    assert_eq!(s.changes("ALTER TABLE t ADD COLUMN c INT, DROP COLUMN c"), ["drop c", "add c INT"]);
    assert_eq!(
        s.changes("ALTER TABLE t ADD COLUMN x INT AFTER z, CHANGE a z VARCHAR(3)"),
        ["rename a z", "add x INT after z"]
    );
    assert_eq!(s.columns("t"), "b int, z varchar(3), x int, c int");
}

#[test]
fn moved_columns_are_tracked() {
    let mut s = Session::mysql();
    s.run("CREATE TABLE t (a INT, b INT, c INT)");
    assert_eq!(s.changes("ALTER TABLE t MODIFY a BIGINT AFTER c"), ["alter a BIGINT"]);
    assert_eq!(s.columns("t"), "b int, c int, a bigint");
    assert_eq!(s.changes("ALTER TABLE t MODIFY a BIGINT FIRST, MODIFY c INT AFTER a"), Vec::<String>::new());
    assert_eq!(s.columns("t"), "a bigint, c int, b int");
}

/// Expected: the order of columns that MySQL 5.6 and 9.7 showed.
#[test]
fn moves_are_done_one_after_another() {
    for (clauses, expected) in [
        ("MODIFY b INT AFTER a, MODIFY a INT FIRST", "abcd"),
        ("MODIFY b INT AFTER a, MODIFY a INT AFTER d", "bcda"),
        ("MODIFY a INT AFTER d, MODIFY b INT AFTER a", "cdab"),
        ("MODIFY a INT AFTER b, MODIFY b INT AFTER c, MODIFY c INT FIRST", "cabd"),
        ("MODIFY b INT AFTER a, MODIFY a INT AFTER c, MODIFY c INT AFTER d", "badc"),
        ("ADD x INT AFTER b, MODIFY b INT AFTER d", "axcdb"),
        ("CHANGE a z INT AFTER c, ADD x INT AFTER z", "bczxd"),
    ] {
        let mut s = Session::mysql();
        s.run("CREATE TABLE t (a INT, b INT, c INT, d INT)");
        s.run(&format!("ALTER TABLE t {clauses}"));
        let def = s.catalog.table(&TableId::new("d", "t")).unwrap();
        assert_eq!(def.columns.iter().map(|c| c.name.as_str()).collect::<String>(), expected, "{clauses}");
    }
}

/// Expected: `information_schema` of MySQL 9.7 after the same statements.
#[test]
fn converting_a_charset_widens_text() {
    let mut s = Session::mysql();
    s.run(
        "CREATE TABLE t (a TINYTEXT, b TEXT, c MEDIUMTEXT, d VARCHAR(9), e CHAR(2) CHARACTER SET ascii) CHARSET latin1",
    );
    s.run("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4");
    assert_eq!(s.columns("t"), "a text, b mediumtext, c longtext, d varchar(9), e char(2)");
    let def = s.catalog.table(&TableId::new("d", "t")).unwrap();
    assert!(def.columns.iter().all(|c| &*c.column_type.charset().unwrap().name == "utf8mb4"));
}

#[test]
fn databases_hand_their_charset_on() {
    let mut s = Session::mysql();
    let bytes = |s: &Session, table: &str| {
        s.catalog.table(&TableId::new("x", table)).unwrap().columns[0].column_type.max_bytes()
    };
    s.run("CREATE DATABASE x CHARACTER SET latin1");
    s.run("CREATE TABLE x.t (a VARCHAR(10))");
    s.run("ALTER DATABASE x CHARACTER SET utf8mb4");
    s.run("CREATE TABLE x.u (a VARCHAR(10))");
    assert_eq!((bytes(&s, "t"), bytes(&s, "u")), (Some(10), Some(40)));
    let dropped = s.run("DROP DATABASE x");
    assert_eq!(dropped.len(), 2);
    assert_eq!(s.changes("DROP DATABASE x"), Vec::<String>::new());
    let DdlOutcome::Changes(create) = parse_ddl("CREATE TABLE x.t (a INT)", &s.context) else { panic!() };
    assert_eq!(s.catalog.apply(&create, &s.context), Err(ApplyError::UnknownDatabase("x".to_owned())));
}

#[test]
fn renames_in_a_ring() {
    let mut s = Session::mysql();
    s.run("CREATE TABLE a (x INT)");
    s.run("CREATE TABLE b (y DATE)");
    s.run("RENAME TABLE a TO tmp, b TO a, tmp TO b");
    assert_eq!((s.columns("a"), s.columns("b")), ("y date".to_owned(), "x int".to_owned()));
}

/// Expected: MySQL 5.6, whose TIMESTAMP columns get defaults by themselves.
#[test]
fn implicit_timestamp_defaults() {
    let mut s = Session::new(ServerVersion::mysql(50_624));
    s.run("CREATE TABLE t (i INT, a TIMESTAMP, b TIMESTAMP, c TIMESTAMP NULL)");
    assert_eq!(
        s.columns("t"),
        "i int(11), a timestamp not null default CURRENT_TIMESTAMP, \
         b timestamp not null default 0000-00-00 00:00:00, c timestamp"
    );
}

#[test]
fn json_keeps_a_catalog() {
    let mut s = Session::mysql();
    s.run("CREATE TABLE `a.b` (a ENUM('x','y''') DEFAULT 'x', PRIMARY KEY (a))");
    let text = serde_json::to_string(&s.catalog).unwrap();
    assert_eq!(serde_json::from_str::<Catalog>(&text).unwrap(), s.catalog);
}

#[test]
fn an_error_changes_nothing() {
    let mut s = Session::mysql();
    s.run("CREATE TABLE t (a INT)");
    let before = s.catalog.clone();
    for text in ["ALTER TABLE t ADD COLUMN b INT, DROP COLUMN x", "ALTER TABLE t ADD a INT", "ALTER TABLE u ADD a INT"]
    {
        let DdlOutcome::Changes(statement) = parse_ddl(text, &s.context) else { panic!("{text}") };
        assert!(s.catalog.apply(&statement, &s.context).is_err(), "{text}");
        assert_eq!(s.catalog, before);
    }
}
