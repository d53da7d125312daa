//! Checked reading from a byte slice: every step says whether the bytes were there.

/// The bytes ended too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short;

/// A place in a byte slice. Copying it is a way to look ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

macro_rules! fixed {
    ($($name:ident: $type:ty, $n:literal, $from:ident;)*) => {
        $(
            #[inline]
            pub(crate) fn $name(&mut self) -> Result<$type, Short> {
                let (head, tail) = self.rest.split_first_chunk::<$n>().ok_or(Short)?;
                self.rest = tail;
                Ok(<$type>::$from(*head))
            }
        )*
    };
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What has not been read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// How many bytes have not been read.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes.
    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Short> {
        let (head, tail) = self.rest.split_at_checked(n).ok_or(Short)?;
        self.rest = tail;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(Short)?;
        self.rest = tail;
        Ok(*head)
    }

    fixed! {
        u16: u16, 2, from_le_bytes;
        u32: u32, 4, from_le_bytes;
        u64: u64, 8, from_le_bytes;
        f32: f32, 4, from_le_bytes;
        f64: f64, 8, from_le_bytes;
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        let (head, tail) = self.rest.split_first().ok_or(Short)?;
        self.rest = tail;
        Ok(*head)
    }

    /// An unsigned little-endian number of `n` ≤ 8 bytes.
    #[inline]
    pub(crate) fn uint_le(&mut self, n: usize) -> Result<u64, Short> {
        let bytes = self.take(n)?;
        Ok(bytes.iter().rev().fold(0, |acc, b| acc << 8 | u64::from(*b)))
    }

    /// An unsigned big-endian number of `n` ≤ 8 bytes.
    #[inline]
    pub(crate) fn uint_be(&mut self, n: usize) -> Result<u64, Short> {
        let bytes = self.take(n)?;
        Ok(bytes.iter().fold(0, |acc, b| acc << 8 | u64::from(*b)))
    }

    /// A length-encoded integer. `0xFB` and `0xFF`, which stand for NULL and for an error elsewhere, are refused.
    #[inline]
    pub(crate) fn lenenc(&mut self) -> Result<u64, Short> {
        match self.u8()? {
            n @ 0..=0xfa => Ok(u64::from(n)),
            0xfc => self.u16().map(u64::from),
            0xfd => self.uint_le(3),
            0xfe => self.u64(),
            _ => Err(Short),
        }
    }

    /// A length-encoded integer that counts bytes of this very slice.
    #[inline]
    pub(crate) fn lenenc_len(&mut self) -> Result<usize, Short> {
        usize::try_from(self.lenenc()?).map_err(|_| Short)
    }

    /// Bytes behind their length-encoded length.
    #[inline]
    pub(crate) fn lenenc_bytes(&mut self) -> Result<&'a [u8], Short> {
        let n = self.lenenc_len()?;
        self.take(n)
    }

    /// Bytes up to the next zero byte, which is consumed and not returned.
    pub(crate) fn until_nul(&mut self) -> Result<&'a [u8], Short> {
        let n = self.rest.iter().position(|b| *b == 0).ok_or(Short)?;
        let text = self.take(n)?;
        self.u8()?;
        Ok(text)
    }

    /// An unsigned number in the variable-length form of MySQL's serialization library: as many one bits at the low
    /// end of the first byte as bytes follow it.
    pub(crate) fn varlen(&mut self) -> Result<u64, Short> {
        let first = self.u8()?;
        let extra = first.trailing_ones() as usize;
        if extra == 8 {
            return self.u64();
        }
        let tail = self.uint_le(extra)?;
        // Above the marker, `extra` one bits and a zero bit, the first byte has the value's low bits.
        let low = u64::from(first) >> (extra + 1);
        Ok(low | tail << (7 - extra))
    }
}

/// Whether a bit is set in a little-endian bitmap; bits beyond its end are not.
#[inline]
pub(crate) fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1)
}
