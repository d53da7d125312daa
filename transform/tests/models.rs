//! Models over HTTP, against a stand-in that speaks as much HTTP as the client needs.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

use rowferry_transform::ModelSpec;
use rowferry_transform::model::{LegacyModel, ModelClient, OpenAiClient};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the stand-in saw: path, authorization and body of each request.
type Seen = Arc<Mutex<Vec<(String, String, Value)>>>;

struct Server {
    address: String,
    seen: Seen,
    most_at_once: Arc<AtomicUsize>,
}

/// Answers each request with what `answer` says of its number, path and body: a status and a body.
fn server(answer: fn(usize, &str, &Value) -> (u16, Value)) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen: Seen = Arc::default();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (log, most_at_once, count) = (Arc::clone(&seen), Arc::clone(&most), Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (log, now, most, count) = (Arc::clone(&log), Arc::clone(&now), Arc::clone(&most), Arc::clone(&count));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                while let Some((path, authorization, body)) = request(&mut stream) {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let number = count.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    let (status, answer) = answer(number, &path, &body);
                    log.lock().unwrap().push((path, authorization, body));
                    now.fetch_sub(1, Ordering::SeqCst);
                    let answer = answer.to_string();
                    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", answer.len());
                    if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes())).is_err() {
                        return;
                    }
                }
            });
        }
    });
    Server { address, seen, most_at_once }
}

fn request(stream: &mut TcpStream) -> Option<(String, String, Value)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, authorization, serde_json::from_slice(&body).ok()?))
}

fn client(server: &Server, change: impl FnOnce(&mut ModelSpec)) -> OpenAiClient {
    let mut spec = ModelSpec::new("chat1", server.address.clone(), "secret-key", "m1");
    spec.retries = 3;
    spec.retry_interval = Duration::from_millis(1);
    change(&mut spec);
    OpenAiClient::new(spec).unwrap()
}

fn echo(body: &Value) -> Value {
    let text = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_uppercase();
    json!({"choices": [{"message": {"role": "assistant", "content": text}}]})
}

#[test]
fn answers_come_in_order_and_few_at_once() {
    let server = server(|_, path, body| {
        assert_eq!(path, "/v1/chat/completions");
        (200, echo(body))
    });
    let client = client(&server, |spec| {
        spec.system_prompt = Some("be brief".to_owned());
        spec.user_prompt = Some("say: ".to_owned());
        spec.body.insert("temperature".to_owned(), json!(0.5));
        spec.concurrency = 3;
    });
    let texts: Vec<String> = (0..20).map(|i| format!("text {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let answers = client.complete(&texts).unwrap();
    let expected: Vec<Option<String>> = (0..20).map(|i| Some(format!("SAY: TEXT {i}"))).collect();
    assert_eq!(answers, expected);
    assert!(server.most_at_once.load(Ordering::SeqCst) <= 3);
    let seen = server.seen.lock().unwrap();
    assert_eq!(seen.len(), 20);
    assert_eq!(seen[0].1, "Bearer secret-key");
    assert_eq!((&seen[0].2["model"], &seen[0].2["temperature"]), (&json!("m1"), &json!(0.5)));
    assert_eq!(seen[0].2["messages"][0], json!({"role": "system", "content": "be brief"}));
}

#[test]
fn vectors_are_asked_for_in_batches() {
    let server = server(|_, path, body| {
        assert_eq!(path, "/v1/embeddings");
        // In another order than asked: the index counts.
        let texts = body["input"].as_array().unwrap();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(i, text)| json!({"index": i, "embedding": [text.as_str().unwrap().len(), 0.5]}))
            .collect();
        (200, json!({"data": data}))
    });
    let client = client(&server, |_| {});
    let texts: Vec<String> = (0..100).map(|i| "x".repeat(i)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = client.embed(&texts).unwrap();
    assert!(vectors.iter().enumerate().all(|(i, v)| v.as_deref() == Some(&[i as f32, 0.5])), "{vectors:?}");
    assert_eq!(server.seen.lock().unwrap().len(), 2);
}

#[test]
fn a_server_that_is_busy_is_asked_again_and_one_that_refuses_is_not() {
    let busy = server(|number, _, body| if number < 2 { (503, json!("busy")) } else { (200, echo(body)) });
    assert_eq!(client(&busy, |_| {}).complete(&["a"]).unwrap(), [Some("A".to_owned())]);
    let error = client(&busy, |spec| spec.retries = 0).complete(&[]).unwrap();
    assert!(error.is_empty());

    let refusing = server(|_, _, _| (401, json!({"error": "no such key"})));
    let error = client(&refusing, |_| {}).complete(&["a"]).unwrap_err();
    assert!(!error.transient && error.message.contains("401") && !error.message.contains("secret-key"), "{error}");
    assert_eq!(refusing.seen.lock().unwrap().len(), 1);
    assert_eq!(client(&refusing, |spec| spec.ignore_failures = true).complete(&["a"]).unwrap(), [None]);

    let always_busy = server(|_, _, _| (429, json!("later")));
    let error = client(&always_busy, |_| {}).complete(&["a"]).unwrap_err();
    assert!(error.transient, "{error}");
    assert_eq!(always_busy.seen.lock().unwrap().len(), 4, "once and three times more");
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = ModelSpec::new("m", format!("http://{}", listener.local_addr().unwrap()), "k", "m");
    spec.retries = 0;
    spec.timeout = Duration::from_millis(200);
    let error = OpenAiClient::new(spec).unwrap().complete(&["a"]).unwrap_err();
    assert!(error.transient, "{error}");
}

#[test]
fn models_in_expressions() {
    use rowferry_model::arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use rowferry_model::{ChangeBatch, Changes, Column, DataType, TableId, TableSchema};
    use rowferry_transform::{RuleSpec, TransformOptions, Transforms, value_text};
    let server = server(|_, path, body| {
        if path == "/v1/embeddings" {
            let texts = body["input"].as_array().unwrap().len();
            let data: Vec<Value> = (0..texts).map(|i| json!({"index": i, "embedding": [1, 2.5]})).collect();
            return (200, json!({"data": data}));
        }
        (200, echo(body))
    });
    let mut old = ModelSpec::new("EMB", server.address.clone(), "k", "m");
    old.legacy = Some(LegacyModel::Embedding);
    let models = vec![ModelSpec::new("chat1", server.address.clone(), "k", "m"), old];
    let rule = RuleSpec {
        matches: Arc::new(|_| true),
        projection: "id, AI_COMPLETE('chat1', s) AS answer, EMB(s) AS v".to_owned(),
        filter: Some("answer <> 'B'".to_owned()),
        primary_keys: Vec::new(),
        partition_keys: Vec::new(),
        table_options: Vec::new(),
        soft_delete: false,
    };
    let transforms = Transforms::new(vec![rule], TransformOptions::default(), &[], models).unwrap();
    let schema = Arc::new(TableSchema {
        columns: vec![Column::new("id", DataType::Int).not_null(), Column::new("s", DataType::String)],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    });
    let table = TableId::new("d", "t");
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3, 4])),
        Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("a")])),
    ];
    let record = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    let batch = ChangeBatch::new(table.clone(), Arc::clone(&schema), Changes::Inserts(4), record).unwrap();
    let plan = transforms.for_table(&table, &schema).unwrap().unwrap();
    let result = plan.apply(batch).unwrap().unwrap();
    let text = |column: usize, row: usize| value_text(result.column(column).as_ref(), row);
    assert_eq!(result.num_rows(), 3);
    assert_eq!((text(1, 0), text(1, 1), text(1, 2)), (Some("A".into()), None, Some("A".into())));
    assert_eq!((text(2, 0), text(2, 1)), (Some("[1.0,2.5]".into()), None));
    let chats = server.seen.lock().unwrap().iter().filter(|(path, ..)| path.ends_with("completions")).count();
    assert_eq!(chats, 2, "each text is asked for once, though filter and projection use the answer");
}
