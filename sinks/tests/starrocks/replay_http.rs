//! The recorded HTTP requests against the stand-in's frontend.

use crate::olap::recordings::{Tally, lines};
use crate::stand_in::{Request, Response, World, execute, frontend_answer};
use serde_json::Value;
use std::time::Duration;

fn world() -> World {
    let mut world = World::new(Duration::from_secs(10), 3);
    let mut database = String::new();
    for sql in [
        "CREATE DATABASE gh",
        "CREATE DATABASE `gh-2`",
        "CREATE TABLE gh.t (id BIGINT NOT NULL, v INT) PRIMARY KEY(id) DISTRIBUTED BY HASH(id) BUCKETS 1",
        "CREATE TABLE gh.e1 (id BIGINT NOT NULL, v INT) PRIMARY KEY(id) DISTRIBUTED BY HASH(id) BUCKETS 1",
    ] {
        execute(&mut world, &mut database, "root", sql).unwrap();
    }
    world.users.insert("h1".to_owned(), "pw1".to_owned());
    world.users.insert("h2".to_owned(), "pw2".to_owned());
    world.without_rights.push("h1".to_owned());
    world
}

/// What a backend told the frontend: brings the world to the state that later requests meet.
fn thrift(world: &mut World, record: &Value) {
    let request = &record["request"];
    let accepted = record["answer"]["status"]["status_code"].as_u64() == Some(0);
    let (database, table) = (request["db"].as_str().unwrap_or_default(), request["tbl"].as_str().unwrap_or_default());
    let label = request["label"].as_str().unwrap_or_default();
    if record["call"] == "loadTxnBegin" {
        if world.table(database, table).is_none() {
            assert!(!accepted, "{}", record["id"]);
            return;
        }
        let valid = !label.is_empty()
            && label.len() <= 128
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && request["passwd"] == ""
            && request["timeout"].as_u64().is_some_and(|t| (1..=259_200).contains(&t));
        let begun = valid && world.begin(database, table, label, request["timeout"].as_u64().unwrap(), 0).is_ok();
        assert_eq!(begun, accepted, "{}", record["id"]);
        return;
    }
    // Transactions are named by a number of the recorded run: the order of beginning tells which.
    let name = record["id"].as_str().unwrap().split(' ').nth(1).unwrap_or_default();
    let Some(i) = world.by_label("gh", name) else { return };
    let now = world.now();
    match record["call"].as_str().unwrap() {
        "loadTxnPrepare" if accepted && world.transactions[i].state == "PREPARE" => {
            world.transactions[i].state = "PREPARED";
            world.transactions[i].prepared = Some(now);
        }
        "loadTxnCommit" if accepted && world.transactions[i].state == "PREPARE" => world.commit(i),
        "loadTxnRollback" if accepted => {
            let reason = record["request"]["reason"].as_str().unwrap().to_owned();
            world.transactions[i].abort(&reason);
        }
        _ => {}
    }
}

fn request(record: &Value) -> Request {
    let line = record["request"]["line"].as_str().unwrap();
    let mut parts = line.split(' ');
    let (method, target, version) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = record["request"]["headers"].as_array().unwrap().iter().map(|h| {
        let (k, v) = h.as_str().unwrap().split_once(':').unwrap();
        (k.trim().to_ascii_lowercase(), v.trim().to_owned())
    });
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        version: version.to_owned(),
        headers: headers.collect(),
    }
}

/// Digits differ from run to run.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

fn differs(record: &Value, ours: &Response) -> Option<String> {
    let theirs = &record["response"];
    let status: u16 = theirs["status_line"].as_str().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    if status != ours.status {
        return Some(format!("status {} instead of {status}", ours.status));
    }
    if status == 307 {
        let location = theirs["headers"]
            .as_array()
            .unwrap()
            .iter()
            .find_map(|h| h.as_str().unwrap().strip_prefix("location: "))
            .unwrap();
        let path = |l: &str| l.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        let mine = path(ours.location.as_deref().unwrap());
        return (path(location) != mine).then(|| format!("sends to {mine} instead of {location}"));
    }
    if status != 200 {
        return None;
    }
    let parse = |text: &str| -> Value {
        serde_json::from_str(&without_numbers(text).replace(": #", ": 0").replace(":#", ":0")).unwrap_or(Value::Null)
    };
    let (a, b) = (parse(theirs["body"].as_str().unwrap()), parse(&ours.body));
    (a != b).then(|| format!("answers {b} instead of {a}"))
}

#[test]
fn requests_end_as_recorded() {
    let Some(records) = lines("starrocks-fe", "05_http.jsonl") else { return };
    let mut world = world();
    let backends = vec![Some("127.0.0.1:1".to_owned()); 3];
    let mut tally = Tally::default();
    for (turn, record) in records.iter().enumerate() {
        let id = record["id"].as_str().unwrap();
        if id.contains("label an INSERT used") {
            tally.leave_out("INSERT is not modelled");
            continue;
        }
        if record.get("call").is_some() {
            thrift(&mut world, record);
            continue;
        }
        if record["request"]["line"].is_null() {
            tally.leave_out("SQL among the HTTP records");
            continue;
        }
        let skip = [
            ("other/", "ports of no concern to the sink"),
            ("stream_load/enable_merge_commit", "merge commit is not modelled"),
            ("stream_load/warehouse", "warehouses are not modelled"),
            ("stream_load/table name raw", "raw UTF-8 in a request line: the sink encodes it"),
            ("stream_load/chunked", "chunked bodies are not modelled"),
            ("stream_load/GET", "the frontend's own pages are not modelled"),
            ("get_load_state/label of an INSERT", "INSERT is not modelled"),
        ];
        if let Some((_, why)) =
            skip.iter().find(|(prefix, _)| id.starts_with(prefix) && !id.starts_with("other/cancel"))
        {
            tally.leave_out(why);
            continue;
        }
        if record["response"]["timeout"] == true {
            tally.leave_out("the recorded frontend never answers");
            continue;
        }
        if id.contains("after the FE cleaner ran") {
            world.skip(Duration::from_secs(2));
        }
        // What a transaction's begin through the frontend leaves there is the frontend's memory of it.
        let ours = frontend_answer(&mut world, &request(record), &backends, turn);
        match differs(record, &ours) {
            None => tally.agree += 1,
            Some(how) => tally.differ.push(format!("{id}: {how}")),
        }
    }
    tally.print("05_http.jsonl");
    assert!(tally.differ.is_empty(), "{} records differ: see the output", tally.differ.len());
    assert!(tally.agree >= 112, "only {} records agree", tally.agree);
}
