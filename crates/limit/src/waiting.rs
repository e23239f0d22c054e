//! Those who wait: one line per class, in one store whose places are used again.
//!
//! Nothing is allocated once the store is as large as the longest queue has been.

use crate::decision::Ticket;
use crate::moment::Moment;

const NOBODY: u32 = u32::MAX;

/// The ends of one line; the oldest is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    first: u32,
    last: u32,
    length: u32,
}

impl Line {
    pub(crate) const EMPTY: Self = Self {
        first: NOBODY,
        last: NOBODY,
        length: 0,
    };

    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[derive(Debug, Clone)]
struct Place {
    arrived: Moment,
    class: u32,
    /// Counts who had this place: a ticket of an earlier one means nobody.
    generation: u32,
    taken: bool,
    previous: u32,
    next: u32,
}

/// Who is taken out of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) ticket: Ticket,
    pub(crate) class: usize,
    pub(crate) arrived: Moment,
}

/// All that wait.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    places: Vec<Place>,
    free: Vec<u32>,
    length: usize,
}

impl Waiting {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Puts somebody at the end of a line.
    pub(crate) fn join(&mut self, line: &mut Line, class: usize, arrived: Moment) -> Ticket {
        let place = self.free.pop().unwrap_or_else(|| self.new_place());
        if line.last == NOBODY {
            line.first = place;
        } else {
            self.places[line.last as usize].next = place;
        }
        let of = &mut self.places[place as usize];
        (of.arrived, of.class, of.taken) = (arrived, class as u32, true);
        (of.previous, of.next) = (line.last, NOBODY);
        line.last = place;
        line.length += 1;
        self.length += 1;
        Ticket {
            place,
            generation: of.generation,
        }
    }

    /// One place more, and room to note it when it is free, so that leaving never allocates.
    fn new_place(&mut self) -> u32 {
        self.places.push(Place {
            arrived: Moment(0),
            class: 0,
            generation: 0,
            taken: false,
            previous: NOBODY,
            next: NOBODY,
        });
        self.free.reserve(self.places.len());
        self.places.len() as u32 - 1
    }

    /// The one who has waited longest.
    pub(crate) fn oldest(&self, line: &Line) -> Option<Waiter> {
        self.waiter(line.first)
    }

    /// The one who came last.
    pub(crate) fn newest(&self, line: &Line) -> Option<Waiter> {
        self.waiter(line.last)
    }

    /// Who holds this ticket, as long as it waits.
    pub(crate) fn find(&self, ticket: Ticket) -> Option<Waiter> {
        self.waiter(ticket.place)
            .filter(|waiter| waiter.ticket == ticket)
    }

    /// Takes somebody out of the line in which it stands.
    pub(crate) fn leave(&mut self, line: &mut Line, waiter: Waiter) {
        let place = waiter.ticket.place;
        let Place { previous, next, .. } = self.places[place as usize];
        if previous == NOBODY {
            line.first = next;
        } else {
            self.places[previous as usize].next = next;
        }
        if next == NOBODY {
            line.last = previous;
        } else {
            self.places[next as usize].previous = previous;
        }
        let of = &mut self.places[place as usize];
        of.taken = false;
        of.generation = of.generation.wrapping_add(1);
        self.free.push(place);
        line.length -= 1;
        self.length -= 1;
    }

    fn waiter(&self, place: u32) -> Option<Waiter> {
        let of = self.places.get(place as usize).filter(|of| of.taken)?;
        Some(Waiter {
            ticket: Ticket {
                place,
                generation: of.generation,
            },
            class: of.class as usize,
            arrived: of.arrived,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_order_when_one_leaves_the_middle() {
        let (mut waiting, mut line) = (Waiting::default(), Line::EMPTY);
        let tickets: Vec<Ticket> = (0..4)
            .map(|at| waiting.join(&mut line, 0, Moment(at)))
            .collect();
        let middle = waiting.find(tickets[2]).unwrap();
        waiting.leave(&mut line, middle);
        let first = waiting.oldest(&line).unwrap();
        waiting.leave(&mut line, first);
        assert_eq!(waiting.oldest(&line).unwrap().ticket, tickets[1]);
        assert_eq!(waiting.newest(&line).unwrap().ticket, tickets[3]);
        assert_eq!((line.len(), waiting.len()), (2, 2));
    }

    #[test]
    fn a_ticket_means_nobody_once_its_place_is_another_s() {
        let (mut waiting, mut line) = (Waiting::default(), Line::EMPTY);
        let gone = waiting.join(&mut line, 0, Moment(1));
        let waiter = waiting.find(gone).unwrap();
        waiting.leave(&mut line, waiter);
        let here = waiting.join(&mut line, 0, Moment(2));
        assert_eq!(here.place, gone.place);
        assert_eq!(waiting.find(gone), None);
        assert!(waiting.find(here).is_some());
    }
}
