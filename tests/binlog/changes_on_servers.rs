//! Updates, deletes, partial JSON and compressed transactions on real servers.

use super::server_table::{binlog_end, changes, schema, session, snapshot, table_def};
use crate::support::servers::{self, Database, Server};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use rowferry::mysql::binlog::{BeforeImages, DecodeOptions, JsonStyle};
use rowferry_model::{Changes, RowOp};

const ALL: DecodeOptions = DecodeOptions { json: JsonStyle::Server, before_images: BeforeImages::All };
const KEY_CHANGES: DecodeOptions = DecodeOptions { before_images: BeforeImages::KeyChanges, ..ALL };

/// Operations with the values of two columns.
fn listed(changes: &Changes, batch: &RecordBatch) -> Vec<(RowOp, i32, String)> {
    let ids = batch.column(0).as_primitive::<arrow_array::types::Int32Type>();
    let texts = batch.column(1).as_string::<i32>();
    (0..changes.len()).map(|i| (changes.op(i), ids.value(i), texts.value(i).to_owned())).collect()
}

#[test]
fn an_update_is_a_pair_and_a_change_of_the_key_is_a_delete_and_an_insert() {
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    for (server, options) in servers::all() {
        let database = Database::create(&options, "updates");
        let mut connection = session(&database);
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))").unwrap();
        let start = binlog_end(&mut connection);
        for sql in [
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
            "UPDATE t SET v = 'A' WHERE id = 1",
            "UPDATE t SET id = 20 WHERE id = 2",
            "UPDATE t SET id = id + 100, v = CONCAT(v, '!') WHERE id IN (1, 3)",
            "DELETE FROM t WHERE id = 20",
        ] {
            connection.execute(sql).unwrap();
        }
        let table = table_def(&mut connection, &database.name, "t");
        let schema = schema(&table);
        let read = |options| {
            let changed = changes(&database, start.clone(), "t", &table, &schema, options, 8);
            listed(&changed.ops, &changed.batch)
        };
        let row = |op, id, v: &str| (op, id, v.to_owned());
        let inserts = [row(Insert, 1, "a"), row(Insert, 2, "b"), row(Insert, 3, "c")];
        let key_changes = [
            row(Delete, 2, "b"),
            row(Insert, 20, "b"),
            row(Delete, 1, "A"),
            row(Insert, 101, "A!"),
            row(Delete, 3, "c"),
            row(Insert, 103, "c!"),
            row(Delete, 20, "b"),
        ];
        let pair = [row(UpdateBefore, 1, "a"), row(UpdateAfter, 1, "A")];
        assert_eq!(read(ALL), [&inserts[..], &pair, &key_changes].concat(), "{server:?}");
        let upsert = [row(Insert, 1, "A")];
        assert_eq!(read(KEY_CHANGES), [&inserts[..], &upsert, &key_changes].concat(), "{server:?}");
    }
}

/// The text of a JSON column from the last image of each update.
fn documents_after(changes: &Changes, batch: &RecordBatch, column: usize) -> Vec<Option<String>> {
    let texts = batch.column(column).as_string::<i32>();
    let after = (0..changes.len()).filter(|i| changes.op(*i) != RowOp::UpdateBefore);
    after.map(|i| (!texts.is_null(i)).then(|| texts.value(i).to_owned())).collect()
}

#[test]
fn partial_updates_of_json_give_the_document_that_the_server_has() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "partial");
    let mut connection = session(&database);
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, d JSON, n INT, e JSON)").unwrap();
    let document =
        r#"{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","b":[1,2,3,[4,5]],"c":{"k":1,"long key":"x","q\"q":2,"ä":[]},"":0}"#;
    connection
        .execute(&format!(
            "INSERT INTO t VALUES (1, '{}', 0, '[1,2,\"some text that takes room\",{{\"x\":1.5}}]')",
            document.replace('\\', "\\\\")
        ))
        .unwrap();
    let updates = [
        "d = JSON_SET(d, '$.a', 'yyyy')",
        "d = JSON_SET(d, '$.a', 'zz'), n = 1",
        "d = JSON_REMOVE(d, '$.b[1]')",
        "d = JSON_ARRAY_INSERT(d, '$.b[0]', NULL)",
        "d = JSON_ARRAY_APPEND(d, '$.b', 'end')",
        "d = JSON_SET(d, '$.c.\"long key\"', 'y', '$.c.new', JSON_ARRAY(1, JSON_OBJECT('deep', TRUE)))",
        r#"d = JSON_SET(d, '$.c."q\\"q"', 3)"#,
        "d = JSON_REMOVE(d, '$.c.k')",
        "d = JSON_SET(d, '$.\"\"', CAST(1.25 AS DECIMAL(10,2)))",
        "d = JSON_SET(d, '$.b[3]', DATE'2024-02-29'), e = JSON_REPLACE(e, '$[3].x', 2e20)",
        "d = JSON_SET(d, '$.c.\"ä\"', 'ö')",
        "e = JSON_ARRAY_APPEND(e, '$', NULL)",
        "n = n + 1",
        "d = d",
        "e = NULL, d = JSON_REMOVE(d, '$.c')",
        "d = JSON_REPLACE(d, '$.a', REPEAT('long ', 100))",
    ];
    let start = binlog_end(&mut connection);
    connection.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'").unwrap();
    let mut expected = Vec::new();
    let mut changed = 0;
    for update in updates {
        let done = connection.execute(&format!("UPDATE t SET {update} WHERE id = 1")).unwrap_or_else(|e| panic!("{e}"));
        if done.affected_rows > 0 {
            changed += 1;
            let row = connection.query_first("SELECT CAST(d AS CHAR), CAST(e AS CHAR) FROM t").unwrap().unwrap();
            expected.push((row.at(0).map(str::to_owned), row.at(1).map(str::to_owned)));
        }
    }
    assert!(changed > 12);
    let table = table_def(&mut connection, &database.name, "t");
    let schema = schema(&table);
    for options in [ALL, KEY_CHANGES] {
        let changed = changes(&database, start.clone(), "t", &table, &schema, options, changed);
        let documents = |column| documents_after(&changed.ops, &changed.batch, column).into_iter();
        assert_eq!(documents(1).zip(documents(3)).collect::<Vec<_>>(), expected);
        assert!(changed.partial_events > 10, "{} partial updates", changed.partial_events);
    }
}

#[test]
fn a_compressed_transaction_is_decoded_like_any_other() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "compressed");
    let mut connection = session(&database);
    connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)").unwrap();
    let start = binlog_end(&mut connection);
    connection.execute("SET SESSION binlog_transaction_compression = ON").unwrap();
    connection.execute("BEGIN").unwrap();
    for i in 0..50 {
        connection.execute(&format!("INSERT INTO t VALUES ({i}, REPEAT('text {i} ', {i}00))")).unwrap();
    }
    connection.execute("COMMIT").unwrap();
    let table = table_def(&mut connection, &database.name, "t");
    let schema = schema(&table);
    let selected = snapshot(&mut connection, "t", &table, &schema, JsonStyle::Server);
    let logged = changes(&database, start, "t", &table, &schema, ALL, 50);
    assert_eq!(selected, logged.batch);
}
