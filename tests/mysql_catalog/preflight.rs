//! The pre-flight against real servers.

use crate::support::servers::{self, Database, Server, unique};
use rowferry::mysql::preflight::{PreflightWants, Severity, preflight};
use rowferry::mysql::wire::Connection;
use rowferry_model::TableId;

#[test]
fn a_superuser_passes() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "preflight");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE t (id INT)").unwrap();
        let table = TableId::new(&*database.name, "t");
        let mut wants = PreflightWants::new(vec![table.clone()]);
        wants.tables_without_key = vec![table];
        let report = preflight(&mut connection, &wants).unwrap();
        assert!(report.passes(), "{server:?}: {report}");
        assert!(!report.findings.iter().any(|f| f.subject == "LOCK TABLES"), "{report}");
        let metadata = report.findings.iter().any(|f| f.subject == "binlog_row_metadata");
        // 5.6 does not have the setting; the others have it on MINIMAL unless told otherwise.
        assert!(server != Server::Mysql56 || !metadata, "{report}");
        // The session is as it was.
        let row = connection.query_first("SELECT @@time_zone AS z").unwrap().unwrap();
        assert_eq!(row.get("z"), Some("+00:00"));
    }
}

#[test]
fn missing_privileges_are_all_told_with_their_remedy() {
    let _apart = servers::against_replicas();
    for (server, options) in servers::all() {
        let database = Database::create(&options, "grants");
        let mut admin = database.connect();
        admin.execute("CREATE TABLE t (id INT)").unwrap();
        let user = format!("rf{}", unique());
        let identified = "IDENTIFIED BY 'Secret-1'";
        admin.execute(&format!("CREATE USER '{user}'@'%' {identified}, '{user}'@'localhost' {identified}")).unwrap();
        let mut limited = options.clone();
        limited.user.clone_from(&user);
        limited.password = "Secret-1".into();
        let table = TableId::new(&*database.name, "t");
        let mut wants = PreflightWants::new(vec![table.clone()]);
        wants.tables_without_key = vec![table];
        let mut rounds = 0;
        loop {
            let report = preflight(&mut Connection::connect(&limited).unwrap(), &wants).unwrap();
            let open: Vec<_> = report
                .findings
                .iter()
                .filter(|f| f.remedy.as_deref().is_some_and(|r| r.starts_with("GRANT ")))
                .cloned()
                .collect();
            if rounds == 0 {
                let subjects: Vec<_> = open.iter().map(|f| f.subject.as_str()).collect();
                let monitor = if server == Server::Mariadb { "BINLOG MONITOR" } else { "REPLICATION CLIENT" };
                assert_eq!(subjects, ["SELECT", monitor, "REPLICATION SLAVE", "LOCK TABLES"], "{server:?}: {report}");
                assert!(!report.passes());
                assert_eq!(open[3].severity, Severity::Warning);
            }
            if open.is_empty() {
                break;
            }
            rounds += 1;
            assert!(rounds < 3, "{server:?}: the remedies do not help: {report}");
            // The statements that it names are what mends it.
            for statement in open.iter().flat_map(|f| f.remedy.as_deref().unwrap().split(';')) {
                if !statement.trim().is_empty() {
                    admin.execute(statement).unwrap();
                }
            }
        }
        assert_eq!(rounds, 1, "{server:?}");
        admin.execute(&format!("DROP USER '{user}'@'%', '{user}'@'localhost'")).unwrap();
    }
}

#[test]
fn the_server_time_zone_is_compared() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        connection.execute("SET SESSION time_zone = @@GLOBAL.time_zone").unwrap();
        let row = connection.query_first("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) AS o").unwrap().unwrap();
        let actual: i32 = row.number("o").unwrap();
        let mut wants = PreflightWants::new(Vec::new());
        for (offset, fits) in [(actual, true), (actual + 900, true), (actual + 3600, false), (actual - 8 * 3600, false)]
        {
            wants.zone_offset = Some(offset);
            let report = preflight(&mut connection, &wants).unwrap();
            let found = report.errors().any(|f| f.subject == "server-time-zone");
            assert_eq!(found, !fits, "{server:?} {offset}: {report}");
        }
    }
}

#[test]
fn missing_tables_are_told() {
    for (_, options) in servers::all() {
        let wants = PreflightWants::new(vec![TableId::new("no_such_db", "t"), TableId::new("mysql", "no_such")]);
        let report = preflight(&mut Connection::connect(&options).unwrap(), &wants).unwrap();
        let errors: Vec<_> = report.errors().map(|f| f.message.clone()).collect();
        assert_eq!(errors.len(), 2, "{report}");
        assert!(errors[0].contains("no_such_db.t"), "{report}");
    }
}
