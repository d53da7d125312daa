//! Exact decimals: MySQL's packed form and text.

use super::cursor::Cursor;
use super::decode_error::ValueError;

/// Bytes that so many leading or trailing digits (0 to 8) take; nine digits take four.
const BYTES: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
/// Powers of ten.
const POWERS: [u32; 10] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// How a DECIMAL lies in a row: whole part and fraction separately, each in groups of nine digits from the point on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecimalLayout {
    whole_rest: u8,
    whole_groups: u8,
    fraction_groups: u8,
    fraction_rest: u8,
    bytes: u8,
}

impl DecimalLayout {
    /// `scale` ≤ `precision` ≤ 65.
    pub(crate) fn new(precision: u8, scale: u8) -> Self {
        let whole = precision.saturating_sub(scale);
        let (whole_groups, whole_rest) = (whole / 9, whole % 9);
        let (fraction_groups, fraction_rest) = (scale / 9, scale % 9);
        let rest = |n: u8| BYTES.get(usize::from(n)).copied().unwrap_or(4) as u8;
        let bytes = rest(whole_rest) + 4 * (whole_groups + fraction_groups) + rest(fraction_rest);
        Self { whole_rest, whole_groups, fraction_groups, fraction_rest, bytes }
    }

    /// Bytes that a value takes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.bytes)
    }

    /// Calls `group` with each group of digits, the most significant first, and how many digits it has. Says whether
    /// the value is negative. The first bit is inverted; of a negative value all bits are.
    #[inline]
    fn groups(
        &self,
        c: &mut Cursor<'_>,
        mut group: impl FnMut(u32, usize) -> Result<(), ValueError>,
    ) -> Result<bool, ValueError> {
        let mut bytes = [0_u8; 32];
        let value = bytes.get_mut(..self.len()).ok_or(ValueError::Malformed("a DECIMAL is too long"))?;
        value.copy_from_slice(c.take(self.len())?);
        let Some(first) = value.first_mut() else { return Ok(false) };
        *first ^= 0x80;
        let negative = *first & 0x80 != 0;
        if negative {
            value.iter_mut().for_each(|b| *b = !*b);
        }
        let mut c = Cursor::new(value);
        let mut read = |digits: usize, bytes: usize| {
            let n = c.uint_be(bytes)? as u32;
            match POWERS.get(digits) {
                Some(limit) if n < *limit => group(n, digits),
                _ => Err(ValueError::Malformed("a DECIMAL has a group of too many digits")),
            }
        };
        let rest = |n: u8| BYTES.get(usize::from(n)).copied().unwrap_or(4);
        if self.whole_rest > 0 {
            read(self.whole_rest.into(), rest(self.whole_rest))?;
        }
        for _ in 0..self.whole_groups + self.fraction_groups {
            read(9, 4)?;
        }
        if self.fraction_rest > 0 {
            read(self.fraction_rest.into(), rest(self.fraction_rest))?;
        }
        Ok(negative)
    }

    /// The value times ten to the scale. The precision must be at most 38.
    #[inline]
    pub(crate) fn unscaled(&self, c: &mut Cursor<'_>) -> Result<i128, ValueError> {
        let mut n = 0_i128;
        let negative = self.groups(c, |group, digits| {
            let power = POWERS.get(digits).copied().unwrap_or(1);
            n = n
                .checked_mul(power.into())
                .and_then(|n| n.checked_add(group.into()))
                .ok_or(ValueError::Malformed("a DECIMAL has more than 38 digits"))?;
            Ok(())
        })?;
        Ok(if negative { -n } else { n })
    }

    /// The value as the server prints it: without leading zeros, with all digits of the scale.
    pub(crate) fn write(&self, c: &mut Cursor<'_>, scale: u8, to: &mut Vec<u8>) -> Result<(), ValueError> {
        let mut digits = [0_u8; 96];
        let mut len = 0;
        let negative = self.groups(c, |mut group, n| {
            let place = digits.get_mut(len..len + n).ok_or(ValueError::Malformed("a DECIMAL is too long"))?;
            for digit in place.iter_mut().rev() {
                *digit = b'0' + (group % 10) as u8;
                group /= 10;
            }
            len += n;
            Ok(())
        })?;
        let digits = digits.get(..len).unwrap_or_default();
        let (whole, fraction) = digits.split_at(len.saturating_sub(scale.into()));
        if negative && digits.iter().any(|d| *d != b'0') {
            to.push(b'-');
        }
        write_plain(whole, fraction, to);
        Ok(())
    }
}

fn write_plain(whole: &[u8], fraction: &[u8], to: &mut Vec<u8>) {
    let start = whole.iter().position(|d| *d != b'0').unwrap_or(whole.len());
    match whole.get(start..) {
        Some(significant) if !significant.is_empty() => to.extend_from_slice(significant),
        _ => to.push(b'0'),
    }
    if !fraction.is_empty() {
        to.push(b'.');
        to.extend_from_slice(fraction);
    }
}

/// Decimal text, as a number times ten to the scale.
#[inline]
pub(crate) fn text_unscaled(text: &[u8], scale: u8) -> Result<i128, ValueError> {
    const BAD: ValueError = ValueError::Malformed("a number has something other than digits, or too many of them");
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (mut n, mut after_point, mut point) = (0_i128, 0_u8, false);
    // 18 digits fit into 64 bits, which are much faster to count in.
    let mut small = 0_u64;
    let fast = text.len() <= 18;
    for c in text {
        match c {
            b'0'..=b'9' => {
                if fast {
                    small = small * 10 + u64::from(c - b'0');
                } else {
                    n = n.checked_mul(10).and_then(|n| n.checked_add(i128::from(c - b'0'))).ok_or(BAD)?;
                }
                after_point += u8::from(point);
            }
            b'.' if !point => point = true,
            _ => return Err(BAD),
        }
    }
    if fast {
        n = small.into();
    }
    if text.is_empty() || after_point > scale {
        return Err(BAD);
    }
    for _ in after_point..scale {
        n = n.checked_mul(10).ok_or(BAD)?;
    }
    Ok(if negative { -n } else { n })
}

/// Decimal text without the zeros that ZEROFILL puts in front.
pub(crate) fn write_text(text: &[u8], to: &mut Vec<u8>) {
    let (sign, digits): (&[u8], _) = match text {
        [b'-', rest @ ..] => (b"-", rest),
        _ => (b"", text),
    };
    let point = digits.iter().position(|c| *c == b'.').unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(point);
    to.extend_from_slice(sign);
    write_plain(whole, fraction.get(1..).unwrap_or_default(), to);
}
