//! Where the lines go: one buffer that the writer and the applier share, so that lines keep the stream's order.

use crate::SinkError;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The buffer is written out when it holds this many bytes.
const FULL: usize = 64 * 1024;

/// The shared buffer.
pub(super) struct Output {
    inner: Mutex<Inner>,
}

struct Inner {
    to: Box<dyn Write + Send>,
    buffer: Vec<u8>,
    /// Data lines that may still be printed; `None`: no limit.
    left: Option<u64>,
}

impl Output {
    /// A buffer in front of `to` that lets at most `limit` data lines pass.
    pub(super) fn new(to: Box<dyn Write + Send>, limit: Option<u64>) -> Self {
        Self { inner: Mutex::new(Inner { to, buffer: Vec::with_capacity(FULL + 4096), left: limit }) }
    }

    /// Sole access for as long as the guard lives.
    pub(super) fn lock(&self) -> Lines<'_> {
        // A panic elsewhere leaves at worst a half line behind, which is no reason to stop printing.
        Lines { inner: self.inner.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// Sole access to the buffer.
pub(super) struct Lines<'a> {
    inner: MutexGuard<'a, Inner>,
}

impl Lines<'_> {
    /// The buffer to append a line to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.inner.buffer
    }

    /// Whether one more data line may be printed; counts it.
    pub(super) fn take_line(&mut self) -> bool {
        match &mut self.inner.left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Ends a line, and writes the buffer out if it is full.
    pub(super) fn end_line(&mut self) -> Result<(), SinkError> {
        self.inner.buffer.push(b'\n');
        if self.inner.buffer.len() >= FULL { self.write_out() } else { Ok(()) }
    }

    /// Writes everything out.
    pub(super) fn flush(&mut self) -> Result<(), SinkError> {
        if self.inner.buffer.is_empty() {
            return Ok(());
        }
        self.write_out()?;
        self.inner.to.flush().map_err(failed)
    }

    fn write_out(&mut self) -> Result<(), SinkError> {
        let Inner { to, buffer, .. } = &mut *self.inner;
        let written = to.write_all(buffer);
        // Cleared also after a failure: how much of it was written is unknown, and repeating it could double lines.
        buffer.clear();
        written.map_err(failed)
    }
}

fn failed(e: io::Error) -> SinkError {
    let hint = match e.kind() {
        io::ErrorKind::BrokenPipe => "the program that reads the output has ended",
        _ => "see the cause",
    };
    SinkError::permanent("values sink: the output can't be written").hint(hint).caused_by(e)
}
