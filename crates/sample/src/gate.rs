//! Stage `connections`: how many connections are open, and what happens to one too many.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::options::WhenFull;
use crate::stage::{Level, StageReading};

/// The limit on open connections.
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    when_full: WhenFull,
}

struct State {
    limit: u64,
    open: Level,
    entries: u64,
    refused: u64,
    stopping: bool,
}

impl State {
    fn has_room(&self) -> bool {
        self.open.count() < self.limit
    }
}

impl Gate {
    pub(crate) fn new(limit: u64, when_full: WhenFull) -> Self {
        let open = Level::new(Instant::now());
        Self {
            state: Mutex::new(State {
                limit,
                open,
                entries: 0,
                refused: 0,
                stopping: false,
            }),
            changed: Condvar::new(),
            when_full,
        }
    }

    /// Blocks until the next connection should be taken from the backlog; false when the server
    /// stops.
    ///
    /// A gate that closes what is too much always takes the next one, so that its client learns at
    /// once.
    pub(crate) fn wait_before_accept(&self) -> bool {
        let state = self.lock();
        let full = |state: &mut State| {
            self.when_full == WhenFull::Wait && !state.has_room() && !state.stopping
        };
        !self.changed.wait_while(state, full).expect(LOCK).stopping
    }

    /// Takes in an accepted connection, or counts it as refused.
    ///
    /// Where connections wait, this waits too: the limit may have been lowered since
    /// [`Self::wait_before_accept`].
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Slot> {
        let state = self.lock();
        let full = |state: &mut State| {
            self.when_full == WhenFull::Wait && !state.has_room() && !state.stopping
        };
        let mut state = self.changed.wait_while(state, full).expect(LOCK);
        if state.stopping {
            return None;
        }
        if !state.has_room() {
            state.refused += 1;
            return None;
        }
        state.entries += 1;
        state.open.rise(Instant::now());
        Some(Slot(Arc::clone(self)))
    }

    /// Waits until a connection closes or `longest` has passed, for when the process is out of open
    /// files.
    pub(crate) fn wait_for_a_close(&self, longest: Duration) {
        drop(self.changed.wait_timeout(self.lock(), longest).expect(LOCK));
    }

    pub(crate) fn limit(&self) -> u64 {
        self.lock().limit
    }

    /// Changes the limit; connections above a lower one stay until they close.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.lock().limit = limit;
        self.changed.notify_all();
    }

    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    pub(crate) fn read(&self) -> StageReading {
        let state = self.lock();
        let mut reading = StageReading::of("connections").occupied(&state.open, Instant::now());
        reading.limit = Some(state.limit);
        reading.entries = Some(state.entries);
        // Connections that wait are in the backlog and are its occupancy; only a gate that closes
        // refuses.
        reading.refused = (self.when_full == WhenFull::Close).then_some(state.refused);
        reading
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(LOCK)
    }
}

const LOCK: &str = "nothing panics while it holds the gate";

/// The place of one open connection, given back when dropped.
pub(crate) struct Slot(Arc<Gate>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.lock().open.fall(Instant::now());
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn closing_gate_refuses_what_is_too_much_and_counts_it() {
        let gate = Arc::new(Gate::new(2, WhenFull::Close));
        let slots = [gate.admit().unwrap(), gate.admit().unwrap()];
        assert!(gate.wait_before_accept() && gate.admit().is_none());
        drop(slots);
        let _slot = gate.admit().unwrap();
        let reading = gate.read();
        assert_eq!(
            (reading.entries, reading.refused, reading.occupancy),
            (Some(3), Some(1), Some(1))
        );
    }

    #[test]
    fn waiting_gate_lets_the_next_in_when_one_leaves_or_the_limit_rises() {
        let gate = Arc::new(Gate::new(1, WhenFull::Wait));
        let first = gate.admit().unwrap();
        let next = std::thread::spawn({
            let gate = Arc::clone(&gate);
            move || {
                (
                    gate.wait_before_accept(),
                    gate.admit().unwrap(),
                    gate.admit().unwrap(),
                )
            }
        });
        drop(first);
        gate.set_limit(2);
        let (room, _second, _third) = next.join().unwrap();
        assert!(room);
        let reading = gate.read();
        assert_eq!(
            (reading.entries, reading.refused, reading.occupancy),
            (Some(3), None, Some(2))
        );
    }

    #[test]
    fn stopping_ends_the_wait() {
        let gate = Arc::new(Gate::new(1, WhenFull::Wait));
        let _slot = gate.admit().unwrap();
        gate.stop();
        assert!(!gate.wait_before_accept() && gate.admit().is_none());
    }
}
