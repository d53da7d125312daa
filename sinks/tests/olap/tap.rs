//! Listens to a connection, and breaks it where TLS begins.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What becomes of MySQL's request to go on with TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Pass,
    /// The connection ends.
    Cut,
    /// Nothing comes any more.
    Hold,
    /// All goes on, but byte by byte, both ways.
    Trickle,
}

/// A port that hands everything on to another, and keeps what it has seen.
pub struct Tap {
    pub address: String,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    pub fn new(to: String) -> Self {
        Self::with(to, Request::Pass)
    }

    pub fn with(to: String, request: Request) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&to).unwrap();
                let (back, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let (there, again) = (Arc::clone(&all), Arc::clone(&all));
                thread::spawn(move || copy(client, server, &there, request));
                let answers = if request == Request::Trickle { request } else { Request::Pass };
                thread::spawn(move || copy(back, to_client, &again, answers));
            }
        });
        Self { address, seen }
    }

    /// Whether these bytes have gone one way or the other.
    pub fn saw(&self, bytes: &str) -> bool {
        self.seen.lock().unwrap().windows(bytes.len()).any(|window| window == bytes.as_bytes())
    }

    pub fn is_untouched(&self) -> bool {
        self.seen.lock().unwrap().is_empty()
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, seen: &Mutex<Vec<u8>>, request: Request) {
    let mut buffer = [0; 16384];
    // Each write is a segment of its own.
    to.set_nodelay(true).unwrap();
    while let Ok(n) = from.read(&mut buffer) {
        let bytes = &buffer[..n];
        // Capability 11, and nothing behind what a login begins with. The handshake may have come with it.
        let asks_for_tls = n >= 36 && bytes[..4] == [32, 0, 0, 1] && bytes[5] & 8 != 0;
        if n == 0 || (asks_for_tls && request == Request::Cut) {
            break;
        }
        seen.lock().unwrap().extend_from_slice(bytes);
        if asks_for_tls && request == Request::Hold {
            while from.read(&mut buffer).is_ok_and(|n| n > 0) {}
            break;
        }
        let step = if request == Request::Trickle { 1 } else { n };
        if bytes.chunks(step).try_for_each(|bytes| to.write_all(bytes)).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
