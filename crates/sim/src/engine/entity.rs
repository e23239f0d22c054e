//! Requests and the users that send them: one entity of a cache line for both.

use crate::network::GROUPS_MAX;

/// No entity, no center.
pub(crate) const NONE: u32 = u32::MAX;

/// What an entity does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: its place is free.
    Free,
    /// A user before its first think time.
    NotStarted,
    /// A user between two requests, or a client that pauses before another attempt.
    Thinking,
    /// A client between two attempts.
    BackingOff,
    /// In the queue of a center.
    Waiting,
    /// Has got what it waited for and goes on at this very time.
    Granted,
    /// In service at a queueing station or a delay.
    Serving,
    /// In service at a station that stands still.
    Paused,
    /// In service at a station of processor sharing.
    Sharing,
    /// Served, and blocked by the station it goes to.
    Blocked,
    /// In a sleep of its route.
    Sleeping,
    /// Waits for its time at a gate.
    AtGate,
    /// Waits to be admitted by a gateway.
    AtGateway,
}

/// A request with its client, or one without (its client has given up).
#[derive(Debug, Clone)]
pub(crate) struct Entity {
    /// When its client sent it first.
    pub(crate) sent_at: f64,
    /// Waiting: since when. Serving: until when. Paused: how much is left.
    pub(crate) moment: f64,
    /// Number of the event that it waits for; 0: none.
    pub(crate) stamp: u32,
    /// Number of its client's deadline; 0: none.
    pub(crate) deadline: u32,
    /// Neighbours in a queue.
    pub(crate) next: u32,
    pub(crate) previous: u32,
    /// The center where it waits or is served, or the gate.
    pub(crate) center: u32,
    /// Blocked: the center whose server it keeps busy.
    pub(crate) keeps: u32,
    /// Where it is on its way: an index into the steps of all classes.
    pub(crate) step: u32,
    /// Limits that it holds, one bit each.
    pub(crate) holds: u32,
    pub(crate) class: u16,
    /// Its server in each group.
    pub(crate) server: [u16; GROUPS_MAX],
    pub(crate) state: State,
    pub(crate) attempt: u8,
    /// Groups in which it is, one bit each.
    pub(crate) inside: u8,
    /// Whether somebody still waits for it.
    pub(crate) has_client: bool,
}

impl Entity {
    pub(crate) fn new(class: usize) -> Self {
        Self {
            sent_at: 0.0,
            moment: 0.0,
            stamp: 0,
            deadline: 0,
            next: NONE,
            previous: NONE,
            center: NONE,
            keeps: NONE,
            step: 0,
            holds: 0,
            class: class as u16,
            server: [0; GROUPS_MAX],
            state: State::NotStarted,
            attempt: 0,
            inside: 0,
            has_client: true,
        }
    }
}

/// All entities; places of those that have gone are used again.
#[derive(Debug, Default)]
pub(crate) struct Entities {
    all: Vec<Entity>,
    free: Vec<u32>,
}

impl Entities {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            all: Vec::with_capacity(count),
            free: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, entity: Entity) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = entity;
            return place;
        }
        assert!(
            self.all.len() < crate::events::SUBJECTS_MAX as usize,
            "more requests at once than can be numbered"
        );
        self.all.push(entity);
        self.all.len() as u32 - 1
    }

    pub(crate) fn remove(&mut self, id: u32) {
        let entity = &mut self.all[id as usize];
        entity.state = State::Free;
        entity.stamp = 0;
        entity.deadline = 0;
        self.free.push(id);
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.all.len() as u32
    }

    pub(crate) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Entity>() + self.free.capacity() * size_of::<u32>()
    }
}

impl std::ops::Index<u32> for Entities {
    type Output = Entity;

    #[inline]
    fn index(&self, id: u32) -> &Entity {
        &self.all[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Entities {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Entity {
        &mut self.all[id as usize]
    }
}

/// A queue of entities in order of arrival, linked through the entities themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    first: u32,
    last: u32,
}

impl Line {
    pub(crate) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.first == NONE
    }

    #[inline]
    pub(crate) fn push(&mut self, entities: &mut Entities, id: u32) {
        let entity = &mut entities[id];
        entity.next = NONE;
        entity.previous = self.last;
        if self.last == NONE {
            self.first = id;
        } else {
            entities[self.last].next = id;
        }
        self.last = id;
    }

    #[inline]
    pub(crate) fn pop(&mut self, entities: &mut Entities) -> Option<u32> {
        let id = self.first;
        if id == NONE {
            return None;
        }
        self.unlink(entities, id);
        Some(id)
    }

    pub(crate) fn unlink(&mut self, entities: &mut Entities, id: u32) {
        let Entity { next, previous, .. } = entities[id];
        if previous == NONE {
            self.first = next;
        } else {
            entities[previous].next = next;
        }
        if next == NONE {
            self.last = previous;
        } else {
            entities[next].previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million users have to fit into a gigabyte with their events and queues.
    #[test]
    fn an_entity_takes_little_more_than_a_cache_line() {
        assert!(size_of::<Entity>() <= 72, "{}", size_of::<Entity>());
    }

    #[test]
    fn a_line_keeps_its_order_when_one_leaves_the_middle() {
        let mut entities = Entities::default();
        let mut line = Line::EMPTY;
        for _ in 0..4 {
            let id = entities.add(Entity::new(0));
            line.push(&mut entities, id);
        }
        line.unlink(&mut entities, 2);
        line.unlink(&mut entities, 0);
        assert_eq!(line.pop(&mut entities), Some(1));
        assert_eq!(line.pop(&mut entities), Some(3));
        assert!(line.is_empty());
        assert_eq!(line.pop(&mut entities), None);
    }
}
