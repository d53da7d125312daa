//! How far the reading has come.

use crate::GtidSet;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A place in a server's binlog: the first byte that has not been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BinlogPosition {
    /// The file's name, for example `binlog.000007`; empty: the first file there is.
    pub file: String,
    /// The byte offset in the file. Files may exceed 4 GiB.
    pub pos: u64,
}

impl BinlogPosition {
    /// A place in a file.
    pub fn new(file: impl Into<String>, pos: u64) -> Self {
        Self { file: file.into(), pos }
    }

    /// The file's number: the digits behind the last dot. Names alone do not order: `.1000000` comes after `.999999`.
    fn file_number(&self) -> Option<u64> {
        self.file.rsplit_once('.').and_then(|(_, n)| n.parse().ok())
    }
}

impl Ord for BinlogPosition {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.file_number(), &self.file, self.pos).cmp(&(other.file_number(), &other.file, other.pos))
    }
}

impl PartialOrd for BinlogPosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for BinlogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.pos)
    }
}

/// Where reading resumes: always at a transaction's start, with how much of that transaction has been taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// The place in the log of the server that was read.
    pub position: BinlogPosition,
    /// The GTIDs of all transactions that have been read wholly, where the server has GTIDs. With them reading can
    /// resume at another server.
    pub gtids: Option<GtidSet>,
    /// How many row changes of the transaction that starts here have been taken already; 0 at a boundary.
    #[serde(default)]
    pub rows: u64,
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.position.fmt(f)?;
        if self.rows > 0 {
            write!(f, " +{} rows", self.rows)?;
        }
        if let Some(gtids) = &self.gtids {
            write!(f, " (GTIDs {gtids})")?;
        }
        Ok(())
    }
}
