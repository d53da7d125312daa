//! Exact numbers: 128 bits, with 256 bits where a product or a quotient passes through more.

use arrow_buffer::i256;

/// Ten to the power of `digits`, at most 38.
pub(crate) fn power(digits: u8) -> i128 {
    10_i128.pow(u32::from(digits.min(38)))
}

/// Whether a value has at most so many digits.
pub(crate) fn fits(value: i128, precision: u8) -> bool {
    value.unsigned_abs() < power(precision).unsigned_abs()
}

/// A value at another scale, rounded half up; `None`: too large for 128 bits.
pub(crate) fn rescale(value: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return if value == 0 { Some(0) } else { value.checked_mul(checked_power(to - from)?) };
    }
    Some(divide_half_up(value, power(from - to)))
}

fn checked_power(digits: u8) -> Option<i128> {
    (digits <= 38).then(|| power(digits))
}

/// The quotient rounded half up, away from zero; `divisor` is not zero.
pub(crate) fn divide_half_up(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) {
        quotient + if (value < 0) == (divisor < 0) { 1 } else { -1 }
    } else {
        quotient
    }
}

/// `a × b` at scale `scale`, where they have the scales `sa` and `sb`.
pub(crate) fn multiply(a: i128, b: i128, natural: u8, scale: u8) -> Option<i128> {
    if let Some(product) = a.checked_mul(b) {
        return rescale(product, natural, scale);
    }
    let product = i256::from_i128(a).checked_mul(i256::from_i128(b))?;
    if scale >= natural {
        return None;
    }
    wide_half_up(product, i256::from_i128(power(natural - scale)))
}

/// `a ÷ b` at `scale`, rounded half up; `b` is not zero.
pub(crate) fn divide(a: i128, sa: u8, b: i128, sb: u8, scale: u8) -> Option<i128> {
    let shift = i32::from(scale) - i32::from(sa) + i32::from(sb);
    let digits = u8::try_from(shift.unsigned_abs()).ok()?;
    if shift >= 0 {
        if let Some(dividend) = checked_power(digits).and_then(|p| a.checked_mul(p)) {
            return Some(divide_half_up(dividend, b));
        }
        let mut dividend = i256::from_i128(a);
        for _ in 0..digits {
            dividend = dividend.checked_mul(i256::from_i128(10))?;
        }
        return wide_half_up(dividend, i256::from_i128(b));
    }
    let divisor = i256::from_i128(b).checked_mul(i256::from_i128(checked_power(digits)?))?;
    wide_half_up(i256::from_i128(a), divisor)
}

fn wide_half_up(value: i256, divisor: i256) -> Option<i128> {
    let quotient = value.checked_div(divisor)?;
    let rest = value.checked_rem(divisor)?;
    let twice = rest.checked_abs()?.checked_mul(i256::from_i128(2))?;
    let quotient = if twice >= divisor.checked_abs()? {
        let negative = (value < i256::ZERO) != (divisor < i256::ZERO);
        quotient.checked_add(if negative { i256::MINUS_ONE } else { i256::ONE })?
    } else {
        quotient
    };
    quotient.to_i128()
}
