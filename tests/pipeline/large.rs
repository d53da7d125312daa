//! Rows and transactions that are larger than most.

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};
use base64::Engine;
use serde_json::Value;

/// One less is the longest packet that isn't followed by another one.
const CHUNK: usize = 0xff_ffff;

/// The values of a row by its id: what `doc` repeats, how often, and how long `raw` is, if it is there.
type Wished = (i64, char, usize, Option<usize>);

fn check(target: &StrictTarget, wished: &[Wished]) {
    let rows = &target.tables["big"];
    assert_eq!(rows.len(), wished.len());
    for (id, letter, length, raw) in wished {
        let row = &rows[&id.to_string()];
        let doc = row["doc"].as_str().unwrap();
        assert_eq!(doc.len(), *length, "row {id}");
        assert!(doc.bytes().all(|b| b == *letter as u8), "row {id}");
        match (raw, &row["raw"]) {
            (None, raw) => assert_eq!(*raw, Value::Null, "row {id}"),
            (Some(length), raw) => {
                let raw = base64::engine::general_purpose::STANDARD.decode(raw.as_str().unwrap()).unwrap();
                assert!(raw.len() == *length && raw.iter().all(|b| *b == 0), "row {id}");
            }
        }
    }
}

#[test]
fn rows_larger_than_a_packet() {
    for (kind, server) in all() {
        let database = Database::create(&server, "large");
        let mut client = database.connect();
        let max: usize = client.query_first("SELECT @@max_allowed_packet AS m").unwrap().unwrap().number("m").unwrap();
        if max < 40_000_000 {
            eprintln!("skipped for {kind:?}: its max_allowed_packet is {max}, as large a row can't be written");
            continue;
        }
        client.execute("CREATE TABLE big (id INT PRIMARY KEY, doc LONGTEXT, raw LONGBLOB)").unwrap();
        let mut wished: Vec<Wished> = Vec::new();
        // MySQL 5.6 takes no value of more than a tenth of its redo log (error 1118).
        let mut insert =
            |client: &mut rowferry::mysql::wire::Connection, id: i64, letter: char, length: usize| match client
                .execute(&format!("INSERT INTO big VALUES ({id}, REPEAT('{letter}', {length}), NULL)"))
            {
                Ok(_) => wished.push((id, letter, length, None)),
                Err(e) if e.code() == Some(1118) => eprintln!("left out for {kind:?}: {e}"),
                Err(e) => panic!("{e}"),
            };
        // In the row's packet stand the id and the lengths as well: some payloads are multiples of a chunk.
        for (id, length) in [(1, CHUNK - 5), (2, CHUNK), (4, 2 * CHUNK)] {
            insert(&mut client, id, 'a', length);
        }
        let pipeline = Pipeline::to_json(&server, &format!("{}.big", database.name), &[], &[]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("create event", |out| out.contains("create.table"));
        for (id, length) in [(11, CHUNK - 5), (12, CHUNK), (14, 2 * CHUNK)] {
            insert(&mut client, id, 'b', length);
        }
        client.execute("UPDATE big SET raw = REPEAT(UNHEX('00'), 9000000) WHERE id IN (1, 11)").unwrap();
        for row in wished.iter_mut().filter(|row| matches!(row.0, 1 | 11)) {
            row.3 = Some(9_000_000);
        }
        client.execute("DELETE FROM big WHERE id = 2").unwrap();
        wished.retain(|row| row.0 != 2);
        client.execute("INSERT INTO big VALUES (99, 'z', NULL)").unwrap();
        wished.push((99, 'z', 1, None));
        running.wait_for("last row", |out| out.lines().last().is_some_and(|l| l.contains("\"id\":99")));
        let (code, output) = running.interrupt();
        assert_eq!(code, Some(130));
        let mut target = StrictTarget::default();
        target.apply(&output);
        assert_eq!(target.rows("big", &["id"]), server_rows(&database, "big", &["id"]), "{kind:?}");
        check(&target, &wished);
    }
}
