//! A backend's HTTP port: what it says is the manual's, what it asks the frontend is recorded.

use super::frontend::user;
use super::transactions::LabelTaken;
use super::values;
use super::world::{Change, Column, Table, Value, World};
use crate::csv;
use crate::http::{Request, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::time::Duration;

/// What backends allow by default.
const MAX_KEY_BYTES: usize = 128;
const MAX_JSON: usize = 100 << 20;

fn failed(words: impl Into<String>) -> Response {
    Response::ok(json!({"Status": "FAILED", "Message": words.into()}).to_string())
}

/// Answers a request whose body is there. `own`: this backend's number and address.
pub fn answer(world: &mut World, request: &Request, body: &[u8], own: (usize, &str)) -> Response {
    world.tick();
    let parts: Vec<String> = request.path.split('/').skip(1).map(decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts.as_slice() == ["api", "_load_error_log"] {
        let id = request.parameter("file").and_then(|f| f.parse().ok()).unwrap_or(0_u64);
        return match world.error_logs.get(&id) {
            Some(text) => Response::ok(text.clone()),
            None => Response::status(404, "no such file"),
        };
    }
    let user = match user(world, request) {
        Ok(user) => user,
        Err(_) => return failed("Access denied for user"),
    };
    let (database, table) = match parts.as_slice() {
        ["api", database, table, "_stream_load"] => ((*database).to_owned(), (*table).to_owned()),
        _ => (
            request.header("db").unwrap_or_default().to_owned(),
            request.header("table").unwrap_or_default().to_owned(),
        ),
    };
    let label = request.header("label").unwrap_or_default().to_owned();
    match parts.as_slice() {
        ["api", "transaction", "begin"] => match begin(world, &user, &database, &table, &label, request, own.0) {
            Ok(id) => Response::ok(
                json!({"Status": "OK", "Message": "", "Label": label, "TxnId": id, "BeginTxnTimeMs": 0}).to_string(),
            ),
            Err(response) => response,
        },
        ["api", "transaction", "load"] => {
            let Some(i) = own_transaction(world, &database, &label, own.0) else {
                return failed("TXN_NOT_EXISTS");
            };
            if world.transactions[i].state != "PREPARE" {
                return failed("Transaction State Invalid");
            }
            if world.transactions[i].own.table != table {
                return failed("the table differs from the one that the transaction began with");
            }
            let parameters = parameters(request);
            if world.transactions[i].own.parameters.as_ref().is_some_and(|p| *p != parameters) {
                world.transactions[i].abort("load parameters differ");
                return failed("the load's parameters differ from those of the transaction's earlier loads");
            }
            world.transactions[i].own.parameters = Some(parameters);
            let loaded = load(world, &database, &table, request, body);
            match loaded {
                Ok(Loaded { changes, total, filtered, .. }) => {
                    world.transactions[i].changes.extend(changes);
                    Response::ok(
                        json!({
                            "TxnId": world.transactions[i].id, "Label": label, "Status": "OK", "Message": "",
                            "NumberTotalRows": total, "NumberLoadedRows": total - filtered,
                            "NumberFilteredRows": filtered, "NumberUnselectedRows": 0, "LoadBytes": body.len(),
                        })
                        .to_string(),
                    )
                }
                Err(refusal) => {
                    // An operation that fails takes the transaction with it.
                    world.transactions[i].abort(&refusal.reason);
                    refusal.answer(world, &label, own.1)
                }
            }
        }
        ["api", "transaction", "prepare"] => {
            let Some(i) = own_transaction(world, &database, &label, own.0) else {
                return failed("Transcation Not Exist");
            };
            if world.transactions[i].state != "PREPARE" {
                return failed("Transaction State Invalid");
            }
            let now = world.now();
            let t = &mut world.transactions[i];
            t.state = "PREPARED";
            t.prepared = Some(now);
            if let Some(seconds) = request.header("prepared_timeout").and_then(|v| v.parse().ok()) {
                t.prepared_timeout = Duration::from_secs(seconds);
            }
            Response::ok(json!({"TxnId": t.id, "Label": label, "Status": "OK", "Message": ""}).to_string())
        }
        ["api", "transaction", "rollback"] => {
            let Some(i) = own_transaction(world, &database, &label, own.0) else {
                return failed("Transcation Not Exist");
            };
            world.transactions[i].abort("User Aborted");
            Response::ok(
                json!({"TxnId": world.transactions[i].id, "Label": label, "Status": "OK", "Message": ""}).to_string(),
            )
        }
        ["api", "transaction", "commit"] => failed("Transaction State Invalid"),
        ["api", _, _, "_stream_load"] => {
            let i = match begin(world, &user, &database, &table, &label, request, own.0) {
                Ok(id) => world.transactions.iter().position(|t| t.id == id).unwrap(),
                Err(response) => {
                    return Response::ok(
                        response.body.replace("LABEL_ALREADY_EXISTS", "Label Already Exists").replace("FAILED", "Fail"),
                    );
                }
            };
            match load(world, &database, &table, request, body) {
                Ok(loaded) => {
                    world.transactions[i].changes = loaded.changes;
                    world.commit(i);
                    let status = if world.transactions[i].state == "VISIBLE" { "Success" } else { "Publish Timeout" };
                    Response::ok(
                        json!({
                            "TxnId": world.transactions[i].id, "Label": label, "Status": status, "Message": "OK",
                            "NumberTotalRows": loaded.total, "NumberLoadedRows": loaded.total - loaded.filtered,
                            "NumberFilteredRows": loaded.filtered,
                        })
                        .to_string(),
                    )
                }
                Err(refusal) => {
                    world.transactions[i].abort(&refusal.reason);
                    let answer = refusal.answer(world, &label, own.1);
                    Response::ok(answer.body.replace("FAILED", "Fail"))
                }
            }
        }
        _ => Response::status(404, "not found"),
    }
}

fn decode(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'%' {
            out.push(u8::from_str_radix(&part[i + 1..i + 3], 16).unwrap());
            i += 3;
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8(out).unwrap()
}

fn own_transaction(world: &mut World, database: &str, label: &str, own: usize) -> Option<usize> {
    let i = world.by_label(database, label)?;
    (world.transactions[i].own.backend == own && !world.transactions[i].is_over()).then_some(i)
}

/// What all loads of a transaction must share.
fn parameters(request: &Request) -> String {
    let mut all: Vec<String> = request
        .headers
        .iter()
        .filter(|(k, _)| {
            !matches!(
                k.as_str(),
                "content-length"
                    | "expect"
                    | "authorization"
                    | "host"
                    | "label"
                    | "user-agent"
                    | "accept"
                    | "accept-encoding"
            )
        })
        .map(|(k, v)| format!("{k}:{v}"))
        .collect();
    all.sort();
    all.join("\n")
}

fn begin(
    world: &mut World,
    user: &str,
    database: &str,
    table: &str,
    label: &str,
    request: &Request,
    own: usize,
) -> Result<u64, Response> {
    if world.without_rights.iter().any(|u| u == user) {
        return Err(failed("Access denied; you need (at least one of) the INSERT privilege(s) for this operation"));
    }
    if label.is_empty()
        || label.len() > 128
        || !label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    {
        return Err(failed(format!(
            "Getting analyzing error. Detail message: Label format error. regex: ^[-\\w]{{1,128}}$, label: {label}."
        )));
    }
    if !world.databases.contains_key(database) {
        return Err(failed(format!("unknown database, database={database}")));
    }
    match world.table(database, table) {
        None => return Err(failed(format!("unknown table \"{database}.{table}\""))),
        Some(t) if t.model != "PRIMARY" => return Err(failed("the stand-in loads primary key tables only")),
        Some(_) => {}
    }
    let timeout: u64 = request.header("timeout").map_or(Ok(600), str::parse).unwrap_or(0);
    if !(1..=259_200).contains(&timeout) {
        return Err(failed(format!(
            "Invalid timeout: '{timeout}'. Expected values should be between 1 and 259200 seconds"
        )));
    }
    world.begin(database, table, label, timeout, own).map_err(|taken| {
        let job = match taken {
            LabelTaken::Running => "RUNNING",
            LabelTaken::Finished => "FINISHED",
        };
        Response::ok(
            json!({
                "Status": "LABEL_ALREADY_EXISTS", "ExistingJobStatus": job,
                "Message": format!("Label [{label}] has already been used."),
            })
            .to_string(),
        )
    })
}

struct Loaded {
    changes: Vec<Change>,
    total: usize,
    filtered: usize,
}

struct Refusal {
    reason: String,
    log: Option<String>,
}

impl Refusal {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), log: None }
    }

    fn answer(self, world: &mut World, label: &str, address: &str) -> Response {
        let mut answer = json!({"Label": label, "Status": "FAILED", "Message": self.reason});
        if let Some(log) = self.log {
            let id = world.id();
            world.error_logs.insert(id, log);
            answer["ErrorURL"] = format!("http://{address}/api/_load_error_log?file={id}").into();
        }
        Response::ok(answer.to_string())
    }
}

/// Where a column's value comes from.
enum Source {
    Field(String),
    /// `to_binary(field, 'encode64' | 'hex')`.
    Binary(String, bool),
}

fn load(world: &World, database: &str, table: &str, request: &Request, body: &[u8]) -> Result<Loaded, Refusal> {
    let table = world.table(database, table).ok_or_else(|| Refusal::new("unknown table"))?;
    let strict = request.header("strict_mode") == Some("true");
    let (sources, fields) = sources(table, request.header("columns"))?;
    let rows = match request.header("format") {
        Some("json") => json_rows(request, body)?,
        Some("csv") => csv_rows(request, body, &fields)?,
        _ => return Err(Refusal::new("the stand-in takes JSON arrays and CSV only")),
    };
    let (total, mut filtered, mut log) = (rows.len(), 0, String::new());
    let mut changes = Vec::new();
    for row in &rows {
        match row.as_ref().map_err(Clone::clone).and_then(|row| change(table, &sources, row, strict)) {
            Ok(change) => {
                let bytes: usize = change.key.iter().flatten().map(String::len).sum();
                if bytes > MAX_KEY_BYTES {
                    return Err(Refusal::new(format!("primary key size exceed the limit {MAX_KEY_BYTES}")));
                }
                changes.push(change);
            }
            Err(reason) => {
                filtered += 1;
                log.push_str(&format!("Error: {reason}. Row: {row:?}\n"));
            }
        }
    }
    let ratio: f64 = request.header("max_filter_ratio").and_then(|v| v.parse().ok()).unwrap_or(0.0);
    if filtered as f64 > ratio * total as f64 {
        return Err(Refusal { reason: "too many filtered rows".to_owned(), log: Some(log) });
    }
    Ok(Loaded { changes, total, filtered })
}

/// A row, or why it is filtered.
type SourceRow = Result<Json, String>;

fn json_rows(request: &Request, body: &[u8]) -> Result<Vec<SourceRow>, Refusal> {
    if request.header("strip_outer_array") != Some("true") {
        return Err(Refusal::new("the stand-in takes JSON arrays only"));
    }
    if body.len() > MAX_JSON && request.header("ignore_json_size") != Some("true") {
        return Err(Refusal::new("The size of this batch exceed the max size [104857600] of json type data"));
    }
    let rows: Vec<Json> =
        serde_json::from_slice(body).map_err(|e| Refusal::new(format!("Failed to parse JSON: {e}")))?;
    Ok(rows.into_iter().map(Ok).collect())
}

fn csv_rows(request: &Request, body: &[u8], fields: &[String]) -> Result<Vec<SourceRow>, Refusal> {
    if ["enclose", "escape", "skip_header", "trim_space"].iter().any(|name| request.header(name).is_some()) {
        return Err(Refusal::new("the stand-in splits CSV at separators only"));
    }
    let separator = |name, default| {
        csv::separator(request.header(name), default)
            .map_err(|e| Refusal::new(format!("Getting analyzing error. Detail message: {e}")))
    };
    let (column, row) = (separator("column_separator", "\t")?, separator("row_delimiter", "\n")?);
    if column.len() > 50 || row.len() > 50 {
        return Err(Refusal::new("The valid bytes length for 'column separator' is [1, 50]"));
    }
    let records = csv::records(body, &column, &row).map_err(Refusal::new)?;
    let rows = records.into_iter().map(|values| {
        if values.len() != fields.len() {
            return Err(format!(
                "Target column count: {} doesn't match source value column count: {}",
                fields.len(),
                values.len()
            ));
        }
        let value = |v: Option<String>| v.map_or(Json::Null, Json::String);
        Ok(Json::Object(fields.iter().cloned().zip(values.into_iter().map(value)).collect()))
    });
    Ok(rows.collect())
}

/// Where each column's value comes from, and the names of a record's values in their order.
fn sources(table: &Table, header: Option<&str>) -> Result<(Vec<Option<Source>>, Vec<String>), Refusal> {
    let Some(header) = header else {
        let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
        return Ok((names.iter().cloned().map(|name| Some(Source::Field(name))).collect(), names));
    };
    let mut fields = Vec::new();
    let mut derived = Vec::new();
    for part in split(header) {
        match part.split_once("`=") {
            None => {
                let name = part
                    .strip_prefix('`')
                    .and_then(|p| p.strip_suffix('`'))
                    .ok_or_else(|| Refusal::new(format!("Getting syntax error. Unexpected input '{part}'")))?;
                fields.push(name.to_owned());
            }
            Some((name, expression)) => {
                let inner = expression
                    .strip_prefix("to_binary(`")
                    .and_then(|e| e.strip_suffix(')'))
                    .and_then(|e| e.split_once("`,"))
                    .ok_or_else(|| Refusal::new(format!("Expr '{expression}' analyze error")))?;
                let base64 = match inner.1 {
                    "'encode64'" => true,
                    "'hex'" => false,
                    other => return Err(Refusal::new(format!("to_binary has no format {other}"))),
                };
                derived.push((name.trim_start_matches('`').to_owned(), Source::Binary(inner.0.to_owned(), base64)));
            }
        }
    }
    for (i, field) in fields.iter().enumerate() {
        if fields[..i].contains(field) {
            return Err(Refusal::new(format!("Duplicate column: {field}")));
        }
    }
    if let Some((name, _)) = derived.iter().find(|(n, _)| table.column(n).is_none()) {
        return Err(Refusal::new(format!("Mapping column is not in table. column: {name}")));
    }
    if !fields.iter().any(|f| f == "__op") {
        return Err(Refusal::new("the columns header leaves __op out: deletions would become upserts"));
    }
    let mut out = Vec::new();
    for column in &table.columns {
        let at = derived.iter().position(|(n, _)| *n == column.name);
        let source = match at {
            Some(at) => Some(derived.swap_remove(at).1),
            None if fields.contains(&column.name) => Some(Source::Field(column.name.clone())),
            None if !column.nullable && column.default.is_none() => {
                return Err(Refusal::new(format!("Column has no default value. column: {}", column.name)));
            }
            None => None,
        };
        out.push(source);
    }
    Ok((out, fields))
}

/// Splits at commas outside backticks and parentheses.
fn split(header: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0, false);
    for c in header.chars() {
        match c {
            '`' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    parts
}

fn change(table: &Table, sources: &[Option<Source>], row: &Json, strict: bool) -> Result<Change, String> {
    let object = row.as_object().ok_or("the row is no JSON object")?;
    let delete = match object.get("__op") {
        None => false,
        Some(op) => match (op.as_i64(), op.as_str()) {
            (Some(0), _) | (_, Some("0" | "upsert")) => false,
            (Some(1), _) | (_, Some("1" | "delete")) => true,
            _ => return Err(format!("__op is {op}")),
        },
    };
    let mut values = HashMap::new();
    let mut key = Vec::new();
    for (column, source) in table.columns.iter().zip(sources) {
        let value = value(column, source.as_ref(), object, strict)?;
        if column.key {
            key.push(value.clone().ok_or_else(|| format!("NULL value in key column '{}'", column.name))?);
        } else if value.is_none() && !column.nullable {
            return Err(format!("NULL value in non-nullable column '{}'", column.name));
        }
        values.insert(column.id.clone(), value);
    }
    Ok(Change { key: Some(key), row: (!delete).then_some(values) })
}

fn value(
    column: &Column,
    source: Option<&Source>,
    object: &serde_json::Map<String, Json>,
    strict: bool,
) -> Result<Value, String> {
    match source {
        None => Ok(values::default_of(column)),
        Some(Source::Field(field)) => {
            let Some(json) = object.get(field) else { return Ok(None) };
            match values::from_json(json, &column.ty) {
                Ok(value) => Ok(value),
                // Too long is refused in every mode; what can't be converted becomes NULL unless the mode is strict.
                Err(reason) if strict || reason.contains("too long") => Err(format!("{}: {reason}", column.name)),
                Err(_) => Ok(None),
            }
        }
        Some(Source::Binary(field, base64)) => match object.get(field) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => {
                // What is not in the format becomes empty, without an error.
                let bytes = if *base64 { STANDARD.decode(text).unwrap_or_default() } else { unhex(text) };
                values::from_bytes(&bytes, &column.ty).map(Some)
            }
            Some(other) => Err(format!("to_binary takes text, not {other}")),
        },
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16))
        .collect::<Result<_, _>>()
        .unwrap_or_default()
}
