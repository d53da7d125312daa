//! Random sequences of DDL, with rows in between: tracked from the start, compared after each statement.

use crate::server::Server;
use crate::{Failure, Tally, compare, fixture};
use rowferry_sql::ddl::{DdlOutcome, parse_ddl};

/// Statements of one sequence.
const SEQUENCE: usize = 40;

/// A small generator of pseudo-random numbers (xorshift): the same seed gives the same statements.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    /// One time in `n`.
    fn rarely(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }
}

const TABLES: &[&str] = &["t0", "t1", "t2", "other.t0", "other.t3"];
const COLUMNS: &[&str] = &["a", "b", "c", "D", "`e f`", "g", "é"];
const CHARSETS: &[&str] = &["latin1", "utf8mb4", "utf8", "ascii", "gbk", "binary", "utf8mb4 COLLATE utf8mb4_bin"];
const KEYS: &[&str] = &["k1", "k2", "a", "uk"];
const TYPES: &[(&str, &[&str])] = &[
    ("INT", &["5", "'7'", "-1", "NULL", "TRUE"]),
    ("TINYINT(1)", &["1", "FALSE"]),
    ("BIGINT UNSIGNED", &["18446744073709551615", "0"]),
    ("MEDIUMINT(7) ZEROFILL", &["3"]),
    ("DECIMAL(10,3)", &["1.5", "'-0.0004'", "1e2"]),
    ("FLOAT", &["1.25", "3.14159265"]),
    ("DOUBLE(9,2)", &["1.005"]),
    ("BIT(5)", &["b'101'", "3"]),
    ("YEAR", &["2020", "'70'"]),
    ("DATE", &["'2020-1-2'", "20200102"]),
    ("TIME(3)", &["'10:11:12.3456'", "'-5:0'"]),
    ("DATETIME", &["CURRENT_TIMESTAMP", "'2020-1-2'", "NOW() ON UPDATE NOW()"]),
    ("TIMESTAMP(6) NULL", &["CURRENT_TIMESTAMP(6)", "NULL"]),
    ("CHAR(5)", &["'x '", "5"]),
    ("VARCHAR(30)", &["'it''s'", "''", "0x41", "'é'"]),
    ("VARCHAR(20) CHARACTER SET latin1", &["'x'"]),
    ("VARCHAR(20) COLLATE utf8mb4_bin", &["'y'"]),
    ("NCHAR VARYING(9)", &["'z'"]),
    ("TEXT", &[]),
    ("TINYTEXT", &[]),
    ("TEXT(300)", &[]),
    ("MEDIUMTEXT CHARACTER SET ascii", &[]),
    ("BLOB", &[]),
    ("BINARY(4)", &["'ab'"]),
    ("VARBINARY(9)", &["'ab'"]),
    ("ENUM('x','y''','Z')", &["'z'", "'x'"]),
    ("SET('p','q')", &["'q,p'", "''"]),
    ("JSON", &[]),
    ("POINT", &[]),
];

fn column(dice: &mut Dice) -> String {
    let (name, defaults) = TYPES[dice.roll(TYPES.len())];
    let mut text = name.to_owned();
    if dice.rarely(4) {
        text.push_str(" NOT NULL");
    }
    if !defaults.is_empty() && dice.rarely(2) {
        text.push_str(&format!(" DEFAULT {}", dice.pick(defaults)));
    }
    if dice.rarely(5) {
        text.push_str(&format!(" COMMENT '{}'", dice.pick(&["x", "it''s", "a\\\\b", ""])));
    }
    if dice.rarely(15) {
        text.push_str(dice.pick(&[" UNIQUE", " PRIMARY KEY", " UNIQUE KEY"]));
    }
    text
}

fn place(dice: &mut Dice) -> String {
    match dice.roll(5) {
        0 => " FIRST".to_owned(),
        1 => format!(" AFTER {}", dice.pick(COLUMNS)),
        _ => String::new(),
    }
}

fn key(dice: &mut Dice) -> String {
    let mut columns = dice.pick(COLUMNS).to_owned();
    if dice.rarely(2) {
        columns.push_str(&format!(", {}", dice.pick(COLUMNS)));
    }
    match dice.roll(5) {
        0 => format!("PRIMARY KEY ({columns})"),
        1 => format!("UNIQUE ({columns})"),
        2 => format!("UNIQUE KEY {} ({columns})", dice.pick(KEYS)),
        3 => format!("INDEX ({columns})"),
        _ => format!("KEY {} ({columns})", dice.pick(KEYS)),
    }
}

fn clause(dice: &mut Dice) -> String {
    let (one, two) = (dice.pick(COLUMNS), dice.pick(COLUMNS));
    match dice.roll(22) {
        0..=3 => format!("ADD COLUMN {one} {}{}", column(dice), place(dice)),
        4 => format!("ADD ({one} {}, {two} {})", column(dice), column(dice)),
        5..=7 => format!("MODIFY {one} {}{}", column(dice), place(dice)),
        8 | 9 => format!("CHANGE COLUMN {one} {two} {}{}", column(dice), place(dice)),
        10 => format!("RENAME COLUMN {one} TO {two}"),
        11 | 12 => format!("DROP COLUMN {one}"),
        13 => format!("ALTER {one} SET DEFAULT {}", dice.pick(&["1", "'2020-02-03'", "NULL"])),
        14 => format!("ALTER COLUMN {one} DROP DEFAULT"),
        15 => format!("ADD {}", key(dice)),
        16 => dice.pick(&["DROP PRIMARY KEY", "DROP INDEX k1", "DROP KEY uk", "RENAME INDEX k1 TO k2"]).to_owned(),
        17 => format!("CONVERT TO CHARACTER SET {}", dice.pick(CHARSETS)),
        18 => format!("DEFAULT CHARACTER SET {}", dice.pick(CHARSETS)),
        19 => format!("COMMENT '{}'", dice.pick(&["c", "it''s", ""])),
        20 => dice.pick(&["ALGORITHM=COPY", "FORCE", "ENGINE=InnoDB", "ORDER BY a"]).to_owned(),
        _ => format!("RENAME TO {}", dice.pick(TABLES)),
    }
}

fn statement(dice: &mut Dice) -> String {
    let (one, two) = (dice.pick(TABLES), dice.pick(TABLES));
    match dice.roll(20) {
        0..=2 => {
            let mut body = vec![];
            for name in COLUMNS {
                if dice.rarely(2) {
                    body.push(format!("{name} {}", column(dice)));
                }
            }
            if dice.rarely(2) {
                body.push(key(dice));
            }
            let mut text = format!("CREATE TABLE {one} ({})", body.join(", "));
            if dice.rarely(3) {
                text.push_str(&format!(" DEFAULT CHARSET {}", dice.pick(CHARSETS)));
            }
            text
        }
        3 => format!("CREATE TABLE {one} LIKE {two}"),
        4 => format!("RENAME TABLE {one} TO {two}"),
        5 => format!("RENAME TABLE {one} TO swap, {two} TO {one}, swap TO {two}"),
        6 if dice.rarely(3) => format!("DROP TABLE IF EXISTS {one}, {two}"),
        7 => format!("ALTER DATABASE {} CHARACTER SET {}", dice.pick(&["scratch", "other"]), dice.pick(CHARSETS)),
        8 => format!("CREATE UNIQUE INDEX {} ON {one} ({})", dice.pick(KEYS), dice.pick(COLUMNS)),
        9 => format!("DROP INDEX {} ON {one}", dice.pick(KEYS)),
        _ => {
            let clauses = 1 + dice.roll(3);
            let clauses: Vec<String> = (0..clauses).map(|_| clause(dice)).collect();
            format!("ALTER TABLE {one} {}", clauses.join(", "))
        }
    }
}

/// Runs sequences for so many seconds.
pub(crate) async fn run(server: &mut Server, seed: u64, seconds: u64) -> Result<Tally, Failure> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut tally = Tally::default();
    while std::time::Instant::now() < end {
        let strict = !dice.rarely(4);
        server.reset(fixture::DATABASE, strict).await?;
        server.run_in(fixture::DATABASE, "CREATE DATABASE other CHARACTER SET latin1").await?.ok();
        let mut tracked = server.catalog().await?.catalog;
        let mut history = vec![];
        for _ in 0..SEQUENCE {
            let sql = statement(&mut dice);
            if server.run_in(fixture::DATABASE, &sql).await?.is_err() {
                tally.refused += 1;
                continue;
            }
            tally.accepted += 1;
            history.push(sql.clone());
            let context = server.context(fixture::DATABASE);
            let mut differences = match parse_ddl(&sql, &context) {
                DdlOutcome::Changes(statement) => {
                    tracked.apply(&statement, &context).err().map(|e| e.to_string()).into_iter().collect()
                }
                other => vec![format!("{other:?}")],
            };
            let after = server.catalog().await?;
            differences.extend(compare::catalogs(&tracked, &after, &context));
            if !differences.is_empty() {
                tally.differ += 1;
                println!("DIFFER [{}, strict {strict}] {}", server.version, history.join(";\n  "));
                for difference in differences {
                    println!("  -> {difference}");
                }
                break;
            }
            // Rows make some changes refused that empty tables allow, and keep none from being tracked.
            let table = dice.pick(TABLES);
            server.run_in(fixture::DATABASE, &format!("INSERT IGNORE INTO {table} () VALUES ()")).await?.ok();
        }
    }
    Ok(tally)
}
