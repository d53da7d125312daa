//! Pipelines into the sinks `starrocks` and `doris`, whose servers are stand-ins.

use super::rowferry::{PATIENCE, Pipeline, Running};
use super::servers::Database;
use rowferry::mysql::wire::ConnectOptions;
use rowferry_stand_ins::faults::{Fault, FaultAction, When};
use rowferry_stand_ins::{doris, starrocks};
use std::time::{Duration, Instant};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    StarRocks,
    Doris,
}

impl Kind {
    pub(crate) const BOTH: [Self; 2] = [Self::StarRocks, Self::Doris];
}

enum Server {
    StarRocks(starrocks::StandIn),
    Doris(doris::StandIn),
}

/// Does something with the server, whichever it is.
macro_rules! of {
    ($olap:expr, $server:ident => $what:expr) => {
        match &$olap.server {
            Server::StarRocks($server) => $what,
            Server::Doris($server) => $what,
        }
    };
}

/// A stand-in.
pub(crate) struct Olap {
    pub(crate) kind: Kind,
    server: Server,
}

impl Olap {
    /// With one frontend and three backends.
    pub(crate) fn start(kind: Kind) -> Self {
        Self::with_frontends(kind, 1)
    }

    pub(crate) fn with_frontends(kind: Kind, frontends: usize) -> Self {
        let server = match kind {
            Kind::StarRocks => {
                let settings = starrocks::Settings { frontends, ..starrocks::Settings::default() };
                Server::StarRocks(starrocks::StandIn::start(settings))
            }
            Kind::Doris => {
                let settings = doris::Settings { frontends, ..doris::Settings::default() };
                Server::Doris(doris::StandIn::start(settings))
            }
        };
        Self { kind, server }
    }

    /// The sink's block, with what makes it deliver exactly once, and further lines.
    pub(crate) fn sink(&self, more: &[&str]) -> String {
        let mut lines = match &self.server {
            Server::StarRocks(server) => vec![
                "type: starrocks".to_owned(),
                format!("jdbc-url: {}", server.jdbc_url()),
                format!("load-url: {}", server.load_url()),
            ],
            Server::Doris(server) => vec![
                "type: doris".to_owned(),
                format!("fenodes: {}", server.fenodes()),
                "sink.enable-2pc: true".to_owned(),
            ],
        };
        if self.kind == Kind::Doris && !more.iter().any(|line| line.contains("batch-mode")) {
            lines.push("sink.enable.batch-mode: false".to_owned());
        }
        lines.extend(["username: root".to_owned(), "password: ''".to_owned()]);
        lines.extend(more.iter().map(|line| (*line).to_owned()));
        lines.iter().map(|line| format!("  {line}\n")).collect()
    }

    /// A pipeline of a database's tables, a pattern, into this server; `pipeline` are further lines of that block.
    pub(crate) fn pipeline(
        &self,
        server: &ConnectOptions,
        database: &Database,
        tables: &str,
        pipeline: &[&str],
    ) -> Pipeline {
        self.pipeline_with(server, database, tables, &[], pipeline)
    }

    /// The same with further lines of the sink's block.
    pub(crate) fn pipeline_with(
        &self,
        server: &ConnectOptions,
        database: &Database,
        tables: &str,
        sink: &[&str],
        pipeline: &[&str],
    ) -> Pipeline {
        let lines: Vec<&str> = [&["rowferry.checkpoint.interval: 20 ms"], pipeline].concat();
        let source = ["scan.incremental.snapshot.chunk.size: 30", "include-comments.enabled: true"];
        Pipeline::new(server, &format!("{}.{tables}", database.name), &source, &self.sink(sink), &lines)
    }

    /// Each column of a table: name, type, nullability, default and comment. Empty: there is no such table.
    pub(crate) fn columns(&self, database: &str, table: &str) -> Vec<String> {
        of!(self, server => server.world().columns(database, table))
    }

    pub(crate) fn table_comment(&self, database: &str, table: &str) -> Option<String> {
        of!(self, server => server.world().table(database, table).map(|t| t.comment.clone()))
    }

    /// The values of a table's rows in the given columns; without columns in all, in the table's order.
    pub(crate) fn values(&self, database: &str, table: &str, columns: &[&str]) -> Vec<Vec<Option<String>>> {
        let (names, mut rows): (Vec<String>, Vec<Vec<Option<String>>>) = of!(self, server => {
            let mut world = server.world();
            let rows = world.rows(database, table);
            let names = world.table(database, table).map(|t| t.columns.iter().map(|c| c.name.clone()).collect());
            (names.unwrap_or_default(), rows)
        });
        let at = |column: &&str| {
            names.iter().position(|n| n == column).unwrap_or_else(|| panic!("no {column} in {names:?}"))
        };
        if !rows.is_empty() && !columns.is_empty() {
            let places: Vec<usize> = columns.iter().map(at).collect();
            rows = rows.into_iter().map(|row| places.iter().map(|i| row[*i].clone()).collect()).collect();
        }
        rows
    }

    /// The same as text, in order.
    pub(crate) fn rows(&self, database: &str, table: &str, columns: &[&str]) -> Vec<String> {
        let shown =
            |row: Vec<Option<String>>| row.iter().map(|v| v.as_deref().unwrap_or("null")).collect::<Vec<_>>().join("|");
        let mut rows: Vec<String> = self.values(database, table, columns).into_iter().map(shown).collect();
        rows.sort();
        rows
    }

    /// Lets an operation fail or be late: `load`, `commit`, …, or `sql:` and the start of a statement.
    pub(crate) fn fault(&self, operation: &str, when: When, action: FaultAction, skip: u32, times: u32) {
        of!(self, server => server.fault(operation, when, action, skip, times));
    }

    fn faults(&self) -> Vec<Fault> {
        of!(self, server => server.world().faults.clone())
    }

    /// Whether no fault waits for its operation any more.
    pub(crate) fn all_struck(&self) -> bool {
        self.faults().iter().all(|fault| fault.times == 0)
    }

    /// The states of all ALTER jobs.
    pub(crate) fn jobs(&self) -> Vec<&'static str> {
        of!(self, server => server.world().jobs.iter().map(|job| job.state).collect())
    }

    /// How many loads there were, and how many transactions.
    pub(crate) fn loads_and_transactions(&self) -> (usize, usize) {
        of!(self, server => {
            let world = server.world();
            (world.operations.iter().filter(|o| o.0 == "load").count(), world.transactions.len())
        })
    }

    /// Transactions that are neither seen nor rolled back.
    pub(crate) fn open_transactions(&self) -> usize {
        of!(self, server => {
            let mut world = server.world();
            world.tick();
            world.transactions.iter().filter(|t| !t.is_over()).count()
        })
    }

    pub(crate) fn stop_frontend(&self, i: usize) {
        of!(self, server => server.stop_frontend(i));
    }

    /// All backends go away, and the frontends notice.
    pub(crate) fn stop_backends(&self) {
        for i in 0..3 {
            of!(self, server => server.stop_backend(i, true));
        }
    }

    pub(crate) fn start_backends(&mut self) {
        for i in 0..3 {
            match &mut self.server {
                Server::StarRocks(server) => server.start_backend(i),
                Server::Doris(server) => server.start_backend(i),
            }
        }
    }

    /// Waits until this server is as wished.
    pub(crate) fn wait_for(&self, running: &mut Running, what: &str, wished: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !wished(self) {
            assert!(running.is_running(), "it ended before {what}:\n{}", running.log());
            assert!(Instant::now() < end, "there is still no {what}:\n{}", running.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Lines of the sink's block with which rows are seen as soon as they are loaded: at least once.
pub(crate) fn at_once(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::StarRocks => {
            &["sink.at-least-once.use-transaction-stream-load: false", "sink.buffer-flush.interval-ms: 100"]
        }
        Kind::Doris => &["sink.enable.batch-mode: true", "sink.buffer-flush.interval: 1s"],
    }
}

/// Runs pipelines side by side to their ends, which must be good ones.
pub(crate) fn run_well(pipelines: &[Pipeline], arguments: &[&str]) {
    let running: Vec<Running> = pipelines.iter().map(|pipeline| pipeline.start(arguments, &[])).collect();
    for running in running {
        let (status, _, log) = running.wait();
        assert!(status.success(), "{arguments:?} ended with {status}:\n{log}");
    }
}
