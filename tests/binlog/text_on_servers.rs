//! Text and JSON numbers, compared with a real server's own conversion.

use super::server_table::session;
use crate::support::servers::{self, Database, Server};
use proptest::strategy::{Strategy, ValueTree};
use rowferry::mysql::binlog::{Charset, DecodeOptions, JsonStyle, charset_of_collation};
use std::collections::BTreeMap;

/// Every code of one and two bytes, those of three bytes where there are any, and samples of four.
fn codes(charset: &str) -> Vec<Vec<u8>> {
    if charset == "ucs2" {
        return (0..=0xffff_u16).step_by(3).map(|unit| unit.to_be_bytes().to_vec()).collect();
    }
    let mut codes: Vec<Vec<u8>> = (0..=0xff).map(|byte| vec![byte]).collect();
    for lead in 0x80..=0xff {
        codes.extend((0x20..=0xff).map(|trail| vec![lead, trail]));
    }
    if matches!(charset, "ujis" | "eucjpms") {
        codes.extend((0xa1..=0xfe).flat_map(|row| (0xa1..=0xfe).map(move |cell| vec![0x8f, row, cell])));
    }
    if charset == "gb18030" {
        let four = (0..39_420_u32).step_by(7).chain((189_000..1_237_575).step_by(977));
        codes.extend(four.map(|n| {
            let (a, b, c, d) = (n / 12_600 + 0x81, n / 1260 % 10 + 0x30, n / 10 % 126 + 0x81, n % 10 + 0x30);
            vec![a as u8, b as u8, c as u8, d as u8]
        }));
    }
    codes
}

#[test]
fn every_code_of_every_charset_is_the_character_that_the_server_has() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "charsets");
    let mut connection = session(&database);
    let names = connection.query("SELECT character_set_name FROM information_schema.character_sets WHERE maxlen < 4 OR character_set_name = 'gb18030'");
    let mut compared = 0;
    for row in names.unwrap() {
        let name = row.at(0).unwrap();
        if matches!(name, "binary" | "utf8mb3") {
            continue;
        }
        let charset = Charset::named(name).unwrap_or_else(|| panic!("{name} is not known"));
        let single = connection
            .query_first(&format!(
                "SELECT maxlen FROM information_schema.character_sets WHERE character_set_name = '{name}'"
            ))
            .unwrap()
            .unwrap();
        let mut codes = codes(name);
        if single.at(0) == Some("1") {
            codes.truncate(256);
        }
        for chunk in codes.chunks(1000) {
            let column = |code: &Vec<u8>| {
                let hex: String = code.iter().map(|b| format!("{b:02x}")).collect();
                format!("CONVERT(CAST(UNHEX('{hex}') AS CHAR CHARACTER SET {name}) USING utf8mb4)")
            };
            let sql = format!("SELECT {}", chunk.iter().map(column).collect::<Vec<_>>().join(","));
            let answers = connection.query_first(&sql).unwrap().unwrap();
            for (i, code) in chunk.iter().enumerate() {
                // NULL: such bytes can't be in a column; other than one character: they are none.
                let Some(expected) = answers.at(i).filter(|text| text.chars().count() == 1) else { continue };
                // Half-width katakana are whole with their first byte; what follows is no part of them.
                if matches!((name, code.as_slice()), ("sjis" | "cp932", [0xa1..=0xdf, _])) {
                    continue;
                }
                let mut ours = Vec::new();
                charset.decode(code, &mut ours);
                assert_eq!(String::from_utf8_lossy(&ours), expected, "{name}: {code:02x?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 150_000, "{compared} codes were compared");
}

#[test]
fn collations_have_the_charsets_that_the_servers_list() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "collations");
        let mut connection = session(&database);
        let rows = match server {
            // Collations of the newer kind have one number for each charset, listed only here.
            Server::Mariadb => connection.query(
                "SELECT id, character_set_name AS name FROM information_schema.collation_character_set_applicability",
            ),
            _ => connection.query("SELECT id, character_set_name AS name FROM information_schema.collations"),
        };
        for row in rows.unwrap() {
            let (id, name) = (row.number::<u32>("id").unwrap(), row.get("name").unwrap());
            let name = if name == "utf8" { "utf8mb3" } else { name };
            assert_eq!(charset_of_collation(id), Some(name), "{server:?}: {id}");
        }
    }
}

#[test]
fn numbers_in_json_are_printed_as_the_server_prints_them() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "json_numbers");
    let mut connection = session(&database);
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, d JSON)").unwrap();
    let start = super::server_table::binlog_end(&mut connection);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let any_bits = proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL;
    let around = (-9_999_999_i64..9_999_999, -25..25_i32).prop_map(|(n, e)| format!("{n}e{e}").parse::<f64>().unwrap());
    let mut numbers: BTreeMap<usize, f64> = BTreeMap::new();
    for i in 0..3000 {
        let number = if i % 2 == 0 {
            any_bits.new_tree(&mut runner).unwrap().current()
        } else {
            around.new_tree(&mut runner).unwrap().current()
        };
        numbers.insert(i, number);
    }
    let rows = 30;
    for row in 0..rows {
        let of_row: Vec<_> = numbers.iter().filter(|(i, _)| *i % rows == row).map(|(_, n)| format!("{n:e}")).collect();
        connection.execute(&format!("INSERT INTO t VALUES ({row}, '[{}]')", of_row.join(","))).unwrap();
    }
    let table = super::server_table::table_def(&mut connection, &database.name, "t");
    let schema = super::server_table::schema(&table);
    let selected = super::server_table::snapshot(&mut connection, "t", &table, &schema, JsonStyle::Server);
    let options = DecodeOptions { json: JsonStyle::Server, ..DecodeOptions::default() };
    let logged = super::server_table::changes(&database, start, "t", &table, &schema, options, rows);
    assert_eq!(selected, logged.batch);
}
