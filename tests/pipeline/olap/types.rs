//! Every type at its bounds, from the snapshot and from the binlog, compared value by value with what the sinks' pages say
//! it becomes.

use super::cases::{Case, columns_of, keys_of};
use crate::pipeline::schema::execute;
use crate::support::olap::{Kind, Olap, run_well};
use crate::support::servers::{Database, all};
use rowferry::mysql::wire::{ConnectOptions, Connection};

/// Instants are shown in this zone; the names are those that the pipeline and every server know.
const ZONE: &str = "local-time-zone: Asia/Tokyo";
const ZONE_OF_SESSIONS: &str = "SET SESSION time_zone = '+09:00'";
/// Rows of the binlog are those of the snapshot once more, with keys higher by this.
const LATER: usize = 100;

fn session(database: &Database) -> Connection {
    let mut client = database.connect();
    // Zero dates are values too.
    execute(&mut client, &["SET SESSION sql_mode = ''", ZONE_OF_SESSIONS]);
    client
}

/// How rows are sent.
struct Format {
    sink: &'static [&'static str],
    kinds: &'static [Kind],
    /// Whether a value of a column is refused: JSON takes every one.
    refused: fn(column: &str, value: &str) -> bool,
}

const JSON: Format = Format { sink: &[], kinds: &Kind::BOTH, refused: |_, _| false };
/// The text that means NULL, and the default separators.
const CSV: Format = Format {
    sink: &["sink.properties.format: csv"],
    kinds: &Kind::BOTH,
    refused: |_, value| [r"'\\N'", "CHAR(1, 31, 127)"].contains(&value),
};
/// Times before those that backends read rightly; one of them stands for a zero date where NULL is not allowed.
const ARROW: Format = Format {
    sink: &["sink.properties.format: arrow"],
    kinds: &[Kind::Doris],
    refused: |column, value| {
        let time = column.starts_with("DATETIME") || column.starts_with("TIMESTAMP");
        let early = ["'1000-", "'1969-", "'1970-01-01 00:"].iter().any(|start| value.starts_with(start));
        time && (early || (column.contains("NOT NULL") && value.starts_with("'0000-")))
    },
};

/// The targets of one source, run to the end twice: with the snapshot, and with what `later` writes.
fn run(options: &ConnectOptions, database: &Database, format: &Format, later: impl FnOnce()) -> Vec<Olap> {
    let targets: Vec<Olap> = format.kinds.iter().map(|kind| Olap::start(*kind)).collect();
    let pipelines: Vec<_> =
        targets.iter().map(|olap| olap.pipeline_with(options, database, "\\.*", format.sink, &[ZONE])).collect();
    run_well(&pipelines, &["run", "--until-caught-up"]);
    later();
    run_well(&pipelines, &["run", "--until-caught-up"]);
    targets
}

#[test]
fn every_type_arrives_as_the_page_says_from_snapshot_and_binlog() {
    every_type(&JSON);
}

#[test]
fn every_type_arrives_the_same_by_csv() {
    every_type(&CSV);
}

#[test]
fn every_type_arrives_the_same_by_arrow() {
    every_type(&ARROW);
}

fn every_type(format: &Format) {
    for (server, options) in all() {
        let database = Database::create(&options, "olaptypes");
        let mut client = session(&database);
        let mut cases = columns_of(server);
        let count = |cases: &[Case]| cases.iter().map(|case| case.values.len()).sum::<usize>();
        let all_values = count(&cases);
        for case in &mut cases {
            case.values.retain(|value| !(format.refused)(&case.column, value));
        }
        assert_eq!(count(&cases) == all_values, format.sink.is_empty(), "values that only JSON takes");
        let columns: Vec<String> = cases.iter().enumerate().map(|(i, case)| format!("c{i} {}", case.column)).collect();
        let create = format!("CREATE TABLE t (id INT PRIMARY KEY, {}) DEFAULT CHARSET utf8mb4", columns.join(", "));
        client.execute(&create).unwrap_or_else(|e| panic!("{server:?}: {e}"));
        let rows = cases.iter().map(|case| case.values.len()).max().unwrap() + 1;
        let insert = |client: &mut Connection, from: usize| {
            for row in 0..rows {
                let (mut names, mut values) = ("id".to_owned(), (from + row).to_string());
                for (i, case) in cases.iter().enumerate() {
                    if let Some(value) = case.values.get(row) {
                        names += &format!(", c{i}");
                        values += &format!(", {value}");
                    }
                }
                let sql = format!("INSERT INTO t ({names}) VALUES ({values})");
                client.execute(&sql).unwrap_or_else(|e| panic!("{server:?}: {sql}: {e}"));
            }
        };
        insert(&mut client, 0);
        let mut later = session(&database);
        let targets = run(&options, &database, format, || insert(&mut later, LATER));
        for olap in targets {
            let shown = olap.columns(&database.name, "t");
            for (i, case) in cases.iter().enumerate() {
                let (name, what) = (format!("c{i}"), format!("{} of {server:?} in {:?}", case.column, olap.kind));
                assert_eq!(shown[i + 1], format!("{name} {}", case.becomes(olap.kind)), "{what}");
                let sql = format!("SELECT id, {} FROM t ORDER BY id", case.expression(&name, olap.kind));
                let wanted = client.query(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
                let rows = by_number(&olap, &database, &name);
                assert_eq!(rows.len(), wanted.len(), "{what}");
                for ((id, value), wanted) in rows.iter().zip(&wanted) {
                    case.assert_same(value.as_deref(), wanted.at(1), &format!("row {id} of {what}"));
                }
            }
        }
    }
}

/// Key and value of each row, by key.
fn by_number(olap: &Olap, database: &Database, column: &str) -> Vec<(usize, Option<String>)> {
    let mut rows: Vec<(usize, Option<String>)> = olap
        .values(&database.name, "t", &["id", column])
        .into_iter()
        .map(|mut row| (row[0].take().unwrap().parse().unwrap(), row[1].take()))
        .collect();
    rows.sort();
    rows
}

/// Keys of every type: added, changed with their row, changed themselves, and deleted, which must find its row.
#[test]
fn keys_of_every_type_find_their_rows() {
    keys_of_every_type(&JSON);
}

#[test]
fn keys_of_every_type_find_their_rows_by_csv() {
    keys_of_every_type(&CSV);
}

#[test]
fn keys_of_every_type_find_their_rows_by_arrow() {
    keys_of_every_type(&ARROW);
}

fn keys_of_every_type(format: &Format) {
    for (server, options) in all() {
        let database = Database::create(&options, "olapkeys");
        let mut client = session(&database);
        let mut cases: Vec<Case> = keys_of();
        cases.retain(|case| !case.values.iter().any(|value| (format.refused)(&case.column, value)));
        for (i, case) in cases.iter().enumerate() {
            let [a, b, c, ..] = &case.values[..] else { panic!("too few values") };
            let create = format!("CREATE TABLE t{i} (v INT, k {} PRIMARY KEY) DEFAULT CHARSET utf8mb4", case.column);
            let rows = format!("INSERT INTO t{i} (k, v) VALUES ({a}, 1), ({b}, 2), ({c}, 3)");
            execute(&mut client, &[&create, &rows]);
        }
        let mut later = session(&database);
        let targets = run(&options, &database, format, || {
            for (i, case) in cases.iter().enumerate() {
                let [a, b, c, d, e] = &case.values[..] else { panic!("five values are needed") };
                for sql in [
                    format!("UPDATE t{i} SET v = 10 WHERE k = {a}"),
                    format!("UPDATE t{i} SET k = {d} WHERE k = {b}"),
                    format!("DELETE FROM t{i} WHERE k = {c}"),
                    format!("INSERT INTO t{i} (k, v) VALUES ({e}, 5)"),
                ] {
                    later.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                }
            }
        });
        for olap in targets {
            for (i, case) in cases.iter().enumerate() {
                let what = format!("key {} of {server:?} in {:?}", case.column, olap.kind);
                let null = if olap.kind == Kind::StarRocks { " not null" } else { "" };
                let shown = olap.columns(&database.name, &format!("t{i}"));
                assert_eq!(shown, [format!("k {}{null}", case.becomes(olap.kind)), "v int".to_owned()], "{what}");
                let sql = format!("SELECT v, {} FROM t{i} ORDER BY v", case.expression("k", olap.kind));
                let wanted = client.query(&sql).unwrap();
                let mut rows = olap.values(&database.name, &format!("t{i}"), &["v", "k"]);
                rows.sort_by_key(|row| row[0].as_ref().map(|v| v.parse::<i32>().unwrap()));
                assert_eq!((rows.len(), wanted.len()), (3, 3), "{what}: {rows:?}");
                for (row, wanted) in rows.iter().zip(&wanted) {
                    assert_eq!(row[0].as_deref(), wanted.at(0), "{what}");
                    case.assert_same(row[1].as_deref(), wanted.at(1), &what);
                }
            }
        }
    }
}
