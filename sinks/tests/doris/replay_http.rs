//! The recorded HTTP requests and transactions against the stand-in.

use crate::olap::recordings::{Tally, lines};
use crate::stand_in::{NotBegun, World, frontend_answer};
use rowferry_stand_ins::http::{Request, Response};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Runs a record's set-up; says which statements are not modelled.
fn set_up(world: &mut World, record: &Value) {
    for sql in record["statements"].as_array().into_iter().flatten() {
        let _ = world.execute("gold6", "root", sql.as_str().unwrap());
    }
}

fn world(databases: &[&str]) -> World {
    let mut world = World::new(Duration::from_secs(10), 3);
    for name in databases {
        world.create_database(name, true).unwrap();
    }
    world.users.insert("h1".to_owned(), "pw".to_owned());
    world.users.insert("h2".to_owned(), "pw".to_owned());
    world.users.insert("h3".to_owned(), "p:w@d/ü".to_owned());
    world
}

fn request(record: &Value) -> (Request, Vec<u8>) {
    let line = record["request"]["line"].as_str().unwrap();
    let mut parts = line.split(' ');
    let (method, target, version) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = record["request"]["headers"].as_array().unwrap().iter().map(|h| {
        let (k, v) = h.as_str().unwrap().split_once(':').unwrap();
        (k.trim().to_ascii_lowercase(), v.trim().to_owned())
    });
    let request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        version: version.to_owned(),
        headers: headers.collect(),
    };
    (request, record["request"]["body"].as_str().unwrap_or_default().as_bytes().to_vec())
}

/// What varies from run to run: numbers of connections, and what a parser would have liked better.
fn masked(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(at) = text.find("(conn=") {
        let end = text[at..].find(')').unwrap() + at;
        text.replace_range(at..=end, "(conn)");
    }
    if let Some(at) = text.find("mismatched input '") {
        let end = text[at + 18..].find('\'').map_or(text.len(), |e| at + 18 + e);
        text.truncate(end);
    }
    text
}

fn differs(record: &Value, ours: &Response) -> Option<String> {
    let theirs = &record["response"];
    let status: u16 = theirs["status_line"].as_str().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    if status != ours.status {
        return Some(format!("status {} instead of {status}", ours.status));
    }
    if status == 307 {
        let headers = theirs["headers"].as_array().unwrap();
        let location = headers.iter().find_map(|h| h.as_str().unwrap().strip_prefix("Location: ")).unwrap();
        // The node is the frontend's choice.
        let parts = |l: &str| {
            let (user, rest) = l.split_once('@').unwrap();
            (user.to_owned(), rest.split_once('/').unwrap().1.to_owned())
        };
        let (a, b) = (parts(location), parts(ours.location.as_deref().unwrap()));
        return (a != b).then(|| format!("sends to {b:?} instead of {a:?}"));
    }
    if status != 200 {
        return None;
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let (a, b) = (parse(theirs["body"].as_str().unwrap()), parse(&ours.body));
    let text = |v: &Value, key: &str| v[key].as_str().map(masked);
    for key in ["msg", "status", "data"] {
        if text(&a, key) != text(&b, key) {
            return Some(format!("{key} is {:?} instead of {:?}", b[key], a[key]));
        }
    }
    if a["code"] != b["code"] {
        return Some(format!("code is {} instead of {}", b["code"], a["code"]));
    }
    let names = |v: &Value| -> Vec<Value> {
        v["data"]["meta"].as_array().into_iter().flatten().map(|m| m["name"].clone()).collect()
    };
    if names(&a) != names(&b) || a["data"]["type"] != b["data"]["type"] {
        return Some(format!("result {} instead of {}", b["data"], a["data"]));
    }
    None
}

#[test]
fn requests_end_as_recorded() {
    let Some(records) = lines("doris-fe", "08_http.jsonl") else { return };
    let mut world = world(&["gold6", "gold", "gold2", "gold3", "gold4", "gold5"]);
    let backends = ["127.0.0.1:29103", "127.0.0.2:29113", "127.0.0.3:29123"].map(|a| Some(a.to_owned()));
    let mut tally = Tally::default();
    for (turn, record) in records.iter().enumerate() {
        let id = record["id"].as_str().unwrap();
        if record["request"]["line"].is_null() {
            set_up(&mut world, record);
            continue;
        }
        let (request, body) = request(record);
        let skip = [
            ("light/", "the sink reads light_schema_change from SHOW CREATE TABLE"),
            ("get//rest", "ports of no concern to the sink"),
            ("get//api/show_meta", "ports of no concern to the sink"),
            ("get//api/meta", "ports of no concern to the sink"),
            ("get//api/_get_ddl", "ports of no concern to the sink"),
            ("get//api/health", "ports of no concern to the sink"),
            ("get//api/bootstrap", "ports of no concern to the sink"),
            ("stream_load/_", "other ways to load"),
            ("stream_load/redirect-policy public", "cloud settings"),
            ("stream_load/token", "other ways to log in"),
            ("stream_load/Authorization Bearer", "other ways to log in"),
            ("stream_load/h2", "privileges by table are not modelled"),
            ("stream_load/h1", "privileges by kind are not modelled"),
            ("query/h1", "privileges by kind are not modelled"),
            ("query/h2", "privileges by kind are not modelled"),
            ("query/two statements", "two statements in one text"),
            ("query/is_sync", "the sink sends the statement alone"),
            ("query/unknown namespace", "the sink names default_cluster"),
            ("query/no database in path", "the sink names a database"),
            ("query/invalid json", "the sink sends an object with a statement"),
            ("query/no body", "the sink sends an object with a statement"),
            ("query/array", "the sink sends an object with a statement"),
        ];
        if let Some((_, why)) = skip.iter().find(|(prefix, _)| id.starts_with(prefix)) {
            tally.leave_out(why);
            continue;
        }
        if id.contains("_schema") || id.contains("_count") {
            tally.leave_out("ports of no concern to the sink");
            continue;
        }
        let sql = serde_json::from_slice::<Value>(&body).ok().and_then(|v| v["stmt"].as_str().map(str::to_owned));
        if let Some(sql) = sql.filter(|_| id.starts_with("query/"))
            && let Err(failure) = World::new(Duration::ZERO, 3).execute("gold6", "root", &sql)
            && failure.code == crate::stand_in::NOT_MODELLED
        {
            tally.leave_out("statements that the sink does not send");
            continue;
        }
        let ours = frontend_answer(&mut world, &request, &body, &backends, turn);
        match differs(record, &ours) {
            None => tally.agree += 1,
            Some(how) => tally.differ.push(format!("{id}: {how}")),
        }
    }
    tally.print("08_http.jsonl");
    assert!(tally.differ.is_empty(), "{} records differ: see the output", tally.differ.len());
    assert!(tally.agree >= 93, "only {} records agree", tally.agree);
}

/// What a call comes to: its words, and the label's state where it is taken.
type Ended = Result<(), (String, Option<&'static str>)>;

fn call(world: &mut World, record: &Value, numbers: &mut HashMap<u64, u64>) -> Option<Ended> {
    let request = &record["request"];
    let label = request["label"].as_str();
    let number = request["txn"].as_u64().map(|n| numbers.get(&n).copied().unwrap_or(n));
    let database = request["db"].as_str().unwrap_or("gold7");
    let view = request["table"] == "vw";
    if !request["user"].is_null() || view || database == "gold6" && record["id"] != "bad/other db" {
        return None;
    }
    let plain = |result: Result<(), String>| result.map_err(|words| (words, None));
    Some(match record["call"].as_str()? {
        "begin" => {
            let timeout = request["timeout"].as_i64().unwrap_or(600);
            let name = if record["id"].as_str().unwrap().contains("same request id") { "r" } else { "" };
            match world.begin(database, request["table"].as_str()?, label?, timeout, name) {
                Ok(id) => {
                    numbers.insert(record["txn"].as_u64()?, id);
                    Ok(())
                }
                Err(NotBegun::Refused(words)) => Err((words, None)),
                Err(NotBegun::LabelTaken(words, job)) => Err((words, Some(job))),
            }
        }
        "precommit" => plain(world.precommit(number?)),
        "commit" => plain(world.commit(number?)),
        "rollback" => plain(world.rollback(number?, request["reason"].as_str().unwrap_or("client gave up"))),
        "2pc" => {
            let operation = request["operation"].as_str()?;
            plain(world.second_phase(database, number, label, operation).map(|_| ()))
        }
        _ => return None,
    })
}

#[test]
fn transactions_end_as_recorded() {
    let Some(records) = lines("doris-fe", "10_transactions.jsonl") else { return };
    let mut world = world(&["gold7", "gold6"]);
    // What is skipped below is longer.
    world.publish_delay = Duration::from_millis(2900);
    let mut numbers = HashMap::new();
    let mut tally = Tally::default();
    let table = "CREATE TABLE gold7.x (id BIGINT NOT NULL, v INT) UNIQUE KEY(id) DISTRIBUTED BY HASH(id) BUCKETS 1 \
                 PROPERTIES(\"replication_num\"=\"1\")";
    for record in &records {
        let id = record["id"].as_str().unwrap();
        set_up(&mut world, record);
        if id.ends_with("/begin") && world.table("gold7", "x").is_none() {
            // The recorder made it again without a record.
            world.execute("gold7", "root", table).unwrap();
        }
        if id.contains("again after it is visible") || id.contains("after 3 s") || id.contains("abort after commit") {
            world.skip(Duration::from_secs(3));
        }
        if id.contains("12 s after") {
            for _ in 0..3 {
                world.skip(Duration::from_secs(11));
            }
        }
        if let Some(sql) = record["statement"].as_str() {
            let ok = world.execute("gold7", "root", sql).is_ok();
            if Some(ok) == record["ok"].as_bool() {
                tally.agree += 1;
            } else {
                tally.differ.push(format!("{id}: {sql} is {ok}"));
            }
            continue;
        }
        let Some(ours) = call(&mut world, record, &mut numbers) else {
            tally.leave_out(if record["call"].is_null() { "no call" } else { "users and views are not modelled" });
            continue;
        };
        let words = record["status"]["error_msgs"][0].as_str().unwrap_or_default();
        // Numbers of the recorded run by ours.
        let mut words = words.to_owned();
        for (theirs, ours) in &numbers {
            words = words.replace(&format!("<txn {theirs}>"), &ours.to_string());
        }
        let same = match (&ours, record["ok"].as_bool()) {
            (Ok(()), Some(true)) => true,
            (Err((said, job)), Some(false)) => {
                let shorter = |t: &str| t.split("tableId=").next().unwrap().to_owned();
                let unknown = words.contains("<txn ") && said.contains("not found");
                (unknown
                    || shorter(&words).starts_with(shorter(said).trim_end_matches(" 259200").trim_end_matches(" 1")))
                    && record["job_status"].as_str() == *job
            }
            _ => false,
        };
        let after = record["transaction_after"]["TransactionStatus"].as_str();
        let state = record["request"]["txn"]
            .as_u64()
            .and_then(|n| numbers.get(&n))
            .and_then(|n| world.transactions.iter().find(|t| t.id == *n).map(|t| t.state));
        if !same {
            tally.differ.push(format!("{id}: {ours:?} instead of {} {words}", record["ok"]));
        } else if after.is_some() && after != state && !(after == Some("VISIBLE") && state == Some("COMMITTED")) {
            tally.differ.push(format!("{id}: is then {state:?} instead of {after:?}"));
        } else {
            tally.agree += 1;
        }
    }
    tally.print("10_transactions.jsonl");
    assert!(tally.differ.is_empty(), "{} records differ: see the output", tally.differ.len());
    assert!(tally.agree >= 88, "only {} records agree", tally.agree);
}
