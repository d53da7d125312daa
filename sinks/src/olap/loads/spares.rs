//! Memory of bodies that are loaded, for those that come next.

/// Memory of bodies that are loaded. A body has many megabytes: memory that is given back costs a page fault for each
/// four kilobytes when it is asked for again, which is a sixth of all that a load costs.
#[derive(Debug, Default)]
pub(super) struct Spares {
    bodies: Vec<Vec<u8>>,
    bytes: usize,
}

impl Spares {
    /// Keeps a body's memory.
    pub(super) fn keep(&mut self, mut body: Vec<u8>) {
        body.clear();
        self.bytes += body.capacity();
        self.bodies.push(body);
    }

    /// An empty body, with memory if there is some, and no more than this many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Vec<u8> {
        let body = self.bodies.pop_if(|body| body.capacity() <= bytes).unwrap_or_default();
        self.bytes -= body.capacity();
        body
    }

    /// Gives memory back until no more than this many bytes are kept.
    pub(super) fn shrink(&mut self, bytes: usize) {
        while self.bytes > bytes && !self.bodies.is_empty() {
            drop(self.take(usize::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_bound() {
        let mut spares = Spares::default();
        for _ in 0..3 {
            spares.keep(vec![1; 1000]);
        }
        spares.shrink(2500);
        assert_eq!(spares.bytes, 2000);
        assert_eq!(spares.take(999).capacity(), 0);
        let body = spares.take(1000);
        assert_eq!((body.len(), body.capacity()), (0, 1000));
        spares.shrink(0);
        assert_eq!((spares.bytes, spares.take(usize::MAX).capacity()), (0, 0));
    }
}
