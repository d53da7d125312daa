//! Random DDL with rows between: behind each statement the tracked schema is the server's, and so are the rows.

use super::{columns_of, execute};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use crate::support::writers::Dice;
use rowferry::mysql::catalog::table_defs;
use rowferry::mysql::wire::Connection;
use rowferry_model::TableId;
use rowferry_sql::TableDef;

const TABLES: &[&str] = &["one", "two", "three"];

fn create(table: &str, dice: &mut Dice) -> String {
    let charset = dice.pick(&["", " DEFAULT CHARSET latin1", " DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin"]);
    let comment = dice.pick(&["", " COMMENT 'it''s a table'"]);
    format!("CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, v INT, c0 VARCHAR(10)){charset}{comment}")
}

fn column(dice: &mut Dice, kind: Server) -> String {
    let mut types = vec![
        "INT",
        "INT UNSIGNED",
        "BIGINT",
        "SMALLINT",
        "TINYINT(1)",
        "DECIMAL(10,2)",
        "VARCHAR(30)",
        "VARCHAR(20) CHARACTER SET latin1",
        "CHAR(4)",
        "TEXT",
        "DATE",
        "DATETIME(3)",
        "TIMESTAMP(6) NULL",
        "TIME(2)",
        "ENUM('a','b,c','d''e')",
        "SET('x','y')",
        "BIT(3)",
        "BINARY(4)",
        "VARBINARY(8)",
        "BLOB",
        "YEAR",
        "FLOAT",
        "DOUBLE",
    ];
    if kind == Server::Mysql97 {
        types.push("JSON");
        types.push("INT INVISIBLE");
    }
    let data_type = dice.pick(&types);
    let simple = !matches!(data_type, "TEXT" | "BLOB" | "JSON" | "INT INVISIBLE") && !data_type.contains("NULL");
    let rest = match dice.roll(6) {
        0 if simple => " NOT NULL",
        1 if data_type.contains("INT") && !data_type.contains("INVISIBLE") => " NOT NULL DEFAULT 7",
        2 if data_type.starts_with("VARCHAR(30)") => " DEFAULT 'some' COMMENT 'with a ; in it'",
        3 => " COMMENT 'c'",
        _ => "",
    };
    format!("{data_type}{rest}")
}

fn ddl(table: &str, dice: &mut Dice, kind: Server) -> String {
    let (a, b) = (dice.roll(5), dice.roll(5));
    let place = dice.pick(&["", "", " FIRST", " AFTER v"]);
    let new = column(dice, kind);
    match dice.roll(16) {
        0..5 => format!("ALTER TABLE {table} ADD COLUMN c{a} {new}{place}"),
        5 => format!("ALTER TABLE {table} DROP COLUMN c{a}"),
        6 => format!("ALTER TABLE {table} MODIFY c{a} {new}{place}"),
        7 => format!("ALTER TABLE {table} CHANGE c{a} c{b} {new}{place}"),
        8 if kind != Server::Mysql56 => {
            format!("ALTER TABLE {table} RENAME COLUMN c{a} TO c{b}, RENAME COLUMN c{b} TO c{a}")
        }
        8 => format!("ALTER TABLE {table} ADD COLUMN (c{a} {new}, c{b} INT)"),
        9 => format!("ALTER TABLE {table} DROP COLUMN c{a}, ADD COLUMN c{b} {new}{place}, COMMENT 'now {b}'"),
        10 => format!("ALTER TABLE {table} CONVERT TO CHARACTER SET {}", dice.pick(&["utf8mb4", "latin1"])),
        11 => format!("ALTER TABLE {table} ADD INDEX i{a} (v), ALTER COLUMN v SET DEFAULT {b}"),
        12 => format!("TRUNCATE TABLE {table}"),
        13 => format!("DROP TABLE {table}; {}", create(table, dice)),
        14 => format!("RENAME TABLE {table} TO elsewhere, elsewhere TO {table}"),
        _ => {
            let other = TABLES[(TABLES.iter().position(|t| *t == table).unwrap() + 1) % TABLES.len()];
            format!("DROP TABLE {table}; CREATE TABLE {table} LIKE {other}")
        }
    }
}

/// Rows after each change; every row is written anew, as what MySQL filled in is in no log.
fn touch(client: &mut Connection, table: &str, dice: &mut Dice) {
    for _ in 0..2 {
        let _ = client.execute(&format!("INSERT INTO {table} (v) VALUES ({})", dice.roll(1000)));
    }
    execute(client, &[&format!("UPDATE {table} SET v = COALESCE(v, 0) + 1")]);
    let _ = client.execute(&format!("DELETE FROM {table} WHERE id % 5 = {}", dice.roll(5)));
}

#[test]
fn random_ddl_leaves_the_tracked_schemas_and_the_rows_as_the_server_has_them() {
    let steps: usize = std::env::var("ROWFERRY_TEST_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    for (kind, server) in all() {
        let database = Database::create(&server, "random");
        let mut client = database.connect();
        // What is filled in for NOT NULL columns must be allowed.
        execute(&mut client, &["SET SESSION sql_mode = ''"]);
        let mut dice = Dice(0xA076_1D64_78BD_642F);
        for table in TABLES {
            execute(&mut client, &[&create(table, &mut dice)]);
            touch(&mut client, table, &mut dice);
        }
        let tables: Vec<String> = TABLES.iter().map(|t| format!("{}.{t}", database.name)).collect();
        let source = ["include-comments.enabled: true"];
        let pipeline = Pipeline::to_json(&server, &tables.join(","), &source, &["schema.change.behavior: evolve"]);
        let mut target = EvolvingTarget::with_repeats(true);
        let mut story = Vec::new();
        let mut accepted = 0;
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        for _ in 0..steps {
            // One to three statements a step.
            for _ in 0..=dice.roll(3) {
                let table = dice.pick(TABLES);
                for sql in ddl(table, &mut dice, kind).split("; ") {
                    let taken = client.execute(sql).is_ok();
                    if taken {
                        accepted += 1;
                        story.push(sql.to_owned());
                    }
                }
                if columns_of(&database, table).is_empty() {
                    execute(&mut client, &[&create(table, &mut dice)]);
                    story.push("(made again)".to_owned());
                }
                touch(&mut client, table, &mut dice);
            }
            let told = || format!("{kind:?}:\n{}\n", story.join("\n"));
            let run = pipeline.run(&["run", "--until-caught-up"], &[]);
            let log = String::from_utf8_lossy(&run.stderr).into_owned();
            assert!(run.status.success(), "{}{log}", told());
            target.apply(&String::from_utf8_lossy(&run.stdout));
            let status: serde_json::Value =
                serde_json::from_str(&pipeline.run_well(&["status", "--json", "--schemas"])).unwrap();
            for table in status["tables"].as_array().unwrap() {
                let name = table["table"].as_str().unwrap();
                let id = TableId::new(database.name.as_str(), name);
                let ours: TableDef = serde_json::from_value(table["schema"].clone()).unwrap();
                let (_, theirs) = table_defs(&mut client, &[id]).unwrap().remove(0);
                assert_eq!(ours.columns, theirs.columns, "{}{name}", told());
                assert_eq!(ours, theirs, "{}{name}", told());
                let columns = columns_of(&database, name);
                let columns: Vec<&str> = columns.iter().map(String::as_str).filter(|c| is_plain(&theirs, c)).collect();
                assert_eq!(target.rows(name, &columns), server_rows(&database, name, &columns), "{}{name}", told());
            }
        }
        eprintln!("{kind:?}: {accepted} statements in {steps} steps");
        assert!(accepted > steps / 2, "{kind:?}: the server took only {accepted}");
    }
}

/// Whether a column's values look alike in JSON and in what the server shows: bytes, bits and numbers with fractions of a
/// float do not.
fn is_plain(def: &TableDef, column: &str) -> bool {
    use rowferry_sql::ColumnType as C;
    let index = def.index_of(column).expect("a column");
    matches!(
        def.columns[index].column_type,
        C::Int { .. }
            | C::BigInt { .. }
            | C::SmallInt { .. }
            | C::Varchar { .. }
            | C::Enum { .. }
            | C::Set { .. }
            | C::Date
    )
}
