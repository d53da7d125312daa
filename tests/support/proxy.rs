//! A TCP proxy that a test can stall, cut and turn to another server: what a network does at its worst.

use super::rowferry::{PATIENCE, Running};
use rowferry::mysql::catalog::quote_table;
use rowferry::mysql::wire::ConnectOptions;
use rowferry_model::TableId;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A proxy in front of a server. While it is stalled, connections stay open and nothing passes.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    stalled: AtomicBool,
    trickling: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    target: Mutex<String>,
    accepted: AtomicUsize,
    hold: Mutex<Option<Hold>>,
}

/// Which reads of chunks are held back.
struct Hold {
    /// What follows `SELECT … FROM`: the table as it is quoted.
    table: String,
    /// How many may still pass.
    pass: usize,
    /// How many have been held.
    held: usize,
}

impl Proxy {
    pub(crate) fn before(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            stalled: AtomicBool::new(false),
            trickling: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
            target: Mutex::new(format!("{host}:{port}")),
            accepted: AtomicUsize::new(0),
            hold: Mutex::new(None),
        });
        let proxy = Self { address, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                // Locked before the target is looked at: a connection to a server that is not the target any more must
                // be among those that are cut.
                let mut kept = shared.open.lock().unwrap();
                let address = shared.target.lock().unwrap().clone();
                let Ok(server) = TcpStream::connect(address) else { continue };
                for (from, to, asks) in [(&client, &server, true), (&server, &client, false)] {
                    let (from, to, shared) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&shared));
                    kept.push(from.try_clone().unwrap());
                    std::thread::spawn(move || pump(from, to, asks, &shared));
                }
            }
        });
        proxy
    }

    /// The server's options with the proxy's address in the place of its own.
    pub(crate) fn through(&self, server: &ConnectOptions) -> ConnectOptions {
        let mut through = server.clone();
        through.host = self.address.ip().to_string();
        through.port = self.address.port();
        through
    }

    /// How many connections there have been.
    pub(crate) fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// Lets nothing pass any more, or lets it pass again.
    pub(crate) fn stall(&self, stalled: bool) {
        self.shared.stalled.store(stalled, Ordering::SeqCst);
    }

    /// Hands all on byte by byte from now on.
    pub(crate) fn trickle(&self) {
        self.shared.trickling.store(true, Ordering::SeqCst);
    }

    /// Lets so many reads of a table's chunks pass and holds back all that come after them, each with its connection: a
    /// snapshot that stays in its middle however fast the machine is.
    pub(crate) fn hold_chunks(&self, database: &str, table: &str, pass: usize) {
        let table = format!(" FROM {}", quote_table(&TableId::new(database, table)));
        *self.shared.hold.lock().unwrap() = Some(Hold { table, pass, held: 0 });
    }

    /// Waits until so many reads of this program are held back.
    pub(crate) fn wait_until_held(&self, running: &mut Running, count: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            let held = self.shared.hold.lock().unwrap().as_ref().map_or(0, |hold| hold.held);
            if held >= count {
                return;
            }
            let on = running.is_running() && Instant::now() < end;
            assert!(on, "{held} reads of chunks have come, not {count}:\n{}", running.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Lets all pass that was held back.
    pub(crate) fn release(&self) {
        *self.shared.hold.lock().unwrap() = None;
    }

    /// Connections lead to another server from now on; those that are open are cut.
    pub(crate) fn turn_to(&self, host: &str, port: u16) {
        *self.shared.target.lock().unwrap() = format!("{host}:{port}");
        self.cut();
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Nothing waits for a test that is over.
        self.release();
        self.stall(false);
        self.cut();
    }
}

impl Shared {
    /// Whether this is a read of a chunk that is to be held back; counts it.
    fn holds(&self, sent: &[u8]) -> bool {
        let mut hold = self.hold.lock().unwrap();
        let Some(hold) = hold.as_mut() else { return false };
        let has = |text: &str| sent.windows(text.len()).any(|w| w == text.as_bytes());
        // Those with a LIMIT or a MIN look for the bounds of chunks.
        if !has(&hold.table) || !has(" ORDER BY ") || has(" LIMIT ") || has("MIN(") {
            return false;
        }
        if hold.pass > 0 {
            hold.pass -= 1;
            return false;
        }
        hold.held += 1;
        true
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, asks: bool, shared: &Shared) {
    let mut buffer = [0; 64 * 1024];
    // What is written by itself goes by itself.
    let _ = to.set_nodelay(true);
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let held = asks && shared.holds(&buffer[..n]);
        while shared.stalled.load(Ordering::SeqCst) || (held && shared.hold.lock().unwrap().is_some()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let step = if shared.trickling.load(Ordering::SeqCst) { 1 } else { n };
        if buffer[..n].chunks(step).try_for_each(|bytes| to.write_all(bytes)).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
