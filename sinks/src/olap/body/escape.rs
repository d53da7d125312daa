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

/// How many bytes are looked at together.
const BLOCK: usize = 16;

/// Appends a JSON string with its quotes. Most blocks have nothing to escape: they are looked at without a branch a byte,
/// which the compiler turns into vector instructions, and copied in one go with their neighbours.
pub(super) fn append_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut copied = 0;
    for (i, block) in blocks.iter().enumerate() {
        if is_special(block) {
            out.extend_from_slice(&bytes[copied..i * BLOCK]);
            append_escaped(out, block);
            copied = (i + 1) * BLOCK;
        }
    }
    // Of a longer text the last block is looked at instead of the rest, which is a part of it.
    let special = bytes.last_chunk::<BLOCK>().map_or_else(|| rest.iter().any(|b| is_special(&[*b])), is_special);
    if special {
        out.extend_from_slice(&bytes[copied..bytes.len() - rest.len()]);
        append_escaped(out, rest);
    } else {
        out.extend_from_slice(&bytes[copied..]);
    }
    out.push(b'"');
}

fn is_special<const N: usize>(block: &[u8; N]) -> bool {
    block.iter().fold(false, |any, b| any | (*b < 0x20) | (*b == b'"') | (*b == b'\\'))
}

/// Appends a block with something to escape. In JSON documents there are many: one copy for all is cheaper than one for
/// each piece between them.
fn append_escaped(out: &mut Vec<u8>, block: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut escaped = [0; 6 * BLOCK];
    let mut length = 0;
    for byte in block {
        let start = length;
        match ESCAPES[usize::from(*byte)] {
            0 => {
                escaped[start] = *byte;
                length += 1;
            }
            b'u' => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                escaped[start..start + 6].copy_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
                length += 6;
            }
            letter => {
                escaped[start..start + 2].copy_from_slice(&[b'\\', letter]);
                length += 2;
            }
        }
    }
    out.extend_from_slice(&escaped[..length]);
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
