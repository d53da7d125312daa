//! Text of MariaDB's UUID, INET4 and INET6 values.

use super::decode_error::ValueError;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The bytes, with zero bytes at the end restored: a row leaves them out, as for any BINARY column.
fn padded<const N: usize>(bytes: &[u8]) -> Result<[u8; N], ValueError> {
    let mut value = [0; N];
    value
        .get_mut(..bytes.len())
        .ok_or(ValueError::Malformed("it has too many bytes for its type"))?
        .copy_from_slice(bytes);
    Ok(value)
}

/// MariaDB's tables keep the parts of a UUID in another order; its binlog has them as they are written.
pub(super) fn write_uuid(bytes: &[u8], to: &mut Vec<u8>) -> Result<(), ValueError> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let value: [u8; 16] = padded(bytes)?;
    let mut text = [b'-'; 36];
    let mut place = text.iter_mut().enumerate().filter(|(i, _)| !matches!(i, 8 | 13 | 18 | 23)).map(|(_, c)| c);
    for byte in value {
        for digit in [byte >> 4, byte & 15] {
            if let (Some(place), Some(digit)) = (place.next(), HEX.get(usize::from(digit))) {
                *place = *digit;
            }
        }
    }
    to.extend_from_slice(&text);
    Ok(())
}

pub(super) fn write_inet4(bytes: &[u8], to: &mut Vec<u8>) -> Result<(), ValueError> {
    let value: [u8; 4] = padded(bytes)?;
    // Writing to a vector can't fail.
    let _ = write!(to, "{}", Ipv4Addr::from(value));
    Ok(())
}

pub(super) fn write_inet6(bytes: &[u8], to: &mut Vec<u8>) -> Result<(), ValueError> {
    let value: [u8; 16] = padded(bytes)?;
    let _ = write!(to, "{}", Ipv6Addr::from(value));
    Ok(())
}
