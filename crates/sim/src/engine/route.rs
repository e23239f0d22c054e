//! The way of a request: from step to step until it has to wait, into stations and limits and out
//! of them.

use super::center::{Kind, Sought};
use super::client::Failure;
use super::entity::{NONE, State};
use super::{Move, Simulation, Subject};

/// Slack in comparing a wait with the longest one, for sums of rounded times.
const WAIT_SLACK_S: f64 = 1e-9;

impl Simulation<'_> {
    /// Goes on with the next step.
    #[inline]
    pub(super) fn walk_on(&mut self, id: u32) {
        self.entities[id].step += 1;
        self.walk(id);
    }

    /// Goes from the present step to the first one that takes time or waits.
    pub(super) fn walk(&mut self, id: u32) {
        loop {
            match self.moves[self.entities[id].step as usize] {
                Move::Use(center, time) => {
                    let at = self.instance(id, center);
                    return self.visit(id, at, time);
                }
                Move::Sleep(time) => {
                    let until = self.now + time.draw(&mut self.random);
                    self.entities[id].state = State::Sleeping;
                    return self.wake_at(id, until);
                }
                Move::Acquire { limit, .. } => {
                    if !self.acquire(id, limit) {
                        return;
                    }
                }
                Move::Release { limit, bit } => {
                    self.entities[id].holds &= !(1 << bit);
                    let at = self.instance(id, limit);
                    self.vacate(at);
                }
                Move::Pass(gate) => {
                    if !self.pass(id, gate as usize) {
                        return;
                    }
                }
                Move::Admit { gateway, class } => {
                    if !self.ask_gateway(id, usize::from(gateway), usize::from(class)) {
                        return;
                    }
                }
                Move::Enter(group) => {
                    if !self.enter(id, usize::from(group)) {
                        return self.fail(id, Failure::Refused);
                    }
                }
                Move::Leave(group) => self.leave(id, usize::from(group)),
                Move::Answer => return self.answer(id),
            }
            self.entities[id].step += 1;
        }
    }

    /// Asks a station for service.
    #[inline]
    fn visit(&mut self, id: u32, at: u32, time: crate::Distribution) {
        let center = &mut self.centers[at as usize];
        match center.kind {
            Kind::Delay => {
                center.advance(self.now);
                center.inside += 1;
                center.meter.entries += 1;
                let until = self.now + time.draw(&mut self.random);
                let entity = &mut self.entities[id];
                (entity.state, entity.center, entity.moment) = (State::Serving, at, until);
                self.wake_at(id, until);
            }
            Kind::Shared => self.share(id, at, time),
            Kind::Queue | Kind::Limit => match self.seek(id, at) {
                Sought::Got => self.serve(id, at, time),
                Sought::Waits => {}
                Sought::Full => self.fail(id, Failure::Refused),
            },
        }
    }

    /// Asks for a limit; says whether it was there.
    fn acquire(&mut self, id: u32, limit: u32) -> bool {
        let at = self.instance(id, limit);
        match self.seek(id, at) {
            Sought::Got => {
                self.hold(id);
                true
            }
            Sought::Waits => false,
            Sought::Full => {
                self.fail(id, Failure::Refused);
                false
            }
        }
    }

    /// Notes that the present step's limit is held.
    fn hold(&mut self, id: u32) {
        let step = self.entities[id].step;
        if let Move::Acquire { bit, .. } = self.moves[step as usize] {
            self.entities[id].holds |= 1 << bit;
        }
    }

    /// Gets a place or joins the queue.
    #[inline]
    fn seek(&mut self, id: u32, at: u32) -> Sought {
        let center = &mut self.centers[at as usize];
        center.advance(self.now);
        let sought = center.seek();
        match sought {
            Sought::Got => {}
            Sought::Full => center.meter.refused += 1,
            Sought::Waits => self.join(id, at),
        }
        sought
    }

    fn join(&mut self, id: u32, at: u32) {
        let center = &mut self.centers[at as usize];
        let rank = self.ranks[usize::from(self.entities[id].class)];
        center.join(&mut self.entities, id, rank);
        let entity = &mut self.entities[id];
        (entity.state, entity.center, entity.moment) = (State::Waiting, at, self.now);
        if let Some(patience) = self.network.centers[center.of as usize].patience {
            let until = self.now + patience.draw(&mut self.random);
            self.wake_at(id, until);
        }
    }

    /// A request in a queue has waited for as long as it would.
    pub(super) fn lose_patience(&mut self, id: u32) {
        let at = self.entities[id].center;
        self.centers[at as usize].meter.abandoned += 1;
        self.withdraw(id);
        self.fail(id, Failure::Abandoned);
    }

    #[inline]
    fn serve(&mut self, id: u32, at: u32, time: crate::Distribution) {
        let speed = self.centers[at as usize].speed;
        let until = self.now + time.draw(&mut self.random) / speed;
        let entity = &mut self.entities[id];
        (entity.state, entity.center, entity.moment) = (State::Serving, at, until);
        self.wake_at(id, until);
    }

    /// A service has ended: the next station takes the request, or blocks it where it is.
    pub(super) fn served(&mut self, id: u32) {
        let at = self.entities[id].center;
        self.entities[id].step += 1;
        if let Some(next) = self.blocking_station(id) {
            let now = self.now;
            self.centers[at as usize].advance(now);
            self.centers[at as usize].blocked_inside += 1;
            self.centers[next as usize]
                .blocked
                .push(&mut self.entities, id);
            let entity = &mut self.entities[id];
            (entity.state, entity.center, entity.keeps) = (State::Blocked, next, at);
            return;
        }
        self.vacate(at);
        self.walk(id);
    }

    /// The station of the present step, if it is full and blocks.
    #[inline]
    fn blocking_station(&self, id: u32) -> Option<u32> {
        let Move::Use(center, _) = self.moves[self.entities[id].step as usize] else {
            return None;
        };
        let at = self.instance(id, center);
        let center = &self.centers[at as usize];
        (center.blocks && center.kind == Kind::Queue && center.is_full()).then_some(at)
    }

    /// Frees a server of a station or one of a limit, and hands it to the next in the queue.
    #[inline]
    pub(super) fn vacate(&mut self, at: u32) {
        let center = &mut self.centers[at as usize];
        center.advance(self.now);
        center.inside -= 1;
        center.meter.exits += 1;
        self.fill(at);
    }

    /// Lets in who waits, as long as there are places; then who is blocked.
    #[inline]
    pub(super) fn fill(&mut self, at: u32) {
        loop {
            let center = &mut self.centers[at as usize];
            if center.inside >= center.capacity || !center.up {
                break;
            }
            let Some(next) = center.next(&mut self.entities) else {
                break;
            };
            center.inside += 1;
            center.meter.entries += 1;
            let wait = self.now - self.entities[next].moment;
            center.meter.wait_s += wait;
            let of = center.of as usize;
            self.tally.waited(of, wait);
            self.cancel(next);
            self.take_turn(next, at);
        }
        if !self.centers[at as usize].blocked.is_empty() {
            self.unblock(at);
        }
    }

    /// What a request does that has come to the head of a queue.
    #[inline]
    fn take_turn(&mut self, id: u32, at: u32) {
        if let Move::Use(_, time) = self.moves[self.entities[id].step as usize] {
            return self.serve(id, at, time);
        }
        // It goes on in its own turn: calls must not nest as deep as the queue is long.
        self.hold(id);
        let stamp = self.events.stamp();
        let entity = &mut self.entities[id];
        entity.state = State::Granted;
        entity.stamp = stamp;
        entity.step += 1;
        self.granted.push_back((id, stamp));
    }

    /// Lets in requests that are blocked elsewhere, as long as there is room.
    fn unblock(&mut self, at: u32) {
        while !self.centers[at as usize].is_full() {
            let Some(id) = self.centers[at as usize].blocked.pop(&mut self.entities) else {
                return;
            };
            let kept = self.entities[id].keeps;
            self.entities[id].keeps = NONE;
            let now = self.now;
            self.centers[kept as usize].advance(now);
            self.centers[kept as usize].blocked_inside -= 1;
            self.walk(id);
            self.vacate(kept);
        }
    }

    /// Passes a gate; says whether at once. A request that is early waits for its time or fails.
    fn pass(&mut self, id: u32, gate: usize) -> bool {
        let of = &self.network.gates[gate];
        let state = &mut self.gates[gate];
        let interval = 1.0 / of.rate_per_s;
        let tolerance = f64::from(of.burst.max(1) - 1) * interval;
        let time = self.now.max(state.due - tolerance);
        let wait = time - self.now;
        if wait > of.max_wait_s + WAIT_SLACK_S {
            state.refused += 1;
            self.fail(id, Failure::Refused);
            return false;
        }
        state.due = time.max(state.due) + interval;
        state.wait_s += wait;
        if wait <= 0.0 {
            state.passed += 1;
            return true;
        }
        state.waiting += 1;
        let entity = &mut self.entities[id];
        (entity.state, entity.center) = (State::AtGate, gate as u32);
        self.wake_at(id, time);
        false
    }

    pub(super) fn passed(&mut self, id: u32) {
        let gate = &mut self.gates[self.entities[id].center as usize];
        gate.waiting -= 1;
        gate.passed += 1;
        self.walk_on(id);
    }

    /// Joins a station of processor sharing.
    fn share(&mut self, id: u32, at: u32, time: crate::Distribution) {
        let center = &mut self.centers[at as usize];
        center.advance(self.now);
        let room = center.capacity.saturating_add(
            self.network.centers[center.of as usize]
                .queue
                .unwrap_or(u32::MAX),
        );
        if center.inside >= room {
            center.meter.refused += 1;
            return self.fail(id, Failure::Refused);
        }
        self.advance_shared(at);
        let demand = time.draw(&mut self.random);
        let stamp = self.events.stamp();
        let entity = &mut self.entities[id];
        (entity.state, entity.center, entity.stamp) = (State::Sharing, at, stamp);
        let center = &mut self.centers[at as usize];
        center.inside += 1;
        center.meter.entries += 1;
        center.shared.add(id, stamp, demand);
        self.schedule_shared(at);
    }

    /// Service per second that each job of a station of processor sharing receives.
    #[inline]
    fn shared_rate(&self, at: u32) -> f64 {
        let center = &self.centers[at as usize];
        if !center.up {
            return 0.0;
        }
        let share = f64::from(center.capacity) / f64::from(center.inside.max(1));
        center.speed * share.min(1.0) / center.crowding()
    }

    pub(super) fn advance_shared(&mut self, at: u32) {
        let rate = self.shared_rate(at);
        let now = self.now;
        self.centers[at as usize].shared.advance(now, rate);
    }

    /// Makes sure that an event comes no later than the next end.
    pub(super) fn schedule_shared(&mut self, at: u32) {
        let rate = self.shared_rate(at);
        let shared = &mut self.centers[at as usize].shared;
        let left = shared.first_left(&self.entities);
        let due = match left {
            Some(left) if rate > 0.0 => self.now + left / rate,
            _ => {
                if shared.stamp != 0 {
                    shared.stamp = 0;
                    self.events.forget_one();
                }
                return;
            }
        };
        if shared.stamp != 0 && shared.due <= due {
            shared.exact = shared.due >= due;
            return;
        }
        if shared.stamp != 0 {
            self.events.forget_one();
        }
        (shared.due, shared.exact) = (due, true);
        shared.stamp = self.events.push(due, Subject::Center(at));
    }

    /// The scheduled moment of a station of processor sharing has come.
    pub(super) fn shared_due(&mut self, at: u32) {
        self.advance_shared(at);
        let now = self.now;
        let center = &mut self.centers[at as usize];
        center.shared.stamp = 0;
        if !center.shared.exact {
            return self.schedule_shared(at);
        }
        self.happened += 1;
        let id = center.shared.take_first();
        center.advance(now);
        center.inside -= 1;
        center.meter.exits += 1;
        self.entities[id].stamp = 0;
        self.schedule_shared(at);
        self.walk_on(id);
    }

    /// Takes a request out of wherever it is, with all that it holds.
    pub(super) fn withdraw(&mut self, id: u32) {
        let at = self.entities[id].center;
        let now = self.now;
        match self.entities[id].state {
            State::Waiting => {
                self.cancel(id);
                let rank = self.ranks[usize::from(self.entities[id].class)];
                let center = &mut self.centers[at as usize];
                center.advance(now);
                center.leave_queue(&mut self.entities, id, rank);
                if !center.blocked.is_empty() {
                    self.unblock(at);
                }
            }
            State::Serving => {
                self.cancel(id);
                self.vacate(at);
            }
            State::Paused => self.vacate(at),
            State::Sharing => {
                self.advance_shared(at);
                self.entities[id].stamp = 0;
                let center = &mut self.centers[at as usize];
                center.advance(now);
                center.inside -= 1;
                center.meter.exits += 1;
                self.schedule_shared(at);
            }
            State::Blocked => {
                self.centers[at as usize]
                    .blocked
                    .unlink(&mut self.entities, id);
                let kept = std::mem::replace(&mut self.entities[id].keeps, NONE);
                self.centers[kept as usize].advance(now);
                self.centers[kept as usize].blocked_inside -= 1;
                self.vacate(kept);
            }
            State::AtGate => {
                self.cancel(id);
                self.gates[at as usize].waiting -= 1;
            }
            State::AtGateway => self.abandon_gateway(id, at as usize),
            State::Sleeping => self.cancel(id),
            // Its stamp stands in no event: the turn it was given just lapses.
            State::Granted => self.entities[id].stamp = 0,
            State::Free | State::NotStarted | State::Thinking | State::BackingOff => {}
        }
        self.let_go(id);
    }

    /// Gives back all that a request holds and leaves all groups.
    pub(super) fn let_go(&mut self, id: u32) {
        let holds = std::mem::take(&mut self.entities[id].holds);
        for bit in (0..self.limits.len()).filter(|bit| holds >> bit & 1 == 1) {
            let at = self.instance(id, self.limits[bit]);
            self.vacate(at);
        }
        self.leave_gateways(id, weir_limit::Kind::Failed);
        for group in 0..self.groups.len() {
            if self.is_inside(id, group) {
                self.leave(id, group);
            }
        }
    }
}
