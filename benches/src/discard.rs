//! A server that takes loads of either kind and throws them away.

use crate::Result;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The listening server; it ends with the process.
pub(crate) struct Discard {
    address: SocketAddr,
    bytes: Arc<AtomicU64>,
}

impl Discard {
    /// Starts it on a free port.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&bytes);
        let labels = Arc::new(Mutex::new(HashSet::new()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counter, labels) = (Arc::clone(&counter), Arc::clone(&labels));
                thread::spawn(move || serve(stream, &counter, &labels));
            }
        });
        Ok(Self { address, bytes })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many bytes of bodies have come.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Answers one request. A label is known once a load or a transaction has named it: a sink asks for those that a crash may
/// have left, one after the other, until it comes to one that is not known.
fn serve(stream: TcpStream, counter: &AtomicU64, labels: &Mutex<HashSet<String>>) -> Option<()> {
    let mut reader = BufReader::with_capacity(1 << 18, stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut waits) = (0_u64, false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(n) = header.strip_prefix("content-length:") {
            length = n.trim().parse().ok()?;
        }
        if let Some(label) = header.strip_prefix("label:") {
            labels.lock().unwrap_or_else(PoisonError::into_inner).insert(label.trim().to_owned());
        }
        waits |= header == "expect: 100-continue";
    }
    if waits {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).ok()?;
    counter.fetch_add(length, Ordering::Relaxed);
    // What either sink takes for success, whatever it asked.
    let asked = path.split_once("label=").map(|(_, label)| label.replace("%3A", ":").to_ascii_lowercase());
    let known = asked.is_some_and(|l| labels.lock().unwrap_or_else(PoisonError::into_inner).contains(&l));
    let state = if known { "VISIBLE" } else { "UNKNOWN" };
    let body = if path.contains("get_load_state") {
        format!("{{\"status\":\"OK\",\"msg\":\"\",\"code\":0,\"data\":\"{state}\",\"state\":\"{state}\"}}")
    } else if path.ends_with("_stream_load_2pc") {
        "{\"status\":\"Success\",\"msg\":\"\"}".to_owned()
    } else if path.ends_with("_stream_load") {
        "{\"Status\":\"Success\",\"Message\":\"OK\",\"TxnId\":1}".to_owned()
    } else {
        "{\"Status\":\"OK\",\"Message\":\"\",\"TxnId\":1}".to_owned()
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    reader.get_mut().write_all(head.as_bytes()).and_then(|()| reader.get_mut().write_all(body.as_bytes())).ok()
}
