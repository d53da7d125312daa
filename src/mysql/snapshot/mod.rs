//! The lock-free snapshot and its exact joint with the binlog.
//!
//! A table is read in chunks: half-open ranges of its key, from the lowest upwards. Each chunk is
//! 1. *armed*: from this place in the stream on, changes of its rows are kept beside it instead of being passed on;
//! 2. *read* with a plain `SELECT`, as soon as everything before that place is visible on the server;
//! 3. *closed* once the stream has passed the high watermark, the server's position behind the read: the kept changes
//!    replace the chunk's rows by key, and the result is passed on as inserts. What comes later in the stream for these
//!    keys is passed on as it is.
//!
//! Changes of rows that no chunk has reached yet are dropped: the chunk that will read them sees them.

mod join;
mod key;
mod overlay;
mod plan;
mod read;

pub use join::{Class, JoinError, Joined, TableJoin};
pub use key::{ChunkKey, KeyBound, KeyPart};
pub use plan::{ChunkOptions, PlannedChunk, Planner};
pub use read::{ChunkRead, ChunkTask, ReadOutcome, is_still, read_chunk, read_whole, tells_of_ddl};
