//! The Synchronizing Timer: users wait until there are enough of them, then all go at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use weir_plan::ElementId;

/// One barrier for each timer and group.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<HashMap<(ElementId, usize), Arc<Barrier>>>);

impl Shared {
    /// The barrier of a timer.
    pub(crate) fn of(&self, id: ElementId, group: usize) -> Arc<Barrier> {
        let mut barriers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(barriers.entry((id, group)).or_default())
    }
}

/// Lets users through together.
#[derive(Debug)]
pub(crate) struct Barrier {
    waiting: Mutex<u32>,
    /// How often it has opened.
    opened: watch::Sender<u64>,
}

impl Default for Barrier {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            opened: watch::Sender::new(0),
        }
    }
}

impl Barrier {
    /// One more user; the opening that it waits for, or `None` if it may go on.
    pub(crate) fn arrive(&self, users: u32) -> Option<watch::Receiver<u64>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting += 1;
        if *waiting >= users {
            *waiting = 0;
            self.opened.send_modify(|opened| *opened += 1);
            return None;
        }
        Some(self.opened.subscribe())
    }

    /// Opens for those that wait now.
    pub(crate) fn open(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = 0;
        self.opened.send_modify(|opened| *opened += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_opens_for_all() {
        let barrier = Barrier::default();
        let first = barrier.arrive(3);
        let second = barrier.arrive(3);
        let waits = |receiver: &Option<watch::Receiver<u64>>| {
            receiver
                .as_ref()
                .is_some_and(|receiver| !receiver.has_changed().unwrap_or(true))
        };
        assert!(waits(&first) && waits(&second));
        assert!(barrier.arrive(3).is_none());
        assert!(!waits(&first) && !waits(&second));
        let next = barrier.arrive(3);
        assert!(waits(&next));
        barrier.open();
        assert!(!waits(&next));
        assert!(barrier.arrive(1).is_none());
    }
}
