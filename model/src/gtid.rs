//! Sets of global transaction identifiers and their algebra: MySQL's (with tags) and MariaDB's.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A server's UUID.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = GtidError;

    /// MySQL accepts the dashes at their places or none at all.
    fn from_str(s: &str) -> Result<Self, GtidError> {
        let bad = || GtidError(format!("`{s}` is not a UUID"));
        let hex: Vec<u8> = match s.len() {
            32 => s.bytes().collect(),
            36 => {
                let b = s.as_bytes();
                if [8, 13, 18, 23].iter().any(|i| b.get(*i) != Some(&b'-')) {
                    return Err(bad());
                }
                s.bytes().filter(|c| *c != b'-').collect()
            }
            _ => return Err(bad()),
        };
        if hex.len() != 32 {
            return Err(bad());
        }
        let mut uuid = [0; 16];
        for (to, pair) in uuid.iter_mut().zip(hex.chunks_exact(2)) {
            let digit = |c: u8| (c as char).to_digit(16).ok_or_else(bad);
            *to = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Ok(Self(uuid))
    }
}

/// The text is not a GTID set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a GTID set: {0}")]
pub struct GtidError(String);

/// Inclusive ranges of transaction numbers: sorted, disjoint, not adjacent.
type Intervals = Vec<(u64, u64)>;

/// The highest transaction number that MySQL assigns.
const MAX_GNO: u64 = i64::MAX as u64 - 1;

/// MySQL's set of GTIDs: for each server UUID and tag, ranges of transaction numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MysqlGtidSet {
    /// The tag is empty for untagged GTIDs, else lower case (MySQL folds it).
    sids: BTreeMap<(Uuid, String), Intervals>,
}

fn add_interval(intervals: &mut Intervals, mut start: u64, mut end: u64) {
    // The usual case, a commit behind all others, touches only the last range.
    if let Some(last) = intervals.last_mut()
        && start > last.0
    {
        if start == last.1.saturating_add(1) {
            last.1 = end;
            return;
        }
        if start > last.1 {
            intervals.push((start, end));
            return;
        }
    }
    let first = intervals.partition_point(|(_, e)| e.saturating_add(1) < start);
    let mut last = first;
    while let Some((s, e)) = intervals.get(last) {
        if *s > end.saturating_add(1) {
            break;
        }
        start = start.min(*s);
        end = end.max(*e);
        last += 1;
    }
    intervals.splice(first..last, [(start, end)]);
}

fn subtract_intervals(from: &Intervals, what: &Intervals) -> Intervals {
    let mut left = Vec::with_capacity(from.len());
    for &(mut start, end) in from {
        let mut gone = false;
        for &(s, e) in what {
            if e < start {
                continue;
            }
            if s > end {
                break;
            }
            if s > start {
                left.push((start, s - 1));
            }
            if e >= end {
                gone = true;
                break;
            }
            start = e + 1;
        }
        if !gone {
            left.push((start, end));
        }
    }
    left
}

impl MysqlGtidSet {
    /// Whether no GTID is in it.
    pub fn is_empty(&self) -> bool {
        self.sids.is_empty()
    }

    /// Adds one transaction. `tag` is empty for an untagged GTID.
    pub fn add(&mut self, uuid: Uuid, tag: &str, gno: u64) {
        self.add_range(uuid, tag, gno, gno);
    }

    /// Adds an inclusive range of transactions.
    pub fn add_range(&mut self, uuid: Uuid, tag: &str, start: u64, end: u64) {
        if start == 0 || end < start {
            return;
        }
        add_interval(self.sids.entry((uuid, tag.to_lowercase())).or_default(), start, end);
    }

    /// Whether one transaction is in it.
    pub fn contains(&self, uuid: Uuid, tag: &str, gno: u64) -> bool {
        self.sids.get(&(uuid, tag.to_lowercase())).is_some_and(|i| i.iter().any(|(s, e)| (*s..=*e).contains(&gno)))
    }

    /// Whether all of `other` is in it.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.subtract(self).is_empty()
    }

    /// Adds all of `other`.
    pub fn union(&mut self, other: &Self) {
        for ((uuid, tag), intervals) in &other.sids {
            for (s, e) in intervals {
                self.add_range(*uuid, tag, *s, *e);
            }
        }
    }

    /// What is in it but not in `other`.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        let mut left = Self::default();
        for (sid, intervals) in &self.sids {
            let rest = match other.sids.get(sid) {
                None => intervals.clone(),
                Some(what) => subtract_intervals(intervals, what),
            };
            if !rest.is_empty() {
                left.sids.insert(sid.clone(), rest);
            }
        }
        left
    }

    /// Each server UUID and tag with its inclusive ranges.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, &str, &[(u64, u64)])> {
        self.sids.iter().map(|((uuid, tag), i)| (*uuid, tag.as_str(), i.as_slice()))
    }
}

impl fmt::Display for MysqlGtidSet {
    /// As MySQL prints it, without line breaks: `uuid:1-5:7:tag:1,uuid:1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for ((uuid, tag), intervals) in &self.sids {
            if last != Some(uuid) {
                if last.is_some() {
                    f.write_str(",")?;
                }
                write!(f, "{uuid}")?;
                last = Some(uuid);
            }
            if !tag.is_empty() {
                write!(f, ":{tag}")?;
            }
            for (s, e) in intervals {
                if s == e {
                    write!(f, ":{s}")?;
                } else {
                    write!(f, ":{s}-{e}")?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for MysqlGtidSet {
    type Err = GtidError;

    fn from_str(s: &str) -> Result<Self, GtidError> {
        let mut set = Self::default();
        for sid in s.split(',').map(str::trim).filter(|sid| !sid.is_empty()) {
            let mut parts = sid.split(':').map(str::trim);
            let uuid: Uuid = parts.next().unwrap_or_default().parse()?;
            let mut tag = String::new();
            for part in parts {
                if part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                    if part.len() > 32 || !part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
                        return Err(GtidError(format!("`{part}` is not a tag")));
                    }
                    tag = part.to_lowercase();
                    continue;
                }
                let number = |n: &str| match n.trim().parse::<u64>() {
                    Ok(n) if (1..=MAX_GNO).contains(&n) => Ok(n),
                    _ => Err(GtidError(format!("`{part}` is not a range of transaction numbers"))),
                };
                let (start, end) = match part.split_once('-') {
                    Some((s, e)) => (number(s)?, number(e)?),
                    None => (number(part)?, number(part)?),
                };
                if end < start {
                    return Err(GtidError(format!("the range `{part}` ends before it starts")));
                }
                set.add_range(uuid, &tag, start, end);
            }
        }
        Ok(set)
    }
}

/// MariaDB's GTID position: for each domain the last transaction, as `domain-server-sequence`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MariadbGtidSet {
    domains: BTreeMap<u32, (u32, u64)>,
}

impl MariadbGtidSet {
    /// Whether no domain is in it.
    pub fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// Moves a domain on to a transaction.
    pub fn add(&mut self, domain: u32, server: u32, sequence: u64) {
        self.domains.insert(domain, (server, sequence));
    }

    /// Whether every domain of `other` has come at least as far here.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.domains.iter().all(|(d, (_, seq))| self.domains.get(d).is_some_and(|(_, have)| have >= seq))
    }

    /// Domain, server and sequence of each domain's last transaction.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.domains.iter().map(|(d, (s, n))| (*d, *s, *n))
    }
}

impl fmt::Display for MariadbGtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (domain, server, sequence)) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{domain}-{server}-{sequence}")?;
        }
        Ok(())
    }
}

impl FromStr for MariadbGtidSet {
    type Err = GtidError;

    fn from_str(s: &str) -> Result<Self, GtidError> {
        let mut set = Self::default();
        for gtid in s.split(',').map(str::trim).filter(|g| !g.is_empty()) {
            let bad = || GtidError(format!("`{gtid}` is not domain-server-sequence"));
            let mut parts = gtid.split('-');
            let (Some(d), Some(srv), Some(seq), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
                return Err(bad());
            };
            let (Ok(d), Ok(srv), Ok(seq)) = (d.parse(), srv.parse(), seq.parse()) else { return Err(bad()) };
            set.add(d, srv, seq);
        }
        Ok(set)
    }
}

/// A GTID set of either flavour. Written and read as text: `uuid:…` is MySQL's, `domain-server-sequence` MariaDB's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GtidSet {
    /// MySQL's.
    Mysql(MysqlGtidSet),
    /// MariaDB's.
    Mariadb(MariadbGtidSet),
}

impl GtidSet {
    /// Whether all of `other` is in it; sets of different flavours contain nothing of one another.
    pub fn contains_all(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mysql(a), Self::Mysql(b)) => a.contains_all(b),
            (Self::Mariadb(a), Self::Mariadb(b)) => a.contains_all(b),
            _ => false,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Mysql(s) => s.is_empty(),
            Self::Mariadb(s) => s.is_empty(),
        }
    }
}

impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mysql(s) => s.fmt(f),
            Self::Mariadb(s) => s.fmt(f),
        }
    }
}

impl FromStr for GtidSet {
    type Err = GtidError;

    fn from_str(s: &str) -> Result<Self, GtidError> {
        if s.contains(':') || s.trim().is_empty() { s.parse().map(Self::Mysql) } else { s.parse().map(Self::Mariadb) }
    }
}

impl Serialize for GtidSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GtidSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
