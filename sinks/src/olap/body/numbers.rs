//! Numbers as text.

use std::io::Write;

/// `00` to `99`.
const PAIRS: [u8; 200] = {
    let mut table = [0; 200];
    let mut i = 0;
    while i < 100 {
        table[2 * i] = b'0' + (i / 10) as u8;
        table[2 * i + 1] = b'0' + (i % 10) as u8;
        i += 1;
    }
    table
};

/// Appends two digits of a number below 100.
pub(super) fn append_pair(out: &mut Vec<u8>, n: u32) {
    let at = 2 * (n % 100) as usize;
    out.extend_from_slice(&PAIRS[at..at + 2]);
}

/// Appends an unsigned number.
pub(super) fn append_u64(out: &mut Vec<u8>, mut n: u64) {
    let mut buffer = [0_u8; 20];
    let mut at = buffer.len();
    while n >= 100 {
        let pair = 2 * (n % 100) as usize;
        n /= 100;
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if n >= 10 {
        let pair = 2 * n as usize;
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        buffer[at] = b'0' + n as u8;
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends an integer.
pub(super) fn append_i64(out: &mut Vec<u8>, n: i64) {
    if n < 0 {
        out.push(b'-');
    }
    append_u64(out, n.unsigned_abs());
}

/// Appends a decimal with exactly `scale` digits behind the point and no exponent.
pub(super) fn append_decimal(out: &mut Vec<u8>, unscaled: i128, scale: u8) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let digits = unscaled.unsigned_abs();
    let scale = usize::from(scale);
    let start = out.len();
    match u64::try_from(digits) {
        Ok(small) => append_u64(out, small),
        Err(_) => {
            const UNIT: u128 = 10_u128.pow(19);
            let (high, low) = (digits / UNIT, (digits % UNIT) as u64);
            match u64::try_from(high) {
                Ok(high) => append_u64(out, high),
                // Only numbers of 39 digits come here.
                Err(_) => {
                    append_u64(out, (high / UNIT) as u64);
                    append_padded(out, (high % UNIT) as u64, 19);
                }
            }
            append_padded(out, low, 19);
        }
    }
    if scale == 0 {
        return;
    }
    let written = out.len() - start;
    if written <= scale {
        let missing = scale + 1 - written;
        out.resize(out.len() + missing, b'0');
        out.copy_within(start..start + written, start + missing);
        out[start..start + missing].fill(b'0');
    }
    let point = out.len() - scale;
    out.push(0);
    let end = out.len() - 1;
    out.copy_within(point..end, point + 1);
    out[point] = b'.';
}

/// Appends a number with zeros before it.
pub(super) fn append_padded(out: &mut Vec<u8>, n: u64, width: usize) {
    let start = out.len();
    append_u64(out, n);
    let written = out.len() - start;
    if written < width {
        let missing = width - written;
        out.resize(out.len() + missing, b'0');
        out.copy_within(start..start + written, start + missing);
        out[start..start + missing].fill(b'0');
    }
}

/// Appends a 64-bit float with the fewest digits that denote it. MySQL has neither infinities nor NaN.
pub(super) fn append_f64(out: &mut Vec<u8>, value: f64) {
    // Plain digits where they are short; `Display` would spell 1e300 out.
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    let _ = if plain { write!(out, "{value}") } else { write!(out, "{value:e}") };
}

/// Appends a 32-bit float with the fewest digits that denote it.
pub(super) fn append_f32(out: &mut Vec<u8>, value: f32) {
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    let _ = if plain { write!(out, "{value}") } else { write!(out, "{value:e}") };
}
