//! Ending a reader from another thread.

use crate::mysql::wire::Stopper;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Ends a reader from another thread.
#[derive(Clone)]
pub struct ReaderHandle {
    pub(super) stop: Arc<AtomicBool>,
    pub(super) stopper: Arc<Mutex<Option<Stopper>>>,
}

impl ReaderHandle {
    /// Ends the reading, also while it waits for the server.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Ok(stopper) = self.stopper.lock()
            && let Some(stopper) = stopper.as_ref()
        {
            stopper.stop();
        }
    }
}
