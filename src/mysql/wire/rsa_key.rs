//! The server's public key, checked before it is used: it comes from the wire, and the library that encrypts with it
//! trusts it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Reads one DER element of this tag; gives its content and what follows.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (head, rest) = der.split_at_checked(2)?;
    if head.first() != Some(&tag) {
        return None;
    }
    let (len, rest) = match *head.get(1)? {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (bytes.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(len)
}

/// The modulus' and the exponent's big-endian bytes without leading zeros.
fn modulus_and_exponent(spki: &[u8]) -> Option<(&[u8], &[u8])> {
    const SEQUENCE: u8 = 0x30;
    const BIT_STRING: u8 = 0x03;
    const INTEGER: u8 = 0x02;
    let (spki, end) = element(spki, SEQUENCE)?;
    let (_algorithm, rest) = element(spki, SEQUENCE)?;
    let (bits, end_of_spki) = element(rest, BIT_STRING)?;
    let (key, end_of_bits) = element(bits.strip_prefix(&[0])?, SEQUENCE)?;
    let (modulus, rest) = element(key, INTEGER)?;
    let (exponent, end_of_key) = element(rest, INTEGER)?;
    let complete = [end, end_of_spki, end_of_bits, end_of_key].iter().all(|rest| rest.is_empty());
    let positive = |n: &'_ [u8]| n.first().is_some_and(|b| *b < 0x80);
    if !complete || !positive(modulus) || !positive(exponent) {
        return None;
    }
    Some((modulus.strip_prefix(&[0]).unwrap_or(modulus), exponent.strip_prefix(&[0]).unwrap_or(exponent)))
}

/// Checks that this is an RSA public key in PEM form (`BEGIN PUBLIC KEY`) of 1024 to 16384 bits; gives it back in a
/// normal form and with the number of bytes of its modulus.
pub fn check_public_key(pem: &[u8]) -> Option<(String, usize)> {
    let text = std::str::from_utf8(pem).ok()?;
    let body = text.split_once("-----BEGIN PUBLIC KEY-----")?.1.split_once("-----END PUBLIC KEY-----")?.0;
    let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let der = STANDARD.decode(&body).ok()?;
    let (modulus, exponent) = modulus_and_exponent(&der)?;
    let whole_bytes = modulus.first().is_some_and(|b| *b >= 0x80);
    let odd = |n: &[u8]| n.last().is_some_and(|b| b & 1 == 1);
    if !whole_bytes || !(128..=2048).contains(&modulus.len()) || exponent.len() > 8 || !odd(modulus) || !odd(exponent) {
        return None;
    }
    Some((format!("-----BEGIN PUBLIC KEY-----{body}-----END PUBLIC KEY-----"), modulus.len()))
}

#[cfg(test)]
mod tests;
