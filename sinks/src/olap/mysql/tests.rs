#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::packet::{Reader, read, write};
use super::session::native_scramble;
use rowferry_stand_ins::tls::{Authority, Stream as ServerStream};
use rowferry_stand_ins::trickle::Trickle;
use rowferry_tls::{Authorities, Client, Stream, TlsMode};
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};

#[test]
fn a_payload_of_the_greatest_chunk_is_followed_by_an_empty_packet() {
    for len in [0, 1, 0xff_fffe, 0xff_ffff, 0x100_0000] {
        let payload = vec![7; len];
        let (mut out, mut sequence) = (Vec::new(), 3);
        write(&mut out, &mut sequence, &payload).unwrap();
        assert_eq!(out.len(), len + 4 * (len / 0xff_ffff + 1));
        let mut read_sequence = 0;
        assert_eq!(read(&mut out.as_slice(), &mut read_sequence).unwrap(), payload);
        assert_eq!(read_sequence, sequence);
    }
}

#[test]
fn the_scramble_is_the_protocols() {
    assert!(native_scramble("", b"12345678901234567890").is_empty());
    // What the server does to check it: SHA1(answer XOR SHA1(nonce, stored)) == stored.
    use sha1::{Digest, Sha1};
    let nonce = b"PbuXc[OYcKenjpWR^Xb\0";
    let stored = Sha1::digest(Sha1::digest(b"secret"));
    let mask = Sha1::new().chain_update(nonce).chain_update(stored).finalize();
    let once: Vec<u8> = native_scramble("secret", nonce).iter().zip(mask).map(|(a, b)| a ^ b).collect();
    assert_eq!(Sha1::digest(once), stored);
}

#[test]
fn length_encoded_values() {
    assert_eq!(Reader(&[0xfb]).lenenc_bytes(), Some(None));
    assert_eq!(Reader(&[2, b'a', b'b']).lenenc_bytes(), Some(Some(b"ab".as_slice())));
    assert_eq!(Reader(&[0xfc, 1, 1]).lenenc(), Some(Some(257)));
    assert_eq!(Reader(&[0xfd, 0, 0, 1]).lenenc(), Some(Some(65536)));
    assert_eq!(Reader(&[3, b'a']).lenenc_bytes(), None);
}

#[test]
fn packets_that_come_byte_by_byte_over_tls_and_without_are_what_was_sent() {
    let payloads = || [0, 1, 250, 20_000, 3].map(|len: usize| vec![len as u8; len]);
    for encrypted in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let tcp = listener.accept().unwrap().0;
            let certificate = Authority::new().server(&["localhost"]);
            let mut stream = if encrypted { ServerStream::accept(tcp, certificate) } else { ServerStream::Plain(tcp) };
            let question = read(&mut stream, &mut 0).unwrap();
            let mut sequence = 1;
            for payload in payloads() {
                write(&mut stream, &mut sequence, &payload).unwrap();
            }
            question
        });
        let socket = Trickle(TcpStream::connect(address).unwrap());
        let stream = match encrypted {
            true => Client::new(TlsMode::Required, &Authorities::Public, None)
                .unwrap()
                .start("localhost", socket, None)
                .unwrap(),
            false => Stream::Plain(socket),
        };
        let (mut stream, mut sequence) = (BufReader::new(stream), 0);
        write(stream.get_mut(), &mut sequence, b"SELECT 1").unwrap();
        for payload in payloads() {
            assert_eq!(read(&mut stream, &mut sequence).unwrap(), payload);
        }
        assert_eq!(server.join().unwrap(), b"SELECT 1");
        assert_eq!(sequence, 1 + payloads().len() as u8);
    }
}
