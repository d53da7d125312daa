#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::packet::{Reader, read, write};
use super::session::native_scramble;

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
