//! What is logged, for tests with a process of their own: loads log on threads of theirs.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// All lines so far.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes all that this process logs from now on.
    pub fn of_this_process() -> Self {
        let log = Self::default();
        let to = log.clone();
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || to.clone()).init();
        log
    }

    /// The lines since the last time.
    pub fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
