//! Types of MySQL with values at their bounds, and what the sinks' pages say of them.

use crate::support::olap::Kind;
use crate::support::servers::Server;

/// How a value is shown in the target, told by what the server itself makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown {
    /// By an expression, in which `@` stands for the column.
    As(&'static str),
    /// As a number with the bits of a FLOAT or of a DOUBLE, whatever its spelling.
    Float,
    Double,
    /// Bytes, of which an expression gives the hexadecimal digits: these in StarRocks, base64 in Doris.
    Bytes(&'static str),
    /// So many bytes of a BIT, the lowest ones first, as Flink CDC has them.
    Bits(u8),
    /// A point in time with so many digits; NULL for a date without a month or a day.
    Time(u8),
    /// The same in a column that takes no NULL.
    NeverNull(u8),
}

/// As the server prints it.
const SAME: Shown = Shown::As("@");
/// ZEROFILL and UNSIGNED are matters of printing.
const NUMBER: Shown = Shown::As("@ + 0");

/// A column, or a key.
pub(super) struct Case {
    /// Its definition in MySQL.
    pub(super) column: String,
    /// Values as SQL.
    pub(super) values: Vec<String>,
    shown: Shown,
    starrocks: String,
    doris: String,
}

impl Case {
    /// The column's type in the target.
    pub(super) fn becomes(&self, kind: Kind) -> String {
        match kind {
            Kind::StarRocks => self.starrocks.clone(),
            // All columns take NULL.
            Kind::Doris => self.doris.replace(" not null", ""),
        }
    }

    /// What the server is asked for the value that the target must show.
    pub(super) fn expression(&self, name: &str, kind: Kind) -> String {
        let time = |zero: &str, digits: u8| {
            let time = format!("CAST(IF(DAYOFMONTH(@) = 0 OR MONTH(@) = 0, {zero}, @) AS DATETIME({digits}))");
            match kind {
                Kind::StarRocks => format!(
                    "IF(MICROSECOND({time}) = 0, DATE_FORMAT({time}, '%Y-%m-%d %H:%i:%s'), \
                     DATE_FORMAT({time}, '%Y-%m-%d %H:%i:%s.%f'))"
                ),
                Kind::Doris => format!("CAST({time} AS CHAR)"),
            }
        };
        let bytes = |digits: &str| match kind {
            Kind::StarRocks => digits.to_owned(),
            Kind::Doris => format!("REPLACE(TO_BASE64(UNHEX({digits})), '\\n', '')"),
        };
        let expression = match self.shown {
            Shown::As(expression) => expression.to_owned(),
            Shown::Float | Shown::Double => "@ + 0e0".to_owned(),
            Shown::Bytes(digits) => bytes(digits),
            Shown::Bits(n) => {
                let byte = |i: u8| format!("LPAD(HEX((@ + 0) >> {} & 255), 2, '0')", 8 * i);
                bytes(&format!("CONCAT({})", (0..n).map(byte).collect::<Vec<_>>().join(", ")))
            }
            Shown::Time(digits) => time("NULL", digits),
            Shown::NeverNull(digits) => time("TIMESTAMP'1970-01-01 00:00:00'", digits),
        };
        expression.replace('@', name)
    }

    pub(super) fn assert_same(&self, value: Option<&str>, wanted: Option<&str>, what: &str) {
        match (self.shown, value, wanted) {
            (Shown::Float, Some(value), Some(wanted)) => {
                let (value, wanted): (f32, f64) = (value.parse().unwrap(), wanted.parse().unwrap());
                assert_eq!(f64::from(value), wanted, "{what}");
            }
            (Shown::Double, Some(value), Some(wanted)) => {
                let (value, wanted): (f64, f64) = (value.parse().unwrap(), wanted.parse().unwrap());
                assert_eq!(value, wanted, "{what}");
            }
            _ => assert_eq!(value, wanted, "{what}"),
        }
    }
}

fn add(cases: &mut Vec<Case>, column: &str, values: &[&str], shown: Shown, starrocks: &str, doris: &str) {
    cases.push(Case {
        column: column.to_owned(),
        values: values.iter().map(|v| (*v).to_owned()).collect(),
        shown,
        starrocks: starrocks.to_owned(),
        doris: doris.to_owned(),
    });
}

/// One that has the same type in both.
fn both(cases: &mut Vec<Case>, column: &str, values: &[&str], shown: Shown, becomes: &str) {
    add(cases, column, values, shown, becomes, becomes);
}

fn numbers(cases: &mut Vec<Case>) {
    both(cases, "TINYINT", &["-128", "127", "0"], NUMBER, "tinyint");
    both(cases, "TINYINT UNSIGNED", &["0", "255"], NUMBER, "smallint");
    both(cases, "TINYINT(1)", &["1", "2", "-1", "0"], Shown::As("@ <> 0"), "boolean");
    both(cases, "SMALLINT", &["-32768", "32767"], NUMBER, "smallint");
    both(cases, "SMALLINT UNSIGNED", &["65535"], NUMBER, "int");
    both(cases, "MEDIUMINT", &["-8388608", "8388607", "-1"], NUMBER, "int");
    both(cases, "MEDIUMINT UNSIGNED", &["16777215"], NUMBER, "int");
    both(cases, "INT", &["-2147483648", "2147483647"], NUMBER, "int");
    both(cases, "INT UNSIGNED", &["4294967295"], NUMBER, "bigint");
    both(cases, "INT(8) ZEROFILL", &["42"], NUMBER, "bigint");
    both(cases, "BIGINT", &["-9223372036854775808", "9223372036854775807"], NUMBER, "bigint");
    both(cases, "BIGINT UNSIGNED", &["18446744073709551615", "0"], NUMBER, "decimal(20,0)");
    let floats = ["1e-10", "16777217", "3.1415926535", "-0e0", "3.402823466e38", "1.17549435e-38", "0.1", "-123456.78"];
    both(cases, "FLOAT", &floats, Shown::Float, "float");
    both(cases, "FLOAT(7,3)", &["1234.567", "-9999.999", "0.001"], SAME, "double");
    let doubles =
        ["1.7976931348623157e308", "2.2250738585072014e-308", "0.1", "-0e0", "1e15", "123456789012345680", "5e-324"];
    both(cases, "DOUBLE", &doubles, Shown::Double, "double");
    both(cases, "DECIMAL", &["1234567890", "-1"], SAME, "decimal(10,0)");
    both(cases, "DECIMAL(10,2)", &["12345678.91", "-0.01", "0", "-99999999.99"], SAME, "decimal(10,2)");
    let long = ["1234567890123456789012345678.0123456789", "-9999999999999999999999999999.9999999999"];
    both(cases, "DECIMAL(38,10)", &long, SAME, "decimal(38,10)");
    both(cases, "DECIMAL(38,30)", &["0.000000000000000000000000000001"], SAME, "decimal(38,30)");
    // Beyond 38 digits it is text.
    let longer = format!("{}.{}", "9".repeat(35), "1".repeat(30));
    add(cases, "DECIMAL(65,30)", &[&longer, &format!("-{longer}"), "0"], SAME, "varchar(1048576)", "text");
    both(cases, "BIT(1)", &["b'1'", "b'0'"], NUMBER, "boolean");
    add(cases, "BIT(10)", &["b'1000000001'", "b'11'", "0"], Shown::Bits(2), "varbinary", "text");
    add(cases, "BIT(64)", &["b'1'", "18446744073709551615"], Shown::Bits(8), "varbinary", "text");
    both(cases, "YEAR", &["0", "1901", "2155", "2024"], NUMBER, "int");
}

fn times(cases: &mut Vec<Case>) {
    let dates = ["'2024-02-29'", "'0000-00-00'", "'2024-00-10'", "'1000-01-01'", "'9999-12-31'", "'0001-01-01'"];
    let date = Shown::As("CAST(CAST(IF(DAYOFMONTH(@) = 0 OR MONTH(@) = 0, NULL, @) AS DATE) AS CHAR)");
    both(cases, "DATE", &dates, date, "date");
    let date = "CAST(CAST(IF(DAYOFMONTH(@) = 0 OR MONTH(@) = 0, DATE'1970-01-01', @) AS DATE) AS CHAR)";
    both(cases, "DATE NOT NULL DEFAULT '2000-01-01'", &dates, Shown::As(date), "date not null = 2000-01-01");
    for digits in [0, 3, 6] {
        let n = usize::from(digits);
        let fraction = |d: &str| if n == 0 { String::new() } else { format!(".{}", &d[..n]) };
        let (nines, some) = (fraction("999999"), fraction("123456"));
        let times = [
            "'-838:59:59'".to_owned(),
            "'838:59:59'".to_owned(),
            format!("'-01:02:03{some}'"),
            format!("'23:59:59{nines}'"),
            "'-00:00:01'".to_owned(),
            format!("'-838:59:58{nines}'"),
        ];
        let length = if n == 0 { 10 } else { 11 + n };
        let times = times.each_ref().map(String::as_str);
        add(cases, &format!("TIME({n})"), &times, SAME, &format!("varchar({length})"), "text");
        let stamps = [
            "'1000-01-01 00:00:00'".to_owned(),
            format!("'9999-12-31 23:59:59{nines}'"),
            format!("'1969-12-31 23:59:59{some}'"),
            "'0000-00-00 00:00:00'".to_owned(),
            format!("'2024-00-00 10:11:12{some}'"),
        ];
        let stamps = stamps.each_ref().map(String::as_str);
        let doris = if n == 0 { "datetime".to_owned() } else { format!("datetime({n})") };
        add(cases, &format!("DATETIME({n})"), &stamps, Shown::Time(digits), "datetime", &doris);
        let instants = [
            "'1970-01-01 09:00:01'".to_owned(),
            format!("'2038-01-19 12:14:07{nines}'"),
            "'0000-00-00 00:00:00'".to_owned(),
            format!("'2024-03-31 02:30:00{some}'"),
        ];
        let instants = instants.each_ref().map(String::as_str);
        add(cases, &format!("TIMESTAMP({n}) NULL"), &instants, Shown::Time(digits), "datetime", &doris);
    }
    let stamps = ["'2024-02-29 12:34:56.000001'", "'0000-00-00 00:00:00'"];
    let default = "2000-01-01 00:00:00.000000";
    let not_null = format!("DATETIME(6) NOT NULL DEFAULT '{default}'");
    let becomes = |t: &str| format!("{t} not null = {default}");
    add(cases, &not_null, &stamps, Shown::NeverNull(6), &becomes("datetime"), &becomes("datetime(6)"));
}

fn texts(cases: &mut Vec<Case>) {
    both(cases, "CHAR(10)", &["'abc  '", "''", "' x'", "'héllo 😀'"], SAME, "char(40)");
    both(cases, "CHAR(200)", &["'a'", "REPEAT('é', 200)"], SAME, "varchar(800)");
    both(cases, "VARCHAR(20)", &["'a b '", "''", "'日本語'", "REPEAT('😀', 20)"], SAME, "varchar(80)");
    let odd = [r"'line\nfeed\ttab\r'", r"'\\N'", "'null'", "'it''s \"q\" \\\\'", "CHAR(1, 31, 127)", "'`,;|'"];
    both(cases, "VARCHAR(50)", &odd, SAME, "varchar(200)");
    let latin = format!("CONVERT(0x{} USING latin1)", (0x20..=0xff).map(|b| format!("{b:02x}")).collect::<String>());
    both(cases, "VARCHAR(250) CHARACTER SET latin1", &[&latin], SAME, "varchar(750)");
    both(cases, "VARCHAR(30) CHARACTER SET gbk", &["'中文 誠'"], SAME, "varchar(90)");
    both(cases, "VARCHAR(30) CHARACTER SET sjis", &["'日本語 ﾊﾝｶｸ'"], SAME, "varchar(90)");
    // More bytes than Doris lets a VARCHAR have.
    let long = ["'y'", "REPEAT('x', 22000)"];
    add(cases, "VARCHAR(22000) CHARACTER SET latin1", &long, SAME, "varchar(66000)", "text");
    for column in ["TINYTEXT", "MEDIUMTEXT", "LONGTEXT"] {
        add(cases, column, &["'text'", "''"], SAME, "varchar(1048576)", "text");
    }
    add(cases, "TEXT", &["'text'", "''", "REPEAT('ä', 20000)"], SAME, "varchar(1048576)", "text");
    let bytes = Shown::Bytes("HEX(@)");
    for (column, values) in [
        ("BINARY(4)", ["0x01020000", "''", "0x00000000", "0x2020"].as_slice()),
        ("VARBINARY(16)", &["0x0100", "0x00", "''", "0xCAFE20"]),
        ("TINYBLOB", &["0x00FF"]),
        ("BLOB", &["'b'", "''", "REPEAT(0x00FF80, 300)"]),
        ("MEDIUMBLOB", &["0xDEADBEEF"]),
        ("LONGBLOB", &["''", "0xE29D"]),
    ] {
        add(cases, column, values, bytes, "varbinary", "text");
    }
    let labels = ["'a,b'", "'it''s'", r"'back\\slash'", "4"];
    add(cases, r"ENUM('a,b','it''s','back\\slash','q')", &labels, SAME, "varchar(1048576)", "text");
    add(cases, "SET('x','y','z')", &["'x'", "'z,x'", "''"], SAME, "varchar(1048576)", "text");
}

/// Columns of every type that a server has.
pub(super) fn columns_of(server: Server) -> Vec<Case> {
    let mut cases = Vec::new();
    numbers(&mut cases);
    times(&mut cases);
    texts(&mut cases);
    let mut text = |column: &str, values: &[&str], shown: Shown| {
        add(&mut cases, column, values, shown, "varchar(1048576)", "text");
    };
    // The text of Flink CDC.
    let point = r#"IF(@ IS NULL, NULL, '{"coordinates":[1,2],"type":"Point","srid":0}')"#;
    text("POINT", &["ST_GeomFromText('POINT(1 2)')"], Shown::As(point));
    match server {
        Server::Mysql97 => {
            let documents = [
                r#"'{"key":"value","k1":1,"a":[true,false,null,1.50]}'"#,
                "'null'",
                r#"'"\\u00e9\\n\\t\\"\\\\/"'"#,
                "'[123456789012345678901234567890, 18446744073709551615, 1e16]'",
                "JSON_OBJECT('dec', CAST(1.10 AS DECIMAL(5,2)), 'dt', TIMESTAMP'2024-01-02 03:04:05.678')",
            ];
            text("JSON", &documents, SAME);
        }
        Server::Mysql56 => {}
        Server::Mariadb => {
            text("JSON", &[r#"'{"b": 1,  "a": [ 1 ]}'"#], SAME);
            text("UUID", &["'123e4567-e89b-12d3-a456-426655440000'"], SAME);
            text("INET6", &["'2001:db8::ff00:42:8329'", "'::ffff:192.0.2.128'"], SAME);
            text("INET4", &["'192.0.2.128'", "'0.0.0.0'"], SAME);
        }
    }
    cases
}

/// Types that a key may have, with five values each.
pub(super) fn keys_of() -> Vec<Case> {
    let mut cases = Vec::new();
    let keys = &mut cases;
    both(keys, "INT", &["-2147483648", "0", "1", "2", "2147483647"], SAME, "int");
    let unsigned = ["18446744073709551615", "0", "1", "2", "9223372036854775808"];
    add(keys, "BIGINT UNSIGNED", &unsigned, SAME, "varchar(21)", "decimal(20,0)");
    let decimals = ["-99999999.99", "0", "0.01", "-0.01", "99999999.99"];
    add(keys, "DECIMAL(10,2)", &decimals, SAME, "varchar(12)", "decimal(10,2)");
    let doubles = ["1.5", "0", "-1e300", "1e-300", "123456789.125"];
    both(keys, "DOUBLE", &doubles, Shown::Double, "varchar(32)");
    let texts = ["'a'", "'ab'", "'é'", "'abc'", "''"];
    add(keys, "CHAR(3)", &texts, SAME, "varchar(12)", "char(12)");
    both(keys, "VARCHAR(10)", &texts, SAME, "varchar(40)");
    both(keys, "VARCHAR(10) CHARACTER SET latin1", &texts, SAME, "varchar(30)");
    let bytes = ["0x00000000", "0x0001FFFE", "0x20202000", "0xFF000000", "0xE9E9E9E9"];
    add(keys, "BINARY(4)", &bytes, Shown::Bytes("HEX(@)"), "varchar(8)", "varchar(8)");
    add(keys, "VARBINARY(8)", &bytes, Shown::Bytes("HEX(@)"), "varchar(16)", "varchar(12)");
    let days = ["'1000-01-01'", "'9999-12-31'", "'1970-01-01'", "'2024-02-29'", "'1969-12-31'"];
    both(keys, "DATE", &days, SAME, "date");
    let stamps = [
        "'1000-01-01 00:00:00.001'",
        "'9999-12-31 23:59:59.999'",
        "'1970-01-01 00:00:00'",
        "'2024-02-29 01:02:03.4'",
        "'1969-12-31 23:59:59'",
    ];
    add(keys, "DATETIME(3)", &stamps, Shown::Time(3), "datetime", "datetime(3)");
    let times = ["'-838:59:59'", "'838:59:59'", "'00:00:00.5'", "'-00:00:01'", "'12:34:56.78'"];
    add(keys, "TIME(2)", &times, SAME, "varchar(13)", "varchar(65533)");
    let labels = ["'a'", "'b'", "'c'", "'d'", "'e'"];
    add(keys, "ENUM('a','b','c','d','e')", &labels, SAME, "varchar(1048576)", "varchar(65533)");
    cases
}
