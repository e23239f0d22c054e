//! How many samples a load may still start.

use std::sync::atomic::{AtomicU64, Ordering};

/// Samples that all users of a load share: who wants to start one takes it from here.
#[derive(Debug, Default)]
pub(crate) struct Budget(Option<AtomicU64>);

impl Budget {
    /// So many, or as many as they like.
    pub(crate) fn new(samples: Option<u64>) -> Self {
        Self(samples.map(AtomicU64::new))
    }

    /// Takes one; false when there is none left.
    pub(crate) fn take(&self) -> bool {
        let Some(left) = &self.0 else {
            return true;
        };
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        taken.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_given_than_there_are() {
        let budget = Budget::new(Some(1_000));
        let takers = || (0..700).filter(|_| budget.take()).count();
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(takers)).collect();
            let counts = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            counts.map(|count| count.unwrap_or(0)).sum()
        });
        assert_eq!(taken, 1_000);
        assert!(Budget::new(None).take());
    }
}
