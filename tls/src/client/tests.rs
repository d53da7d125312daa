#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{Client, Identity};
use crate::authorities::Authorities;
use crate::error::{HandshakeError, SetUpError};
use crate::mode::TlsMode;
use crate::stream::Stream;
use rowferry_stand_ins::tls::{Authority, Stream as ServerStream};
use rowferry_stand_ins::trickle::Trickle;
use rustls::{CertificateError, ServerConfig};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn named(path: &Path) -> Authorities {
    Authorities::Named(path.to_owned())
}

/// A connection with whoever serves so.
fn connect<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static) -> (TcpStream, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    let socket = TcpStream::connect(address).unwrap();
    // Nobody waits for ever for a test that has failed.
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    (socket, server)
}

/// More than two TLS records hold.
fn rows() -> Vec<u8> {
    (0..40_000_u32).map(|n| (n % 251) as u8).collect()
}

/// Answers a question with rows.
fn answer(mut stream: ServerStream) -> io::Result<()> {
    let mut question = [0; 8];
    stream.read_exact(&mut question)?;
    assert_eq!(&question, b"question");
    stream.write_all(&rows())?;
    stream.close()
}

fn ask(stream: &mut (impl Read + Write)) -> io::Result<()> {
    stream.write_all(b"question")?;
    stream.flush()?;
    let mut got = vec![0; rows().len()];
    stream.read_exact(&mut got)?;
    assert!(got == rows(), "the rows are as they were sent");
    Ok(())
}

/// The handshake with a server with this certificate.
fn hands_with(
    client: &Client,
    certificate: Arc<ServerConfig>,
    host: &str,
) -> (Result<Stream, HandshakeError>, JoinHandle<io::Result<()>>) {
    let (socket, server) = connect(move |tcp| answer(ServerStream::accept(tcp, certificate)));
    (client.start(host, socket, None), server)
}

#[test]
fn what_comes_byte_by_byte_is_what_was_sent() {
    let authority = Authority::new();
    let pem = file(&authority.pem);
    for mode in TlsMode::ALL.into_iter().filter(|mode| *mode != TlsMode::Disabled) {
        let client = Client::new(mode, &named(pem.path()), None).unwrap();
        let certificate = authority.server(&["localhost"]);
        let (socket, server) = connect(move |tcp| answer(ServerStream::accept(tcp, certificate)));
        let mut stream = client.start("localhost", Trickle(socket), None).unwrap();
        assert!(stream.is_tls());
        ask(&mut stream).unwrap();
        server.join().unwrap().unwrap();
    }
    let (socket, server) = connect(|tcp| answer(ServerStream::Plain(tcp)));
    let mut stream = Stream::Plain(Trickle(socket));
    assert!(!stream.is_tls());
    ask(&mut stream).unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn a_mode_trusts_what_it_says() {
    let authority = Authority::new();
    let (right, wrong) = (file(&authority.pem), file(&Authority::new().pem));
    let here = "fe.example";
    for (mode, authority_file, name, trusted) in [
        (TlsMode::Preferred, &wrong, "elsewhere.example", true),
        (TlsMode::Required, &wrong, "elsewhere.example", true),
        (TlsMode::VerifyCa, &right, "elsewhere.example", true),
        (TlsMode::VerifyCa, &wrong, here, false),
        (TlsMode::VerifyIdentity, &right, here, true),
        (TlsMode::VerifyIdentity, &right, "elsewhere.example", false),
        (TlsMode::VerifyIdentity, &wrong, here, false),
    ] {
        let client = Client::new(mode, &named(authority_file.path()), None).unwrap();
        let (result, server) = hands_with(&client, authority.server(&[name]), here);
        match result {
            Ok(mut stream) => {
                assert!(trusted, "{mode}: a certificate for {name}");
                ask(&mut stream).unwrap();
                server.join().unwrap().unwrap();
            }
            Err(error) => {
                assert!(!trusted, "{mode}: a certificate for {name}: {error}");
                let certificate = matches!(error, HandshakeError::Refused(rustls::Error::InvalidCertificate(_)));
                assert!(certificate && error.to_string().contains("the handshake failed"), "{mode}: {error}");
                server.join().unwrap().unwrap_err();
            }
        }
    }
    // The public authorities have not signed it.
    let client = Client::new(TlsMode::VerifyCa, &Authorities::Public, None).unwrap();
    let (result, _) = hands_with(&client, authority.server(&[here]), here);
    let unknown = HandshakeError::Refused(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer));
    assert_eq!(result.unwrap_err().to_string(), unknown.to_string());
}

#[test]
fn a_client_shows_its_own_certificate_where_it_has_one() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (certificate, key) = clients.client();
    let (certificate, key) = (file(&certificate), file(&key));
    let identity = Identity { certificate: certificate.path().to_owned(), key: key.path().to_owned() };
    for (identity, taken) in [(Some(&identity), true), (None, false)] {
        let client = Client::new(TlsMode::Required, &Authorities::Public, identity).unwrap();
        let (result, server) = hands_with(&client, authority.server_that_asks(&["h"], Some(&clients)), "h");
        // In TLS 1.3 the client is done before the server has looked at its certificate.
        let _ = result.map(|mut stream| ask(&mut stream));
        assert_eq!(server.join().unwrap().is_ok(), taken);
    }
    let swapped = Identity { certificate: identity.key.clone(), key: identity.certificate };
    let error = Client::new(TlsMode::Required, &Authorities::Public, Some(&swapped)).unwrap_err();
    assert!(matches!(error, SetUpError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains(&identity.key.display().to_string()), "{error}");
}

#[test]
fn a_handshake_that_breaks_off_is_told_from_one_that_is_refused() {
    let client = Client::new(TlsMode::Required, &Authorities::Public, None).unwrap();
    let (socket, _server) = connect(drop);
    let error = client.start("h", socket, None).unwrap_err();
    assert!(matches!(error, HandshakeError::Broken(_)), "{error}");
    let (socket, _server) = connect(|mut tcp| tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let error = client.start("h", socket, None).unwrap_err();
    assert!(matches!(error, HandshakeError::Refused(_)), "{error}");
    // Kept open until the client has given up.
    let (socket, _server) = connect(|tcp| tcp);
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let HandshakeError::Broken(error) = client.start("h", socket, None).unwrap_err() else { panic!("no time-out") };
    assert!(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{error}");
    let (socket, _server) = connect(drop);
    let error = client.start("no host", socket, None).unwrap_err();
    assert!(matches!(error, HandshakeError::Host { .. }) && error.to_string().contains("`no host`"), "{error}");
}

/// No read takes long, and there is no end to them.
#[test]
fn a_server_that_sends_byte_by_byte_meets_the_deadline() {
    let (socket, server) = connect(|mut tcp| {
        // The head of a handshake's record of 16,000 bytes, and then its bytes.
        let mut next = [22, 3, 3, 62, 128].into_iter().chain(std::iter::repeat(0));
        while tcp.write_all(&[next.next().unwrap()]).is_ok() {
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    let client = Client::new(TlsMode::Required, &Authorities::Public, None).unwrap();
    let start = Instant::now();
    let error = client.start("h", socket, Some(start + Duration::from_millis(200))).unwrap_err();
    assert!(matches!(&error, HandshakeError::Broken(e) if e.kind() == io::ErrorKind::TimedOut), "{error}");
    assert!(start.elapsed() >= Duration::from_millis(200));
    server.join().unwrap();
}

#[test]
fn authorities_that_cannot_be_read_are_told_with_their_file_where_they_are_needed() {
    let (nothing, text) = (file(""), file("no PEM\n"));
    for (path, words) in [
        ("/nonexistent/ca.pem".as_ref(), "No such file"),
        (nothing.path(), "there is none, as PEM"),
        (text.path(), "there is none, as PEM"),
    ] {
        for mode in [TlsMode::VerifyCa, TlsMode::VerifyIdentity] {
            let error = Client::new(mode, &named(path), None).unwrap_err();
            assert!(matches!(error, SetUpError::Unreadable { .. }), "{error}");
            let told = error.to_string();
            assert!(told.contains(words) && told.contains(&path.display().to_string()), "{told}");
        }
        Client::new(TlsMode::Required, &named(path), None).unwrap();
    }
    let error = Client::new(
        TlsMode::VerifyCa,
        &named(file("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").path()),
        None,
    );
    assert!(matches!(error, Err(SetUpError::NoAuthority { .. })), "{error:?}");
}

/// A public authority signs for everybody: who has a certificate for another name is not known by it.
#[test]
fn a_server_is_known_by_its_name_or_by_an_authority_of_its_own() {
    let pem = file(&Authority::new().pem);
    let own = named(pem.path());
    let environment = Authorities::Environment(pem.path().to_owned());
    for (mode, authorities, known) in [
        (TlsMode::Preferred, &own, false),
        (TlsMode::Required, &own, false),
        (TlsMode::VerifyCa, &Authorities::Public, false),
        (TlsMode::VerifyCa, &environment, false),
        (TlsMode::VerifyCa, &own, true),
        (TlsMode::VerifyIdentity, &Authorities::Public, true),
        (TlsMode::VerifyIdentity, &environment, true),
    ] {
        assert_eq!(Client::new(mode, authorities, None).unwrap().identifies(), known, "{mode} {authorities:?}");
    }
}

#[test]
fn an_authority_counts_beside_what_is_none() {
    let authority = Authority::new();
    let none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let pem = file(&format!("{none}{}", authority.pem));
    let client = Client::new(TlsMode::VerifyIdentity, &named(pem.path()), None).unwrap();
    let (result, server) = hands_with(&client, authority.server(&["h"]), "h");
    ask(&mut result.unwrap()).unwrap();
    server.join().unwrap().unwrap();
}
