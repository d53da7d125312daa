//! A network at its slowest: one byte at a time.

use std::io::{self, Read, Write};

/// Hands on one byte a read and takes one byte a write, whatever is asked for.
#[derive(Debug)]
pub struct Trickle<S>(pub S);

impl<S: Read> Read for Trickle<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}

impl<S: Write> Write for Trickle<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.write(&buf[..buf.len().min(1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
