//! Bytes of a connection into packets and back.
//!
//! A packet is a header (three bytes of length, one sequence number) and a payload. A payload of 2^24-1 bytes or more
//! comes in chunks of 2^24-1 bytes, the last one shorter, if need be empty.

use super::error::WireError;
use std::io::{self, Read, Write};

/// The length of a chunk that is followed by another.
pub const MAX_CHUNK: usize = 0xff_ffff;

/// `max_allowed_packet` cannot exceed 1 GiB; the rest is room for headers.
const MAX_PACKET: usize = (1 << 30) + (1 << 20);

/// Large enough that a fast stream needs few system calls, small enough to stay in the processor's cache.
const BUFFER: usize = 256 * 1024;

/// After so many packets that needed no assembling, the memory for assembled packets is given back.
const KEEP_ASSEMBLED_FOR: u32 = 1024;

/// Splits a stream of bytes into packets. A packet that fits the read buffer is handed out in place.
#[derive(Debug)]
pub struct PacketReader {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    assembled: Vec<u8>,
    since_assembled: u32,
    sequence: u8,
    /// Where in the buffer the last payload is; `None`: it is the assembled one.
    last: Option<(usize, usize)>,
}

impl Default for PacketReader {
    fn default() -> Self {
        Self::with_buffer(BUFFER)
    }
}

/// Whether the error is the socket's read timeout; its kind depends on the system.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl PacketReader {
    /// A reader with a buffer of this many bytes (at least 16).
    pub fn with_buffer(size: usize) -> Self {
        Self {
            buffer: vec![0; size.max(16)].into_boxed_slice(),
            start: 0,
            end: 0,
            assembled: Vec::new(),
            since_assembled: 0,
            sequence: 0,
            last: None,
        }
    }

    /// The sequence number that the next packet must have: of the packet that we write, then of the answer.
    pub(super) fn sequence_mut(&mut self) -> &mut u8 {
        &mut self.sequence
    }

    /// Bytes of the memory for assembled packets.
    pub fn assembled_capacity(&self) -> usize {
        self.assembled.capacity()
    }

    /// Whether bytes have been read that no packet has taken yet.
    pub(super) fn has_buffered(&self) -> bool {
        self.end > self.start
    }

    /// Reads until `n` unread bytes are in the buffer.
    fn fill(&mut self, source: &mut impl Read, n: usize) -> Result<(), WireError> {
        if self.end - self.start >= n {
            return Ok(());
        }
        if self.start + n > self.buffer.len() || self.start == self.end {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < n {
            match source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(WireError::Closed),
                Ok(read) => self.end += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(read_error(e)),
            }
        }
        Ok(())
    }

    /// The header of the next chunk: its length, and whether its sequence number is the expected one.
    fn header(&mut self, source: &mut impl Read) -> Result<(usize, bool), WireError> {
        self.fill(source, 4)?;
        let at = self.start;
        let [a, b, c, sequence] = [self.buffer[at], self.buffer[at + 1], self.buffer[at + 2], self.buffer[at + 3]];
        let in_sequence = sequence == self.sequence;
        self.sequence = sequence.wrapping_add(1);
        Ok((usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16, in_sequence))
    }

    /// The next packet's payload.
    ///
    /// # Errors
    /// The source fails or ends, the sequence number is wrong, or the packet exceeds what a server may send.
    pub fn next<S: Read>(&mut self, source: &mut S) -> Result<&[u8], WireError> {
        self.advance(source)?;
        Ok(self.last())
    }

    /// The payload that [`PacketReader::next`] gave last.
    pub fn last(&self) -> &[u8] {
        match self.last {
            Some((start, end)) => &self.buffer[start..end],
            None => &self.assembled,
        }
    }

    fn advance(&mut self, source: &mut impl Read) -> Result<(), WireError> {
        let (mut len, in_sequence) = self.header(source)?;
        if len < MAX_CHUNK && len + 4 <= self.buffer.len() {
            self.fill(source, len + 4)?;
            let at = self.start + 4;
            self.start = at + len;
            self.since_assembled = self.since_assembled.saturating_add(1);
            if self.since_assembled == KEEP_ASSEMBLED_FOR {
                self.assembled = Vec::new();
            }
            self.last = Some((at, at + len));
            return check_sequence(in_sequence, self.last());
        }
        self.since_assembled = 0;
        self.last = None;
        self.assembled.clear();
        loop {
            self.start += 4;
            self.assemble(source, len)?;
            if len < MAX_CHUNK {
                break;
            }
            if self.assembled.len() > MAX_PACKET {
                return Err(WireError::protocol(format!("a packet of more than {MAX_PACKET} bytes")));
            }
            let (next, in_sequence) = self.header(source)?;
            if !in_sequence {
                return Err(WireError::protocol("the chunks of a large packet are out of sequence"));
            }
            len = next;
        }
        check_sequence(in_sequence, &self.assembled)
    }

    /// Appends a chunk to the assembled packet, past the read buffer where it is not there yet.
    fn assemble(&mut self, source: &mut impl Read, len: usize) -> Result<(), WireError> {
        let buffered = len.min(self.end - self.start);
        self.assembled.reserve(len);
        self.assembled.extend_from_slice(&self.buffer[self.start..self.start + buffered]);
        self.start += buffered;
        let rest = len - buffered;
        if rest > 0 {
            let read = source.by_ref().take(rest as u64).read_to_end(&mut self.assembled).map_err(read_error)?;
            if read < rest {
                return Err(WireError::Closed);
            }
        }
        Ok(())
    }
}

/// An error packet may come at any time (shutdown, kill, idle timeout), with a sequence number of its own.
fn check_sequence(in_sequence: bool, payload: &[u8]) -> Result<(), WireError> {
    if in_sequence || payload.first() == Some(&0xff) {
        return Ok(());
    }
    Err(WireError::protocol("packets are out of sequence"))
}

/// A read timeout carries no duration yet: the connection knows which one was set.
fn read_error(source: io::Error) -> WireError {
    if is_timeout(&source) {
        return WireError::Timeout { doing: "reading", after: std::time::Duration::ZERO };
    }
    if source.kind() == io::ErrorKind::UnexpectedEof {
        return WireError::Closed;
    }
    WireError::Io { doing: "reading", source }
}

/// Writes a payload as one or more chunks and counts the sequence number on.
pub(super) fn write_packet(out: &mut impl Write, sequence: &mut u8, payload: &[u8]) -> io::Result<()> {
    let mut rest = payload;
    let mut frame = Vec::with_capacity(payload.len().min(MAX_CHUNK) + 4);
    loop {
        let (chunk, tail) = rest.split_at(rest.len().min(MAX_CHUNK));
        frame.clear();
        frame.extend_from_slice(&(chunk.len() as u32).to_le_bytes()[..3]);
        frame.push(*sequence);
        frame.extend_from_slice(chunk);
        out.write_all(&frame)?;
        *sequence = sequence.wrapping_add(1);
        rest = tail;
        if chunk.len() < MAX_CHUNK {
            return out.flush();
        }
    }
}

#[cfg(test)]
mod tests;
