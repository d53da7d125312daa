//! Transforms against MySQL itself: the same expressions over the same random rows.

use crate::support::servers::{Database, Server};
use rowferry_model::arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, TableId, TableSchema};
use rowferry_transform::{NullComparisons, RuleSpec, TransformOptions, Transforms, value_text};
use std::fmt::Write;
use std::sync::Arc;

/// Expressions that mean the same here and in MySQL, or both spellings.
const EXPRESSIONS: &[(&str, &str)] = &[
    // Arithmetic.
    ("a + b", ""),
    ("a - 7", ""),
    ("a * a", ""),
    ("b * 3", ""),
    ("0 - a", ""),
    ("-a", ""),
    ("a / 7", "a DIV 7"),
    ("b / a", "b DIV a"),
    ("a % 7", ""),
    ("b % a", ""),
    ("MOD(a, 5)", ""),
    ("p + a", ""),
    ("p - 1.5", ""),
    ("p * a", ""),
    ("p * p", ""),
    ("ROUND(p / a, 4)", ""),
    ("p % a", ""),
    ("r + a", ""),
    ("r * p", ""),
    ("r / a", ""),
    ("ABS(a)", ""),
    ("ABS(p)", ""),
    ("CEIL(p)", ""),
    ("FLOOR(p)", ""),
    ("CEIL(r)", ""),
    ("FLOOR(r)", ""),
    ("ROUND(p, 1)", ""),
    ("ROUND(a, -1)", ""),
    ("HEX(a * a)", ""),
    // Comparisons and logic.
    ("a = b", ""),
    ("a <> 3", ""),
    ("a < p", ""),
    ("p >= r", ""),
    ("b > a", ""),
    ("p = 1.50", ""),
    ("s = 'a'", ""),
    ("s < 'b'", ""),
    ("s <> ''", ""),
    ("t > '2001-02-03 04:05:06'", ""),
    ("d <= '2001-02-03'", ""),
    ("d = t", ""),
    ("a BETWEEN -10 AND 10", ""),
    ("a NOT BETWEEN -10 AND p", ""),
    ("a IN (1, 2, 3, NULL)", ""),
    ("a NOT IN (1, 2, 3)", ""),
    ("a NOT IN (1, NULL)", ""),
    ("s IN ('a', 'b', '')", ""),
    ("p IN (1, 2.5, a)", ""),
    ("a > 0 AND b > 0", ""),
    ("a > 0 OR b > 0", ""),
    ("NOT a > 0", ""),
    ("NOT (a > 0 AND s = 'a') OR p > 1", ""),
    ("(a > 0) IS TRUE", ""),
    ("(a > 0) IS NOT FALSE", ""),
    ("(a > 0) IS UNKNOWN", ""),
    ("a IS NULL", ""),
    ("s IS NOT NULL", ""),
    ("a IS NOT DISTINCT FROM b", "a <=> b"),
    ("s LIKE 'a%'", ""),
    ("s LIKE '%b_'", ""),
    ("s NOT LIKE '%1%'", ""),
    ("s LIKE '%!_%' ESCAPE '!'", ""),
    // Choices.
    ("CASE WHEN a > 0 THEN 'pos' WHEN a < 0 THEN 'neg' ELSE 'nul' END", ""),
    ("CASE a WHEN 1 THEN b WHEN 2 THEN 0 END", ""),
    ("CASE WHEN a > 0 THEN p ELSE r END", ""),
    ("COALESCE(a, b, 0)", ""),
    ("IF(a > 0, s, 'x')", ""),
    ("IFNULL(p, 1.25)", ""),
    ("NULLIF(a, 1)", ""),
    ("GREATEST(a, b, 3)", ""),
    ("LEAST(p, a)", ""),
    // Texts.
    ("UPPER(s)", ""),
    ("LOWER(s)", ""),
    ("CHAR_LENGTH(s)", ""),
    ("CONCAT(s, '-', s)", ""),
    ("CONCAT(s, a)", ""),
    ("CONCAT_WS('/', s, 'x', s)", ""),
    ("SUBSTR(s, 2)", ""),
    ("SUBSTR(s, 2, 2)", ""),
    ("SUBSTRING(s FROM -2)", ""),
    ("LEFT(s, 2)", ""),
    ("RIGHT(s, 2)", ""),
    ("LPAD(s, 4, 'xy')", ""),
    ("RPAD(s, 4, 'xy')", ""),
    ("REPEAT(s, 2)", ""),
    ("REPLACE(s, 'a', 'bb')", ""),
    ("LTRIM(s)", ""),
    ("RTRIM(s)", ""),
    ("TRIM(BOTH 'a' FROM s)", ""),
    ("INSTR(s, 'b')", ""),
    ("LOCATE('b', s, 2)", ""),
    ("POSITION('1' IN s)", ""),
    ("SHA256(s)", "SHA2(s, 256)"),
    ("HEX(s)", ""),
    ("TO_BASE64(s)", ""),
    // Casts.
    ("CAST(a AS VARCHAR)", "CAST(a AS CHAR)"),
    ("CAST(p AS DECIMAL(12, 1))", ""),
    ("CAST(a AS DOUBLE)", ""),
    ("CAST(t AS DATE)", ""),
    ("CAST('12' AS INT) + a", "12 + a"),
    // Times.
    ("YEAR(t)", ""),
    ("QUARTER(t)", ""),
    ("MONTH(d)", ""),
    ("WEEK(d)", "WEEK(d, 3)"),
    ("DAYOFMONTH(t)", ""),
    ("DAYOFYEAR(t)", ""),
    ("DAYOFWEEK(d)", ""),
    ("HOUR(t)", ""),
    ("MINUTE(t)", ""),
    ("SECOND(t)", ""),
    ("EXTRACT(DAY FROM t)", ""),
    ("DATE_FORMAT(t, 'yyyy/MM/dd HH:mm:ss')", "DATE_FORMAT(t, '%Y/%m/%d %H:%i:%s')"),
    ("DATE_FORMAT(t, 'EEE, d MMM yy, hh:mm a')", "DATE_FORMAT(t, '%a, %e %b %y, %h:%i %p')"),
    ("DATE_ADD(d, 40)", "CAST(DATE_ADD(d, INTERVAL 40 DAY) AS CHAR)"),
    ("TO_DATE(t)", "DATE(t)"),
    ("TIMESTAMPDIFF(SECOND, t, '2000-01-01 00:00:00')", ""),
    ("TIMESTAMPDIFF(DAY, t, '2000-01-01 00:00:00')", ""),
    ("TIMESTAMPDIFF(MONTH, t, '2000-01-31 12:00:00')", ""),
    ("TIMESTAMPDIFF(YEAR, t, '2000-02-29 00:00:00')", ""),
    ("DATEDIFF(t, d)", ""),
    ("DATE_FORMAT(t + INTERVAL '1' MONTH, 'yyyy-MM-dd HH:mm:ss')", "CAST(t + INTERVAL 1 MONTH AS CHAR)"),
    ("DATE_FORMAT(t - INTERVAL '90' MINUTE, 'yyyy-MM-dd HH:mm:ss')", "CAST(t - INTERVAL 90 MINUTE AS CHAR)"),
    ("DATE_FORMAT(TIMESTAMPADD(QUARTER, a, t), 'yyyy-MM-dd')", "CAST(DATE(TIMESTAMPADD(QUARTER, a, t)) AS CHAR)"),
    (
        "DATE_FORMAT(CONVERT_TZ(t, '+00:00', '+05:30'), 'yyyy-MM-dd HH:mm:ss')",
        "CAST(CONVERT_TZ(t, '+00:00', '+05:30') AS CHAR)",
    ),
];

/// A small random generator: the same rows for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// From `-most` to `most`; small ones and 0 often.
    fn number(&mut self, most: i64) -> i64 {
        let most = if self.below(2) == 0 { most.min(4) } else { most };
        self.below(2 * most as u64 + 1) as i64 - most
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(6) != 0).then(|| value(self))
    }

    fn text(&mut self) -> String {
        const LETTERS: [char; 10] = ['a', 'b', 'A', 'B', '1', ' ', '-', '_', 'é', '你'];
        (0..self.below(6)).map(|_| LETTERS[self.below(10) as usize]).collect()
    }
}

struct Row {
    a: Option<i32>,
    b: Option<i64>,
    p: Option<i128>,
    r: Option<f64>,
    s: Option<String>,
    t: Option<i64>,
    d: Option<i32>,
}

fn row(random: &mut Random) -> Row {
    Row {
        a: random.maybe(|r| r.number(1000) as i32),
        b: random.maybe(|r| r.number(1_000_000_000_000)),
        p: random.maybe(|r| i128::from(r.number(100_000))),
        // Eighths are exact in binary and in decimal.
        r: random.maybe(|r| r.number(100_000) as f64 / 8.0),
        s: random.maybe(Random::text),
        t: random.maybe(|r| r.below(2_100_000_000) as i64),
        d: random.maybe(|r| r.below(24_000) as i32),
    }
}

fn literal(row: &Row, id: usize) -> String {
    let mut sql = format!("({id}");
    let mut add = |value: Option<String>| {
        sql.push_str(", ");
        sql.push_str(value.as_deref().unwrap_or("NULL"));
    };
    add(row.a.map(|v| v.to_string()));
    add(row.b.map(|v| v.to_string()));
    add(row.p.map(|v| format!("{v} / 100.0")));
    add(row.r.map(|v| format!("{v:?}")));
    add(row.s.as_ref().map(|v| format!("'{v}'")));
    add(row.t.map(|v| format!("'1970-01-01' + INTERVAL {v} SECOND")));
    add(row.d.map(|v| format!("'1970-01-01' + INTERVAL {v} DAY")));
    sql + ")"
}

fn batch(rows: &[Row], table: &TableId) -> ChangeBatch {
    let schema = Arc::new(TableSchema {
        columns: vec![
            Column::new("id", DataType::Int).not_null(),
            Column::new("a", DataType::Int),
            Column::new("b", DataType::BigInt),
            Column::new("p", DataType::Decimal { precision: 10, scale: 2 }),
            Column::new("r", DataType::Double),
            Column::new("s", DataType::Varchar(20)),
            Column::new("t", DataType::Timestamp(0)),
            Column::new("d", DataType::Date),
        ],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    });
    let decimals: Decimal128Array = rows.iter().map(|r| r.p).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..rows.len() as i32)),
        Arc::new(rows.iter().map(|r| r.a).collect::<Int32Array>()),
        Arc::new(rows.iter().map(|r| r.b).collect::<Int64Array>()),
        Arc::new(decimals.with_precision_and_scale(10, 2).unwrap()),
        Arc::new(rows.iter().map(|r| r.r).collect::<Float64Array>()),
        Arc::new(rows.iter().map(|r| r.s.as_deref()).collect::<StringArray>()),
        Arc::new(rows.iter().map(|r| r.t.map(|t| t * 1_000_000)).collect::<TimestampMicrosecondArray>()),
        Arc::new(rows.iter().map(|r| r.d).collect::<Date32Array>()),
    ];
    let record = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(table.clone(), schema, Changes::Inserts(rows.len()), record).unwrap()
}

/// Whether two texts are the same value: numbers by value, truth values as MySQL's 1 and 0.
fn same(ours: Option<&str>, server: Option<&str>, column: DataType) -> bool {
    let (Some(ours), Some(server)) = (ours, server) else { return ours == server };
    match column {
        DataType::Boolean => (ours == "true") == (server == "1"),
        DataType::Double | DataType::Float => {
            let (x, y): (f64, f64) = (ours.parse().unwrap(), server.parse().unwrap());
            x == y || (x - y).abs() <= 1e-12 * x.abs().max(y.abs())
        }
        DataType::Decimal { .. } => {
            let plain = |text: &str| {
                let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
                if text == "-0" { "0".to_owned() } else { text.to_owned() }
            };
            plain(ours) == plain(server)
        }
        _ => ours == server,
    }
}

#[test]
fn expressions_give_what_mysql_gives() {
    let Some(server) = Server::Mysql97.options() else { return };
    let seed = std::env::var("ROWFERRY_TEST_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or_else(|| u64::from(std::process::id()) * 2_654_435_761 + 88_172_645_463_325_252);
    eprintln!("ROWFERRY_TEST_SEED={seed}");
    let mut random = Random(seed);
    let rows: Vec<Row> = (0..400).map(|_| row(&mut random)).collect();
    let database = Database::create(&server, "transform");
    let mut connection = database.connect();
    connection.execute("SET div_precision_increment = 20").unwrap();
    connection
        .execute(
            "CREATE TABLE x (id INT PRIMARY KEY, a INT, b BIGINT, p DECIMAL(10,2), r DOUBLE, \
             s VARCHAR(20) COLLATE utf8mb4_0900_bin, t DATETIME, d DATE) CHARACTER SET utf8mb4",
        )
        .unwrap();
    let values: Vec<String> = rows.iter().enumerate().map(|(id, row)| literal(row, id)).collect();
    connection.execute(&format!("INSERT INTO x VALUES {}", values.join(", "))).unwrap();

    let mut wrong = String::new();
    let mut compared = 0;
    for (expression, theirs) in EXPRESSIONS {
        let theirs = if theirs.is_empty() { expression } else { theirs };
        let found = match connection.query(&format!("SELECT {theirs} FROM x ORDER BY id")) {
            Ok(found) => found,
            Err(error) => {
                writeln!(wrong, "{theirs}: {error}").unwrap();
                continue;
            }
        };
        let rule = RuleSpec {
            matches: Arc::new(|_| true),
            projection: format!("id, {expression} AS x"),
            filter: None,
            primary_keys: Vec::new(),
            partition_keys: Vec::new(),
            table_options: Vec::new(),
            soft_delete: false,
        };
        let options = TransformOptions {
            null_comparisons: NullComparisons::Sql,
            decimal_precision: 38,
            ..TransformOptions::default()
        };
        let table = TableId::new(database.name.as_str(), "x");
        let transforms =
            Transforms::new(vec![rule], options, &[], Vec::new()).unwrap_or_else(|e| panic!("{expression}: {e:?}"));
        let batch = batch(&rows, &table);
        let plan =
            transforms.for_table(&table, batch.schema()).unwrap_or_else(|e| panic!("{expression}: {e}")).unwrap();
        let result = plan.apply(batch).unwrap().unwrap();
        let column = plan.schema().columns[1].data_type;
        for (id, found) in found.iter().enumerate() {
            compared += 1;
            let ours = value_text(result.column(1).as_ref(), id);
            if !same(ours.as_deref(), found.at(0), column) {
                let row = &values[id];
                writeln!(wrong, "{expression} over {row}: {ours:?}, MySQL {:?}", found.at(0)).unwrap();
                break;
            }
        }
    }
    assert!(compared > 40_000, "{compared}");
    assert!(wrong.is_empty(), "seed {seed}\n{wrong}");
}
