//! Servers that are none, or mean no good.

use proptest::prelude::*;
use rowferry::mysql::wire::{Authorities, ConnectOptions, Connection, TlsMode, WireError};
use rowferry_stand_ins::tls::{Authority, Stream};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::Duration;

const SSL: u32 = 1 << 11;
const COM_QUIT: u8 = 1;

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    out.push(sequence);
    out.extend_from_slice(payload);
    out
}

/// The greeting of a MySQL 8 with these capabilities besides the usual ones.
fn greeting(more: u32) -> Vec<u8> {
    // PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, PLUGIN_AUTH_LENENC, DEPRECATE_EOF.
    let capabilities: u32 = 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19 | 1 << 21 | 1 << 24 | more;
    let [a, b, c, d] = capabilities.to_le_bytes();
    let mut payload = b"\x0a8.0.36\0\x07\0\0\0abcdefgh\0".to_vec();
    payload.extend_from_slice(&[a, b, 45, 2, 0, c, d, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    payload.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &payload)
}

fn read_packet(stream: &mut impl Read) -> Vec<u8> {
    let mut head = [0; 4];
    if stream.read_exact(&mut head).is_err() {
        return Vec::new();
    }
    let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    let _ = stream.read_exact(&mut payload);
    payload
}

/// A server that treats its first connections so; gives what it makes of them.
fn server<T: Send + 'static>(
    serve: impl FnOnce(&TcpListener) -> T + Send + 'static,
) -> (ConnectOptions, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = ConnectOptions::new("127.0.0.1", listener.local_addr().unwrap().port(), "u");
    options.password = "s3cret-pw".into();
    options.connect_timeout = Duration::from_secs(60);
    options.tls = TlsMode::Disabled;
    (options, std::thread::spawn(move || serve(&listener)))
}

#[test]
fn a_password_is_not_sent_in_the_clear() {
    let (options, handle) = server(|listener| {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&greeting(0)).unwrap();
        let mut seen = read_packet(&mut stream);
        stream.write_all(&packet(2, b"\xfemysql_clear_password\0")).unwrap();
        seen.extend(read_packet(&mut stream));
        seen
    });
    let error = Connection::connect(&options).unwrap_err();
    assert!(matches!(error, WireError::Auth(_)) && error.to_string().contains("TLS"), "{error}");
    let seen = handle.join().unwrap();
    assert!(!seen.windows(9).any(|w| w == b"s3cret-pw"));
}

/// Whoever sits between may have a certificate too, and ask for it as well.
#[test]
fn a_password_in_clear_text_goes_to_a_server_that_is_known_by_its_certificate_only() {
    let authority = Authority::new();
    let mut pem = tempfile::NamedTempFile::new().unwrap();
    pem.write_all(authority.pem.as_bytes()).unwrap();
    let own = Authorities::Named(pem.path().to_owned());
    // Often the public ones, which sign for everybody.
    let environment = Authorities::Environment(pem.path().to_owned());
    for (mode, authorities, verified) in [
        (TlsMode::Preferred, &own, false),
        (TlsMode::Required, &own, false),
        (TlsMode::VerifyCa, &environment, false),
        (TlsMode::VerifyCa, &own, true),
        (TlsMode::VerifyIdentity, &environment, true),
    ] {
        let certificate = authority.server(&["127.0.0.1"]);
        let (mut options, handle) = server(move |listener| {
            let (mut plain, _) = listener.accept().unwrap();
            plain.write_all(&greeting(SSL)).unwrap();
            read_packet(&mut plain);
            let mut stream = Stream::accept(plain, certificate);
            let login = read_packet(&mut stream);
            assert!(login.len() > 32, "the login comes over TLS");
            stream.write_all(&packet(3, b"\xfemysql_clear_password\0")).unwrap();
            let answer = read_packet(&mut stream);
            let _ = stream.write_all(&packet(5, b"\xff\x15\x04#28000Access denied"));
            answer
        });
        options.tls = mode;
        options.authorities = authorities.clone();
        let error = Connection::connect(&options).unwrap_err();
        let answer = handle.join().unwrap();
        assert!(matches!(error, WireError::Auth(_)) && !error.is_transient(), "{mode:?}: {error}");
        let words = error.to_string();
        if verified {
            assert_eq!(answer, b"s3cret-pw\0", "{mode:?}");
            assert!(words.contains("Access denied"), "{mode:?}: {words}");
        } else {
            assert_eq!(answer, [COM_QUIT], "{mode:?}: nothing but a farewell");
            for word in ["mysql_clear_password", "only over TLS", "jdbc.properties.sslMode", "VERIFY_CA"] {
                assert!(words.contains(word), "{mode:?}: `{word}` is not in: {words}");
            }
        }
    }
}

/// A server that hangs, or is slow without end, may answer after its restart: the pipeline tries again.
#[test]
fn a_handshake_without_end_is_given_up_and_tried_again() {
    for byte_by_byte in [false, true] {
        let (mut options, handle) = server(move |listener| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&greeting(SSL)).unwrap();
            read_packet(&mut stream);
            // The head of a handshake's record of 16,000 bytes, and then its bytes.
            let mut record = [22, 3, 3, 62, 128].into_iter().chain(std::iter::repeat(0));
            while byte_by_byte && stream.write_all(&[record.next().unwrap()]).is_ok() {
                std::thread::sleep(Duration::from_millis(2));
            }
            // Until the client has gone.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        options.tls = TlsMode::Required;
        options.connect_timeout = Duration::from_millis(500);
        let error = Connection::connect(&options).unwrap_err();
        assert!(matches!(error, WireError::Timeout { .. }) && error.is_transient(), "{byte_by_byte}: {error}");
        assert!(error.to_string().contains("TLS handshake"), "{error}");
        handle.join().unwrap();
    }
}

#[test]
fn preferred_goes_on_without_tls_that_does_not_work_and_required_does_not() {
    for (mode, connections) in [(TlsMode::Preferred, 2), (TlsMode::Required, 1)] {
        let (mut options, handle) = server(move |listener| {
            let mut asked_for_tls = Vec::new();
            for _ in 0..connections {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&greeting(SSL)).unwrap();
                let answer = read_packet(&mut stream);
                let flags = u32::from_le_bytes(answer[..4].try_into().unwrap());
                asked_for_tls.push(flags & SSL != 0);
                // As a server that speaks only old versions: the handshake ends at once.
                if flags & SSL == 0 {
                    stream.write_all(&packet(2, b"\xff\x15\x04#28000Access denied")).unwrap();
                }
            }
            asked_for_tls
        });
        options.tls = mode;
        let error = Connection::connect(&options).unwrap_err();
        let asked = handle.join().unwrap();
        match mode {
            TlsMode::Preferred => {
                assert!(matches!(error, WireError::Auth(_)), "{error}");
                assert_eq!(asked, [true, false]);
            }
            _ => {
                assert!(matches!(error, WireError::Tls(_)), "{error}");
                assert_eq!(asked, [true]);
            }
        }
    }
}

#[test]
fn required_refuses_a_server_without_tls() {
    let (mut options, handle) = server(|listener| {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&greeting(0)).unwrap();
        read_packet(&mut stream)
    });
    options.tls = TlsMode::Required;
    assert!(matches!(Connection::connect(&options), Err(WireError::Tls(_))));
    assert!(handle.join().unwrap().is_empty(), "nothing was sent");
}

#[test]
fn a_silent_server_ends_in_a_timeout() {
    let (mut options, handle) = server(|listener| listener.accept().unwrap());
    options.connect_timeout = Duration::from_millis(200);
    let error = Connection::connect(&options).unwrap_err();
    assert!(matches!(error, WireError::Timeout { .. }), "{error}");
    drop(handle.join().unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes after the greeting, at login or as the answer to a statement: an error, never a panic.
    #[test]
    fn garbage_is_an_error(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        logged_in in any::<bool>(),
    ) {
        let (options, handle) = server(move |listener| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&greeting(0)).unwrap();
            read_packet(&mut stream);
            if logged_in {
                stream.write_all(&packet(2, &[0, 0, 0, 2, 0, 0, 0])).unwrap();
                read_packet(&mut stream);
            }
            for (i, payload) in packets.iter().enumerate() {
                let sequence = i as u8 + if logged_in { 1 } else { 2 };
                if stream.write_all(&packet(sequence, payload)).is_err() {
                    break;
                }
            }
        });
        prop_assert!(Connection::connect(&options).is_err());
        handle.join().unwrap();
    }
}
