//! A station or a limit while it runs: who is inside, who waits, and the integrals over both.

use super::entity::{Entities, Line};
use super::processor_sharing::SharedJobs;
use crate::network::{Center, CenterKind, Crowding, WhenFull};

/// What a center has seen since the figures were last set to 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Meter {
    /// Time up to which the integrals are right.
    pub(crate) at: f64,
    /// Requests inside, over time.
    pub(crate) inside_s: f64,
    /// Requests in the queue, over time.
    pub(crate) waiting_s: f64,
    /// Servers at work, over time.
    pub(crate) busy_s: f64,
    /// Servers that keep one that is blocked, over time.
    pub(crate) blocked_s: f64,
    /// Servers there were, over time.
    pub(crate) capacity_s: f64,
    /// Time in which nobody was here.
    pub(crate) empty_s: f64,
    /// Requests that got in.
    pub(crate) entries: u64,
    /// Requests that were through.
    pub(crate) exits: u64,
    /// Sum of the waits of those that got in.
    pub(crate) wait_s: f64,
    /// Requests that found it full.
    pub(crate) refused: u64,
    /// Requests that gave up waiting.
    pub(crate) abandoned: u64,
}

/// Who is where at a center, until the next event there.
#[derive(Debug, Clone, Copy)]
struct Level {
    inside: u32,
    waiting: u32,
    busy: u32,
    blocked: u32,
}

impl Meter {
    /// Adds the time up to `now`, in which nothing changed.
    #[inline]
    fn pass(&mut self, now: f64, level: Level, capacity: u32) {
        let elapsed = now - self.at;
        self.at = now;
        self.inside_s += elapsed * f64::from(level.inside);
        self.waiting_s += elapsed * f64::from(level.waiting);
        self.busy_s += elapsed * f64::from(level.busy);
        self.blocked_s += elapsed * f64::from(level.blocked);
        self.capacity_s += elapsed * f64::from(capacity);
        if level.inside + level.waiting == 0 {
            self.empty_s += elapsed;
        }
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "two are facts of the network, two are what may happen to any server"
)]
#[derive(Debug)]
pub(crate) struct CenterState {
    /// Index of the definition in the network.
    pub(crate) of: u32,
    pub(crate) kind: Kind,
    pub(crate) blocks: bool,
    by_priority: bool,
    /// Whether it works.
    pub(crate) up: bool,
    /// Whether its server is there at all: copies of servers that are not started yet count
    /// nowhere.
    pub(crate) there: bool,
    pub(crate) capacity: u32,
    pub(crate) inside: u32,
    pub(crate) waiting: u32,
    /// Of those inside: served, and blocked.
    pub(crate) blocked_inside: u32,
    queue_max: u32,
    pub(crate) speed: f64,
    crowding: Option<Crowding>,
    /// Waiters by priority, the highest first.
    lines: Box<[Line]>,
    /// Requests that are blocked elsewhere until there is room here.
    pub(crate) blocked: Line,
    pub(crate) shared: SharedJobs,
    pub(crate) meter: Meter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Queue,
    Shared,
    Delay,
    Limit,
}

/// What came of asking for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    Got,
    Waits,
    Full,
}

impl CenterState {
    pub(crate) fn new(of: usize, center: &Center, priorities: usize, there: bool) -> Self {
        let kind = match center.kind {
            CenterKind::Queue { .. } => Kind::Queue,
            CenterKind::Shared { .. } => Kind::Shared,
            CenterKind::Delay => Kind::Delay,
            CenterKind::Limit { .. } => Kind::Limit,
        };
        let lines = if center.by_priority { priorities } else { 1 };
        Self {
            of: of as u32,
            kind,
            blocks: center.when_full == WhenFull::Block,
            by_priority: center.by_priority,
            up: true,
            there,
            capacity: center.servers().unwrap_or(u32::MAX),
            inside: 0,
            waiting: 0,
            blocked_inside: 0,
            queue_max: center.queue.unwrap_or(u32::MAX),
            speed: 1.0,
            crowding: center.crowding,
            lines: vec![Line::EMPTY; lines].into(),
            blocked: Line::EMPTY,
            shared: SharedJobs::default(),
            meter: Meter::default(),
        }
    }

    /// Brings the integrals up to `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: f64) {
        let (level, capacity) = (self.level(), self.capacity_there());
        self.meter.pass(now, level, capacity);
    }

    /// The meter as it stands at `now`. Looking changes nothing: sums of floating-point numbers
    /// would depend on who looks.
    pub(crate) fn read(&self, now: f64) -> Meter {
        let mut meter = self.meter;
        meter.pass(now, self.level(), self.capacity_there());
        meter
    }

    #[inline]
    fn level(&self) -> Level {
        let working = self.inside.min(self.capacity);
        Level {
            inside: self.inside,
            waiting: self.waiting,
            busy: if self.up {
                working.saturating_sub(self.blocked_inside)
            } else {
                0
            },
            blocked: self.blocked_inside,
        }
    }

    /// By what its speed is divided because so many are inside.
    #[inline]
    pub(crate) fn crowding(&self) -> f64 {
        self.crowding.map_or(1.0, |crowding| {
            1.0 + crowding.cost * f64::from(self.inside.saturating_sub(crowding.above))
        })
    }

    #[inline]
    fn capacity_there(&self) -> u32 {
        if self.there { self.capacity } else { 0 }
    }

    /// Takes a place, if there is one and nobody waits for it.
    #[inline]
    pub(crate) fn seek(&mut self) -> Sought {
        if self.inside < self.capacity && self.waiting == 0 && self.up {
            self.inside += 1;
            self.meter.entries += 1;
            Sought::Got
        } else if self.waiting < self.queue_max {
            Sought::Waits
        } else {
            Sought::Full
        }
    }

    /// Whether one more would be refused.
    pub(crate) fn is_full(&self) -> bool {
        let free = self.inside < self.capacity && self.waiting == 0 && self.up;
        !free && self.waiting >= self.queue_max
    }

    #[inline]
    pub(crate) fn join(&mut self, entities: &mut Entities, id: u32, rank: u8) {
        self.waiting += 1;
        let line = if self.by_priority {
            usize::from(rank)
        } else {
            0
        };
        self.lines[line].push(entities, id);
    }

    /// Takes the next one out of the queue.
    #[inline]
    pub(crate) fn next(&mut self, entities: &mut Entities) -> Option<u32> {
        if self.waiting == 0 {
            return None;
        }
        let line = self.lines.iter_mut().find(|line| !line.is_empty());
        let id = line.expect("somebody waits").pop(entities);
        self.waiting -= 1;
        id
    }

    pub(crate) fn leave_queue(&mut self, entities: &mut Entities, id: u32, rank: u8) {
        self.waiting -= 1;
        let line = if self.by_priority {
            usize::from(rank)
        } else {
            0
        };
        self.lines[line].unlink(entities, id);
    }
}
