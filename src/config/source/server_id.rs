//! Replica ids.

use std::fmt;

/// The range of ids under which the readers register with the server, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerIds {
    /// The first id; at least 1.
    pub first: u32,
    /// The last id.
    pub last: u32,
}

/// Fewer ids than this and than the parallelism are refused, as by Flink CDC, which takes one id a reader: the same file
/// must run there. Here one connection reads the binlog, with the first id; from this many on a short range is only
/// warned about.
pub(super) const ENOUGH: u32 = 4;

impl ServerIds {
    /// Reads `N` or `N-M`.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence that begins with the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |s: &str| -> Result<u32, String> {
            let s = s.trim();
            if s.is_empty() || !s.bytes().all(|b| b.is_ascii_digit()) {
                return Err("is not a server id: write a number such as 5400, or a range such as 5400-5404".to_owned());
            }
            match s.parse::<i32>() {
                Ok(n) if n >= 1 => Ok(n.unsigned_abs()),
                _ => Err("is out of range: a server id is between 1 and 2147483647".to_owned()),
            }
        };
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if last < first {
            return Err("is a range whose end is before its start".to_owned());
        }
        Ok(Self { first, last })
    }

    /// How many ids there are.
    pub fn count(self) -> u32 {
        self.last - self.first + 1
    }
}

impl fmt::Display for ServerIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn one_id_or_a_range() {
        assert_eq!(ServerIds::parse("5411").unwrap(), ServerIds { first: 5411, last: 5411 });
        assert_eq!(ServerIds::parse("5400-5404").unwrap().count(), 5);
        for text in ["", "7000-abc", "x", "-5", "5-", "5404-5400", "0", "2147483648", "1-2-3", "5400,5401", "5.4"] {
            assert!(ServerIds::parse(text).is_err(), "{text}");
        }
    }
}
