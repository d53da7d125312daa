//! A frontend's HTTP port: it answers by itself or sends on to a backend. All of it is recorded.

use super::world::World;
use crate::http::{Request, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

fn failed(class: &str, words: &str) -> Response {
    Response::ok(format!("{{\n  \"Status\": \"FAILED\",\n  \"Message\": \"class {class}: {words}\"\n}}"))
}

fn starrocks(words: &str) -> Response {
    failed("com.starrocks.common.StarRocksException", words)
}

fn done(id: u64, label: &str, words: &str) -> Response {
    Response::ok(format!(
        "{{\n  \"Label\": \"{label}\",\n  \"Status\": \"OK\",\n  \"TxnId\": {id},\n  \"Message\": \"{words}\"\n}}"
    ))
}

fn plain_failure(words: &str) -> Response {
    let words = words.replace('=', "\\u003d").replace('\'', "\\u0027");
    Response::ok(format!("{{\"status\":\"FAILED\",\"code\":\"1\",\"msg\":\"{words}\",\"message\":\"{words}\"}}"))
}

fn unauthorized(words: &str) -> Response {
    Response::status(
        401,
        format!("{{\"status\":\"FAILED\",\"code\":\"1\",\"msg\":\"{words}\",\"message\":\"{words}\"}}"),
    )
}

/// Who asks.
pub fn user(world: &World, request: &Request) -> Result<String, Response> {
    let Some(encoded) = request.header("authorization").and_then(|v| v.strip_prefix("Basic ")) else {
        return Err(unauthorized("Need auth information."));
    };
    let decoded = STANDARD
        .decode(encoded)
        .ok()
        .and_then(|b| String::from_utf8(b).ok())
        .ok_or_else(|| unauthorized("invalid Base64 input"))?;
    let (name, password) = decoded.split_once(':').unwrap_or((&decoded, ""));
    let name = name.split('@').next().unwrap();
    match world.users.get(name) {
        Some(known) if known == password => Ok(name.to_owned()),
        _ => Err(unauthorized(&format!("Access denied for {name}@127.0.0.1"))),
    }
}

/// What operation a request is, for faults and for the log.
pub fn operation(request: &Request) -> &'static str {
    match request.path.as_str() {
        "/api/transaction/begin" => "begin",
        "/api/transaction/load" => "load",
        "/api/transaction/prepare" => "prepare",
        "/api/transaction/commit" => "commit",
        "/api/transaction/rollback" => "rollback",
        p if p.ends_with("/_stream_load") => "stream_load",
        p if p.ends_with("/get_load_state") => "state",
        p if p.ends_with("/_cancel") => "cancel",
        _ => "other",
    }
}

/// Answers a request. `backends`: their addresses, `None` for those that are down.
pub fn answer(world: &mut World, request: &Request, backends: &[Option<String>], turn: usize) -> Response {
    world.tick();
    let parts: Vec<&str> = request.path.split('/').skip(1).collect();
    let alive: Vec<usize> = (0..backends.len()).filter(|i| backends[*i].is_some()).collect();
    let target =
        if request.query.is_empty() { request.path.clone() } else { format!("{}?{}", request.path, request.query) };
    let scheme = world.encryption.scheme();
    let to = |backend: usize| {
        // A backend that has died since is still redirected to: the frontend finds out late.
        let address = backends[backend].clone().unwrap_or_else(|| "127.0.0.1:1".to_owned());
        Response::redirect(format!("{scheme}://{address}{target}"))
    };
    match parts.as_slice() {
        ["api", "health"] => Response::ok(format!(
            "{{\"online_backend_num\":{},\"total_backend_num\":{},\"status\":\"OK\"}}",
            alive.len(),
            backends.len()
        )),
        ["api", _, _, "_stream_load"] => {
            if request.method != "PUT" {
                return Response::status(404, "not found");
            }
            let user = match user(world, request) {
                Ok(user) => user,
                Err(response) => return response,
            };
            if request.version == "HTTP/1.1" && !request.expects_continue() {
                return failed("com.starrocks.common.DdlException", "There is no 100-continue header");
            }
            if world.without_rights.contains(&user) {
                return unauthorized(&format!("Access denied for user '{user}'"));
            }
            match alive.get(turn % alive.len().max(1)) {
                Some(backend) => to(*backend),
                None => starrocks("No backend alive."),
            }
        }
        ["api", "transaction", operation] => {
            if !matches!(request.method.as_str(), "POST" | "PUT") {
                return Response::status(404, "not found");
            }
            if let Err(response) = user(world, request) {
                return response;
            }
            if request.method == "PUT" && *operation != "load" {
                return failed("com.starrocks.common.DdlException", "Invalid request");
            }
            transaction(world, request, operation, &alive, turn, &to)
        }
        ["api", database, "get_load_state"] => {
            if request.method != "GET" {
                return Response::status(501, "{\"status\":\"FAILED\",\"code\":\"1\",\"msg\":\"Not implemented\"}");
            }
            if let Err(response) = user(world, request) {
                return response;
            }
            let Some(label) = request.parameter("label") else { return plain_failure("No label selected.") };
            if !world.databases.contains_key(*database) {
                return plain_failure(&format!("unknown database, database={database}"));
            }
            let end = "\"status\":\"OK\",\"code\":\"0\",\"msg\":\"Success\",\"message\":\"OK\"}";
            let heard_of = world.labels_unheard_of == 0;
            world.labels_unheard_of = world.labels_unheard_of.saturating_sub(1);
            match world.by_label(database, &label).filter(|_| heard_of) {
                None => Response::ok(format!("{{\"state\":\"UNKNOWN\",{end}")),
                Some(i) => {
                    let t = &world.transactions[i];
                    Response::ok(format!("{{\"state\":\"{}\",\"reason\":\"{}\",{end}", t.state, t.reason))
                }
            }
        }
        ["api", database, _, "_cancel"] if request.method == "POST" => {
            if let Err(response) = user(world, request) {
                return response;
            }
            let label = request.parameter("label").unwrap_or_default();
            match world.by_label(database, &label) {
                Some(i) if matches!(world.transactions[i].state, "PREPARE" | "PREPARED") => {
                    world.transactions[i].abort("user cancel");
                    Response::ok("{\"status\":\"OK\",\"code\":\"0\",\"msg\":\"Success\",\"message\":\"OK\"}")
                }
                _ => plain_failure(&format!("transaction not found: {label}")),
            }
        }
        _ => Response::status(404, "not found"),
    }
}

fn transaction(
    world: &mut World,
    request: &Request,
    operation: &str,
    alive: &[usize],
    turn: usize,
    to: &dyn Fn(usize) -> Response,
) -> Response {
    if !matches!(operation, "begin" | "load" | "prepare" | "commit" | "rollback") {
        return starrocks(&format!("Unknown transaction operation: {operation}"));
    }
    if let Some(timeout) = request.header("timeout")
        && timeout.parse::<i64>().is_err()
    {
        return failed("java.lang.NumberFormatException", &format!("For input string: \\\"{timeout}\\\""));
    }
    let Some(label) = request.header("label").filter(|l| !l.is_empty()).map(str::to_owned) else {
        return starrocks("Empty label.");
    };
    let Some(database) = request.header("db").filter(|d| !d.is_empty()).map(str::to_owned) else {
        return starrocks("No database selected.");
    };
    if !world.databases.contains_key(&database) {
        return starrocks(&format!("Database[{database}] does not exist."));
    }
    if operation == "begin" {
        let Some(backend) = alive.get(turn % alive.len().max(1)) else { return starrocks("No backend alive.") };
        world.nodes.insert(label, *backend);
        return to(*backend);
    }
    let node = world.nodes.get(&label).copied();
    let no_node = || starrocks(&format!("Transaction with op[{operation}] and label[{label}] has no node."));
    if operation == "load" {
        return node.map_or_else(no_node, to);
    }
    let Some(i) = world.by_label(&database, &label) else {
        if let ("prepare", Some(node)) = (operation, node) {
            return to(node);
        }
        return starrocks(&format!("No transaction found by label {label}"));
    };
    let t = world.transactions[i].clone();
    match (operation, t.state) {
        ("prepare", _) | (_, "PREPARE") => node.map_or_else(no_node, to),
        ("commit", "PREPARED") => {
            world.commit(i);
            done(t.id, &label, "")
        }
        ("commit", "COMMITTED" | "VISIBLE") => {
            done(t.id, &label, &format!("Transaction {} has already committed, label is {label}", t.id))
        }
        ("commit", state) => starrocks(&format!("Can not commit {state} transaction {}, label is {label}", t.id)),
        ("rollback", "PREPARED") => {
            world.transactions[i].abort("User Aborted");
            done(t.id, &label, "")
        }
        ("rollback", "ABORTED") => {
            done(t.id, &label, &format!("Transaction {} has already aborted, label is {label}", t.id))
        }
        (_, state) => starrocks(&format!("Can not abort {state} transaction {}, label is {label}", t.id)),
    }
}
