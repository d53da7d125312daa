//! The listening part: any number of frontends and backends that share one world.

use super::world::World;
use super::{backend, frontend, mysql};
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
    /// How long a job waits twice; ten seconds with the recorded frontend.
    pub pulse: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { frontends: 1, backends: 3, pulse: Duration::from_millis(20) }
    }
}

/// Frontends and backends.
pub struct StandIn {
    world: Arc<Mutex<World>>,
    sql: Vec<Port>,
    http: Vec<Port>,
    backends: Vec<Port>,
    addresses: Arc<Mutex<Vec<Option<String>>>>,
}

impl StandIn {
    pub fn start(settings: Settings) -> Self {
        let world = Arc::new(Mutex::new(World::new(settings.pulse, settings.backends)));
        let addresses = Arc::new(Mutex::new(Vec::new()));
        let backends: Vec<Port> = (0..settings.backends)
            .map(|i| {
                let port = Port::new(backend_handler(Arc::clone(&world), i, Arc::clone(&addresses)));
                addresses.lock().unwrap().push(Some(port.address.to_string()));
                port
            })
            .collect();
        let sql = (0..settings.frontends).map(|_| Port::new(sql_handler(Arc::clone(&world)))).collect();
        let http = (0..settings.frontends)
            .map(|_| Port::new(frontend_handler(Arc::clone(&world), Arc::clone(&addresses))))
            .collect();
        Self { world, sql, http, backends, addresses }
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub fn jdbc_url(&self) -> String {
        let hosts: Vec<String> = self.sql.iter().map(|p| p.address.to_string()).collect();
        format!("jdbc:mysql://{}", hosts.join(","))
    }

    pub fn load_url(&self) -> String {
        self.http.iter().map(|p| p.address.to_string()).collect::<Vec<_>>().join(";")
    }

    pub fn fault(&self, operation: &str, when: When, action: FaultAction, skip: u32, times: u32) {
        self.world().faults.push(Fault { operation: operation.to_owned(), skip, times, when, action });
    }

    /// A frontend goes away.
    pub fn stop_frontend(&self, i: usize) {
        self.sql[i].close();
        self.http[i].close();
    }

    /// A backend goes away, and with it the transactions that it coordinated and that were not prepared.
    pub fn stop_backend(&self, i: usize) {
        self.backends[i].close();
        self.addresses.lock().unwrap()[i] = None;
        let mut world = self.world();
        for t in 0..world.transactions.len() {
            if world.transactions[t].backend == i && world.transactions[t].state == "PREPARE" {
                world.abort(t, "coordinate BE is down");
            }
        }
    }

    pub fn start_backend(&mut self, i: usize) {
        let handler = backend_handler(Arc::clone(&self.world), i, Arc::clone(&self.addresses));
        self.backends[i].reopen(handler);
        self.addresses.lock().unwrap()[i] = Some(self.backends[i].address.to_string());
    }
}

fn sql_handler(world: Arc<Mutex<World>>) -> Handler {
    Arc::new(move |stream| mysql::serve(stream, Arc::clone(&world)))
}

fn frontend_handler(world: Arc<Mutex<World>>, addresses: Arc<Mutex<Vec<Option<String>>>>) -> Handler {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    Arc::new(move |stream| {
        let mut reader = BufReader::new(stream);
        let Ok(request) = http::read_head(&mut reader) else { return };
        let backends = addresses.lock().unwrap().clone();
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let name = frontend::operation(&request);
        // Only what the frontend does itself can fail here: a redirect has no effect that could get lost.
        let own = matches!(name, "commit" | "rollback" | "state");
        let fault = if own { strike(&mut world.lock().unwrap().faults, name) } else { None };
        respond(&mut reader, fault, "Status", || {
            let mut world = world.lock().unwrap();
            let response = frontend::answer(&mut world, &request, &backends, turn);
            if response.location.is_none() {
                let label = request.header("label").unwrap_or_default().to_owned();
                world.operations.push((name.to_owned(), label, "frontend".to_owned()));
            }
            response
        });
    })
}

fn backend_handler(world: Arc<Mutex<World>>, i: usize, addresses: Arc<Mutex<Vec<Option<String>>>>) -> Handler {
    Arc::new(move |stream| {
        let mut reader = BufReader::new(stream);
        let Ok(request) = http::read_head(&mut reader) else { return };
        let name = frontend::operation(&request);
        let fault = strike(&mut world.lock().unwrap().faults, name);
        let Ok(body) = http::read_body(&mut reader, &request) else { return };
        let address = addresses.lock().unwrap()[i].clone().unwrap_or_default();
        respond(&mut reader, fault, "Status", || {
            let mut world = world.lock().unwrap();
            let label = request.header("label").unwrap_or_default().to_owned();
            world.operations.push((name.to_owned(), label, format!("backend {i}")));
            backend::answer(&mut world, &request, &body, (i, &address))
        });
    })
}
