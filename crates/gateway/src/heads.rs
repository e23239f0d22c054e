//! Room for heads that are not whole, over all connections.
//!
//! Each of them keeps what has come, for as long as a head may take. One connection is bounded by
//! the size of a head; thousands of them together are bounded here. A head that comes in one piece
//! takes nothing of this room.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What hyper reads into, of a head that has begun.
const BEGUN: usize = 8 * 1024;

/// Bytes that all of them hold.
#[derive(Debug, Default)]
pub(crate) struct Heads(AtomicUsize);

/// What the head of one connection holds of it.
#[derive(Debug)]
pub(crate) struct HeldHead {
    heads: Arc<Heads>,
    bytes: AtomicUsize,
}

impl HeldHead {
    /// Of a connection whose head has not begun.
    pub(crate) fn new(heads: &Arc<Heads>) -> Self {
        Self {
            heads: Arc::clone(heads),
            bytes: AtomicUsize::new(0),
        }
    }

    /// So many bytes of it came, and more are to come; whether there is room within `most`.
    pub(crate) fn grows(&self, bytes: usize, most: usize) -> bool {
        let first = match self.bytes.load(Ordering::Relaxed) {
            0 => BEGUN,
            _ => 0,
        };
        let grown = bytes + first;
        self.bytes.fetch_add(grown, Ordering::Relaxed);
        self.heads.0.fetch_add(grown, Ordering::Relaxed) + grown <= most
    }

    /// It is whole, or will never be.
    pub(crate) fn is_over(&self) {
        if self.bytes.load(Ordering::Relaxed) > 0 {
            let bytes = self.bytes.swap(0, Ordering::Relaxed);
            self.heads.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for HeldHead {
    fn drop(&mut self) {
        self.is_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back() {
        let heads = Arc::<Heads>::default();
        let (one, other) = (HeldHead::new(&heads), HeldHead::new(&heads));
        assert!(one.grows(0, 20_000));
        assert!(other.grows(3_000, 20_000));
        assert!(!one.grows(1_000, 20_000), "8,192 + 11,192 + 1,000");
        other.is_over();
        other.is_over();
        assert!(one.grows(10_000, 20_000));
        drop(one);
        assert_eq!(heads.0.load(Ordering::Relaxed), 0);
    }
}
