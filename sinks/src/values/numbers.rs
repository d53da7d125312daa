//! Numbers as text: Java's spelling, and JSON's.

use std::io::Write;

/// Appends an integer.
pub(super) fn append_int(out: &mut Vec<u8>, value: i64) {
    // Writing to a Vec can't fail.
    let _ = write!(out, "{value}");
}

/// Appends a decimal with exactly `scale` digits behind the point and no exponent.
pub(super) fn append_decimal(out: &mut Vec<u8>, unscaled: i128, scale: u8) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let digits = unscaled.unsigned_abs();
    if scale == 0 {
        let _ = write!(out, "{digits}");
        return;
    }
    let scale = usize::from(scale);
    match 10_u128.checked_pow(scale as u32) {
        Some(unit) => {
            let _ = write!(out, "{}.{:0scale$}", digits / unit, digits % unit);
        }
        // 10^39 and up exceed every i128: all digits are behind the point.
        None => {
            let _ = write!(out, "0.{digits:0scale$}");
        }
    }
}

/// The significant digits and the exponent of a number `d.ddd × 10^exponent`.
struct Scientific {
    text: [u8; 32],
    len: usize,
}

impl Scientific {
    fn new(write: impl FnOnce(&mut &mut [u8]) -> std::io::Result<()>) -> Self {
        let mut text = [0; 32];
        let mut rest: &mut [u8] = &mut text;
        // 17 digits, sign, point and a three-digit exponent always fit.
        let _ = write(&mut rest);
        let len = 32 - rest.len();
        Self { text, len }
    }

    /// Whether there is only one significant digit.
    fn is_short(&self) -> bool {
        !self.text[..self.len].contains(&b'.')
    }

    /// Appends in Java's spelling: plain from 10^-3 up to 10^7, else with an exponent; always a digit on both sides of
    /// the point.
    fn append(&self, out: &mut Vec<u8>) {
        let text = &self.text[..self.len];
        let (text, negative) = match text.strip_prefix(b"-") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let e = text.iter().position(|b| *b == b'e').unwrap_or(text.len());
        let exponent: i32 =
            text.get(e + 1..).and_then(|t| std::str::from_utf8(t).ok()).and_then(|t| t.parse().ok()).unwrap_or(0);
        let mut digits = [0_u8; 24];
        let mut n = 0;
        for b in text[..e].iter().filter(|b| b.is_ascii_digit()).take(24) {
            digits[n] = *b;
            n += 1;
        }
        while n > 1 && digits[n - 1] == b'0' {
            n -= 1;
        }
        let digits = &digits[..n];
        if negative {
            out.push(b'-');
        }
        let tail = |out: &mut Vec<u8>, rest: &[u8]| {
            out.push(b'.');
            out.extend_from_slice(if rest.is_empty() { b"0" } else { rest });
        };
        match exponent {
            0..=6 => {
                let whole = exponent as usize + 1;
                for i in 0..whole {
                    out.push(digits.get(i).copied().unwrap_or(b'0'));
                }
                tail(out, digits.get(whole..).unwrap_or(&[]));
            }
            -3..=-1 => {
                out.extend_from_slice(b"0.");
                out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
                out.extend_from_slice(digits);
            }
            _ => {
                out.push(digits[0]);
                tail(out, &digits[1..]);
                let _ = write!(out, "E{exponent}");
            }
        }
    }
}

macro_rules! java_float {
    ($(#[$doc:meta])* $name:ident, $type:ty) => {
        $(#[$doc])*
        pub(super) fn $name(out: &mut Vec<u8>, value: $type) {
            if value.is_nan() {
                out.extend_from_slice(b"NaN");
            } else if value.is_infinite() {
                out.extend_from_slice(if value > 0.0 { b"Infinity".as_slice() } else { b"-Infinity" });
            } else {
                let shortest = Scientific::new(|to| write!(to, "{value:e}"));
                // Java shows at least two digits and takes the two nearest: 4.9E-324, not 5.0E-324.
                if shortest.is_short() {
                    Scientific::new(|to| write!(to, "{value:.1e}")).append(out);
                } else {
                    shortest.append(out);
                }
            }
        }
    };
}

java_float!(
    /// Appends a 64-bit float in Java's spelling: the fewest digits that denote it, at least two.
    append_f64,
    f64
);
java_float!(
    /// Appends a 32-bit float in Java's spelling: the fewest digits that denote it, at least two.
    append_f32,
    f32
);
