//! Killed at any moment, the pipeline goes on with nothing lost.

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};

/// The `values` sink prints at once, so after a crash it prints again what came behind the last checkpoint; source and
/// target must be equal in the end all the same.
#[test]
fn killed_at_each_failpoint_nothing_is_lost() {
    for (kind, server) in all() {
        let database = Database::create(&server, "kill");
        let mut client = database.connect();
        client.execute("CREATE TABLE a (id INT PRIMARY KEY, v INT)").unwrap();
        let values: Vec<_> = (0..400).map(|n| format!("({n},0)")).collect();
        client.execute(&format!("INSERT INTO a VALUES {}", values.join(","))).unwrap();
        let tables = format!("{}.a", database.name);
        let source = ["scan.incremental.snapshot.chunk.size: 25"];
        let pipeline = Pipeline::to_json(&server, &tables, &source, &["rowferry.checkpoint.interval: 1 ms"]);
        let mut target = StrictTarget::default();
        target.repeats_allowed = true;
        let mut died = 0;
        for (n, name) in rowferry::failpoint::NAMES.iter().cycle().take(21).enumerate() {
            let wish = format!("{name}:{}", 1 + n / 7);
            let running = pipeline.start(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", &wish)]);
            client.execute(&format!("UPDATE a SET v = v + 1 WHERE id % 21 = {n}")).unwrap();
            client.execute(&format!("DELETE FROM a WHERE id = {}", n * 3)).unwrap();
            client.execute(&format!("INSERT INTO a VALUES ({}, {n})", 1000 + n)).unwrap();
            let (status, output, log) = running.wait();
            assert!(status.success() || status.code().is_none(), "{wish} at {kind:?}: {status}\n{log}");
            died += usize::from(status.code().is_none());
            target.apply(&output);
        }
        assert!(died >= 7, "only {died} runs died");
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        assert_eq!(target.rows("a", &["id", "v"]), server_rows(&database, "a", &["id", "v"]), "{kind:?}");
    }
}
