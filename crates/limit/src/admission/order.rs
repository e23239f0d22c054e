//! Who is next, and who has waited too long.

use crate::admission::Admission;
use crate::class::Class;
use crate::decision::{Verdict, Waited, Why};
use crate::gcra::Gcra;
use crate::moment::Moment;
use crate::waiting::Waiter;

impl Admission {
    /// Lets those go on for whom there is room, and sends those away who have waited too long.
    /// Afterwards nobody waits who could go on.
    pub(super) fn settle(&mut self, now: Moment) {
        if self.waiting.len() == 0 {
            return self.observe(now);
        }
        // Whoever has waited for exactly as long as allowed may still go on, but then has to go.
        self.expire(now, |age, patience| age > patience);
        while let Some(waiter) = self.next(now) {
            self.grant(waiter, now);
        }
        self.expire(now, |age, patience| age >= patience);
        self.observe(now);
    }

    /// The one who goes on next, if there is room: promised classes first, then in order of
    /// arrival; of a class whose queue stands, the one who came last.
    fn next(&self, now: Moment) -> Option<Waiter> {
        if !(self.is_on_time(now) && self.cap.has_room(now)) {
            return None;
        }
        let open = self.classes.iter().filter(|class| class.is_open(now));
        let heads = open.filter_map(|class| {
            let waiter = if class.standing.newest_first() {
                self.waiting.newest(&class.line)
            } else {
                self.waiting.oldest(&class.line)
            };
            waiter.map(|waiter| (class.rank, waiter))
        });
        let first = heads.min_by_key(|(rank, waiter)| (*rank, waiter.arrived));
        first.map(|(_, waiter)| waiter)
    }

    fn grant(&mut self, waiter: Waiter, now: Moment) {
        self.waiting
            .leave(&mut self.classes[waiter.class].line, waiter);
        let permit = self.admit(waiter.class, Some(waiter.arrived), now);
        self.verdicts.push_back(Verdict {
            ticket: waiter.ticket,
            decision: Waited::Granted(permit),
        });
    }

    fn expire(
        &mut self,
        now: Moment,
        over: impl Fn(std::time::Duration, std::time::Duration) -> bool,
    ) {
        for class in 0..self.classes.len() {
            while let Some(waiter) = self.waiting.oldest(&self.classes[class].line)
                && over(now.since(waiter.arrived), self.classes[class].patience())
            {
                self.send_away(waiter, now);
            }
        }
    }

    /// Refuses one who waits.
    pub(super) fn send_away(&mut self, waiter: Waiter, now: Moment) {
        let class = &mut self.classes[waiter.class];
        self.waiting.leave(&mut class.line, waiter);
        let why = if class.standing.newest_first() {
            Why::Expired
        } else {
            Why::WaitTooLong
        };
        class.standing.expire(now);
        let refusal = self.refuse(waiter.class, why, now);
        self.verdicts.push_back(Verdict {
            ticket: waiter.ticket,
            decision: Waited::Refused(refusal),
        });
    }

    /// Looks at how long the queues have stood.
    fn observe(&mut self, now: Moment) {
        let on_time = self.is_on_time(now);
        for class in &mut self.classes {
            let oldest = self.waiting.oldest(&class.line);
            let oldest = oldest.filter(|_| on_time && class.is_on_time(now));
            let age = oldest.map(|waiter| now.since(waiter.arrived));
            class.standing.observe(age, class.max_wait, now);
        }
    }

    /// Tells the limits whether anybody waits whom nothing but they hold back.
    pub(super) fn note(&mut self, now: Moment) {
        let room = self.cap.has_room(now);
        let on_time = self.is_on_time(now);
        let mut pressed = false;
        for class in &mut self.classes {
            let waits = !class.line.is_empty() && on_time && class.is_on_time(now);
            let own_room = class.cap.has_room(now);
            class.cap.note(waits && room && !own_room, now);
            pressed |= waits && own_room && !room;
        }
        self.cap.note(pressed, now);
    }

    /// When something happens by itself to a class in which somebody waits.
    pub(super) fn wakes_of<'a>(&'a self, class: &'a Class) -> impl Iterator<Item = Moment> + 'a {
        let oldest = self.waiting.oldest(&class.line);
        let patience = class.patience();
        let rates = [self.rate.as_ref(), class.rate.as_ref()];
        let slots = rates.into_iter().flatten().map(Gcra::due);
        let now = self.now;
        let slots = slots.filter(move |due| *due > now);
        let deadline = oldest.map(|waiter| waiter.arrived + patience);
        let room = [self.cap.opens(now), class.cap.opens(now)];
        slots.chain(deadline).chain(room.into_iter().flatten())
    }
}
