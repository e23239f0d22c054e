//! The queue of what happens next.
//!
//! A four-ary heap of 16-byte entries: time, a running number that breaks ties in the order of
//! scheduling, and who it is about. Nothing is ever taken out of the middle: an entry whose number
//! is no longer the one that its owner remembers is stale, and skipped when it comes up; when half
//! of all entries are stale, they are thrown out together.
//!
//! After a `pop` the root stays empty until the next call, because most events schedule another one
//! soon after, which then sinks from the root: one walk through the heap instead of two.

/// Children of a node. Four lie in one cache line; wider gains nothing (`LaMarca` and Ladner 1996).
const ARITY: usize = 4;
/// Below this length stale entries are not worth a sweep.
const SWEEP_MIN: usize = 256;

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A request, or the user that sends it.
    Entity(u32),
    /// A request whose client has waited long enough.
    Deadline(u32),
    /// A station of processor sharing, of which somebody is done.
    Center(u32),
    /// Something that the network itself does.
    Control(u32),
}

const KIND_SHIFT: u32 = 30;
/// Most entities and stations there can be.
pub(crate) const SUBJECTS_MAX: u32 = 1 << KIND_SHIFT;

impl Subject {
    fn pack(self) -> u32 {
        let (kind, id) = match self {
            Self::Entity(id) => (0, id),
            Self::Deadline(id) => (1, id),
            Self::Center(id) => (2, id),
            Self::Control(id) => (3, id),
        };
        kind << KIND_SHIFT | id
    }

    fn unpack(packed: u32) -> Self {
        let id = packed & (SUBJECTS_MAX - 1);
        match packed >> KIND_SHIFT {
            0 => Self::Entity(id),
            1 => Self::Deadline(id),
            2 => Self::Center(id),
            _ => Self::Control(id),
        }
    }
}

/// Something that is going to happen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    pub(crate) time: f64,
    pub(crate) stamp: u32,
    pub(crate) subject: Subject,
}

/// Time, stamp and subject in one number that orders as they do: times are not negative, so their
/// bits order as they.
fn key(event: Event) -> u128 {
    let time = u128::from(event.time.to_bits()) << 64;
    time | u128::from(event.stamp) << 32 | u128::from(event.subject.pack())
}

fn event(key: u128) -> Event {
    Event {
        time: f64::from_bits((key >> 64) as u64),
        stamp: (key >> 32) as u32,
        subject: Subject::unpack(key as u32),
    }
}

/// Future events in the order of time.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
    /// Whether the root has been taken out and nothing has come in its place.
    hole: bool,
    stale: usize,
    last_stamp: u32,
}

impl EventQueue {
    /// A number that no live event has; 0 is never one.
    pub(crate) fn stamp(&mut self) -> u32 {
        // After four thousand million events numbers come again; an owner's old one is long gone by
        // then.
        self.last_stamp = self.last_stamp.wrapping_add(1).max(1);
        self.last_stamp
    }

    /// Schedules an event and returns its stamp.
    #[inline]
    pub(crate) fn push(&mut self, time: f64, subject: Subject) -> u32 {
        debug_assert!(time >= 0.0 && time.is_finite(), "an event at {time}");
        let stamp = self.stamp();
        let key = key(Event {
            time,
            stamp,
            subject,
        });
        if self.hole {
            self.hole = false;
            self.sink(key);
        } else {
            self.heap.push(key);
            self.rise(self.heap.len() - 1, key);
        }
        stamp
    }

    /// Takes the next event out, if it happens before `end`.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: f64) -> Option<Event> {
        self.close_hole();
        let first = event(*self.heap.first()?);
        if first.time >= end {
            return None;
        }
        self.hole = true;
        Some(first)
    }

    /// Notes that one of the events has become stale, without saying which.
    pub(crate) fn forget_one(&mut self) {
        self.stale += 1;
    }

    /// Notes that a stale event has come up.
    pub(crate) fn met_stale(&mut self) {
        self.stale = self.stale.saturating_sub(1);
    }

    /// Whether it is time to [`Self::sweep`].
    pub(crate) fn is_littered(&self) -> bool {
        self.heap.len() >= SWEEP_MIN && self.stale * 2 > self.heap.len()
    }

    /// Keeps the live events only.
    pub(crate) fn sweep(&mut self, live: impl Fn(Event) -> bool) {
        self.close_hole();
        self.heap.retain(|&key| live(event(key)));
        self.stale = 0;
        // A sorted array is a heap.
        self.heap.sort_unstable();
    }

    /// Bytes it has taken.
    pub(crate) fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<u128>()
    }

    #[inline]
    fn close_hole(&mut self) {
        if !self.hole {
            return;
        }
        self.hole = false;
        let last = self.heap.pop().expect("a hole stands in a heap");
        if !self.heap.is_empty() {
            self.sink(last);
        }
    }

    /// Puts a key where it belongs, from the root down.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= heap.len() {
                break;
            }
            let end = (first + ARITY).min(heap.len());
            let (mut least, mut of) = (heap[first], first);
            for (place, &child) in heap[first..end].iter().enumerate().skip(1) {
                if child < least {
                    (least, of) = (child, first + place);
                }
            }
            if least >= key {
                break;
            }
            heap[at] = least;
            at = of;
        }
        heap[at] = key;
    }

    /// Puts a key where it belongs, from the end up.
    #[inline]
    fn rise(&mut self, from: usize, key: u128) {
        let mut at = from;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a sorted list: pushes, pops and sweeps in any order give the events in order of
        /// time, ties in order of scheduling.
        #[test]
        fn gives_events_in_order(steps in proptest::collection::vec((0_u8..8, 0_u32..50), 1..400)) {
            let mut queue = EventQueue::default();
            let mut model: Vec<(u64, u32, u32)> = Vec::new();
            for (what, value) in steps {
                match what {
                    0..4 => {
                        let stamp = queue.push(f64::from(value), Subject::Entity(value));
                        model.push((u64::from(value), stamp, value));
                    }
                    4..7 => {
                        model.sort_unstable();
                        let popped = queue.pop_before(40.0).map(|event| (event.time as u64, event.stamp));
                        let expected = model.first().filter(|first| first.0 < 40).map(|first| (first.0, first.1));
                        prop_assert_eq!(popped, expected);
                        if popped.is_some() {
                            model.remove(0);
                        }
                    }
                    _ => {
                        queue.sweep(|event| event.subject != Subject::Entity(value));
                        model.retain(|entry| entry.2 != value);
                    }
                }
            }
        }
    }

    #[test]
    fn subjects_come_back_as_they_went_in() {
        for id in [0, 1, SUBJECTS_MAX - 1] {
            for subject in [
                Subject::Entity(id),
                Subject::Deadline(id),
                Subject::Center(id),
                Subject::Control(id),
            ] {
                assert_eq!(Subject::unpack(subject.pack()), subject);
            }
        }
    }
}
