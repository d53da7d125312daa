//! Reading and writing the protocol's integers and strings. Reading never panics: `None` is "too short".

/// A reader over a packet's bytes.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A little-endian integer of up to eight bytes.
    fn uint(&mut self, n: usize) -> Option<u64> {
        Some(self.take(n)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.uint(2).map(|v| v as u16)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.uint(4).map(|v| v as u32)
    }

    /// A length-encoded integer.
    pub(super) fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            n @ 0..=0xfa => Some(u64::from(n)),
            0xfc => self.uint(2),
            0xfd => self.uint(3),
            0xfe => self.uint(8),
            0xfb | 0xff => None,
        }
    }

    /// Bytes behind their length-encoded length.
    pub(super) fn lenenc_bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.lenenc()?;
        self.take(usize::try_from(len).ok()?)
    }

    /// Bytes up to a NUL, or all that is left.
    pub(super) fn until_nul(&mut self) -> &'a [u8] {
        match self.0.iter().position(|b| *b == 0) {
            Some(at) => {
                let (head, tail) = self.0.split_at(at);
                self.0 = tail.get(1..).unwrap_or_default();
                head
            }
            None => std::mem::take(&mut self.0),
        }
    }
}

/// Appends a length-encoded integer.
pub(super) fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=0xfa => out.push(n as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&n.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

/// Appends bytes behind their length.
pub(super) fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
