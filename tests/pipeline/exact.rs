//! Exactness: writers at work while the snapshot runs, and afterwards source and target are equal.

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};
use crate::support::writers::{Writers, fill};

const TABLES: &[&str] = &["ints", "sparse", "words", "pairs", "bytes", "heap"];

#[test]
fn writers_during_the_snapshot_change_nothing_about_exactness() {
    for (kind, server) in all() {
        let database = Database::create(&server, "exact");
        fill(&database, TABLES);
        let writers = Writers::start(&database, TABLES);
        let source = ["scan.incremental.snapshot.chunk.size: 20"];
        let tables = format!("{}.\\.*", database.name);
        let pipeline = Pipeline::to_json(&server, &tables, &source, &["rowferry.checkpoint.interval: 300 ms"]);
        let mut output = pipeline.run_well(&["run", "--stop-after", "snapshot"]);
        let writes = writers.stop();
        output += &pipeline.run_well(&["run", "--until-caught-up"]);
        let mut target = StrictTarget::default();
        target.apply(&output);
        for (table, columns) in [
            ("ints", ["id", "v"].as_slice()),
            ("sparse", &["id", "v"]),
            ("words", &["id", "v"]),
            ("pairs", &["a", "b", "v"]),
            ("heap", &["id", "v"]),
        ] {
            assert_eq!(target.rows(table, columns), server_rows(&database, table, columns), "{table} at {kind:?}");
        }
        let count = server_rows(&database, "bytes", &["v"]);
        assert_eq!(target.rows("bytes", &["v"]), count, "bytes at {kind:?}");
        eprintln!("{kind:?}: {writes} writes during the snapshot");
        assert!(writes > 20, "the writers did nothing");
    }
}
