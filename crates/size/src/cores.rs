//! Independent simulations over all cores: the same answers in the same order, whatever their
//! number.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::SizeError;

/// Hears of each simulation that has ended, from whatever thread it ran on.
pub trait Watcher: Sync {
    /// One more. Says whether to go on.
    fn simulated(&self) -> bool;
}

/// A watcher that lets everything go on.
#[derive(Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn simulated(&self) -> bool {
        true
    }
}

/// The cores that may be used, and who watches.
#[derive(Clone, Copy)]
pub(crate) struct Cores<'a> {
    pub(crate) count: usize,
    pub(crate) watcher: &'a dyn Watcher,
}

impl Cores<'_> {
    /// What `of` makes of each item, in the order of the items.
    pub(crate) fn map<T: Sync, R: Send>(
        self,
        items: &[T],
        of: impl Fn(&T) -> Result<R, SizeError> + Sync,
    ) -> Result<Vec<R>, SizeError> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results: Mutex<Vec<(usize, Result<R, SizeError>)>> = Mutex::new(Vec::new());
        let work = || {
            while !failed.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return };
                let result = of(item);
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                if let Ok(mut results) = results.lock() {
                    results.push((index, result));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.count.clamp(1, items.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}
