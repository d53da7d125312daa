//! Every type at its boundaries on real servers: the value from the binlog, the value from SELECT, and what the server
//! says of it are the same.

use super::server_table::{binlog_end, changes, schema, session, snapshot, table_def};
use crate::support::servers::{self, Database, Server};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use rowferry::mysql::binlog::{BeforeImages, DecodeOptions, JsonStyle};
use rowferry::mysql::wire::Connection;
use rowferry_sql::{ColumnType, TableDef};

/// Columns and the values that go into them, as SQL.
type Columns = Vec<(String, Vec<String>)>;

fn add(columns: &mut Columns, column_type: &str, values: &[&str]) {
    columns.push((column_type.to_owned(), values.iter().map(|v| (*v).to_owned()).collect()));
}

fn numbers(columns: &mut Columns) {
    let mut add = |t: &str, v: &[&str]| add(columns, t, v);
    add("TINYINT", &["-128", "127", "0"]);
    add("TINYINT UNSIGNED", &["0", "255"]);
    add("TINYINT(1)", &["1", "2", "-1", "0"]);
    add("TINYINT(3) ZEROFILL", &["7", "255"]);
    add("SMALLINT", &["-32768", "32767"]);
    add("SMALLINT UNSIGNED", &["65535"]);
    add("MEDIUMINT", &["-8388608", "8388607", "-1"]);
    add("MEDIUMINT UNSIGNED", &["16777215"]);
    add("INT", &["-2147483648", "2147483647"]);
    add("INT UNSIGNED", &["4294967295"]);
    add("INT(8) ZEROFILL", &["42"]);
    add("BIGINT", &["-9223372036854775808", "9223372036854775807", "-1"]);
    add("BIGINT UNSIGNED", &["18446744073709551615", "0"]);
    add("BIGINT(20) ZEROFILL", &["5", "18446744073709551615"]);
    add(
        "FLOAT",
        &["1e-10", "16777217", "3.1415926535", "-0e0", "3.402823466e38", "1.17549435e-38", "0.1", "-123456.78"],
    );
    add("FLOAT UNSIGNED", &["2.25", "1e20"]);
    add("FLOAT(7,3)", &["1234.567", "-9999.999", "0.001", "0.0005", "1.0625"]);
    add("FLOAT(24)", &["0.3"]);
    add("FLOAT(53)", &["0.3"]);
    add(
        "DOUBLE",
        &["1.7976931348623157e308", "2.2250738585072014e-308", "0.1", "-0e0", "1e15", "123456789012345680", "5e-324"],
    );
    add("DOUBLE(10,5)", &["12345.12345", "0.00001", "-99999.99999"]);
    add("DECIMAL", &["1234567890", "-1"]);
    add("DECIMAL(10,2)", &["12345678.91", "-0.01", "0", "-99999999.99"]);
    add("DECIMAL(18,9)", &["123456789.987654321", "-0.000000001"]);
    add("DECIMAL(38,10)", &["1234567890123456789012345678.0123456789", "-9999999999999999999999999999.9999999999"]);
    add("DECIMAL(38,30)", &["0.000000000000000000000000000001"]);
    add("DECIMAL(10,2) ZEROFILL", &["1.5"]);
    let long = format!("{}.{}", "9".repeat(35), "1".repeat(30));
    add("DECIMAL(65,30)", &[&long, &format!("-{long}"), "0", "-0.5", "1"]);
    add("DECIMAL(60,0) ZEROFILL", &["12345678901234567890123456789012345678901234567890", "0"]);
    add("BIT(1)", &["b'1'", "b'0'"]);
    add("BIT(8)", &["b'10101010'"]);
    add("BIT(10)", &["b'1000000001'", "b'11'"]);
    add("BIT(64)", &["b'1'", "18446744073709551615"]);
}

fn times(columns: &mut Columns) {
    let mut add = |t: &str, v: &[&str]| add(columns, t, v);
    add("YEAR", &["0", "1901", "2155", "2024"]);
    let dates = [
        "'2024-02-29'",
        "'0000-00-00'",
        "'2024-00-10'",
        "'2024-10-00'",
        "'1000-01-01'",
        "'9999-12-31'",
        "'0001-01-01'",
    ];
    add("DATE", &dates);
    add("DATE NOT NULL", &dates);
    for digits in 0..=6 {
        let n = digits as usize;
        let fraction = |d: &str| if n == 0 { String::new() } else { format!(".{}", &d[..n]) };
        let (nines, some) = (fraction("999999"), fraction("123456"));
        let one = if n == 0 { String::new() } else { format!(".{:0>n$}", 1) };
        let values = [
            "'-838:59:59'".to_owned(),
            "'838:59:59'".to_owned(),
            format!("'-00:00:00{one}'"),
            format!("'-01:02:03{some}'"),
            format!("'23:59:59{nines}'"),
            "'-00:00:01'".to_owned(),
            format!("'-838:59:58{nines}'"),
        ];
        add(&format!("TIME({digits})"), &values.each_ref().map(String::as_str));
        let values = [
            "'1000-01-01 00:00:00'".to_owned(),
            format!("'9999-12-31 23:59:59{nines}'"),
            format!("'1969-12-31 23:59:59{some}'"),
            "'0000-00-00 00:00:00'".to_owned(),
            format!("'2024-00-00 10:11:12{some}'"),
            format!("'2024-02-29 12:34:56{one}'"),
        ];
        add(&format!("DATETIME({digits})"), &values.each_ref().map(String::as_str));
        add(&format!("DATETIME({digits}) NOT NULL"), &values.each_ref().map(String::as_str));
        let values = [
            format!("'1970-01-01 00:00:01{one}'"),
            format!("'2038-01-19 03:14:07{nines}'"),
            "'0000-00-00 00:00:00'".to_owned(),
            format!("'2024-03-31 02:30:00{some}'"),
        ];
        add(&format!("TIMESTAMP({digits}) NULL"), &values.each_ref().map(String::as_str));
        add(
            &format!("TIMESTAMP({digits}) NOT NULL DEFAULT '2000-01-01 00:00:00'"),
            &values.each_ref().map(String::as_str),
        );
    }
}

fn texts(columns: &mut Columns) {
    let mut add = |t: &str, v: &[&str]| add(columns, t, v);
    add("CHAR(10)", &["'abc  '", "''", "' x'", "'héllo 😀'"]);
    add("CHAR(200)", &["REPEAT('é', 200)", "'a'"]);
    add("VARCHAR(20)", &["'a b '", "''", "'日本語'"]);
    add("VARCHAR(300)", &["REPEAT('x', 300)", "'y'"]);
    add("TINYTEXT", &["'tiny'", "''"]);
    add("TEXT", &["'text'", "REPEAT('ä', 20000)"]);
    add("MEDIUMTEXT", &["REPEAT('m', 70000)"]);
    add("LONGTEXT", &["'long'"]);
    add("BINARY(4)", &["0x01020000", "''", "0x00000000", "0x2020"]);
    add("BINARY(16)", &["UNHEX('1F0727B72CC96910920CB12F2D100600')"]);
    add("VARBINARY(16)", &["0x0100", "0x00", "''", "0xCAFE20"]);
    add("TINYBLOB", &["0x00FF"]);
    add("BLOB", &["'b'", "REPEAT(0x00, 70)"]);
    add("MEDIUMBLOB", &["0xDEADBEEF"]);
    add("LONGBLOB", &["''"]);
    add(r"ENUM('a,b','it''s','back\\slash','q')", &["'a,b'", "'it''s'", r"'back\\slash'", "'no label'", "4"]);
    let many: Vec<_> = (1..=300).map(|i| format!("'l{i}'")).collect();
    add(&format!("ENUM({})", many.join(",")), &["'l1'", "'l256'", "'l300'"]);
    for n in [1, 8, 9, 17, 24, 25, 33, 64] {
        let members: Vec<_> = (1..=n).map(|i| format!("'m{i}'")).collect();
        let (first, last) = ("'m1'", format!("'m{n}'"));
        let both = format!("'m{n},m1'");
        add(&format!("SET({})", members.join(",")), &[first, &last, &both, "''"]);
    }
}

/// Text in a charset: all bytes for those of one byte, samples for others.
fn charsets(columns: &mut Columns, connection: &mut Connection) {
    let rows =
        connection.query("SELECT character_set_name AS name, maxlen AS len FROM information_schema.character_sets");
    for row in rows.unwrap() {
        let (name, len) = (row.get("name").unwrap(), row.number::<u32>("len").unwrap());
        let samples = match name {
            "binary" => continue,
            _ if len == 1 => {
                let all: String = (0x20..=0xff).map(|b| format!("{b:02x}")).collect();
                vec![format!("CONVERT(0x{all} USING {name})")]
            }
            _ => [
                "'ASCII ~\\\\'",
                "'中文 誠\\\\ 測試'",
                "'日本語 ﾊﾝｶｸ ～−¢'",
                "'한국어'",
                "'é ß я ω'",
                "'😀𠮷'",
                "'⑴ⅰ㈱髙ЁΣ'",
            ]
            .map(|text| format!("CONVERT({text} USING {name})"))
            .to_vec(),
        };
        columns.push((format!("VARCHAR(250) CHARACTER SET {name}"), samples));
    }
}

fn geometries(columns: &mut Columns) {
    let wkt = [
        "POINT(1.5 -2)",
        "POINT(1e20 1e-20)",
        "LINESTRING(0 0,1 1)",
        "POLYGON((0 0,10 0,10 10,0 10,0 0),(1 1,2 1,2 2,1 2,1 1))",
        "MULTIPOINT(1 1,2 2)",
        "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
        "GEOMETRYCOLLECTION(POINT(10 10),LINESTRING(1 2,3 4))",
    ];
    let values: Vec<_> = wkt.iter().map(|w| format!("ST_GeomFromText('{w}')")).collect();
    columns.push(("GEOMETRY".into(), values));
    columns.push(("POINT".into(), vec!["ST_GeomFromText('POINT(1 2)', 3857)".into()]));
}

fn documents() -> Vec<String> {
    let mut nested = "1".to_owned();
    for _ in 0..99 {
        nested = format!("[{nested}]");
    }
    let long = format!("JSON_OBJECT('k', REPEAT('x', 70000), 'a', JSON_ARRAY({}))", vec!["1"; 300].join(","));
    [
        r#"'{"key":"value","k1":1,"a":[true,false,null,1.50]}'"#,
        "'null'",
        "'true'",
        "'[]'",
        "'{}'",
        r#"'"\\u00e9\\n\\t\\"\\\\/\\u0001\\u001f\\b\\f\\r"'"#,
        r#"'{"":"","\\"q\\"":1}'"#,
        "'[-32768,32767,-32769,65535,65536,-2147483648,2147483647,4294967295,9223372036854775807,18446744073709551615]'",
        "'[1.0,1e3,1e15,1e14,123456789012345.67,1234567890123456.8,1e16,-0.0,0.0,1e-15,1e-16,1.5e-10,1.7976931348623157e308,5e-324]'",
        "'[123456789012345678901234567890]'",
        "JSON_OBJECT('dec',CAST(1.10 AS DECIMAL(5,2)),'neg',CAST(-0.5 AS DECIMAL(40,20)))",
        "JSON_OBJECT('dt',TIMESTAMP'2024-01-02 03:04:05.678','d',DATE'2024-01-02','t',TIME'-12:34:56.5','t2',TIME'838:59:59')",
        "JSON_OBJECT('bin',CAST(0x0001 AS BINARY),'bit',b'101','year',CAST(2024 AS YEAR))",
        r#"'{"b":1,"a":2,"aa":3,"ab":4,"B":5,"ä":6}'"#,
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([format!("'{nested}'"), long])
    .collect()
}

fn columns_of(server: Server, connection: &mut Connection) -> Columns {
    let mut columns = Columns::new();
    numbers(&mut columns);
    times(&mut columns);
    texts(&mut columns);
    charsets(&mut columns, connection);
    geometries(&mut columns);
    match server {
        Server::Mysql97 => {
            columns.push(("JSON".into(), documents()));
            columns.push(("POINT SRID 4326".into(), vec!["ST_GeomFromText('POINT(10 20)', 4326)".into()]));
        }
        Server::Mysql56 => {}
        Server::Mariadb => {
            add(&mut columns, "JSON", &[r#"'{"b": 1,  "a": [ 1 ]}'"#]);
            add(
                &mut columns,
                "UUID",
                &[
                    "'123e4567-e89b-12d3-a456-426655440000'",
                    "'00000000-0000-0000-0000-000000000000'",
                    "'f47ac10b-58cc-4372-a567-0e02b2c3d479'",
                    "'ffffffff-ffff-ffff-ffff-ffffffffff00'",
                ],
            );
            add(&mut columns, "INET6", &["'2001:db8::ff00:42:8329'", "'::'", "'::1'", "'::ffff:192.0.2.128'", "'1::'"]);
            add(&mut columns, "INET4", &["'192.0.2.128'", "'0.0.0.0'", "'10.0.0.0'"]);
        }
    }
    columns
}

/// What the server prints for a value, written from ours; `None` where the two have no common form.
fn printed(array: &dyn Array, column_type: &ColumnType, row: usize) -> Option<String> {
    use ColumnType as C;
    let micros = |micros: i64, digits: u8| {
        let fraction = format!("{:06}", micros.rem_euclid(1_000_000));
        if digits == 0 { String::new() } else { format!(".{}", &fraction[..usize::from(digits)]) }
    };
    Some(match column_type {
        C::TinyInt { width: Some(1), unsigned: false, .. } => array.as_boolean().value(row).to_string(),
        C::TinyInt { .. } | C::SmallInt { .. } | C::MediumInt { .. } | C::Int { .. } | C::BigInt { .. } | C::Year => {
            match array.data_type() {
                arrow_schema::DataType::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
                arrow_schema::DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
                arrow_schema::DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
                arrow_schema::DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
                _ => array.as_primitive::<Decimal128Type>().value(row).to_string(),
            }
        }
        C::Decimal { zerofill: false, precision: ..=38, .. } => {
            array.as_primitive::<Decimal128Type>().value_as_string(row)
        }
        C::Float { size: Some((_, decimals)), .. } | C::Double { size: Some((_, decimals)), .. } => {
            format!("{:.*}", *decimals as usize, array.as_primitive::<Float64Type>().value(row))
        }
        C::Date => {
            let days = array.as_primitive::<Date32Type>().value(row);
            chrono::DateTime::from_timestamp(i64::from(days) * 86_400, 0).unwrap().format("%Y-%m-%d").to_string()
        }
        C::DateTime(digits) | C::Timestamp(digits) => {
            let value = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let time = chrono::DateTime::from_timestamp_micros(value).unwrap();
            format!("{}{}", time.format("%Y-%m-%d %H:%M:%S"), micros(value, *digits))
        }
        C::Time(digits) => {
            let value = array.as_primitive::<DurationMicrosecondType>().value(row);
            let sign = if value < 0 { "-" } else { "" };
            let (seconds, fraction) = (value.abs() / 1_000_000, micros(value.abs(), *digits));
            format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
        }
        C::Char { .. }
        | C::Varchar { .. }
        | C::Text { .. }
        | C::Enum { .. }
        | C::Set { .. }
        | C::Json
        | C::Uuid
        | C::Inet4
        | C::Inet6 => array.as_string::<i32>().value(row).to_owned(),
        C::Decimal { precision: 39.., zerofill: false, .. } => array.as_string::<i32>().value(row).to_owned(),
        _ => return None,
    })
}

/// Compares our values with what the server prints for them.
fn check_against_server(connection: &mut Connection, table: &TableDef, rows: &RecordBatch) {
    for (i, column) in table.columns.iter().enumerate().skip(1) {
        let expression = match &column.column_type {
            ColumnType::TinyInt { width: Some(1), unsigned: false, .. } => {
                format!("IF({0} IS NULL, NULL, IF({0} <> 0, 'true', 'false'))", column.name)
            }
            // ZEROFILL is a matter of printing.
            ColumnType::TinyInt { .. }
            | ColumnType::SmallInt { .. }
            | ColumnType::MediumInt { .. }
            | ColumnType::Int { .. }
            | ColumnType::BigInt { .. }
            | ColumnType::Year => format!("{} + 0", column.name),
            // What stands for a date without a day.
            ColumnType::Date | ColumnType::DateTime(_) | ColumnType::Timestamp(_) => {
                let zero = if column.nullable { "NULL" } else { "TIMESTAMP'1970-01-01 00:00:00'" };
                let digits = match column.column_type {
                    ColumnType::DateTime(n) | ColumnType::Timestamp(n) => n,
                    _ => 0,
                };
                let as_type =
                    if column.column_type == ColumnType::Date { "DATE".into() } else { format!("DATETIME({digits})") };
                format!(
                    "CAST(CAST(IF(DAYOFMONTH({0}) = 0 OR MONTH({0}) = 0, {zero}, {0}) AS {as_type}) AS CHAR)",
                    column.name
                )
            }
            _ => column.name.clone(),
        };
        let expected = connection.query(&format!("SELECT {expression} FROM t ORDER BY id")).unwrap();
        for (row, expected) in expected.iter().enumerate() {
            let array = rows.column(i);
            let ours = if array.is_null(row) { Some(None) } else { printed(array, &column.column_type, row).map(Some) };
            if let Some(ours) = ours {
                assert_eq!(ours.as_deref(), expected.at(0), "row {row} of {}: {}", column.name, column.column_type);
            }
        }
    }
}

#[test]
fn every_type_comes_out_the_same_from_select_and_binlog() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "types");
        let mut connection = session(&database);
        let columns = columns_of(server, &mut connection);
        let definitions: Vec<_> = columns.iter().enumerate().map(|(i, (t, _))| format!("c{i} {t}")).collect();
        connection
            .execute(&format!(
                "CREATE TABLE t (id INT PRIMARY KEY, {}) DEFAULT CHARSET utf8mb4",
                definitions.join(", ")
            ))
            .unwrap_or_else(|e| panic!("{server:?}: {e}"));
        let start = binlog_end(&mut connection);
        let rows = columns.iter().map(|(_, values)| values.len()).max().unwrap() + 1;
        for row in 0..rows {
            let (names, values): (Vec<_>, Vec<_>) = columns
                .iter()
                .enumerate()
                .filter_map(|(i, (_, values))| values.get(row).map(|v| (format!("c{i}"), v.clone())))
                .unzip();
            let (names, values) = (names.join(", "), values.join(", "));
            let comma = if names.is_empty() { "" } else { ", " };
            connection
                .execute(&format!("INSERT INTO t (id{comma}{names}) VALUES ({row}{comma}{values})"))
                .unwrap_or_else(|e| panic!("{server:?}: row {row}: {e}"));
        }
        let table = table_def(&mut connection, &database.name, "t");
        let schema = schema(&table);
        let selected = snapshot(&mut connection, "t", &table, &schema, JsonStyle::Server);
        let options = DecodeOptions { json: JsonStyle::Server, before_images: BeforeImages::All };
        let logged = changes(&database, start.clone(), "t", &table, &schema, options, rows);
        assert!(logged.ops.all_inserts());
        let compact = DecodeOptions { json: JsonStyle::Compact, ..options };
        let logged_compact = changes(&database, start, "t", &table, &schema, compact, rows);
        assert_eq!(snapshot(&mut connection, "t", &table, &schema, JsonStyle::Compact), logged_compact.batch);
        let logged = logged.batch;
        assert_eq!((selected.num_rows(), logged.num_rows()), (rows, rows));
        for (i, column) in table.columns.iter().enumerate() {
            let (selected, logged) = (selected.column(i), logged.column(i));
            assert_eq!(selected, logged, "{server:?}: {} {}", column.name, column.column_type);
        }
        check_against_server(&mut connection, &table, &logged);
    }
}
