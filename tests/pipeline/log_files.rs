//! Log files that were purged while the pipeline was down.

use crate::support::rowferry::{Pipeline, Running};
use crate::support::servers::{Database, Server, disposable, over_log_files, purge_to};
use rowferry::mysql::wire::Connection;

fn stopped(mut running: Running, what: &str, wished: impl Fn(&str) -> bool) {
    running.wait_for(what, wished);
    let log = running.log();
    assert_eq!(running.interrupt().0, Some(130), "{log}");
}

/// Lets a server go with GTIDs or without, as it can be done while it runs.
fn set_gtid_mode(client: &mut Connection, on: bool) {
    let modes = ["ON", "ON_PERMISSIVE", "OFF_PERMISSIVE", "OFF"];
    for i in 0..4 {
        let mode = if on { modes[3 - i] } else { modes[i] };
        // It is in one of them already, and takes only the next one.
        let _ = client.execute(&format!("SET GLOBAL gtid_mode = {mode}"));
    }
    let mode = client.query_first("SELECT @@GLOBAL.gtid_mode AS m").unwrap().unwrap();
    assert_eq!(mode.get("m"), Some(if on { "ON" } else { "OFF" }));
}

#[test]
#[ignore = "purges log files that other tests read: run it by itself, with --ignored"]
fn purged_log_files_end_the_pipeline_at_once_and_leave_its_state_as_it_is() {
    let _alone = over_log_files();
    for (kind, server) in disposable() {
        // Only the newer MySQL can change it while it runs.
        let modes: &[bool] = if kind == Server::Mysql97 { &[true, false] } else { &[true] };
        for gtids in modes {
            let database = Database::create(&server, "purged");
            let mut client = database.connect();
            if kind == Server::Mysql97 {
                set_gtid_mode(&mut client, *gtids);
            }
            client.execute("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
            let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &[], &[]);
            let running = pipeline.start(&["run"], &[]);
            stopped(running, "table", |out| out.contains("create.table"));
            client.execute("INSERT INTO t VALUES (1)").unwrap();
            stopped(pipeline.start(&["run"], &[]), "row", |out| out.contains("\"id\":1"));
            let saved = pipeline.run_well(&["status"]);
            for id in [10, 11] {
                client.execute("FLUSH BINARY LOGS").unwrap();
                client.execute(&format!("INSERT INTO t VALUES ({id})")).unwrap();
            }
            let files = client.query("SHOW BINARY LOGS").unwrap();
            let oldest = files.last().unwrap().require("Log_name").unwrap().to_owned();
            purge_to(&mut client, &oldest);
            for _ in 0..2 {
                let output = pipeline.run(&["run"], &[]);
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(!output.status.success(), "{kind:?}: {errors}");
                assert!(!errors.contains("trying again"), "{kind:?}: it was tried again: {errors}");
                assert!(errors.contains("RF-SRC-030") && errors.contains("new snapshot"), "{kind:?}: {errors}");
                assert!(errors.contains("state is left as it is"), "{kind:?}: {errors}");
                if kind != Server::Mariadb {
                    assert!(gtids == &errors.contains("GTIDs"), "{kind:?} {gtids}: {errors}");
                    assert!(*gtids || errors.contains(&oldest), "{errors}");
                }
                assert!(!String::from_utf8_lossy(&output.stdout).contains("\"id\""), "{kind:?}: rows with a gap");
                assert_eq!(pipeline.run_well(&["status"]), saved, "{kind:?}: the state was changed");
            }
            if kind == Server::Mysql97 {
                set_gtid_mode(&mut client, true);
            }
        }
    }
}
