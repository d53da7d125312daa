//! The listening part: any number of frontends and backends that share one world.

use super::world::World;
use super::{backend, frontend};
use crate::faults::{Fault, FaultAction, When, strike};
use crate::http;
use crate::port::{Handler, Port, respond};
use std::io::BufReader;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub frontends: usize,
    pub backends: usize,
    /// How long a job waits twice; about a second with the recorded frontend.
    pub pulse: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { frontends: 1, backends: 3, pulse: Duration::from_millis(20) }
    }
}

type Addresses = Arc<Mutex<Vec<Option<String>>>>;

/// Frontends and backends.
pub struct StandIn {
    world: Arc<Mutex<World>>,
    frontends: Vec<Port>,
    backends: Vec<Port>,
    addresses: Addresses,
}

impl StandIn {
    pub fn start(settings: Settings) -> Self {
        let world = Arc::new(Mutex::new(World::new(settings.pulse, settings.backends)));
        let addresses: Addresses = Arc::new(Mutex::new(Vec::new()));
        let backends: Vec<Port> = (0..settings.backends)
            .map(|i| {
                let port = Port::new(backend_handler(Arc::clone(&world), i, Arc::clone(&addresses)));
                addresses.lock().unwrap().push(Some(port.address.to_string()));
                port
            })
            .collect();
        let frontends = (0..settings.frontends)
            .map(|_| Port::new(frontend_handler(Arc::clone(&world), Arc::clone(&addresses))))
            .collect();
        Self { world, frontends, backends, addresses }
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub fn fenodes(&self) -> String {
        self.frontends.iter().map(|p| p.address.to_string()).collect::<Vec<_>>().join(",")
    }

    pub fn benodes(&self) -> String {
        self.backends.iter().map(|p| p.address.to_string()).collect::<Vec<_>>().join(",")
    }

    pub fn fault(&self, operation: &str, when: When, action: FaultAction, skip: u32, times: u32) {
        self.world().faults.push(Fault { operation: operation.to_owned(), skip, times, when, action });
    }

    /// A frontend goes away.
    pub fn stop_frontend(&self, i: usize) {
        self.frontends[i].close();
    }

    /// A backend goes away. `known`: whether the frontends have noticed.
    pub fn stop_backend(&self, i: usize, known: bool) {
        self.backends[i].close();
        if known {
            self.addresses.lock().unwrap()[i] = None;
        }
    }

    pub fn start_backend(&mut self, i: usize) {
        let handler = backend_handler(Arc::clone(&self.world), i, Arc::clone(&self.addresses));
        self.backends[i].reopen(handler);
        self.addresses.lock().unwrap()[i] = Some(self.backends[i].address.to_string());
    }
}

fn frontend_handler(world: Arc<Mutex<World>>, addresses: Addresses) -> Handler {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    Arc::new(move |stream| {
        let mut reader = BufReader::new(stream);
        let Ok(request) = http::read_head(&mut reader) else { return };
        let name = frontend::operation(&request);
        // What is sent on to a backend has no body yet.
        let own = !matches!(name, "load" | "commit" | "abort");
        let body = if own {
            let Ok(body) = http::read_body(&mut reader, &request) else { return };
            body
        } else {
            Vec::new()
        };
        let struck = if name == "query" {
            let sql = serde_json::from_slice::<serde_json::Value>(&body).unwrap_or_default();
            format!("sql:{}", sql["stmt"].as_str().unwrap_or_default())
        } else {
            name.to_owned()
        };
        // Only what the frontend does itself can fail here: a redirect has no effect that could get lost.
        let fault = if own { strike(&mut world.lock().unwrap().faults, &struck) } else { None };
        let backends = addresses.lock().unwrap().clone();
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        respond(&mut reader, fault, "status", || {
            let mut world = world.lock().unwrap();
            let response = frontend::answer(&mut world, &request, &body, &backends, turn);
            if response.location.is_none() {
                world.operations.push((name.to_owned(), String::new(), "frontend".to_owned()));
            }
            response
        });
    })
}

fn backend_handler(world: Arc<Mutex<World>>, i: usize, addresses: Addresses) -> Handler {
    Arc::new(move |stream| {
        let mut reader = BufReader::new(stream);
        let Ok(request) = http::read_head(&mut reader) else { return };
        let name = frontend::operation(&request);
        let fault = strike(&mut world.lock().unwrap().faults, name);
        let Ok(body) = http::read_body(&mut reader, &request) else { return };
        let address = addresses.lock().unwrap()[i].clone().unwrap_or_default();
        let status = if name == "load" { "Status" } else { "status" };
        respond(&mut reader, fault, status, || {
            let mut world = world.lock().unwrap();
            let what = request.header("label").or(request.header("txn_id")).unwrap_or_default().to_owned();
            world.operations.push((name.to_owned(), what, format!("backend {i}")));
            backend::answer(&mut world, &request, &body, &address)
        });
    })
}
