//! Numbers as text.

use std::io::Write;

/// `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut table = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        table[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    table
};

/// The last two digits of a number.
pub(super) fn pair(n: u32) -> [u8; 2] {
    PAIRS[(n % 100) as usize]
}

/// Appends an unsigned number.
pub(super) fn append_u64(out: &mut Vec<u8>, mut n: u64) {
    const LONGEST: usize = 20;
    let mut digits = [0; 2 * LONGEST];
    let mut first = LONGEST;
    // Each division waits for the one before: four digits at a time halve them.
    while n >= 10_000 {
        let four = (n % 10_000) as usize;
        n /= 10_000;
        first -= 4;
        digits[first..first + 2].copy_from_slice(&PAIRS[four / 100]);
        digits[first + 2..first + 4].copy_from_slice(&PAIRS[four % 100]);
    }
    if n >= 100 {
        first -= 2;
        digits[first..first + 2].copy_from_slice(&PAIRS[(n % 100) as usize]);
        n /= 100;
    }
    if n >= 10 {
        first -= 2;
        digits[first..first + 2].copy_from_slice(&PAIRS[n as usize]);
    } else {
        first -= 1;
        digits[first] = b'0' + n as u8;
    }
    // As many bytes as the longest number has: that costs less than a copy of the right length.
    let end = out.len() + LONGEST - first;
    out.extend_from_slice(&digits[first..first + LONGEST]);
    out.truncate(end);
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
    append_float(out, ryu::Buffer::new().format_finite(value));
}

/// Appends a 32-bit float with the fewest digits that denote it: an exponent where a double would have one. A key that is
/// spelled in another way is another key.
pub(super) fn append_f32(out: &mut Vec<u8>, value: f32) {
    let _ = match value.abs() {
        // Between these the library puts it elsewhere.
        1e13..1e16 => write!(out, "{value}"),
        1e-6..1e-5 => write!(out, "{value:e}"),
        _ => {
            append_float(out, ryu::Buffer::new().format_finite(value));
            Ok(())
        }
    };
}

/// Whole numbers come with a fraction of zero, which says nothing.
fn append_float(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}
