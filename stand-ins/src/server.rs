//! The listening part: any number of frontends and backends that share one world.

use crate::faults::{Fault, FaultAction, When, strike};
use crate::http;
use crate::port::{Handler, Port, respond};
use crate::world::{Vendor, World};
use std::io::BufReader;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub frontends: usize,
    pub backends: usize,
    /// How long a job waits twice; about a second with the recorded Doris, ten with the recorded StarRocks.
    pub pulse: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { frontends: 1, backends: 3, pulse: Duration::from_millis(20) }
    }
}

/// A lock that a test which fails beside it does not spoil.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the frontends know of the backends.
type Addresses = Arc<Mutex<Vec<Option<String>>>>;

/// Frontends and backends.
pub struct StandIn<V: Vendor> {
    world: Arc<Mutex<World<V>>>,
    /// The frontends' HTTP ports.
    http: Vec<Port>,
    /// Their MySQL ports, where they have some.
    sql: Vec<Port>,
    backends: Vec<Port>,
    addresses: Addresses,
}

impl<V: Vendor> StandIn<V> {
    pub fn start(settings: Settings) -> Self {
        let world = Arc::new(Mutex::new(World::new(settings.pulse, settings.backends)));
        let addresses: Addresses = Arc::new(Mutex::new(Vec::new()));
        let backends: Vec<Port> = (0..settings.backends)
            .map(|i| Port::new(backend_handler(Arc::clone(&world), i, Arc::clone(&addresses))))
            .collect();
        *lock(&addresses) = backends.iter().map(|port| Some(port.address.to_string())).collect();
        let frontends = 0..settings.frontends;
        let sql = V::sql().map_or_else(Vec::new, |serve| {
            frontends
                .clone()
                .map(|_| {
                    let world = Arc::clone(&world);
                    Port::new(Arc::new(move |stream| serve(stream, Arc::clone(&world))))
                })
                .collect()
        });
        let http = frontends.map(|_| Port::new(frontend_handler(Arc::clone(&world), Arc::clone(&addresses)))).collect();
        Self { world, http, sql, backends, addresses }
    }

    pub fn world(&self) -> MutexGuard<'_, World<V>> {
        lock(&self.world)
    }

    /// The addresses of the frontends' HTTP ports.
    pub(crate) fn http_addresses(&self, between: &str) -> String {
        joined(&self.http, between)
    }

    /// Those of their MySQL ports.
    pub(crate) fn sql_addresses(&self, between: &str) -> String {
        joined(&self.sql, between)
    }

    pub fn backend_addresses(&self, between: &str) -> String {
        joined(&self.backends, between)
    }

    pub fn fault(&self, operation: &str, when: When, action: FaultAction, skip: u32, times: u32) {
        self.world().faults.push(Fault { operation: operation.to_owned(), skip, times, when, action });
    }

    /// A frontend goes away.
    pub fn stop_frontend(&self, i: usize) {
        self.http[i].close();
        if let Some(port) = self.sql.get(i) {
            port.close();
        }
    }

    /// A backend goes away. `known`: whether the frontends have noticed.
    pub fn stop_backend(&self, i: usize, known: bool) {
        self.backends[i].close();
        if known {
            lock(&self.addresses)[i] = None;
            V::backend_gone(&mut self.world(), i);
        }
    }

    pub fn start_backend(&mut self, i: usize) {
        let handler = backend_handler(Arc::clone(&self.world), i, Arc::clone(&self.addresses));
        self.backends[i].reopen(handler);
        lock(&self.addresses)[i] = Some(self.backends[i].address.to_string());
    }
}

impl<V: Vendor> Drop for StandIn<V> {
    /// A test that fails must not wait for what it holds up itself.
    fn drop(&mut self) {
        for fault in &self.world().faults {
            if let FaultAction::Wait(gate) = &fault.action {
                gate.open();
            }
        }
    }
}

fn joined(ports: &[Port], between: &str) -> String {
    ports.iter().map(|p| p.address.to_string()).collect::<Vec<_>>().join(between)
}

fn frontend_handler<V: Vendor>(world: Arc<Mutex<World<V>>>, addresses: Addresses) -> Handler {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    Arc::new(move |stream| {
        let encryption = lock(&world).encryption.clone();
        let mut reader = BufReader::new(encryption.http(stream, false));
        let Ok(request) = http::read_head(&mut reader) else { return };
        let name = V::operation(&request);
        // What is sent on to a backend has no body yet, and no effect that could get lost.
        let stays = V::stays(name);
        let body = if stays {
            let Ok(body) = http::read_body(&mut reader, &request) else { return };
            body
        } else {
            Vec::new()
        };
        let fault = if stays { strike(&mut lock(&world).faults, &V::struck(name, &body)) } else { None };
        let backends = lock(&addresses).clone();
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        respond(&mut reader, fault, V::status_field(name), || {
            let mut world = lock(&world);
            let response = V::frontend(&mut world, &request, &body, &backends, turn);
            if response.location.is_none() {
                world.operations.push((name.to_owned(), V::subject(&request), "frontend".to_owned()));
            }
            response
        });
    })
}

fn backend_handler<V: Vendor>(world: Arc<Mutex<World<V>>>, i: usize, addresses: Addresses) -> Handler {
    Arc::new(move |stream| {
        let encryption = lock(&world).encryption.clone();
        let mut reader = BufReader::new(encryption.http(stream, true));
        let Ok(request) = http::read_head(&mut reader) else { return };
        let name = V::operation(&request);
        let fault = strike(&mut lock(&world).faults, name);
        let Ok(body) = http::read_body(&mut reader, &request) else { return };
        let address = lock(&addresses)[i].clone().unwrap_or_default();
        respond(&mut reader, fault, V::status_field(name), || {
            let mut world = lock(&world);
            world.operations.push((name.to_owned(), V::subject(&request), format!("backend {i}")));
            V::backend(&mut world, &request, &body, (i, &address))
        });
    })
}
