//! gh-ost and pt-online-schema-change: one clean change of the table, and no rows of the tables that they fill. The
//! statements are those of the recording `14a-online-ddl-enabled`.

use super::{columns_of, execute};
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use rowferry::mysql::wire::Connection;

/// What gh-ost does for an ALTER, in parts; `copied` are the columns that both have, old and new name.
fn ghost(alter: &str, copied: &[(&str, &str)]) -> [Vec<String>; 3] {
    let (old, new) = lists(copied);
    let prepare = vec![
        "DROP TABLE IF EXISTS `_t_gho`".to_owned(),
        "DROP TABLE IF EXISTS `_t_del`".to_owned(),
        "DROP TABLE IF EXISTS `_t_ghc`".to_owned(),
        "create /* gh-ost */ table `_t_ghc` (id bigint unsigned auto_increment, last_update timestamp not null DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, hint varchar(64) charset ascii not null, value varchar(255) charset ascii not null, primary key(id), unique key hint_uidx(hint)) auto_increment=256".to_owned(),
        "create /* gh-ost */ table `_t_gho` like `t`".to_owned(),
        format!("alter /* gh-ost */ table `_t_gho` {alter}"),
        "insert /* gh-ost */ into `_t_ghc`(id,hint,value) values (1,'state','Migrated')".to_owned(),
    ];
    let copy = vec![format!("insert /* gh-ost */ ignore into `_t_gho` ({new}) (select {old} from t)")];
    let cut_over = vec![
        "create /* gh-ost */ table `_t_del` (id int auto_increment primary key) engine=InnoDB comment='ghost-cut-over-sentry'".to_owned(),
        format!("replace /* gh-ost */ into `_t_gho` ({new}) (select {old} from t)"),
        "DROP TABLE IF EXISTS `_t_del`".to_owned(),
        "rename /* gh-ost */ table `t` to `_t_del`, `_t_gho` to `t`".to_owned(),
        "DROP TABLE IF EXISTS `_t_ghc`".to_owned(),
        "DROP TABLE IF EXISTS `_t_del`".to_owned(),
    ];
    [prepare, copy, cut_over]
}

/// What pt-online-schema-change does.
fn percona(alter: &str, copied: &[(&str, &str)]) -> [Vec<String>; 3] {
    let (old, new) = lists(copied);
    let prepare = vec!["CREATE TABLE `_t_new` LIKE `t`".to_owned(), format!("ALTER TABLE `_t_new` {alter}")];
    let copy = vec![format!("INSERT LOW_PRIORITY IGNORE INTO `_t_new` ({new}) SELECT {old} FROM `t`")];
    let cut_over = vec![
        format!("REPLACE INTO `_t_new` ({new}) SELECT {old} FROM `t`"),
        "RENAME TABLE `t` TO `_t_old`, `_t_new` TO `t`".to_owned(),
        "DROP TABLE IF EXISTS `_t_old`".to_owned(),
    ];
    [prepare, copy, cut_over]
}

fn lists(copied: &[(&str, &str)]) -> (String, String) {
    let list = |part: fn(&(&str, &str)) -> String| copied.iter().map(part).collect::<Vec<_>>().join(", ");
    (list(|c| c.0.to_owned()), list(|c| c.1.to_owned()))
}

/// A migration with writes between its parts; `between` is called there.
fn migrate(client: &mut Connection, parts: [Vec<String>; 3], first_id: u32, mut between: impl FnMut()) {
    for (n, part) in parts.iter().enumerate() {
        for sql in part {
            execute(client, &[sql]);
        }
        between();
        let id = first_id + n as u32;
        execute(
            client,
            &[&format!("INSERT INTO t (id, v) VALUES ({id}, 'w{id}')"), "UPDATE t SET v = CONCAT(v, '+') WHERE id = 1"],
        );
    }
}

/// The migrations, with the changes that they mean to `t`.
fn migrations() -> Vec<([Vec<String>; 3], &'static [&'static str])> {
    let plain = [("id", "id"), ("v", "v")];
    vec![
        (ghost("add column c varchar(17)", &plain), &["add.column c VARCHAR(17) last"]),
        (
            percona("MODIFY v VARCHAR(50), ADD COLUMN d INT AFTER id", &[("id", "id"), ("v", "v"), ("c", "c")]),
            &["alter.column.type v VARCHAR(50)", "add.column d INT after id"],
        ),
        // Again by the same tool, as its names are taken again; values move to a column's new name.
        (
            ghost("change c kept varchar(17)", &[("id", "id"), ("d", "d"), ("v", "v"), ("c", "kept")]),
            &["rename.column c>kept"],
        ),
        (
            ghost("drop column d, add column d bigint", &[("id", "id"), ("v", "v"), ("kept", "kept")]),
            &["drop.column d", "add.column d BIGINT last"],
        ),
    ]
}

const SETUP: &[&str] =
    &["CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v VARCHAR(20))", "INSERT INTO t VALUES (1,'a'),(2,'b')"];

#[test]
fn migrations_of_both_tools_are_one_clean_change_each() {
    for (kind, server) in all() {
        for option in ["true", "false"] {
            for pattern in ["t", "\\.*"] {
                if kind != Server::Mysql97 && (option, pattern) != ("true", "\\.*") {
                    continue;
                }
                let database = Database::create(&server, "online");
                let mut client = database.connect();
                execute(&mut client, SETUP);
                let source = [format!("scan.parse.online.schema.changes.enabled: {option}")];
                let source: Vec<&str> = source.iter().map(String::as_str).collect();
                let lines = ["schema.change.behavior: evolve", "rowferry.checkpoint.interval: 20 ms"];
                let pipeline = Pipeline::to_json(&server, &format!("{}.{pattern}", database.name), &source, &lines);
                let mut running = pipeline.start(&["run"], &[]);
                running.wait_for("snapshot", |out| out.matches("\"event\":\"insert\"").count() >= 2);
                let mut wanted: Vec<&str> = Vec::new();
                for (n, (parts, changes)) in migrations().into_iter().enumerate() {
                    migrate(&mut client, parts, 10 * (n as u32 + 1), || {});
                    execute(&mut client, &["UPDATE t SET v = CONCAT(v, '.')"]);
                    wanted.extend_from_slice(changes);
                }
                // One that is given up changes nothing.
                let [prepare, copy, _] = ghost("add column lost int", &[("id", "id"), ("v", "v")]);
                for sql in prepare.iter().chain(&copy) {
                    execute(&mut client, &[sql]);
                }
                execute(
                    &mut client,
                    &["DROP TABLE `_t_gho`", "DROP TABLE `_t_ghc`", "INSERT INTO t (id, v) VALUES (99,'end')"],
                );
                running.wait_for("the end", |out| out.contains("\"end\""));
                let what = format!("option {option}, pattern {pattern} at {kind:?}");
                let mut target = EvolvingTarget::default();
                target.apply(&running.output());
                assert_eq!(target.names(), ["t"], "{what}");
                assert_eq!(target.changes_of("t"), wanted, "{what}\n{}", running.log());
                let columns = columns_of(&database, "t");
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                assert_eq!(target.rows("t", &columns), server_rows(&database, "t", &columns), "{what}");
            }
        }
    }
}

/// Stopped and started again between any two parts of a migration, with tables that appear taken as well.
#[test]
fn a_restart_in_the_middle_of_a_migration_is_harmless() {
    for (kind, server) in all() {
        let database = Database::create(&server, "onlinerestart");
        let mut client = database.connect();
        execute(&mut client, SETUP);
        let source = ["scan.parse.online.schema.changes.enabled: true", "scan.binlog.newly-added-table.enabled: true"];
        let lines = ["schema.change.behavior: evolve"];
        let warehouse = tempfile::TempDir::new().unwrap();
        let tables = format!("{}.\\.*", database.name);
        let lake = Pipeline::new(&server, &tables, &source, &lake_sink(warehouse.path()), &lines);
        let pipeline = Pipeline::to_json(&server, &tables, &source, &lines);
        let mut target = EvolvingTarget::default();
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        lake.run_well(&["run", "--until-caught-up"]);
        let mut wanted: Vec<&str> = Vec::new();
        for (n, (parts, changes)) in migrations().into_iter().enumerate() {
            migrate(&mut client, parts, 10 * (n as u32 + 1), || {
                target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
                lake.run_well(&["run", "--until-caught-up"]);
            });
            wanted.extend_from_slice(changes);
        }
        execute(&mut client, &["UPDATE t SET v = CONCAT(v, '.')"]);
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        lake.run_well(&["run", "--until-caught-up"]);
        assert_eq!(target.names(), ["t"], "{kind:?}");
        assert_eq!(target.changes_of("t"), wanted, "{kind:?}");
        let columns = columns_of(&database, "t");
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        assert_eq!(target.rows("t", &columns), server_rows(&database, "t", &columns), "{kind:?}");
        let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
        assert_eq!(lake.keys().collect::<Vec<_>>(), ["t"], "{kind:?}");
        assert_eq!(lake["t"].rows(&columns), server_rows(&database, "t", &columns), "{kind:?}");
    }
}

/// A migration while the table's snapshot is read.
#[test]
fn a_migration_during_the_snapshot_loses_no_row() {
    for (kind, server) in all() {
        let database = Database::create(&server, "onlinesnap");
        let mut client = database.connect();
        execute(&mut client, SETUP);
        let values: Vec<_> = (100..3000).map(|n| format!("({n},'x{n}')")).collect();
        execute(&mut client, &[&format!("INSERT INTO t VALUES {}", values.join(","))]);
        let source = ["scan.parse.online.schema.changes.enabled: true", "scan.incremental.snapshot.chunk.size: 5"];
        let lines = ["schema.change.behavior: evolve", "parallelism: 2"];
        let pipeline = Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &source, &lines);
        let mut running = pipeline.start(&["run", "--until-caught-up"], &[]);
        running.wait_for("the first chunk", |out| out.contains("\"event\":\"insert\""));
        for (n, (parts, _)) in migrations().into_iter().enumerate() {
            migrate(&mut client, parts, 10 * (n as u32 + 1), || {});
        }
        let (status, output, log) = running.wait();
        assert!(status.success(), "{kind:?}: {log}");
        let rest = pipeline.run_well(&["run", "--until-caught-up"]);
        let mut target = EvolvingTarget::with_repeats(true);
        target.apply(&output);
        target.apply(&rest);
        assert_eq!(target.names(), ["t"], "{kind:?}");
        // Values of new columns of rows that were copied are in no log.
        for columns in [["id", "v"], ["id", "kept"]] {
            assert_eq!(target.rows("t", &columns), server_rows(&database, "t", &columns), "{kind:?}\n{log}");
        }
    }
}
