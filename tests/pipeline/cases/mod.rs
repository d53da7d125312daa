//! Cases that people who do this for a living have met: each is run with its rows read by the snapshot and again with
//! changes read from the binlog, and the target must say what `SELECT` says.

mod keys;
mod schema;
mod values;
mod whole;

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, Server, all};

struct Case {
    /// What it is about.
    name: &'static str,
    /// Servers that know the syntax.
    servers: &'static [Server],
    /// Further lines of the source.
    source: &'static [&'static str],
    /// Statements before the start.
    setup: &'static [&'static str],
    /// Statements while it runs.
    changes: &'static [&'static str],
    /// The table.
    table: &'static str,
    /// Its columns.
    columns: &'static [&'static str],
    /// What the server shows of them in the form of JSON lines, where that is not the columns themselves.
    shown: &'static [&'static str],
    /// Columns that the changes add: known afterwards only.
    added: &'static [&'static str],
}

/// What most cases have.
const PLAIN: Case = Case {
    name: "",
    servers: &[],
    source: &[],
    setup: &[],
    changes: &[],
    table: "",
    columns: &[],
    shown: &[],
    added: &[],
};

const EVERY: &[Server] = &Server::ALL;

/// The rows as `SELECT` shows them.
fn selected(database: &Database, case: &Case, columns: &[&str]) -> Vec<String> {
    if case.shown.is_empty() {
        return server_rows(database, case.table, columns);
    }
    let mut rows: Vec<String> = database
        .connect()
        .query(&format!("SELECT {} FROM `{}`", case.shown.join(", "), case.table))
        .unwrap_or_else(|e| panic!("{}: {e}", case.name))
        .iter()
        .map(|row| (0..row.len()).map(|i| row.at(i).unwrap_or("null").to_owned()).collect::<Vec<_>>().join("|"))
        .collect();
    rows.sort();
    rows
}

#[test]
fn each_case_ends_as_select_says() {
    let cases = [keys::CASES, values::CASES, schema::CASES].into_iter().flatten();
    for (case, (kind, server)) in cases.flat_map(|case| all().map(move |server| (case, server))) {
        if !case.servers.contains(&kind) {
            continue;
        }
        let started = std::time::Instant::now();
        let database = Database::create(&server, "case");
        let mut client = database.connect();
        for sql in case.setup {
            client.execute(sql).unwrap_or_else(|e| panic!("{} at {kind:?}: {sql}: {e}", case.name));
        }
        let before = selected(&database, case, case.columns);
        let tables = format!("{}.\\.*", database.name);
        let source = [&["scan.incremental.snapshot.chunk.size: 2"], case.source].concat();
        let options = ["parallelism: 2", "schema.change.behavior: evolve"];
        let pipeline = Pipeline::to_json(&server, &tables, &source, &options);
        let mut target = StrictTarget::default();
        target.apply(&pipeline.run_well(&["run", "--stop-after", "snapshot"]));
        let name = case.table;
        assert_eq!(target.rows(name, case.columns), before, "{}: snapshot at {kind:?}", case.name);
        for sql in case.changes {
            client.execute(sql).unwrap_or_else(|e| panic!("{} at {kind:?}: {sql}: {e}", case.name));
        }
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        let columns = [case.columns, case.added].concat();
        let after = selected(&database, case, &columns);
        assert_eq!(target.rows(name, &columns), after, "{}: changes at {kind:?}", case.name);
        eprintln!("{kind:?}: {}: {:.1} s", case.name, started.elapsed().as_secs_f64());
    }
}
