//! Several addresses of one service: the one that answered last is asked first.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Addresses in the order in which the user named them.
#[derive(Debug)]
pub(crate) struct Endpoints<T> {
    addresses: Vec<T>,
    preferred: AtomicUsize,
}

impl<T> Endpoints<T> {
    /// Addresses; there should be at least one.
    pub(crate) fn new(addresses: Vec<T>) -> Self {
        Self { addresses, preferred: AtomicUsize::new(0) }
    }

    /// All addresses with their numbers, the preferred one first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (usize, &T)> {
        let first = self.preferred.load(Ordering::Relaxed);
        let n = self.addresses.len();
        (0..n).filter_map(move |i| {
            let at = (first + i) % n;
            self.addresses.get(at).map(|a| (at, a))
        })
    }

    /// Remembers the address that answered.
    pub(crate) fn prefer(&self, index: usize) {
        self.preferred.store(index, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoints;

    #[test]
    fn the_one_that_answered_is_asked_first() {
        let endpoints = Endpoints::new(vec!["a", "b", "c"]);
        let order = |e: &Endpoints<&'static str>| e.candidates().map(|(_, a)| *a).collect::<String>();
        assert_eq!(order(&endpoints), "abc");
        endpoints.prefer(2);
        assert_eq!(order(&endpoints), "cab");
    }
}
