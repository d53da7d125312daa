#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod events;
mod formats;

use crate::Sink;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A writer whose bytes the test keeps.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn sink(options: &[(&str, &str)]) -> (Sink, Captured) {
    let captured = Captured::default();
    let options: BTreeMap<String, String> = options.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    (super::build_to(&options, Box::new(captured.clone())).unwrap(), captured)
}
