//! The lines that the real Flink CDC printed after each step of its recordings (`../shared/golden/flink-cdc`).
//!
//! The recordings were made with MySQL; here each step gives the changes and rows that its source hands on.

use super::support::*;
use crate::config::SchemaChangeBehavior as B;
use crate::pipeline::evolve::{EvolveError, Options, Targets};
use rowferry_model::{ColumnPosition, RowOp, SchemaChange, SchemaChangeKind, TableSchema};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The lines of a recording, those after the start first and then those of each step; `None`: not here.
fn recording(folder: &str) -> Option<Vec<Vec<String>>> {
    let shared = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = shared.join("golden/flink-cdc").join(folder).join("steps.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is missing", path.display());
        return None;
    };
    let mut steps: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("-- [") {
            steps.push(Vec::new());
        } else if let Some(step) = steps.last_mut() {
            step.push(line.to_owned());
        }
    }
    Some(steps)
}

/// A table and its pipeline while steps are played.
struct Play {
    targets: Targets,
    table: String,
    schema: Arc<TableSchema>,
    lines: Vec<String>,
}

type Step<'a> = (Vec<SchemaChange>, Vec<(RowOp, Vec<&'a str>)>);

impl Play {
    fn start(options: Options, table: &str, schema: &Arc<TableSchema>, to: &[&str]) -> Self {
        let mut targets = Targets::new(options);
        let to: Vec<_> = to.iter().map(|t| id(t)).collect();
        targets.register(&id(table), schema, &to);
        Self { targets, table: table.to_owned(), schema: schema.clone(), lines: Vec::new() }
    }

    fn create(&mut self) {
        let planned = self.targets.create(&id(&self.table)).unwrap();
        let lines = carry_out(&mut self.targets, planned);
        self.lines.extend(lines);
    }

    fn step(&mut self, (changes, events): Step<'_>) -> Result<Vec<String>, EvolveError> {
        for change in changes {
            let planned = self.targets.plan(&id(&self.table), &change)?;
            let lines = carry_out(&mut self.targets, planned);
            self.lines.extend(lines);
            self.schema = Arc::new(self.schema.apply(&change).unwrap().unwrap_or_default());
        }
        if !events.is_empty() {
            self.write(&events)?;
        }
        Ok(std::mem::take(&mut self.lines))
    }

    fn write(&mut self, events: &[(RowOp, Vec<&str>)]) -> Result<(), EvolveError> {
        let ops: Vec<RowOp> = events.iter().map(|(op, _)| *op).collect();
        let texts: Vec<&[&str]> = events.iter().map(|(_, row)| row.as_slice()).collect();
        for out in self.targets.route(batch(&self.table, &self.schema, &ops, &texts))? {
            let texts = rows(&out);
            let mut before = String::new();
            for (op, row) in ops.iter().zip(texts) {
                let (before, after, op) = match op {
                    RowOp::Insert => (String::new(), row, "INSERT"),
                    RowOp::Delete => (row, String::new(), "DELETE"),
                    RowOp::UpdateBefore => {
                        before = row;
                        continue;
                    }
                    RowOp::UpdateAfter => (std::mem::take(&mut before), row, "UPDATE"),
                };
                let table = out.table();
                let line =
                    format!("DataChangeEvent{{tableId={table}, before=[{before}], after=[{after}], op={op}, meta=()}}");
                self.lines.push(line);
            }
        }
        Ok(())
    }
}

fn inserts<'a>(rows: &[&[&'a str]]) -> Vec<(RowOp, Vec<&'a str>)> {
    rows.iter().map(|row| (RowOp::Insert, row.to_vec())).collect()
}

fn start_schema() -> Arc<TableSchema> {
    schema("id INT NOT NULL; name VARCHAR(20) DEFAULT n; age SMALLINT; score DECIMAL(8, 2); note STRING")
}

/// The changes and rows of the steps 1 to 15 on the table `c` of the recordings `03` to `06`. Steps that do not concern it
/// are empty.
fn steps(table: &str) -> Vec<Step<'static>> {
    let s0 = start_schema();
    let after = |text: &str| ColumnPosition::After(text.to_owned());
    let a2_not_null = schema("id INT NOT NULL; a2 VARCHAR(17) NOT NULL; age BIGINT; name VARCHAR(20)");
    vec![
        (vec![add_last(table, &["a1 INT"])], inserts(&[&["3", "Cc", "1", "1.00", "n", "33"]])),
        (
            vec![
                add(table, &[("a2 VARCHAR(17) NOT NULL DEFAULT dd", after("name"))]),
                add(table, &[("a3 BIGINT", ColumnPosition::First)]),
            ],
            inserts(&[&["4", "4", "Dd", "z", "4", "4.00", "n", "44"]]),
        ),
        (vec![rename(table, &[("a1", "a1r")])], inserts(&[&["null", "5", "Ee", "dd", "null", "null", "null", "55"]])),
        (
            vec![alter(table, &s0, &["score DECIMAL(12, 4)"]), rename(table, &[("score", "score2")])],
            inserts(&[&["null", "6", "Ff", "dd", "null", "6.1234", "null", "null"]]),
        ),
        (
            vec![alter(table, &s0, &["age BIGINT"])],
            inserts(&[&["null", "7", "Gg", "dd", "7000000000", "null", "null", "null"]]),
        ),
        (
            vec![alter(table, &s0, &["name VARCHAR(50) NOT NULL"])],
            inserts(&[&["null", "8", "Hh", "dd", "null", "null", "null", "null"]]),
        ),
        (
            vec![drop(table, &["note"])],
            vec![
                (RowOp::Insert, vec!["null", "9", "Ii", "dd", "null", "null", "null"]),
                (RowOp::UpdateBefore, vec!["null", "1", "Alice", "dd", "18", "1.5000", "null"]),
                (RowOp::UpdateAfter, vec!["null", "1", "Alice2", "dd", "18", "1.5000", "null"]),
                (RowOp::Delete, vec!["null", "2", "Bob", "dd", "20", "2.5000", "null"]),
            ],
        ),
        (vec![], inserts(&[&["null", "10", "q", "ee", "null", "null", "null"]])),
        (
            vec![
                alter(table, &a2_not_null, &["age INT"]),
                add_last(table, &["z1 STRING"]),
                drop(table, &["a3"]),
                rename(table, &[("a1r", "a1rr")]),
            ],
            inserts(&[&["11", "q", "ee", "5", "null", "111", "{\"k\":1}"]]),
        ),
        (
            vec![alter(table, &a2_not_null, &["a2 STRING"]), rename(table, &[("a2", "a2c")])],
            inserts(&[&["12", "q", "tt", "null", "null", "null", "null"]]),
        ),
        (vec![], vec![]),
        (vec![], vec![]),
        (vec![], vec![]),
        (vec![], vec![]),
        (
            vec![add_last(table, &["m1 INT", "m2 VARCHAR(5)"])],
            inserts(&[&["13", "q", "", "null", "null", "null", "null", "1", "m"]]),
        ),
    ]
}

/// The lines of a table; a delete of step 9, before its DDL, is left out.
fn of_table<'l>(lines: &'l [String], table: &str) -> Vec<&'l str> {
    let named = format!("tableId={table},");
    lines
        .iter()
        .map(String::as_str)
        .filter(|l| l.contains(&named) && !l.contains("7000000000, null, null], after=[]"))
        .collect()
}

fn compare(folder: &str, table: &str, behavior: B, expect: impl Fn(usize, Vec<&str>) -> Vec<String>) {
    let Some(recorded) = recording(folder) else { return };
    let mut play = Play::start(options(behavior), table, &start_schema(), &[table]);
    play.create();
    assert_eq!(play.step((vec![], vec![])).unwrap(), of_table(&recorded[0], table)[..1], "{folder}");
    for (index, step) in steps(table).into_iter().enumerate() {
        let recorded = of_table(&recorded[index + 1], table).into_iter().filter(|l| !l.contains("before=[7, Gg"));
        let expected = expect(index + 1, recorded.collect());
        assert_eq!(play.step(step).unwrap(), expected, "{folder} step {}", index + 1);
    }
}

fn as_recorded(_: usize, lines: Vec<&str>) -> Vec<String> {
    lines.into_iter().map(str::to_owned).collect()
}

#[test]
fn evolve_is_as_recorded() {
    compare("03-ddl-evolve", "g03.c", B::Evolve, as_recorded);
}

#[test]
fn try_evolve_is_as_recorded() {
    compare("05-ddl-try_evolve", "g05.c", B::TryEvolve, as_recorded);
}

#[test]
fn lenient_is_as_recorded_but_does_not_narrow() {
    compare("04-ddl-lenient", "g04.c", B::Lenient, |step, lines| {
        let narrowing = |line: &&str| step == 9 && line.contains("typeMapping={age=INT}");
        as_recorded(step, lines.into_iter().filter(|line| !narrowing(line)).collect())
    });
}

#[test]
fn ignore_is_as_recorded_but_keeps_what_fits_and_counts_what_does_not() {
    let folder = "06-ddl-ignore";
    let Some(recorded) = recording(folder) else { return };
    let table = "g06.c";
    let mut play = Play::start(options(B::Ignore), table, &start_schema(), &[table]);
    play.create();
    play.lines.clear();
    for (index, step) in steps(table).into_iter().enumerate() {
        let got = play.step(step);
        let expected = of_table(&recorded[index + 1], table);
        match index + 1 {
            // 7000000000 for a SMALLINT: null as recorded, and counted.
            5 => {
                assert_eq!(got.unwrap(), expected);
                assert_eq!(play.targets.lost(), 1);
            }
            // The ages 18, 20 and 5 fit although the source's type is wider: recorded as null.
            7 => {
                let expected: Vec<String> = expected
                    .iter()
                    .map(|l| {
                        l.replace("Alice, null", "Alice, 18")
                            .replace("Alice2, null", "Alice2, 18")
                            .replace("Bob, null", "Bob, 20")
                    })
                    .collect();
                assert_eq!(got.unwrap(), expected);
            }
            9 => {
                // The delete of row 7 is not played here.
                let expected: Vec<String> = expected
                    .iter()
                    .filter(|l| !l.contains("before=[7, Gg"))
                    .map(|l| l.replace("q, null", "q, 5"))
                    .collect();
                assert_eq!(got.unwrap(), expected);
            }
            _ => assert_eq!(got.unwrap(), expected, "step {}", index + 1),
        }
    }
}

#[test]
fn exception_stops_at_the_first_change() {
    let mut play = Play::start(options(B::Exception), "g07.c", &start_schema(), &["g07.c"]);
    play.create();
    let error = play.step(steps("g07.c").remove(0)).unwrap_err();
    assert!(matches!(error, EvolveError::Exception { .. }), "{error}");
}

/// `08`: three tables into one, each also copied; `n1` comes in two types, columns are dropped and renamed in one table.
#[test]
fn merged_tables_are_as_recorded_once_they_are_created() {
    let Some(recorded) = recording("08-route-merge-all-match-evolve") else { return };
    let shapes = [
        ("g08.s_1", "bak.copy_s_1", schema("id INT NOT NULL; name VARCHAR(10); age TINYINT")),
        ("g08.s_2", "bak.copy_s_2", schema("id BIGINT NOT NULL; name STRING; extra DECIMAL(10, 2); age INT")),
        ("g08.s_3", "bak.copy_s_3", schema("id INT NOT NULL; age VARCHAR(5); name VARCHAR(30) NOT NULL; f FLOAT")),
    ];
    let mut targets = Targets::new(options(B::Evolve));
    for (source, copy, shape) in &shapes {
        targets.register(&id(source), shape, &[id("ods.merged"), id(copy)]);
    }
    // Flink CDC creates it from the first table and widens it twice; here it is created as it will be.
    let first = targets.create(&id("g08.s_1")).unwrap();
    let lines = carry_out(&mut targets, first);
    assert_eq!(
        lines[0],
        "CreateTableEvent{tableId=ods.merged, schema=columns={`id` BIGINT NOT NULL,`name` STRING,`age` STRING,\
         `extra` DECIMAL(10, 2),`f` FLOAT}, primaryKeys=id, options=()}"
    );
    for (source, copy, _) in &shapes {
        let planned = targets.create(&id(source)).unwrap();
        let lines = if *source == "g08.s_1" { lines[1..].to_vec() } else { carry_out(&mut targets, planned) };
        assert_eq!(lines, of_table(&recorded[0], copy)[..1], "{copy}");
    }
    let s = |n: usize| shapes[n - 1].0;
    let truncate = SchemaChange::TruncateTable { table: id(s(1)) };
    let drop_table = SchemaChange::DropTable { table: id(s(2)) };
    type Row = (usize, &'static [(RowOp, &'static [&'static str])]);
    type Played = (Vec<(usize, SchemaChange)>, Vec<Row>);
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    let played: [Played; 7] = [
        (
            vec![],
            vec![
                (1, &[(Insert, &["11", "b1", "2"])]),
                (2, &[(Insert, &["12", "b2", "1.11", "3"])]),
                (3, &[(Insert, &["13", "13", "b3", "1.5"])]),
            ],
        ),
        (vec![(1, add_last(s(1), &["n1 INT"]))], vec![(1, &[(Insert, &["21", "c1", "3", "99"])])]),
        (vec![(2, add_last(s(2), &["n1 BIGINT"]))], vec![(2, &[(Insert, &["22", "c2", "1.00", "3", "5000000000"])])]),
        (
            vec![(1, drop(s(1), &["age"]))],
            vec![
                (1, &[(Insert, &["31", "d1", "1"])]),
                (
                    2,
                    &[
                        (UpdateBefore, &["2", "two", "2.22", "22", "null"]),
                        (UpdateAfter, &["2", "two", "2.22", "77", "null"]),
                    ],
                ),
                (3, &[(Delete, &["3", "33", "three", "3.3"])]),
            ],
        ),
        (vec![(3, alter(s(3), &shapes[2].2, &["f DOUBLE"]))], vec![(3, &[(Insert, &["41", "x", "e3", "2.5"])])]),
        (vec![(1, rename(s(1), &[("name", "nm")]))], vec![(1, &[(Insert, &["51", "f1", "5"])])]),
        (vec![(1, truncate), (2, drop_table)], vec![(3, &[(Insert, &["61", "y", "g3", "9"])])]),
    ];
    for (index, (changes, events)) in played.into_iter().enumerate() {
        let mut lines = Vec::new();
        for (source, change) in changes {
            let planned = targets.plan(&id(s(source)), &change).unwrap();
            lines.extend(carry_out(&mut targets, planned));
        }
        for (source, events) in events {
            let schema = targets.upstream(&id(s(source))).unwrap().clone();
            let mut play = Play { targets, table: s(source).to_owned(), schema, lines: Vec::new() };
            let events: Vec<_> = events.iter().map(|(op, row)| (*op, row.to_vec())).collect();
            lines.extend(play.step((vec![], events)).unwrap());
            targets = play.targets;
        }
        let mut recorded = recorded[index + 1].clone();
        // The order of the events of different targets is not what is compared.
        recorded.sort();
        lines.sort();
        assert_eq!(lines, recorded, "step {}", index + 1);
    }
}

/// `13a` and `13b`: some changes don't reach the sink, and the rows stay as they were.
#[test]
fn excluded_changes_leave_the_rows_as_recorded() {
    let include = [
        SchemaChangeKind::AlterColumns,
        SchemaChangeKind::RenameColumns,
        SchemaChangeKind::DropColumns,
        SchemaChangeKind::AlterTableComment,
    ];
    for (folder, table, behavior, excluded) in [
        ("13a-lenient-include-truncate-drop", "g13a.c", B::Lenient, &include[..]),
        (
            "13b-evolve-exclude-drop",
            "g13b.c",
            B::Evolve,
            &[SchemaChangeKind::DropColumns, SchemaChangeKind::DropTable][..],
        ),
    ] {
        let Some(recorded) = recording(folder) else { return };
        let options = Options { kinds: all_but(excluded), ..options(behavior) };
        let mut play = Play::start(options, table, &start_schema(), &[table]);
        play.create();
        play.lines.clear();
        let steps: [(SchemaChange, &[&str]); 4] = [
            (add_last(table, &["a1 INT"]), &["3", "Cc", "1", "1.00", "n", "9"]),
            (drop(table, &["note"]), &["4", "Dd", "1", "1.00", "9"]),
            (rename(table, &[("age", "age2")]), &["5", "Ee", "1", "1.00", "9"]),
            (alter(table, &start_schema(), &["score DECIMAL(20, 4)"]), &["6", "Ff", "1", "1.2345", "9"]),
        ];
        for (index, (change, row)) in steps.into_iter().enumerate() {
            let lines = play.step((vec![change], inserts(&[row]))).unwrap();
            assert_eq!(lines, of_table(&recorded[index + 2], table), "{folder} step {}", index + 2);
        }
    }
}

/// `24`, which ran with LENIENT.
#[test]
fn other_types_are_as_recorded() {
    let Some(recorded) = recording("24-widening-evolve") else { return };
    let table = "g24.w";
    let shape =
        schema("id INT NOT NULL; a TINYINT; b INT; c VARCHAR(5); e DATE; f DECIMAL(5, 1); g FLOAT; h TIMESTAMP(0)");
    let mut play = Play::start(options(B::Lenient), table, &shape, &[table]);
    play.create();
    let midnight = "2024-01-01T00:00";
    play.write(&inserts(&[&["1", "1", "1", "c", "2024-01-01", "1.5", "1.5", midnight]])).unwrap();
    assert_eq!(play.step((vec![], vec![])).unwrap(), recorded[0]);
    let one = |text: &str| alter(table, &shape, &[text]);
    let steps = [
        (vec![one("a INT")], inserts(&[&["2", "200", "1", "c", "2024-01-01", "1.5", "1.5", midnight]])),
        (vec![one("b VARCHAR(20)")], inserts(&[&["3", "1", "str", "c", "2024-01-01", "1.5", "1.5", midnight]])),
        (
            ["c STRING", "e TIMESTAMP(3)", "f DECIMAL(20, 6)", "g DOUBLE", "h TIMESTAMP_LTZ(0)"].map(one).to_vec(),
            inserts(&[&["4", "1", "s", "long text", "2024-01-01T01:02:03.456", "1.123456", "2.5", midnight]]),
        ),
    ];
    for (index, step) in steps.into_iter().enumerate() {
        assert_eq!(play.step(step).unwrap(), recorded[index + 1], "step {}", index + 1);
    }
}
