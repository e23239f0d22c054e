//! Flow-control gateways: the network's own copy of what `weir-limit` decides, asked and woken as a
//! real gateway does it.

use std::collections::{HashMap, VecDeque};

use rand::RngExt as _;
use rand_distr::StandardNormal;
use weir_limit::{Admission, Decision, Kind, Moment, Outcome, Permit, Ticket, Waited};

use super::Simulation;
use super::client::Failure;
use super::control::Control;
use super::entity::State;
use crate::network::{CpuReader, Gateway};

/// A gateway while it runs.
pub(crate) struct GatewayState {
    admission: Admission,
    /// Of each request that is in flight through it.
    permits: HashMap<u32, Permit>,
    /// Of each request that waits, both ways.
    tickets: HashMap<u32, Ticket>,
    waiting: HashMap<Ticket, u32>,
    /// When it is woken next.
    wakes_at: f64,
    reader: ReaderState,
}

/// What a reader of CPU time remembers.
#[derive(Default)]
struct ReaderState {
    /// Busy and possible seconds at the last reading, in whole ticks.
    busy_s: f64,
    capacity_s: f64,
    /// Readings on their way.
    pending: VecDeque<f64>,
}

impl GatewayState {
    pub(super) fn new(gateway: &Gateway) -> Self {
        Self {
            admission: Admission::new(&gateway.rules, Moment(0)),
            permits: HashMap::new(),
            tickets: HashMap::new(),
            waiting: HashMap::new(),
            wakes_at: f64::INFINITY,
            reader: ReaderState::default(),
        }
    }
}

impl GatewayState {
    /// Requests that have come, rejected or not.
    pub(super) fn arrived(&self) -> u64 {
        self.admission.seen().counts.arrived
    }
}

/// The time of the simulation as a gateway's.
fn moment(time_s: f64) -> Moment {
    Moment((time_s * 1e9).round() as u64)
}

impl Simulation<'_> {
    /// A gateway's limit on requests in flight, if there is such a gateway.
    pub fn limit(&self, gateway: usize) -> Option<f64> {
        let state = self.gateways.get(gateway);
        state.map(|state| state.admission.limit())
    }

    pub(super) fn schedule_readings(&mut self) {
        let network = self.network;
        for (index, gateway) in network.gateways.iter().enumerate() {
            if let Some(reader) = gateway.cpu {
                let control = self.control_of(Control::ReadCpu(index));
                self.at(reader.every_s, control);
            }
        }
    }

    /// Asks a gateway; says whether the request goes on at once.
    pub(super) fn ask_gateway(&mut self, id: u32, gateway: usize, class: usize) -> bool {
        let now = moment(self.now);
        let state = &mut self.gateways[gateway];
        let admitted = match state.admission.arrive(class, now) {
            Decision::Admitted(permit) => {
                state.permits.insert(id, permit);
                true
            }
            Decision::Queued(ticket) => {
                state.tickets.insert(id, ticket);
                state.waiting.insert(ticket, id);
                let entity = &mut self.entities[id];
                (entity.state, entity.center) = (State::AtGateway, gateway as u32);
                false
            }
            Decision::Refused(_) => {
                self.attend(gateway);
                self.fail(id, Failure::Refused);
                return false;
            }
        };
        self.attend(gateway);
        admitted
    }

    /// Fetches what a gateway has decided on those who wait, and sees to it that it is woken in
    /// time.
    fn attend(&mut self, gateway: usize) {
        let now = moment(self.now);
        while let Some(verdict) = self.gateways[gateway].admission.poll(now) {
            let state = &mut self.gateways[gateway];
            let Some(id) = state.waiting.remove(&verdict.ticket) else {
                continue;
            };
            state.tickets.remove(&id);
            match verdict.decision {
                Waited::Granted(permit) => {
                    state.permits.insert(id, permit);
                    self.take_gateway_turn(id);
                }
                Waited::Refused(_) => self.fail(id, Failure::Abandoned),
            }
        }
        let state = &mut self.gateways[gateway];
        let due = state.admission.next_wake().map(|due| due.0 as f64 / 1e9);
        if let Some(due) = due.filter(|due| *due < state.wakes_at) {
            state.wakes_at = due.max(self.now);
            let control = self.control_of(Control::WakeGateway(gateway));
            let at = self.gateways[gateway].wakes_at;
            self.at(at, control);
        }
    }

    /// Lets one go on that has waited, in its own turn.
    fn take_gateway_turn(&mut self, id: u32) {
        let stamp = self.events.stamp();
        let entity = &mut self.entities[id];
        entity.state = State::Granted;
        entity.stamp = stamp;
        entity.step += 1;
        self.granted.push_back((id, stamp));
    }

    pub(super) fn wake_gateway(&mut self, gateway: usize) {
        // A time that has been overtaken by an earlier one comes up all the same.
        if self.now >= self.gateways[gateway].wakes_at {
            self.gateways[gateway].wakes_at = f64::INFINITY;
            self.attend(gateway);
        }
    }

    /// A request that waits at a gateway leaves.
    pub(super) fn abandon_gateway(&mut self, id: u32, gateway: usize) {
        let now = moment(self.now);
        let state = &mut self.gateways[gateway];
        if let Some(ticket) = state.tickets.remove(&id) {
            state.waiting.remove(&ticket);
            state.admission.abandon(ticket, now);
            self.attend(gateway);
        }
    }

    /// A request is over for all gateways through which it came.
    pub(super) fn leave_gateways(&mut self, id: u32, kind: Kind) {
        let now = moment(self.now);
        for gateway in 0..self.gateways.len() {
            let state = &mut self.gateways[gateway];
            if let Some(permit) = state.permits.remove(&id) {
                let response_time = now.since(permit.admitted());
                let outcome = Outcome {
                    response_time,
                    kind,
                };
                state.admission.finish(permit, outcome, now);
                self.attend(gateway);
            }
        }
    }

    /// Reads the CPU time as the kernel gives it, and schedules the next reading.
    pub(super) fn read_cpu(&mut self, gateway: usize) {
        let Some(reader) = self.network.gateways[gateway].cpu else {
            return;
        };
        let busy = self.busy_since_last(gateway, &reader);
        if reader.delay_s > 0.0 {
            self.gateways[gateway].reader.pending.push_back(busy);
            let control = self.control_of(Control::TellCpu(gateway));
            self.at(self.now + reader.delay_s, control);
        } else {
            self.tell(gateway, busy);
        }
        let control = self.control_of(Control::ReadCpu(gateway));
        self.at(self.now + reader.every_s, control);
    }

    /// A reading arrives.
    pub(super) fn tell_cpu(&mut self, gateway: usize) {
        if let Some(busy) = self.gateways[gateway].reader.pending.pop_front() {
            self.tell(gateway, busy);
        }
    }

    fn tell(&mut self, gateway: usize, busy: f64) {
        let now = moment(self.now);
        self.gateways[gateway].admission.read_cpu(busy, now);
        self.attend(gateway);
    }

    fn busy_since_last(&mut self, gateway: usize, reader: &CpuReader) -> f64 {
        let (mut busy_s, mut capacity_s) = (0.0, 0.0);
        for at in self.copies_of(reader.center) {
            let meter = self.centers[at as usize].read(self.now);
            busy_s += meter.busy_s;
            capacity_s += meter.capacity_s;
        }
        if reader.tick_s > 0.0 {
            busy_s = (busy_s / reader.tick_s).floor() * reader.tick_s;
        }
        let state = &mut self.gateways[gateway].reader;
        // Figures that were set to 0 begin anew.
        if busy_s < state.busy_s || capacity_s < state.capacity_s {
            (state.busy_s, state.capacity_s) = (0.0, 0.0);
        }
        let (busy, possible) = (busy_s - state.busy_s, capacity_s - state.capacity_s);
        (state.busy_s, state.capacity_s) = (busy_s, capacity_s);
        let noise = if reader.noise > 0.0 {
            reader.noise * self.random.sample::<f64, _>(StandardNormal)
        } else {
            0.0
        };
        (busy / possible + noise).clamp(0.0, 1.0)
    }
}
