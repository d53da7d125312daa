//! Each change, and what each behaviour makes of it: the rules of Flink CDC's documentation and source, as
//! `docs/schema-evolution.md` tells them.

/// What a target is behind a change.
pub(in crate::pipeline) struct Want {
    /// The changes that the sink is told of, in any order.
    pub(in crate::pipeline) changes: &'static [&'static str],
    /// Its columns; empty: the target is gone.
    pub(in crate::pipeline) schema: &'static str,
    /// Its rows, the values in the columns' order.
    pub(in crate::pipeline) rows: &'static [&'static str],
}

/// A change of a table of the columns `id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT` with two rows.
pub(in crate::pipeline) struct Cell {
    /// What it is; also the table's name.
    pub(in crate::pipeline) name: &'static str,
    /// The statements.
    pub(in crate::pipeline) ddl: &'static str,
    /// Rows that are written afterwards.
    pub(in crate::pipeline) then: &'static str,
    /// EVOLVE, and TRY_EVOLVE where the sink can do all of it.
    pub(in crate::pipeline) evolve: Want,
    /// LENIENT.
    pub(in crate::pipeline) lenient: Want,
    /// IGNORE; `None`: the rows do not fit the target that stays as it was, and the run ends.
    pub(in crate::pipeline) ignore: Option<&'static [&'static str]>,
    /// The columns in Paimon under EVOLVE and LENIENT, where they are others: what is NOT NULL only from now on is nullable
    /// there, as older files hold NULLs.
    pub(in crate::pipeline) lake: Option<[&'static str; 2]>,
    /// Whether MySQL 5.6 knows the statement.
    pub(in crate::pipeline) old_servers: bool,
}

pub(in crate::pipeline) const BASE: &str = "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT";
const ONE: &str = "1|10|one|100";
const TWO: &str = "2|20|two|200";

pub(in crate::pipeline) const CELLS: &[Cell] = &[
    Cell {
        name: "add_last",
        ddl: "ALTER TABLE add_last ADD COLUMN x INT COMMENT 'new'",
        then: "INSERT INTO add_last VALUES (3,30,'three',300,7); UPDATE add_last SET x=5 WHERE id=2",
        evolve: Want {
            changes: &["add.column x INT 'new' last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT 'new'",
            rows: &["1|10|one|100|null", "2|20|two|200|5", "3|30|three|300|7"],
        },
        lenient: Want {
            changes: &["add.column x INT 'new' last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT 'new'",
            rows: &["1|10|one|100|null", "2|20|two|200|5", "3|30|three|300|7"],
        },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "add_first",
        ddl: "ALTER TABLE add_first ADD COLUMN x INT FIRST",
        then: "INSERT INTO add_first VALUES (7,3,30,'three',300); UPDATE add_first SET x=5 WHERE id=2",
        evolve: Want {
            changes: &["add.column x INT first"],
            schema: "x INT, id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT",
            rows: &["5|2|20|two|200", "7|3|30|three|300", "null|1|10|one|100"],
        },
        lenient: Want {
            changes: &["add.column x INT last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT",
            rows: &["1|10|one|100|null", "2|20|two|200|5", "3|30|three|300|7"],
        },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "add_after",
        ddl: "ALTER TABLE add_after ADD COLUMN x INT AFTER id, ADD COLUMN y INT AFTER x",
        then: "INSERT INTO add_after VALUES (3,7,8,30,'three',300)",
        evolve: Want {
            changes: &["add.column x INT after id", "add.column y INT after x"],
            schema: "id INT NOT NULL, x INT, y INT, a INT NOT NULL, b VARCHAR(20), c INT",
            rows: &["1|null|null|10|one|100", "2|null|null|20|two|200", "3|7|8|30|three|300"],
        },
        lenient: Want {
            changes: &["add.column x INT last", "add.column y INT last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT, y INT",
            rows: &["1|10|one|100|null|null", "2|20|two|200|null|null", "3|30|three|300|7|8"],
        },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "add_not_null",
        ddl: "ALTER TABLE add_not_null ADD COLUMN x INT NOT NULL",
        then: "INSERT INTO add_not_null VALUES (3,30,'three',300,7); UPDATE add_not_null SET c=201 WHERE id=2",
        evolve: Want {
            changes: &["add.column x INT NOT NULL last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT NOT NULL",
            rows: &["1|10|one|100|null", "2|20|two|201|0", "3|30|three|300|7"],
        },
        lenient: Want {
            changes: &["add.column x INT last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT",
            rows: &["1|10|one|100|null", "2|20|two|201|0", "3|30|three|300|7"],
        },
        ignore: Some(&[ONE, "2|20|two|201", "3|30|three|300"]),
        lake: Some([
            "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT",
            "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, x INT",
        ]),
        old_servers: true,
    },
    Cell {
        name: "drop_nullable",
        ddl: "ALTER TABLE drop_nullable DROP COLUMN b",
        then: "INSERT INTO drop_nullable VALUES (3,30,300); UPDATE drop_nullable SET c=201 WHERE id=2",
        evolve: Want {
            changes: &["drop.column b"],
            schema: "id INT NOT NULL, a INT NOT NULL, c INT",
            rows: &["1|10|100", "2|20|201", "3|30|300"],
        },
        lenient: Want { changes: &[], schema: BASE, rows: &[ONE, "2|20|null|201", "3|30|null|300"] },
        ignore: Some(&[ONE, "2|20|null|201", "3|30|null|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "drop_not_null",
        ddl: "ALTER TABLE drop_not_null DROP COLUMN a",
        then: "INSERT INTO drop_not_null VALUES (3,'three',300)",
        evolve: Want {
            changes: &["drop.column a"],
            schema: "id INT NOT NULL, b VARCHAR(20), c INT",
            rows: &["1|one|100", "2|two|200", "3|three|300"],
        },
        lenient: Want {
            changes: &["alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(20), c INT",
            rows: &[ONE, TWO, "3|null|three|300"],
        },
        ignore: None,
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "rename_nullable",
        ddl: "ALTER TABLE rename_nullable CHANGE b y VARCHAR(20)",
        then: "INSERT INTO rename_nullable VALUES (3,30,'three',300); UPDATE rename_nullable SET c=201 WHERE id=2",
        evolve: Want {
            changes: &["rename.column b>y"],
            schema: "id INT NOT NULL, a INT NOT NULL, y VARCHAR(20), c INT",
            rows: &[ONE, "2|20|two|201", "3|30|three|300"],
        },
        lenient: Want {
            changes: &["add.column y VARCHAR(20) last"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT, y VARCHAR(20)",
            rows: &["1|10|one|100|null", "2|20|null|201|two", "3|30|null|300|three"],
        },
        ignore: Some(&[ONE, "2|20|null|201", "3|30|null|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "rename_not_null",
        ddl: "ALTER TABLE rename_not_null CHANGE a y INT NOT NULL",
        then: "INSERT INTO rename_not_null VALUES (3,30,'three',300)",
        evolve: Want {
            changes: &["rename.column a>y"],
            schema: "id INT NOT NULL, y INT NOT NULL, b VARCHAR(20), c INT",
            rows: &[ONE, TWO, "3|30|three|300"],
        },
        lenient: Want {
            changes: &["add.column y INT last", "alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(20), c INT, y INT",
            rows: &["1|10|one|100|null", "2|20|two|200|null", "3|null|three|300|30"],
        },
        ignore: None,
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "widen",
        ddl: "ALTER TABLE widen MODIFY c BIGINT, MODIFY b VARCHAR(40)",
        then: "INSERT INTO widen VALUES (3,30,'longer than twenty characters',3000000000)",
        evolve: Want {
            changes: &["alter.column.type c BIGINT", "alter.column.type b VARCHAR(40)"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(40), c BIGINT",
            rows: &[ONE, TWO, "3|30|longer than twenty characters|3000000000"],
        },
        lenient: Want {
            changes: &["alter.column.type c BIGINT", "alter.column.type b VARCHAR(40)"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(40), c BIGINT",
            rows: &[ONE, TWO, "3|30|longer than twenty characters|3000000000"],
        },
        ignore: Some(&[ONE, TWO, "3|30|null|null"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "to_nullable",
        ddl: "ALTER TABLE to_nullable MODIFY a INT NULL",
        then: "INSERT INTO to_nullable VALUES (3,NULL,'three',300)",
        evolve: Want {
            changes: &["alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(20), c INT",
            rows: &[ONE, TWO, "3|null|three|300"],
        },
        lenient: Want {
            changes: &["alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(20), c INT",
            rows: &[ONE, TWO, "3|null|three|300"],
        },
        ignore: None,
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "to_not_null",
        ddl: "ALTER TABLE to_not_null MODIFY c INT NOT NULL",
        then: "INSERT INTO to_not_null VALUES (3,30,'three',300)",
        evolve: Want {
            changes: &["alter.column.type c INT NOT NULL"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT NOT NULL",
            rows: &[ONE, TWO, "3|30|three|300"],
        },
        lenient: Want {
            changes: &["alter.column.type c INT NOT NULL"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c INT NOT NULL",
            rows: &[ONE, TWO, "3|30|three|300"],
        },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: Some([BASE, BASE]),
        old_servers: true,
    },
    Cell {
        name: "several",
        ddl: "ALTER TABLE several ADD COLUMN x INT AFTER id, DROP COLUMN b, MODIFY c BIGINT",
        then: "INSERT INTO several VALUES (3,7,30,3000000000)",
        evolve: Want {
            changes: &["add.column x INT after id", "drop.column b", "alter.column.type c BIGINT"],
            schema: "id INT NOT NULL, x INT, a INT NOT NULL, c BIGINT",
            rows: &["1|null|10|100", "2|null|20|200", "3|7|30|3000000000"],
        },
        lenient: Want {
            changes: &["add.column x INT last", "alter.column.type c BIGINT"],
            schema: "id INT NOT NULL, a INT NOT NULL, b VARCHAR(20), c BIGINT, x INT",
            rows: &["1|10|one|100|null", "2|20|two|200|null", "3|30|null|3000000000|7"],
        },
        ignore: Some(&[ONE, TWO, "3|30|null|null"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "moved",
        ddl: "ALTER TABLE moved MODIFY c INT AFTER id, MODIFY b VARCHAR(20) FIRST",
        then: "INSERT INTO moved VALUES ('three',3,300,30)",
        evolve: Want { changes: &[], schema: BASE, rows: &[ONE, TWO, "3|30|three|300"] },
        lenient: Want { changes: &[], schema: BASE, rows: &[ONE, TWO, "3|30|three|300"] },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "swapped",
        ddl: "ALTER TABLE swapped RENAME COLUMN a TO c, RENAME COLUMN c TO a",
        then: "INSERT INTO swapped VALUES (3,31,'three',301)",
        evolve: Want {
            changes: &["rename.column a>c, c>a"],
            schema: "id INT NOT NULL, c INT NOT NULL, b VARCHAR(20), a INT",
            rows: &[ONE, TWO, "3|31|three|301"],
        },
        lenient: Want {
            changes: &["alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(20), c INT",
            rows: &[ONE, TWO, "3|301|three|31"],
        },
        ignore: Some(&[ONE, TWO, "3|301|three|31"]),
        lake: None,
        old_servers: false,
    },
    Cell {
        name: "comment",
        ddl: "ALTER TABLE comment COMMENT = 'note'",
        then: "INSERT INTO comment VALUES (3,30,'three',300)",
        evolve: Want { changes: &["alter.table.comment note"], schema: BASE, rows: &[ONE, TWO, "3|30|three|300"] },
        lenient: Want { changes: &["alter.table.comment note"], schema: BASE, rows: &[ONE, TWO, "3|30|three|300"] },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "truncated",
        ddl: "TRUNCATE TABLE truncated",
        then: "INSERT INTO truncated VALUES (3,30,'three',300)",
        evolve: Want { changes: &["truncate.table"], schema: BASE, rows: &["3|30|three|300"] },
        lenient: Want { changes: &[], schema: BASE, rows: &[ONE, TWO, "3|30|three|300"] },
        ignore: Some(&[ONE, TWO, "3|30|three|300"]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "dropped",
        ddl: "DROP TABLE dropped",
        then: "",
        evolve: Want { changes: &["drop.table"], schema: "", rows: &[] },
        lenient: Want { changes: &[], schema: BASE, rows: &[ONE, TWO] },
        ignore: Some(&[ONE, TWO]),
        lake: None,
        old_servers: true,
    },
    Cell {
        name: "made_anew",
        ddl: "DROP TABLE made_anew; CREATE TABLE made_anew (id INT PRIMARY KEY, b VARCHAR(30), z INT)",
        then: "INSERT INTO made_anew VALUES (1,'anew',5)",
        evolve: Want { changes: &["drop.table"], schema: "id INT NOT NULL, b VARCHAR(30), z INT", rows: &["1|anew|5"] },
        lenient: Want {
            changes: &["add.column z INT last", "alter.column.type b VARCHAR(30)", "alter.column.type a INT"],
            schema: "id INT NOT NULL, a INT, b VARCHAR(30), c INT, z INT",
            rows: &["1|null|anew|null|5", "2|20|two|200|null"],
        },
        ignore: None,
        lake: None,
        old_servers: true,
    },
];

/// The table in `docs/schema-evolution.md`.
fn table() -> String {
    let mut text = "| statement | LENIENT | EVOLVE | IGNORE |\n|---|---|---|---|\n".to_owned();
    let words = |want: &Want| match want.changes {
        [] => "nothing".to_owned(),
        changes => changes.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join("; "),
    };
    for cell in CELLS {
        let anew = cell.ddl.contains("CREATE TABLE");
        let evolve = words(&cell.evolve) + if anew { "; `create.table`" } else { "" };
        let ignore = if cell.ignore.is_some() { "nothing" } else { "nothing; the run ends" };
        let ddl = cell.ddl.replace(&format!("TABLE {}", cell.name), "TABLE t");
        text += &format!("| `{ddl}` | {} | {evolve} | {ignore} |\n", words(&cell.lenient));
    }
    text
}

#[test]
fn the_documentation_shows_these_cells() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schema-evolution.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&table()), "docs/schema-evolution.md should have this table:\n{}", table());
}
