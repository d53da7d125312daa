//! What survives a crash: the state of one pipeline in one directory.

mod lock;
mod state;
mod store;

pub use lock::{LockError, StateLock, is_locked};
pub use state::{Checkpoint, DdlProgress, Phase, SavedTargets, SnapshotProgress, TableState};
pub use store::{Store, StoreError};
