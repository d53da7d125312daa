#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{Client, Request, Timeouts};
use crate::olap::secret::Secret;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use ureq::http::Method;
use url::Url;

/// A frontend that keeps connections, unless it is asked not to: it sends loads on without `100 Continue`.
#[test]
fn a_redirect_instead_of_100_continue_is_not_waited_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let node = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let server = std::thread::spawn(move || {
        let mut bodies = Vec::new();
        for answer in ["307 Temporary Redirect\r\nlocation: /there", "200 OK"] {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                let start = head.len();
                reader.read_line(&mut head).unwrap();
                if let Some(n) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            if answer.starts_with("200") {
                reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
                reader.read_exact(&mut body).unwrap();
                bodies.push(body);
            }
            write!(reader.get_mut(), "HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n").unwrap();
            if !head.to_ascii_lowercase().contains("\r\nconnection: close\r\n") {
                std::thread::sleep(Duration::from_secs(3));
            }
        }
        bodies
    });
    let second = Duration::from_secs(1);
    let timeouts = Timeouts { connect: second, wait_for_continue: second, answer: Some(2 * second) };
    let client = Client::new("u", &Secret::new("p"), timeouts).unwrap();
    let request = Request { method: Method::PUT, path: "/here", headers: &[], body: b"rows", expect_continue: true };
    let start = Instant::now();
    let answer = client.send(&node, &request).unwrap();
    assert_eq!(answer.status, 200);
    assert!(start.elapsed() < second, "{:?}", start.elapsed());
    assert_eq!(server.join().unwrap(), [b"rows"]);
}
