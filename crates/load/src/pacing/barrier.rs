//! The Synchronizing Timer: users wait until there are enough of them, then all go at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use weir_plan::ElementId;

use crate::user::User;

/// How often a user that waits looks whether the test has been stopped, of which it hears no sooner.
const LOOK: Duration = Duration::from_millis(50);

/// One barrier for each timer and group.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<HashMap<(ElementId, usize), Arc<Barrier>>>);

impl Shared {
    /// The barrier of a timer.
    pub(super) fn of(&self, id: ElementId, group: usize) -> Arc<Barrier> {
        let mut barriers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(barriers.entry((id, group)).or_default())
    }
}

/// Lets users through together.
#[derive(Debug)]
pub(super) struct Barrier {
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
    fn arrive(&self, users: u32) -> Option<watch::Receiver<u64>> {
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
    fn open(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = 0;
        self.opened.send_modify(|opened| *opened += 1);
    }
}

impl User {
    /// Waits until so many users do. After the time-out of one of them all that wait go on, as in
    /// JMeter.
    pub(super) async fn wait_at(
        &mut self,
        barrier: &Barrier,
        users: u32,
        timeout: Option<Duration>,
    ) {
        let Some(mut opened) = barrier.arrive(users) else {
            return;
        };
        let until = timeout.map(|timeout| self.core.clock.now().after(timeout));
        while self.runs() {
            let now = self.core.clock.now();
            if until.is_some_and(|until| now >= until) {
                return barrier.open();
            }
            let look = now.after(LOOK);
            let look = until.map_or(look, |until| until.min(look));
            if self.within(look, opened.changed()).await.is_some() {
                return;
            }
        }
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
