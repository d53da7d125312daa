//! Packets: framing, and reading what is inside.

use std::io::{self, Read, Write};

/// A payload of this length is followed by another packet.
const MAX_CHUNK: usize = 0xff_ffff;
/// No answer that is asked for comes near this.
const MAX_PAYLOAD: usize = 64 << 20;

/// Reads one packet's payload.
///
/// # Errors
/// The connection breaks, or the packet is too large.
pub(super) fn read(from: &mut impl Read, sequence: &mut u8) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    loop {
        let mut header = [0; 4];
        from.read_exact(&mut header)?;
        let len = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        *sequence = header[3].wrapping_add(1);
        if payload.len() + len > MAX_PAYLOAD {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the server's packet is too large"));
        }
        let start = payload.len();
        payload.resize(start + len, 0);
        from.read_exact(&mut payload[start..])?;
        if len < MAX_CHUNK {
            return Ok(payload);
        }
    }
}

/// Writes one payload.
///
/// # Errors
/// The connection breaks.
pub(super) fn write(to: &mut impl Write, sequence: &mut u8, payload: &[u8]) -> io::Result<()> {
    let mut rest = payload;
    let mut frame = Vec::with_capacity(payload.len() + 4);
    loop {
        let (chunk, tail) = rest.split_at(rest.len().min(MAX_CHUNK));
        frame.extend_from_slice(&(chunk.len() as u32).to_le_bytes()[..3]);
        frame.push(*sequence);
        frame.extend_from_slice(chunk);
        *sequence = sequence.wrapping_add(1);
        rest = tail;
        if chunk.len() < MAX_CHUNK {
            break;
        }
    }
    to.write_all(&frame)?;
    to.flush()
}

/// Takes values off the front of a payload; `None` where it is too short.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1).and_then(|b| b.first().copied())
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes)
    }

    /// Bytes up to a NUL, which is taken too; all that is left where there is none.
    pub(super) fn until_nul(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|b| *b == 0).unwrap_or(self.0.len());
        let (head, tail) = self.0.split_at(end);
        self.0 = tail.get(1..).unwrap_or_default();
        head
    }

    /// A length-encoded number; the outer `None`: too short, the inner one: NULL.
    pub(super) fn lenenc(&mut self) -> Option<Option<u64>> {
        let wide = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |n, b| n << 8 | u64::from(*b));
        Some(match self.u8()? {
            0xfb => None,
            0xfc => Some(wide(self.take(2)?)),
            0xfd => Some(wide(self.take(3)?)),
            0xfe => Some(wide(self.take(8)?)),
            0xff => return None,
            n => Some(u64::from(n)),
        })
    }

    /// A length-encoded string; the outer `None`: too short, the inner one: NULL.
    pub(super) fn lenenc_bytes(&mut self) -> Option<Option<&'a [u8]>> {
        match self.lenenc()? {
            None => Some(None),
            Some(n) => self.take(usize::try_from(n).ok()?).map(Some),
        }
    }
}
