//! A TCP proxy that a test can stall, cut and turn to another server: what a network does at its worst.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A proxy in front of a server. While it is stalled, connections stay open and nothing passes.
pub(crate) struct Proxy {
    address: SocketAddr,
    stalled: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    target: Arc<Mutex<String>>,
    accepted: Arc<AtomicUsize>,
}

impl Proxy {
    pub(crate) fn before(host: &str, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stalled = Arc::new(AtomicBool::new(false));
        let open = Arc::new(Mutex::new(Vec::new()));
        let target = Arc::new(Mutex::new(format!("{host}:{port}")));
        let (stall, streams, to) = (Arc::clone(&stalled), Arc::clone(&open), Arc::clone(&target));
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let address = to.lock().unwrap().clone();
                let Ok(server) = TcpStream::connect(address) else { continue };
                let mut kept = streams.lock().unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to, stall) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&stall));
                    kept.push(from.try_clone().unwrap());
                    std::thread::spawn(move || pump(from, to, &stall));
                }
            }
        });
        Self { address, stalled, open, target, accepted }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there have been.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Lets nothing pass any more, or lets it pass again.
    pub(crate) fn stall(&self, stalled: bool) {
        self.stalled.store(stalled, Ordering::SeqCst);
    }

    /// Connections lead to another server from now on; those that are open are cut.
    pub(crate) fn turn_to(&self, host: &str, port: u16) {
        *self.target.lock().unwrap() = format!("{host}:{port}");
        self.cut();
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, stalled: &AtomicBool) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        while stalled.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
