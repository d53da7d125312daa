//! A frontend's HTTP port: it answers by itself or sends on to a backend. All of it is recorded.

use super::show::ResultSet;
use super::world::World;
use crate::http::{Request, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

fn envelope(msg: &str, code: i64, data: impl Into<Value>) -> Response {
    Response::ok(json!({"msg": msg, "code": code, "data": data.into(), "count": 0}).to_string())
}

fn failed(words: &str) -> Response {
    Response::ok(json!({"status": "FAILED", "msg": words}).to_string())
}

/// Who asks, with the password.
pub fn user(world: &World, request: &Request, nobody: &str) -> Result<(String, String), Response> {
    let denied = |words: String| envelope("Unauthorized", 401, words);
    let Some(encoded) = request.header("authorization").and_then(|v| v.strip_prefix("Basic ")) else {
        return Err(denied(nobody.to_owned()));
    };
    let decoded = STANDARD.decode(encoded).ok().and_then(|b| String::from_utf8(b).ok()).unwrap_or_default();
    let (name, password) = decoded.split_once(':').unwrap_or((&decoded, ""));
    match world.users.get(name) {
        Some(known) if known == password => Ok((name.to_owned(), password.to_owned())),
        _ => Err(denied(format!("Access denied for user '{name}@127.0.0.1' (using password: YES)"))),
    }
}

/// What operation a request is, for faults and for the log.
pub fn operation(request: &Request) -> &'static str {
    match request.path.as_str() {
        p if p.ends_with("/_stream_load") => "load",
        p if p.ends_with("/_stream_load_2pc") => match request.header("txn_operation") {
            Some("abort") => "abort",
            _ => "commit",
        },
        p if p.ends_with("/get_load_state") => "state",
        "/api/backends" => "backends",
        p if p.starts_with("/api/query/") => "query",
        _ => "other",
    }
}

/// As part of a URL's user information.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(&b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

/// Answers a request. `backends`: their addresses, `None` for those that are down.
pub fn answer(world: &mut World, request: &Request, body: &[u8], backends: &[Option<String>], turn: usize) -> Response {
    world.tick();
    let path: Vec<String> = request.path.split('/').skip(1).map(super::backend::decode).collect();
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let no_method = |m: &str| envelope("Internal Error", 500, format!("Request method '{m}' not supported"));
    let scheme = world.encryption.scheme();
    let redirect = |user: &(String, String)| {
        // A backend that has died since is still redirected to: the frontend finds out late.
        let alive: Vec<&String> = backends.iter().flatten().collect();
        let Some(address) = alive.get(turn % alive.len().max(1)) else {
            return failed("No backend load available or there is already one running stream load");
        };
        let decoded = path.iter().map(|p| p.as_str()).collect::<Vec<_>>().join("/");
        Response::redirect(format!(
            "{scheme}://{}:{}@{address}/{decoded}?{}",
            escaped(&user.0),
            escaped(&user.1),
            request.query
        ))
    };
    match parts.as_slice() {
        ["api", "query", _namespace, database] => query(world, request, body, database),
        ["api", "backends"] => match user(world, request, "Need auth information.") {
            Err(response) => response,
            Ok(_) => {
                let list: Vec<Value> = backends
                    .iter()
                    .flatten()
                    .map(|address| {
                        let (ip, port) = address.rsplit_once(':').unwrap();
                        json!({"ip": ip, "http_port": port.parse::<u16>().unwrap(), "is_alive": true})
                    })
                    .collect();
                envelope("success", 0, json!({"backends": list}))
            }
        },
        ["api", database, "get_load_state"] => {
            if let Err(response) = user(world, request, "Need auth information.") {
                return response;
            }
            let Some(label) = request.parameter("label") else {
                return envelope("Bad Request", 403, "No label selected");
            };
            if !world.databases.contains_key(*database) {
                return envelope(
                    "Error",
                    1,
                    format!("errCode = 7, detailMessage = unknown databases, dbName={database}"),
                );
            }
            let state = world.by_label(database, &label).map_or("UNKNOWN", |i| world.transactions[i].state);
            envelope("success", 0, state)
        }
        ["api", _, _, "_stream_load"] | ["api", _, _, "_stream_load", ""] => {
            if request.method != "PUT" {
                return no_method(&request.method);
            }
            let user = match user(world, request, "Need auth information.") {
                Ok(user) => user,
                Err(response) => return response,
            };
            if let Some(mode) = request.header("group_commit")
                && !matches!(mode, "sync_mode" | "async_mode" | "off_mode")
            {
                return failed("Header `group_commit` can only be `sync_mode`, `async_mode` or `off_mode`.");
            }
            if !request.expects_continue() {
                return failed("There is no 100-continue header");
            }
            if world.without_rights.contains(&user.0) {
                return failed(
                    "Access denied; you need (at least one of) the Admin_priv,Load_priv privilege(s) for this operation",
                );
            }
            redirect(&user)
        }
        ["api", _, "_stream_load_2pc"] | ["api", _, _, "_stream_load_2pc"] => {
            if request.method != "PUT" {
                return no_method(&request.method);
            }
            let user = match user(world, request, "Need auth information.") {
                Ok(user) => user,
                Err(response) => return response,
            };
            if request.header("txn_id").is_none() && request.header("label").is_none() {
                return failed("No transaction id or label selected.");
            }
            if request.header("txn_operation").is_none() {
                return failed("No transaction operation('commit' or 'abort') selected.");
            }
            redirect(&user)
        }
        _ => Response::status(404, "<html>Not Found</html>"),
    }
}

fn query(world: &mut World, request: &Request, body: &[u8], database: &str) -> Response {
    if request.method != "POST" {
        return envelope("Internal Error", 500, format!("Request method '{}' not supported", request.method));
    }
    let user = match user(world, request, "Cookie is invalid") {
        Ok(user) => user,
        Err(response) => return response,
    };
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        return envelope("Internal Error", 500, "java.io.EOFException");
    };
    let sql = json["stmt"].as_str().unwrap_or_default().to_owned();
    if sql.is_empty() {
        return envelope("Bad Request", 403, "Missing statement request body");
    }
    let refused = |class: &str, words: String| {
        envelope("Error", 1, format!("Failed to execute sql: java.sql.{class}: (conn=1) {words}"))
    };
    if !world.databases.contains_key(database) {
        return refused(
            "SQLSyntaxErrorException",
            format!("errCode = 2, detailMessage = Unknown database '{database}'"),
        );
    }
    let result = world.execute(database, &user.0, &sql);
    world.statements.push((sql, result.is_ok()));
    match result {
        Ok(None) => Response::ok(
            json!({"msg": "success", "code": 0, "data": {"type": "exec_status", "status": {}, "time": 1}}).to_string(),
        ),
        Ok(Some(rows)) => result_set(&rows),
        Err(failure) => refused("SQLException", failure.text()),
    }
}

fn result_set((columns, rows): &ResultSet) -> Response {
    let meta: Vec<Value> = columns.iter().map(|c| json!({"name": c, "type": "CHAR"})).collect();
    Response::ok(
        json!({"data": {"type": "result_set", "meta": meta, "data": rows, "time": 1}, "msg": "success", "code": 0})
            .to_string(),
    )
}
