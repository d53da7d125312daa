#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use proptest::prelude::*;
use rowferry_stand_ins::tls::{Authority, Stream as ServerStream};
use rowferry_stand_ins::trickle::Trickle as OneByOne;
use rowferry_tls::{Authorities, Client, Stream, TlsMode};
use std::io::Cursor;
use std::net::{TcpListener, TcpStream};

/// Gives at most so many bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.len().min(self.1).min(buf.len());
        buf[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn written(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sequence = 0;
    for payload in payloads {
        write_packet(&mut bytes, &mut sequence, payload).unwrap();
    }
    bytes
}

#[test]
fn chunks_follow_the_documented_rule() {
    // A payload of exactly 2^24-1 bytes is followed by an empty packet.
    let bytes = written(&[vec![7; MAX_CHUNK]]);
    assert_eq!(bytes[..4], [0xff, 0xff, 0xff, 0]);
    assert_eq!(bytes[4 + MAX_CHUNK..], [0, 0, 0, 1]);
    for len in [MAX_CHUNK - 1, MAX_CHUNK, MAX_CHUNK + 1, 2 * MAX_CHUNK, 2 * MAX_CHUNK + 5] {
        let payloads = [vec![1; len], vec![2; 3]];
        let bytes = written(&payloads);
        let mut source = Cursor::new(bytes);
        let mut reader = PacketReader::default();
        assert_eq!(reader.next(&mut source).unwrap(), payloads[0]);
        assert_eq!(reader.next(&mut source).unwrap(), payloads[1]);
        assert!(matches!(reader.next(&mut source), Err(WireError::Closed)));
    }
}

#[test]
fn packets_that_come_byte_by_byte_over_tls_and_without_are_what_was_sent() {
    let payloads = || [0, 1, 250, 40_000, 3].map(|len: usize| vec![len as u8; len]);
    for encrypted in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let tcp = listener.accept().unwrap().0;
            let certificate = Authority::new().server(&["localhost"]);
            let mut stream = if encrypted { ServerStream::accept(tcp, certificate) } else { ServerStream::Plain(tcp) };
            let mut reader = PacketReader::default();
            let question = reader.next(&mut stream).unwrap().to_vec();
            for payload in payloads() {
                write_packet(&mut stream, reader.sequence_mut(), &payload).unwrap();
            }
            question
        });
        let socket = OneByOne(TcpStream::connect(address).unwrap());
        let mut stream = match encrypted {
            true => Client::new(TlsMode::Required, &Authorities::Public, None)
                .unwrap()
                .start("localhost", socket, None)
                .unwrap(),
            false => Stream::Plain(socket),
        };
        // A packet is larger than the buffer, another is not.
        let mut reader = PacketReader::with_buffer(1024);
        write_packet(&mut stream, reader.sequence_mut(), b"SELECT 1").unwrap();
        for payload in payloads() {
            assert_eq!(reader.next(&mut stream).unwrap(), payload);
        }
        assert_eq!(server.join().unwrap(), b"SELECT 1");
    }
}

#[test]
fn memory_of_a_large_packet_is_given_back() {
    let mut payloads = vec![vec![1; 3_000_000]];
    payloads.resize(1 + KEEP_ASSEMBLED_FOR as usize, vec![2; 10]);
    let mut source = Cursor::new(written(&payloads));
    let mut reader = PacketReader::default();
    assert_eq!(reader.next(&mut source).unwrap().len(), 3_000_000);
    assert!(reader.assembled_capacity() >= 3_000_000);
    for _ in 0..KEEP_ASSEMBLED_FOR {
        reader.next(&mut source).unwrap();
    }
    assert_eq!(reader.assembled_capacity(), 0);
}

#[test]
fn a_packet_out_of_sequence_is_refused_unless_it_is_an_error() {
    let mut reader = PacketReader::default();
    assert!(matches!(reader.next(&mut &[1, 0, 0, 5, 0][..]), Err(WireError::Protocol(_))));
    let mut reader = PacketReader::default();
    assert_eq!(reader.next(&mut &[1, 0, 0, 5, 0xff][..]).unwrap(), [0xff]);
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..20),
        buffer in 16_usize..400,
        trickle in 1_usize..500,
    ) {
        let bytes = written(&payloads);
        let mut source = Trickle(&bytes, trickle);
        let mut reader = PacketReader::with_buffer(buffer);
        for payload in &payloads {
            prop_assert_eq!(reader.next(&mut source).unwrap(), &payload[..]);
            prop_assert_eq!(reader.last(), &payload[..]);
        }
        prop_assert!(matches!(reader.next(&mut source), Err(WireError::Closed)));
    }

    #[test]
    fn garbage_ends_in_an_error(bytes in prop::collection::vec(any::<u8>(), 0..600), trickle in 1_usize..100) {
        let mut source = Trickle(&bytes, trickle);
        let mut reader = PacketReader::with_buffer(64);
        // Each packet takes four bytes at least.
        let packets = std::iter::from_fn(|| reader.next(&mut source).ok().map(<[u8]>::len)).count();
        prop_assert!(packets <= bytes.len() / 4);
    }
}
