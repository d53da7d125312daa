//! Text and bytes within values.

/// For each byte: 0 as it is, `u` as `\u00xx`, else the letter behind the backslash.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 32 {
        table[i] = b'u';
        i += 1;
    }
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends a JSON string with its quotes.
pub(super) fn append_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut from = 0;
    for (i, byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(*byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[from..i]);
        from = i + 1;
        if escape == b'u' {
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        } else {
            out.extend_from_slice(&[b'\\', escape]);
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Appends bytes as upper-case hexadecimal digits.
pub(super) fn append_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend(bytes.iter().flat_map(|b| [HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]));
}

/// Appends bytes as base64.
pub(super) fn append_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // The slice has exactly the encoded length.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or_default();
    out.truncate(start + written);
}
