//! Floating-point numbers as MySQL prints them in JSON.

use std::io::Write;

/// The shortest digits that stand for a number, and where the point is.
struct Digits {
    negative: bool,
    digits: [u8; 17],
    len: usize,
    /// The point stands behind so many digits; 0 or less: so many zeros stand before them.
    point: i32,
}

impl Digits {
    fn of(value: f64) -> Self {
        // Rust's exponential form has the shortest digits that read back as the same number: at most 24 bytes.
        let mut text = [0_u8; 32];
        let mut rest = text.as_mut_slice();
        let written = match write!(rest, "{:e}", value.abs()) {
            Ok(()) => 32 - rest.len(),
            Err(_) => 0,
        };
        let text = text.get(..written).unwrap_or_default();
        let e = text.iter().position(|c| *c == b'e').unwrap_or(text.len());
        let exponent = std::str::from_utf8(text.get(e + 1..).unwrap_or_default()).ok().and_then(|e| e.parse().ok());
        let mut digits = [b'0'; 17];
        let mut len = 0;
        let mantissa = text.get(..e).unwrap_or_default().iter().filter(|c| c.is_ascii_digit());
        for (to, digit) in digits.iter_mut().zip(mantissa) {
            *to = *digit;
            len += 1;
        }
        Self { negative: value.is_sign_negative(), digits, len: len.max(1), point: exponent.unwrap_or(0) + 1 }
    }
}

/// Appends a number as MySQL's `CAST(json AS CHAR)` prints it: the shortest digits that stand for it, plain between
/// 1e-15 and 1e15 and a little beyond where digits follow the point, and with `.0` if it would look like an integer.
pub(crate) fn write_double(value: f64, to: &mut Vec<u8>) {
    let d = Digits::of(value);
    let looks_whole = write(&d, to);
    if looks_whole {
        to.extend_from_slice(b".0");
    }
}

/// The same without the `.0` behind whole numbers: a coordinate.
pub(crate) fn write_coordinate(value: f64, to: &mut Vec<u8>) {
    write(&Digits::of(value), to);
}

/// Says whether what was written looks like an integer.
fn write(d: &Digits, to: &mut Vec<u8>) -> bool {
    const MAX_PLAIN: i32 = 15;
    if d.negative {
        to.push(b'-');
    }
    let digits = d.digits.get(..d.len).unwrap_or_default();
    let len = d.len as i32;
    if d.point <= -MAX_PLAIN || (d.point > MAX_PLAIN && len <= d.point) {
        let (first, rest) = digits.split_at(1);
        to.extend_from_slice(first);
        if !rest.is_empty() {
            to.push(b'.');
            to.extend_from_slice(rest);
        }
        // Writing to a vector can't fail.
        let _ = write!(to, "e{}", d.point - 1);
        false
    } else if d.point <= 0 {
        to.extend_from_slice(b"0.");
        to.extend(std::iter::repeat_n(b'0', d.point.unsigned_abs() as usize));
        to.extend_from_slice(digits);
        false
    } else if len <= d.point {
        to.extend_from_slice(digits);
        to.extend(std::iter::repeat_n(b'0', (d.point - len) as usize));
        true
    } else {
        let (whole, fraction) = digits.split_at(d.point as usize);
        to.extend_from_slice(whole);
        to.push(b'.');
        to.extend_from_slice(fraction);
        false
    }
}
