//! The event loop.
//!
//! Each request has at most one thing going on, so an event is a time and a request (or its
//! client's deadline, a station of processor sharing, or the network itself). [`Simulation`] owns
//! all state; its parts are
//!
//! * [`route`]: a request's way from step to step, in and out of stations and limits;
//! * [`client`]: sending, giving up, trying again;
//! * [`fleet`]: balancers, servers that come and go;
//! * [`gateway`]: flow control in front of servers;
//! * [`control`]: arrivals, breakdowns, what is planned.

mod center;
mod client;
mod control;
mod entity;
mod fleet;
mod gateway;
mod processor_sharing;
mod route;
mod tally;

use std::collections::VecDeque;

use rand::SeedableRng as _;

use crate::distribution::{Distribution, Random};
use crate::events::{Event, EventQueue, Subject};
use crate::network::{Network, Source, Step};
use crate::totals::Totals;
use center::CenterState;
use client::ClientState;
use control::Control;
use entity::{Entities, Entity, NONE, State};
use fleet::GroupState;
use gateway::GatewayState;
use tally::Tally;
pub use tally::{CenterSeen, ClassSeen, Second};

/// A step with the numbers of the running network.
#[derive(Debug, Clone, Copy)]
enum Move {
    Use(u32, Distribution),
    Acquire { limit: u32, bit: u8 },
    Release { limit: u32, bit: u8 },
    Pass(u32),
    Admit { gateway: u16, class: u16 },
    Enter(u8),
    Leave(u8),
    Sleep(Distribution),
    Answer,
}

/// Where the copies of a center begin, and of which group they are.
#[derive(Debug, Clone, Copy)]
struct Copies {
    first: u32,
    group: Option<u8>,
}

/// A rate limit while it runs.
#[derive(Debug, Default)]
pub(crate) struct GateState {
    /// When the next request would be exactly on time.
    due: f64,
    pub(crate) waiting: u32,
    pub(crate) passed: u64,
    pub(crate) refused: u64,
    pub(crate) wait_s: f64,
}

/// One replication of a network that goes on as far as it is told.
///
/// The same network and seed give the same numbers, whatever machine and however the time is cut
/// into calls.
pub struct Simulation<'a> {
    network: &'a Network,
    now: f64,
    random: Random,
    events: EventQueue,
    happened: u64,
    entities: Entities,
    moves: Vec<Move>,
    /// Index of each class's first move.
    starts: Vec<u32>,
    /// Each class's rank where priority counts; the highest is 0.
    ranks: Vec<u8>,
    copies: Vec<Copies>,
    /// Of each bit of `Entity::holds`: the limit.
    limits: Vec<u32>,
    centers: Vec<CenterState>,
    gates: Vec<GateState>,
    gateways: Vec<GatewayState>,
    groups: Vec<GroupState>,
    clients: Vec<ClientState>,
    controls: Vec<Control>,
    /// Requests that have got what they waited for at this very time, with the stamp that says
    /// whether they still want it.
    granted: VecDeque<(u32, u32)>,
    tally: Tally,
}

impl<'a> Simulation<'a> {
    /// A network at time 0 with nobody in it.
    ///
    /// Panics on a network that [`crate::check`] finds fault with.
    pub fn new(network: &'a Network, seed: u64) -> Self {
        let copies = copies(network);
        let limits: Vec<u32> = (0..network.centers.len())
            .filter(|&center| network.centers[center].is_limit())
            .map(|center| center as u32)
            .collect();
        let (moves, starts) = moves(network, &limits);
        let (ranks, levels) = ranks(network);
        let centers = network.centers.iter().enumerate().flat_map(|(of, center)| {
            let servers = center
                .group
                .map_or(1, |group| network.groups[group].servers);
            (0..network.copies(of))
                .map(move |copy| CenterState::new(of, center, levels, copy < servers))
        });
        let mut simulation = Self {
            now: 0.0,
            random: Random::seed_from_u64(seed),
            events: EventQueue::default(),
            happened: 0,
            entities: Entities::with_capacity(network.population() as usize),
            centers: centers.collect(),
            gates: network.gates.iter().map(|_| GateState::default()).collect(),
            gateways: network.gateways.iter().map(GatewayState::new).collect(),
            groups: network.groups.iter().map(GroupState::new).collect(),
            clients: network
                .classes
                .iter()
                .map(|_| ClientState::default())
                .collect(),
            controls: Vec::new(),
            granted: VecDeque::new(),
            tally: Tally::new(network),
            moves,
            starts,
            ranks,
            copies,
            limits,
            network,
        };
        simulation.place_users();
        simulation.schedule_controls();
        simulation
    }

    /// Goes on until just before `time_s`.
    pub fn run_until(&mut self, time_s: f64) {
        while let Some(event) = self.events.pop_before(time_s) {
            self.happen(event);
        }
        self.now = self.now.max(time_s);
    }

    /// The time it has come to, in seconds.
    pub fn now_s(&self) -> f64 {
        self.now
    }

    /// Events so far, stale ones not counted.
    pub fn events(&self) -> u64 {
        self.happened
    }

    /// Sets all figures to 0: what was before is warm-up.
    pub fn forget(&mut self) {
        self.tally.forget(
            self.now,
            self.happened,
            &mut self.centers,
            &mut self.gates,
            &mut self.clients,
        );
        for group in &mut self.groups {
            group.advance(self.now);
            group.forget();
        }
    }

    /// The figures since the start or the last [`Self::forget`].
    pub fn totals(&self) -> Totals {
        self.tally.totals(self)
    }

    /// From now on, counts for [`Self::take_second`] are kept.
    pub fn watch_seconds(&mut self) {
        self.tally.watch(self.network.classes.len());
    }

    /// What happened since the last call, averaged over that time; only if seconds are watched.
    pub fn take_second(&mut self) -> Option<Second> {
        let mut tally = std::mem::take(&mut self.tally);
        let second = tally.take_second(self);
        self.tally = tally;
        second
    }

    /// Bytes of the parts that grow with the number of requests.
    pub fn bytes(&self) -> usize {
        let shared: usize = self
            .centers
            .iter()
            .map(|center| center.shared.bytes())
            .sum();
        self.entities.bytes() + self.events.bytes() + shared
    }

    #[inline]
    fn happen(&mut self, event: Event) {
        self.now = event.time;
        match event.subject {
            Subject::Entity(id) => {
                if self.entities[id].stamp != event.stamp {
                    return self.events.met_stale();
                }
                self.happened += 1;
                self.entities[id].stamp = 0;
                self.wake(id);
            }
            Subject::Center(center) => {
                if self.centers[center as usize].shared.stamp != event.stamp {
                    return self.events.met_stale();
                }
                self.shared_due(center);
            }
            Subject::Deadline(id) => {
                if self.entities[id].deadline != event.stamp {
                    return self.events.met_stale();
                }
                self.happened += 1;
                self.entities[id].deadline = 0;
                self.give_up(id);
            }
            Subject::Control(control) => {
                self.happened += 1;
                self.perform(control);
            }
        }
        while let Some((id, stamp)) = self.granted.pop_front() {
            if self.entities[id].stamp == stamp {
                self.entities[id].stamp = 0;
                self.walk(id);
            }
        }
        if self.events.is_littered() {
            self.sweep();
        }
    }

    /// What an entity waited for has come.
    #[inline]
    fn wake(&mut self, id: u32) {
        match self.entities[id].state {
            State::Thinking => self.send(id),
            State::Serving => self.served(id),
            State::Sleeping => self.walk_on(id),
            State::Waiting => self.lose_patience(id),
            State::AtGate => self.passed(id),
            State::BackingOff => self.try_again(id),
            State::NotStarted => {
                let class = usize::from(self.entities[id].class);
                self.clients[class].started += 1;
                self.think(id);
            }
            state @ (State::Free
            | State::AtGateway
            | State::Granted
            | State::Paused
            | State::Sharing
            | State::Blocked) => unreachable!("an event for an entity that is {state:?}"),
        }
    }

    /// Schedules the next thing that an entity does.
    #[inline]
    fn wake_at(&mut self, id: u32, time: f64) {
        self.entities[id].stamp = self.events.push(time, Subject::Entity(id));
    }

    /// Makes the event that an entity waits for stale.
    fn cancel(&mut self, id: u32) {
        if self.entities[id].stamp != 0 {
            self.entities[id].stamp = 0;
            self.events.forget_one();
        }
    }

    fn cancel_deadline(&mut self, id: u32) {
        if self.entities[id].deadline != 0 {
            self.entities[id].deadline = 0;
            self.events.forget_one();
        }
    }

    fn sweep(&mut self) {
        let (entities, centers) = (&self.entities, &self.centers);
        self.events.sweep(|event| match event.subject {
            Subject::Entity(id) => entities[id].stamp == event.stamp,
            Subject::Deadline(id) => entities[id].deadline == event.stamp,
            Subject::Center(id) => centers[id as usize].shared.stamp == event.stamp,
            Subject::Control(_) => true,
        });
    }

    fn place_users(&mut self) {
        for (class, of) in self.network.classes.iter().enumerate() {
            if let Source::Users { users, ramp_s, .. } = of.source {
                let spacing = ramp_s / f64::from(users.max(1));
                for user in 0..users {
                    let id = self.entities.add(Entity::new(class));
                    self.wake_at(id, f64::from(user) * spacing);
                }
            }
        }
    }

    /// The copy of a center that a request visits.
    #[inline]
    fn instance(&self, id: u32, center: u32) -> u32 {
        let Copies { first, group } = self.copies[center as usize];
        match group {
            None => first,
            Some(group) => first + u32::from(self.entities[id].server[usize::from(group)]),
        }
    }
}

fn copies(network: &Network) -> Vec<Copies> {
    let mut first = 0;
    let centers = network.centers.iter().enumerate();
    centers
        .map(|(of, center)| {
            let copies = Copies {
                first,
                group: center.group.map(|group| group as u8),
            };
            first += network.copies(of);
            copies
        })
        .collect()
}

fn moves(network: &Network, limits: &[u32]) -> (Vec<Move>, Vec<u32>) {
    let bit = |center: usize| {
        let at = limits.iter().position(|limit| *limit as usize == center);
        at.expect("only limits are acquired") as u8
    };
    let mut moves = Vec::new();
    let mut starts = Vec::new();
    for class in &network.classes {
        starts.push(moves.len() as u32);
        moves.extend(class.route.iter().map(|step| match *step {
            Step::Use(center, time) => Move::Use(center as u32, time),
            Step::Acquire(limit) => Move::Acquire {
                limit: limit as u32,
                bit: bit(limit),
            },
            Step::Release(limit) => Move::Release {
                limit: limit as u32,
                bit: bit(limit),
            },
            Step::Pass(gate) => Move::Pass(gate as u32),
            Step::Admit { gateway, class } => Move::Admit {
                gateway: gateway as u16,
                class: class as u16,
            },
            Step::Enter(group) => Move::Enter(group as u8),
            Step::Leave(group) => Move::Leave(group as u8),
            Step::Sleep(time) => Move::Sleep(time),
        }));
        moves.push(Move::Answer);
    }
    (moves, starts)
}

/// The rank of each class, and how many ranks there are.
fn ranks(network: &Network) -> (Vec<u8>, usize) {
    let mut levels: Vec<u8> = network.classes.iter().map(|class| class.priority).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    levels.dedup();
    let rank = |priority: u8| levels.iter().position(|level| *level == priority);
    let ranks = network
        .classes
        .iter()
        .map(|class| rank(class.priority).expect("each class has a level") as u8);
    (ranks.collect(), levels.len().max(1))
}

/// The place in a queue that no entity has.
const _: () = assert!(NONE > crate::events::SUBJECTS_MAX);
