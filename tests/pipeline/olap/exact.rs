//! Source and target are equal, whatever is written meanwhile.

use crate::support::olap::{Kind, Olap, run_well};
use crate::support::rowferry::server_values;
use crate::support::servers::{Database, all};
use crate::support::writers::{Writers, fill};
use std::time::Duration;

/// Without `heap`: tables without a key have tests of their own.
const TABLES: &[&str] = &["ints", "sparse", "words", "pairs", "bytes"];

/// Writers are at work during the snapshot and while changes are read; a run ends and another goes on in the middle.
#[test]
fn under_writers_the_target_ends_as_the_source() {
    for (server, options) in all() {
        let database = Database::create(&options, "olapexact");
        fill(&database, TABLES);
        let writers = Writers::start(&database, TABLES);
        let targets = Kind::BOTH.map(Olap::start);
        let pipelines = targets.each_ref().map(|olap| olap.pipeline(&options, &database, "\\.*", &[]));
        run_well(&pipelines, &["run", "--stop-after", "snapshot"]);
        let mut running = pipelines.each_ref().map(|pipeline| pipeline.start(&["run"], &[]));
        running.iter_mut().for_each(|running| running.wait_for_log("reading the binlog"));
        std::thread::sleep(Duration::from_millis(300));
        for running in running {
            assert_eq!(running.interrupt().0, Some(130));
        }
        let writes = writers.stop();
        assert!(writes > 20, "the writers did nothing");
        run_well(&pipelines, &["run", "--until-caught-up"]);
        for olap in &targets {
            let key = match olap.kind {
                Kind::StarRocks => "HEX(id)",
                Kind::Doris => "TO_BASE64(id)",
            };
            for (table, columns, values) in [
                ("ints", ["id", "v"].as_slice(), ["id", "v"].as_slice()),
                ("sparse", &["id", "v"], &["id", "v"]),
                ("words", &["id", "v"], &["id", "v"]),
                ("pairs", &["a", "b", "v"], &["a", "b", "v"]),
                ("bytes", &["id", "v"], &[key, "v"]),
            ] {
                let what = format!("{table} of {server:?} in {:?}", olap.kind);
                assert_eq!(
                    olap.rows(&database.name, table, columns),
                    server_values(&database, table, values),
                    "{what}"
                );
            }
            assert_eq!(olap.open_transactions(), 0, "{:?}", olap.kind);
        }
    }
}
