//! The HTTP port: `/healthz` and `/metrics`. Off unless asked for.

use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Bytes of a request's head that are read before it is refused.
const MAX_HEAD: usize = 8 * 1024;

/// Answers on an address until the task is dropped.
///
/// # Errors
/// The address can't be bound.
pub async fn serve(address: &str, metrics: Arc<Metrics>) -> Result<tokio::task::JoinHandle<()>> {
    let listener = TcpListener::bind(address).await.map_err(|e| {
        Error::new(ErrorKind::Config, "RF-CFG-010", "the HTTP address can't be used")
            .with("address", address)
            .caused_by(e)
    })?;
    tracing::info!(address = %listener.local_addr().map(|a| a.to_string()).unwrap_or_default(), "answering HTTP");
    Ok(tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let metrics = metrics.clone();
            tokio::spawn(async move {
                let _ = tokio::time::timeout(Duration::from_secs(5), answer(stream, &metrics)).await;
            });
        }
    }))
}

async fn answer(mut stream: TcpStream, metrics: &Metrics) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") && head.len() < MAX_HEAD {
        match stream.read(&mut chunk).await? {
            0 => return Ok(()),
            n => head.extend_from_slice(chunk.get(..n).unwrap_or_default()),
        }
    }
    let text = String::from_utf8_lossy(&head);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = match (method, path.split('?').next().unwrap_or_default()) {
        ("GET" | "HEAD", "/healthz") => ("200 OK", "text/plain; charset=utf-8", "ok\n".to_owned()),
        ("GET" | "HEAD", "/metrics") => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics.render()),
        ("GET" | "HEAD", _) => {
            ("404 Not Found", "text/plain; charset=utf-8", "there is /healthz and /metrics\n".to_owned())
        }
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}
