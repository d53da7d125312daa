//! HTTP/1.1, one request a connection.

use crate::tls::Stream;
use std::io::{self, BufRead, BufReader, Read, Write};

#[derive(Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    #[allow(dead_code, reason = "one of the two stand-ins looks at it")]
    pub version: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    pub fn expects_continue(&self) -> bool {
        self.header("expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        url::form_urlencoded::parse(self.query.as_bytes()).find(|(k, _)| k == name).map(|(_, v)| v.into_owned())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub location: Option<String>,
    pub body: String,
}

impl Response {
    pub fn ok(body: impl Into<String>) -> Self {
        Self { status: 200, location: None, body: body.into() }
    }

    pub fn redirect(to: String) -> Self {
        Self { status: 307, location: Some(to), body: String::new() }
    }

    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self { status, location: None, body: body.into() }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            307 => "Temporary Redirect",
            401 => "Unauthorized",
            404 => "Not Found",
            500 => "Internal Server Error",
            501 => "Not Implemented",
            _ => "Other",
        }
    }
}

/// Reads the head of a request.
pub fn read_head(reader: &mut BufReader<Stream>) -> io::Result<Request> {
    if reader.fill_buf()?.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
        write(reader.get_mut(), &Response::status(400, "this is no HTTP"))?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut line = Vec::new();
    let mut next = |reader: &mut BufReader<Stream>| -> io::Result<String> {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
    };
    let first = next(reader)?;
    let mut parts = first.split(' ');
    let (method, target, version) =
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        version: version.to_owned(),
        headers: Vec::new(),
    };
    loop {
        let line = next(reader)?;
        if line.is_empty() {
            return Ok(request);
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// Reads the body, having said that it may come.
pub fn read_body(reader: &mut BufReader<Stream>, request: &Request) -> io::Result<Vec<u8>> {
    if request.expects_continue() {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if request.header("transfer-encoding").is_some() {
        return Err(io::Error::other("chunked bodies are not modelled"));
    }
    let len = request.header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    Ok(body)
}

pub fn write(stream: &mut Stream, response: &Response) -> io::Result<()> {
    let location = response.location.as_ref().map(|l| format!("location: {l}\r\n")).unwrap_or_default();
    let text = format!(
        "HTTP/1.1 {} {}\r\ncontent-length: {}\r\n{location}content-type: application/json\r\nconnection: close\r\n\r\n{}",
        response.status,
        response.reason(),
        response.body.len(),
        response.body
    );
    stream.write_all(text.as_bytes())?;
    stream.close()
}
