//! Ports that can be closed and opened again, and answers that break on demand.

use super::faults::{FaultAction, When};
use super::http;
use super::tls::Stream;
use std::io::BufReader;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A port that can be closed and opened again.
pub struct Port {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepts: Mutex<Option<thread::JoinHandle<()>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

pub type Handler = Arc<dyn Fn(TcpStream) + Send + Sync>;

impl Port {
    pub fn new(handler: Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut port = Self {
            address: listener.local_addr().unwrap(),
            stop: Arc::new(AtomicBool::new(false)),
            accepts: Mutex::new(None),
            open: Arc::new(Mutex::new(Vec::new())),
        };
        port.listen(listener, handler);
        port
    }

    fn listen(&mut self, listener: TcpListener, handler: Handler) {
        let stop = Arc::new(AtomicBool::new(false));
        self.stop = Arc::clone(&stop);
        let open = Arc::clone(&self.open);
        listener.set_nonblocking(true).unwrap();
        let accepts = thread::spawn(move || {
            while !stop.load(Ordering::Acquire) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        stream.set_nonblocking(false).unwrap();
                        stream.set_nodelay(true).unwrap();
                        let mut open = open.lock().unwrap();
                        open.retain(|s| s.peer_addr().is_ok());
                        open.push(stream.try_clone().unwrap());
                        let handler = Arc::clone(&handler);
                        let end = stream.try_clone().unwrap();
                        thread::spawn(move || {
                            handler(stream);
                            let _ = end.shutdown(Shutdown::Both);
                        });
                    }
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            }
        });
        *self.accepts.lock().unwrap() = Some(accepts);
    }

    /// From now on connections are refused, and those that are there are gone.
    pub fn close(&self) {
        self.stop.store(true, Ordering::Release);
        // When it has ended, its listener is gone, and what it took last is among the open ones.
        if let Some(accepts) = self.accepts.lock().unwrap().take() {
            accepts.join().unwrap();
        }
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn reopen(&mut self, handler: Handler) {
        // For a while another process may have the port at its end of a connection.
        let end = Instant::now() + Duration::from_secs(120);
        let listener = loop {
            match TcpListener::bind(self.address) {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < end, "{}: {error}", self.address),
            }
            thread::sleep(Duration::from_millis(20));
        };
        self.listen(listener, handler);
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// Acts and answers, or fails as a fault says. `status`: the field of an answer in which a refusal is told.
pub fn respond(
    reader: &mut BufReader<Stream>,
    fault: Option<(When, FaultAction)>,
    status: &str,
    act: impl FnOnce() -> http::Response,
) {
    let refusal = |words: &str| {
        http::Response::ok(serde_json::json!({status: "FAILED", "Message": words, "msg": words}).to_string())
    };
    let response = match fault {
        None => act(),
        Some((When::Before, late @ (FaultAction::Delay(_) | FaultAction::Wait(_)))) => {
            late.waits();
            act()
        }
        Some((When::After, late @ (FaultAction::Delay(_) | FaultAction::Wait(_)))) => {
            let response = act();
            late.waits();
            response
        }
        Some((when, action)) => {
            if when == When::After {
                act();
            }
            match action {
                FaultAction::Drop => return,
                FaultAction::Status500 => http::Response::status(500, "out of order"),
                FaultAction::Refuse(words) => refusal(&words),
                FaultAction::Delay(_) | FaultAction::Wait(_) => unreachable!(),
            }
        }
    };
    let _ = http::write(reader.get_mut(), &response);
}
