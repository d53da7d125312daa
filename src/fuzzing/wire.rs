//! The bytes of a connection.

use crate::mysql::wire::{
    AuthSwitch, ColumnMeta, Greeting, PacketReader, TextValues, check_public_key, parse_err, parse_ok,
};

/// What a server may send: split into packets, each read as every kind of packet; and the bytes as one packet.
pub fn packets(data: &[u8]) {
    packet(data);
    let (mut small, mut large) = (PacketReader::with_buffer(16), PacketReader::with_buffer(1 << 12));
    let (mut one, mut other) = (data, data);
    loop {
        match (small.next(&mut one), large.next(&mut other)) {
            (Ok(a), Ok(b)) => {
                assert_eq!(a, b, "the size of the buffer changes what is read");
                packet(a);
            }
            (Err(_), Err(_)) => return,
            _ => unreachable!("the size of the buffer decides whether packets can be read"),
        }
    }
}

fn packet(bytes: &[u8]) {
    if let Ok(greeting) = Greeting::parse(bytes) {
        let _ = rowferry_sql::ServerVersion::parse(&greeting.version);
    }
    let _ = AuthSwitch::parse(bytes);
    let _ = parse_err(bytes).to_string();
    let _ = parse_ok(bytes);
    let _ = ColumnMeta::parse(bytes);
    let _ = check_public_key(bytes);
    let values: usize = TextValues::new(bytes).map(|v| v.map_or(1, |v| v.len() + 1)).sum();
    assert!(values <= bytes.len(), "a row's values are longer than the row");
}
