//! The event loop.
//!
//! Each user has at most one thing going on, so an event is a time and a user. Four sources are compared at each step: the heap of
//! timers (thinking, sleeping), the CPUs, the end of a pause and the end of the second.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::cpu::{Cpu, Ordered};
use super::scenario::{Disturbances, Phase, Scenario, WhenConnectionsFull};
use super::second::{Second, StageSecond};

/// The end of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Response {
    /// When it ended, in seconds from the start.
    pub end_s: f64,
    /// How long it took, from sending to answer.
    pub response_s: f64,
    /// Index of its class.
    pub class: usize,
    /// Whether its connection was closed at once.
    pub refused: bool,
}

/// Runs `scenario` for whole seconds from an empty server.
///
/// Panics if the scenario contradicts itself (a phase names no pool, a server without CPU or thread, no user).
pub fn simulate(scenario: &Scenario, seconds: u32, seed: u64) -> Vec<Second> {
    let mut simulation = Simulation::new(scenario, seed);
    (0..seconds).map(|_| simulation.next_second()).collect()
}

/// A server under load that goes on second by second.
pub struct Simulation<'a> {
    engine: Engine<'a>,
}

impl<'a> Simulation<'a> {
    /// Starts from an empty server. Panics as [`simulate`] does.
    pub fn new(scenario: &'a Scenario, seed: u64) -> Self {
        scenario.check();
        Self {
            engine: Engine::new(scenario, seed),
        }
    }

    /// Goes on for one second.
    pub fn next_second(&mut self) -> Second {
        self.engine.responses.clear();
        self.engine.next_second()
    }

    /// What ended in the last second, in its order.
    pub fn responses(&self) -> &[Response] {
        &self.engine.responses
    }
}

/// A limit with a queue in front, and the integrals over both.
#[derive(Default)]
struct Stage {
    limit: Option<u32>,
    inside: u32,
    queue: VecDeque<(u32, f64)>,
    inside_integral: f64,
    queue_integral: f64,
    at: f64,
    entries: u32,
    wait_sum_s: f64,
}

impl Stage {
    fn new(limit: Option<u32>) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    fn full(&self) -> bool {
        self.limit.is_some_and(|limit| self.inside >= limit)
    }

    /// Gets in, or joins the queue; says which.
    fn enter(&mut self, now: f64, user: u32) -> bool {
        self.advance(now);
        let entered = !self.full();
        if entered {
            self.inside += 1;
            self.entries += 1;
        } else {
            self.queue.push_back((user, now));
        }
        entered
    }

    /// Leaves; the first of the queue takes the place and is returned.
    fn leave(&mut self, now: f64) -> Option<u32> {
        self.advance(now);
        let Some((next, since)) = self.queue.pop_front() else {
            self.inside -= 1;
            return None;
        };
        self.entries += 1;
        self.wait_sum_s += now - since;
        Some(next)
    }

    fn advance(&mut self, now: f64) {
        let elapsed = now - self.at;
        self.at = now;
        self.inside_integral += elapsed * f64::from(self.inside);
        self.queue_integral += elapsed * self.queue.len() as f64;
    }

    /// The figures since the last call, which was a second ago.
    fn take_second(&mut self, now: f64) -> StageSecond {
        self.advance(now);
        StageSecond {
            occupancy: std::mem::take(&mut self.inside_integral),
            waiting: std::mem::take(&mut self.queue_integral),
            entries: std::mem::take(&mut self.entries),
            wait_sum_s: std::mem::take(&mut self.wait_sum_s),
        }
    }
}

struct User {
    class: usize,
    /// Index of the phase it is in; meaningless while thinking.
    phase: usize,
    state: State,
    sent_at: f64,
}

#[derive(PartialEq)]
enum State {
    NotStarted,
    Thinking,
    InServer,
}

struct Engine<'a> {
    scenario: &'a Scenario,
    random: Xoshiro256PlusPlus,
    responses: Vec<Response>,
    now: f64,
    users: Vec<User>,
    timers: BinaryHeap<Reverse<(Ordered, u32)>>,
    cpu: Cpu,
    connections: Stage,
    threads: Stage,
    pools: Vec<Stage>,
    thinking: Stage,
    /// Factor on the CPU demand of this trial.
    demand_factor: f64,
    requests_until_pause: Option<u32>,
    pause_ends: f64,
    busy_before: f64,
    second: Second,
    ended: u32,
}

impl<'a> Engine<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let Disturbances {
            between_trials,
            steal,
            pauses,
            ..
        } = scenario.disturbances;
        // A demand below a fifth of the mean would be no noise but another server.
        let demand_factor =
            (1.0 + between_trials * random.sample::<f64, _>(StandardNormal)).max(0.2);
        let server = &scenario.server;
        let classes = scenario.classes.iter().enumerate();
        let users: Vec<User> = classes
            .flat_map(|(class, of)| (0..of.users).map(move |_| class))
            .map(|class| User {
                class,
                phase: 0,
                state: State::NotStarted,
                sent_at: 0.0,
            })
            .collect();
        let spacing = scenario.ramp.seconds / users.len() as f64;
        let timers =
            (0..users.len() as u32).map(|user| Reverse((Ordered(f64::from(user) * spacing), user)));
        Self {
            timers: timers.collect(),
            scenario,
            random,
            responses: Vec::new(),
            now: 0.0,
            users,
            cpu: Cpu::new(server.cores, 1.0 - steal, server.discipline),
            connections: Stage::new(server.connections.map(|connections| connections.limit)),
            threads: Stage::new(server.threads),
            pools: server
                .pools
                .iter()
                .map(|pool| Stage::new(Some(pool.limit)))
                .collect(),
            thinking: Stage::new(None),
            demand_factor,
            requests_until_pause: pauses.map(|pauses| pauses.every_requests),
            pause_ends: f64::INFINITY,
            busy_before: 0.0,
            second: Second::default(),
            ended: 0,
        }
    }

    fn next_second(&mut self) -> Second {
        self.ended += 1;
        let end = f64::from(self.ended);
        while self.step(end) {}
        self.now = end;
        self.close_second()
    }

    /// Does the next thing that happens before `end`; says whether there was one.
    fn step(&mut self, end: f64) -> bool {
        let timer = self
            .timers
            .peek()
            .map_or(f64::INFINITY, |Reverse((Ordered(at), _))| *at);
        let done = self.cpu.next_done();
        let next = timer.min(done).min(self.pause_ends);
        if next >= end {
            return false;
        }
        self.now = next;
        if self.pause_ends <= next {
            self.pause_ends = f64::INFINITY;
            self.cpu.resume(next);
        } else if done <= next {
            let user = self.cpu.finish(next);
            self.next_phase(user);
        } else {
            let Reverse((_, user)) = self.timers.pop().expect("a timer is due");
            match self.users[user as usize].state {
                State::NotStarted => self.think(user),
                State::Thinking => self.send(user),
                State::InServer => self.next_phase(user),
            }
        }
        true
    }

    fn think(&mut self, user: u32) {
        let state = &mut self.users[user as usize];
        if state.state == State::NotStarted {
            self.second.users += 1;
        }
        state.state = State::Thinking;
        self.thinking.enter(self.now, user);
        let pause = self.scenario.classes[state.class]
            .think
            .draw(&mut self.random);
        self.wake_after(user, pause);
    }

    fn send(&mut self, user: u32) {
        self.thinking.leave(self.now);
        let state = &mut self.users[user as usize];
        state.state = State::InServer;
        state.sent_at = self.now;
        let closes = self
            .scenario
            .server
            .connections
            .map(|connections| connections.when_full);
        if closes == Some(WhenConnectionsFull::Close) && self.connections.full() {
            self.answer(user, true);
        } else if self.connections.enter(self.now, user) {
            self.ask_for_thread(user);
        }
    }

    fn ask_for_thread(&mut self, user: u32) {
        if self.threads.enter(self.now, user) {
            self.begin(user);
        }
    }

    fn begin(&mut self, user: u32) {
        self.users[user as usize].phase = 0;
        self.run_phase(user);
    }

    fn next_phase(&mut self, user: u32) {
        self.users[user as usize].phase += 1;
        self.run_phase(user);
    }

    /// Goes on from the present phase to the first one that takes time or waits.
    fn run_phase(&mut self, user: u32) {
        loop {
            let User { class, phase, .. } = self.users[user as usize];
            match self.scenario.classes[class].request.get(phase) {
                Some(Phase::Cpu(demand)) => {
                    let demand_s = demand.draw(&mut self.random) * self.demand_factor_now();
                    return self.cpu.start(self.now, user, demand_s);
                }
                Some(Phase::Sleep(duration)) => {
                    let pause = duration.draw(&mut self.random);
                    return self.wake_after(user, pause);
                }
                Some(&Phase::Acquire(pool)) => {
                    if !self.pools[pool].enter(self.now, user) {
                        return;
                    }
                }
                Some(&Phase::Release(pool)) => {
                    if let Some(next) = self.pools[pool].leave(self.now) {
                        // It goes on in an event of its own: calls must not nest as deep as the queue is long.
                        self.wake_after(next, 0.0);
                    }
                }
                None => return self.leave(user),
            }
            self.users[user as usize].phase += 1;
        }
    }

    fn leave(&mut self, user: u32) {
        self.answer(user, false);
        let next_thread = self.threads.leave(self.now);
        let next_connection = self.connections.leave(self.now);
        if let Some(next) = next_thread {
            self.begin(next);
        }
        if let Some(next) = next_connection {
            self.ask_for_thread(next);
        }
        self.count_towards_pause();
    }

    fn answer(&mut self, user: u32, refused: bool) {
        let User { class, sent_at, .. } = self.users[user as usize];
        let response_s = self.now - sent_at;
        self.responses.push(Response {
            end_s: self.now,
            response_s,
            class,
            refused,
        });
        if refused {
            self.second.refused += 1;
        } else {
            self.second.answered += 1;
            self.second.response_sum_s += response_s;
        }
        self.think(user);
    }

    fn count_towards_pause(&mut self) {
        let (Some(left), Some(pauses)) = (
            &mut self.requests_until_pause,
            self.scenario.disturbances.pauses,
        ) else {
            return;
        };
        *left -= 1;
        if *left == 0 {
            *left = pauses.every_requests;
            self.cpu.pause(self.now);
            self.pause_ends = self.now + pauses.pause_s;
        }
    }

    fn demand_factor_now(&self) -> f64 {
        let Disturbances {
            warm_up,
            warm_up_s,
            drift_per_hour,
            ..
        } = self.scenario.disturbances;
        let warm_up = if warm_up == 0.0 {
            0.0
        } else {
            warm_up * (-self.now / warm_up_s).exp()
        };
        self.demand_factor * (1.0 + warm_up) * (1.0 + drift_per_hour * self.now / 3600.0)
    }

    fn wake_after(&mut self, user: u32, pause_s: f64) {
        self.timers
            .push(Reverse((Ordered(self.now + pause_s), user)));
    }

    fn close_second(&mut self) -> Second {
        let busy = self.cpu.busy_integral(self.now);
        let started = self.second.users;
        let mut second = std::mem::take(&mut self.second);
        second.cpu = busy - self.busy_before;
        second.thinking = self.thinking.take_second(self.now).occupancy;
        second.connections = self.connections.take_second(self.now);
        second.threads = self.threads.take_second(self.now);
        second.pools = self
            .pools
            .iter_mut()
            .map(|pool| pool.take_second(self.now))
            .collect();
        self.busy_before = busy;
        self.second.users = started;
        second
    }
}
