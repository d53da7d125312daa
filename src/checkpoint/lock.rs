//! One process a pipeline.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Holds a state directory for this process; the operating system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

/// The state directory can't be held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("another process{} is running this pipeline (lock file {})", .pid.map(|p| format!(" (pid {p})")).unwrap_or_default(), .path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The other process, where it could be read.
        pid: Option<u32>,
    },
    /// The lock file can't be made.
    #[error("the lock file {} can't be used", .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl StateLock {
    /// Holds a state directory, creating it if needed.
    ///
    /// # Errors
    /// Another process holds it, or the directory can't be written.
    pub fn acquire(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join("lock");
        let io = |source| LockError::Io { path: path.clone(), source };
        std::fs::create_dir_all(directory).map_err(io)?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let pid = file.read_to_string(&mut pid).ok().and_then(|_| pid.trim().parse().ok());
                return Err(LockError::Held { path, pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        write!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }
}

/// Whether a process holds a state directory at this moment.
pub fn is_locked(directory: &Path) -> bool {
    File::open(directory.join("lock")).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
