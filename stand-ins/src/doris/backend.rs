//! A backend's HTTP port: what it says is the manual's, what it asks the frontend is recorded.

use super::arrow;
use super::frontend::user;
use super::transactions::NotBegun;
use super::values;
use super::world::{Change, Row, Table, World};
use crate::csv;
use crate::http::{Request, Response};
use flate2::read::GzDecoder;
use serde_json::{Value as Json, json};
use std::io::Read;

pub const DELETE_SIGN: &str = "__DORIS_DELETE_SIGN__";

fn failed(words: impl Into<String>) -> Response {
    Response::ok(json!({"TxnId": -1, "Status": "Fail", "Message": words.into()}).to_string())
}

pub fn decode(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        match (bytes[i], bytes.get(i + 1..i + 3)) {
            (b'%', Some(hex)) => {
                out.push(u8::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap());
                i += 3;
            }
            (b, _) => {
                out.push(b);
                i += 1;
            }
        }
    }
    String::from_utf8(out).unwrap()
}

/// Answers a request whose body is there. `address`: this backend's.
pub fn answer(world: &mut World, request: &Request, body: &[u8], address: &str) -> Response {
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
    let name = match user(world, request, "") {
        Ok((name, _)) => name,
        Err(_) => return failed("[NOT_AUTHORIZED]no valid Basic authorization, or access denied for user"),
    };
    if world.without_rights.contains(&name) {
        return failed(format!(
            "[ANALYSIS_ERROR]TStatus: errCode = 2, detailMessage = Access denied for user '{name}'"
        ));
    }
    match parts.as_slice() {
        ["api", database, "_stream_load_2pc"] => {
            let id = request.header("txn_id").and_then(|v| v.parse().ok());
            let operation = request.header("txn_operation").unwrap_or_default();
            match world.second_phase(database, id, request.header("label"), operation) {
                Ok(id) => Response::ok(
                    json!({"status": "Success", "msg": format!("transaction [{id}] {operation} successfully.")})
                        .to_string(),
                ),
                Err(words) => {
                    Response::ok(json!({"status": "ANALYSIS_ERROR", "msg": format!("TStatus: {words}")}).to_string())
                }
            }
        }
        ["api", database, table, "_stream_load"] if request.method == "PUT" => {
            stream_load(world, request, body, database, table, address)
        }
        _ => Response::status(404, "not found"),
    }
}

fn stream_load(
    world: &mut World,
    request: &Request,
    body: &[u8],
    database: &str,
    table: &str,
    address: &str,
) -> Response {
    let group_commit = request.header("group_commit").is_some_and(|m| m != "off_mode");
    let two_phase = request.header("two_phase_commit") == Some("true");
    if group_commit && (request.header("label").is_some() || two_phase) {
        return failed("[INVALID_ARGUMENT]label and group_commit can't be set at the same time");
    }
    // A load without a label gets one of the backend's.
    let label = match request.header("label") {
        Some(label) => label.to_owned(),
        None => format!("group_commit_{}", world.id()),
    };
    let timeout = request.header("timeout").map_or(Ok(600), str::parse).unwrap_or(0);
    let id = match world.begin(database, table, &label, timeout, "") {
        Ok(id) => id,
        Err(NotBegun::Refused(words)) => return failed(format!("[ANALYSIS_ERROR]TStatus: {words}")),
        Err(NotBegun::LabelTaken(words, job)) => {
            return Response::ok(
                json!({
                    "TxnId": -1, "Label": label, "Status": "Label Already Exists", "ExistingJobStatus": job,
                    "Message": format!("[LABEL_ALREADY_EXISTS]TStatus: {words}"),
                })
                .to_string(),
            );
        }
    };
    let abort = |world: &mut World, reason: &str, log: Option<String>, counts: (usize, usize)| {
        world.rollback(id, reason).unwrap();
        let mut answer = json!({
            "TxnId": id, "Label": label, "Comment": "", "TwoPhaseCommit": two_phase.to_string(), "Status": "Fail",
            "Message": reason, "NumberTotalRows": counts.0, "NumberFilteredRows": counts.1,
        });
        if let Some(log) = log {
            let file = world.id();
            world.error_logs.insert(file, log);
            answer["ErrorURL"] = format!("http://{address}/api/_load_error_log?file={file}").into();
        }
        Response::ok(answer.to_string())
    };
    let t = world.table(database, table).unwrap();
    let rows = match rows(request, body, t, world.arrow_hours) {
        Ok(rows) => rows,
        Err(words) => return abort(world, &words, None, (0, 0)),
    };
    let strict = request.header("strict_mode") == Some("true");
    let listed = |header| request.header(header).unwrap_or_default().split(',').any(|c| c.trim() == DELETE_SIGN);
    let sign = t.is_unique() && (listed("hidden_columns") || listed("columns"));
    let (mut changes, mut log, mut filtered) = (Vec::new(), String::new(), 0);
    let total = rows.len();
    for row in &rows {
        match row.as_ref().map_err(Clone::clone).and_then(|row| change(t, row, strict, sign)) {
            Ok(change) => changes.push(change),
            Err(reason) => {
                filtered += 1;
                log.push_str(&format!("Reason: {reason}. src line [{row:?}];\n"));
            }
        }
    }
    let ratio: f64 = request.header("max_filter_ratio").and_then(|v| v.parse().ok()).unwrap_or(0.0);
    if filtered as f64 > ratio * total as f64 {
        return abort(world, "[DATA_QUALITY_ERROR]too many filtered rows", Some(log), (total, filtered));
    }
    world.transactions.iter_mut().find(|t| t.id == id).unwrap().changes = changes;
    let done = if two_phase { world.precommit(id) } else { world.commit(id) };
    if let Err(words) = done {
        return failed(words);
    }
    let seen = two_phase || world.publish_delay.is_zero();
    Response::ok(
        json!({
            "TxnId": id, "Label": label, "Comment": "", "TwoPhaseCommit": two_phase.to_string(),
            "Status": if seen { "Success" } else { "Publish Timeout" }, "Message": "OK",
            "NumberTotalRows": total, "NumberLoadedRows": total - filtered, "NumberFilteredRows": filtered,
            "NumberUnselectedRows": 0, "LoadBytes": body.len(), "LoadTimeMs": 1,
        })
        .to_string(),
    )
}

/// A row, or why it is filtered.
pub type SourceRow = Result<Json, String>;

/// The rows of a body.
fn rows(request: &Request, body: &[u8], table: &Table, arrow_hours: i64) -> Result<Vec<SourceRow>, String> {
    let mut plain = Vec::new();
    match request.header("compress_type") {
        None => plain.extend_from_slice(body),
        Some("gz") => {
            GzDecoder::new(body).read_to_end(&mut plain).map_err(|e| format!("[COMPRESSION]{e}"))?;
        }
        Some(other) => return Err(format!("unknown compress type: {other}")),
    }
    match request.header("format") {
        Some("json") => lines(request, &plain),
        Some("csv") => records(request, &plain, table),
        // What is compressed is not unpacked there.
        Some("arrow") if request.header("compress_type").is_some() => {
            Err("failed to open stream reader: Invalid IPC stream".to_owned())
        }
        Some("arrow") => {
            let names =
                header_columns(request.header("columns").ok_or("the stand-in wants a columns header with Arrow")?)?;
            arrow::rows(&plain, &names, table, arrow_hours)
        }
        _ => Err("the stand-in takes JSON lines, CSV and Arrow only".to_owned()),
    }
}

fn lines(request: &Request, body: &[u8]) -> Result<Vec<SourceRow>, String> {
    if request.header("read_json_by_line") != Some("true") {
        return Err("the stand-in takes JSON lines only".to_owned());
    }
    if request.header("columns").is_some() || request.header("jsonpaths").is_some() {
        return Err("the stand-in takes no columns header with JSON".to_owned());
    }
    std::str::from_utf8(body)
        .map_err(|e| e.to_string())?
        .lines()
        .map(|line| {
            serde_json::from_str(line)
                .map(Ok)
                .map_err(|e| format!("[DATA_QUALITY_ERROR]Parse json data failed. code: 3, error info: {e}"))
        })
        .collect()
}

fn records(request: &Request, body: &[u8], table: &Table) -> Result<Vec<SourceRow>, String> {
    let meaning = ["enclose", "escape", "skip_lines", "trim_double_quotes", "empty_field_as_null"];
    if meaning.iter().any(|name| request.header(name).is_some()) {
        return Err("the stand-in splits CSV at separators only".to_owned());
    }
    let names = match request.header("columns") {
        Some(header) => header_columns(header)?,
        None => {
            let hidden = request.header("hidden_columns").unwrap_or_default().split(',').map(str::trim);
            let own = table.columns.iter().map(|c| c.name.as_str());
            own.chain(hidden.filter(|c| !c.is_empty())).map(str::to_owned).collect()
        }
    };
    // What looks like a byte order mark goes.
    let body = body.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(body);
    let column = csv::separator(request.header("column_separator"), "\t")?;
    let row = csv::separator(request.header("line_delimiter"), "\n")?;
    // A carriage return before a lone line feed is a part of it, since a version of July 2024.
    let feeds =
        if row == b"\n" { String::from_utf8_lossy(body).replace("\r\n", "\n").into_bytes() } else { body.to_vec() };
    let records = csv::records(&feeds, &column, &row)?;
    let rows = records.into_iter().map(|values| {
        if values.len() != names.len() {
            let how = if values.len() < names.len() { "less" } else { "more" };
            return Err(format!(
                "actual column number in csv file is {how} than schema column number.actual number: {}, schema column \
                 number: {}",
                values.len(),
                names.len()
            ));
        }
        let value = |v: Option<String>| v.map_or(Json::Null, Json::String);
        Ok(Json::Object(names.iter().cloned().zip(values.into_iter().map(value)).collect()))
    });
    Ok(rows.collect())
}

/// The names of a `columns` header, with or without backticks.
fn header_columns(header: &str) -> Result<Vec<String>, String> {
    let (mut names, mut quoted) = (vec![String::new()], false);
    for c in header.chars() {
        match c {
            '`' => quoted = !quoted,
            ',' if !quoted => names.push(String::new()),
            c => names.last_mut().unwrap().push(c),
        }
    }
    if names.iter().any(|n| n.is_empty() || n.contains('=')) {
        return Err("the stand-in takes names only in a columns header".to_owned());
    }
    Ok(names)
}

fn change(table: &Table, json: &Json, strict: bool, sign: bool) -> Result<Change, String> {
    let object = json.as_object().ok_or("the row is no JSON object")?;
    let delete = sign
        && match object.get(DELETE_SIGN) {
            None | Some(Json::Null) => false,
            Some(Json::String(s)) => s != "0",
            Some(other) => other.as_i64() != Some(0),
        };
    let mut values = Row::new();
    let mut key = Vec::new();
    for column in &table.columns {
        let value = match object.get(&column.name) {
            None => None,
            Some(json) => match values::from_json(json, &column.ty) {
                Ok(value) => value,
                // Too long is refused in every mode; what can't be converted becomes NULL unless the mode is strict.
                Err(reason) if strict || reason.contains("too long") => {
                    return Err(format!("column_name[{}], {reason}", column.name));
                }
                Err(_) => None,
            },
        };
        if value.is_none() && !column.nullable {
            return Err(format!("column_name[{}], null value for not null column", column.name));
        }
        if column.key {
            // A key may be NULL, which is a value like others there.
            key.push(value.clone().unwrap_or_else(|| "\u{0}NULL".to_owned()));
        }
        values.insert(column.id, value);
    }
    Ok(Change { key: table.is_unique().then_some(key), row: (!delete).then_some(values) })
}
