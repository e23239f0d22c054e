//! What the network does by itself: arrivals, breakdowns, looks at utilization, and what is
//! planned.

use rand::RngExt as _;
use rand_distr::Exp1;

use super::center::Kind;
use super::entity::State;
use super::{Simulation, Subject};
use crate::network::{Happening, Source, Spacing};

/// One thing that the network does again and again, or once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    Arrival(usize),
    Break(u32),
    Repair(u32),
    Planned(usize),
    /// The end of something planned that lasts.
    PlannedEnd(usize),
    ScaleRead(usize),
    ScaleAct(usize),
    ReadCpu(usize),
    TellCpu(usize),
    WakeGateway(usize),
    ServerUp {
        group: usize,
        server: usize,
    },
}

impl Simulation<'_> {
    pub(super) fn schedule_controls(&mut self) {
        let network = self.network;
        for (class, of) in network.classes.iter().enumerate() {
            if matches!(of.source, Source::Arrivals { .. }) {
                self.schedule_arrival(class);
            }
        }
        for at in 0..self.centers.len() as u32 {
            self.schedule_breakdown(at);
        }
        for (index, planned) in network.planned.iter().enumerate() {
            let control = self.control_of(Control::Planned(index));
            self.at(planned.at_s, control);
        }
        for (group, of) in network.groups.iter().enumerate() {
            if let Some(scaling) = of.scaling {
                let control = self.control_of(Control::ScaleRead(group));
                self.at(scaling.period_s(), control);
            }
        }
        self.schedule_readings();
    }

    /// The number of a control.
    pub(super) fn control_of(&mut self, control: Control) -> u32 {
        let known = self.controls.iter().position(|known| *known == control);
        known.unwrap_or_else(|| {
            self.controls.push(control);
            self.controls.len() - 1
        }) as u32
    }

    pub(super) fn at(&mut self, time: f64, control: u32) {
        self.events.push(time, Subject::Control(control));
    }

    pub(super) fn perform(&mut self, control: u32) {
        let network = self.network;
        match self.controls[control as usize] {
            Control::Arrival(class) => {
                self.schedule_arrival(class);
                self.arrive(class);
            }
            Control::Break(at) => self.break_down(at),
            Control::Repair(at) => {
                self.set_speed(at, 1.0, true);
                self.schedule_breakdown(at);
            }
            Control::Planned(index) => self.planned(index),
            Control::PlannedEnd(index) => {
                if let Happening::Speed { center, .. } = network.planned[index].what {
                    self.set_speed_everywhere(center, 1.0);
                }
            }
            Control::ScaleRead(group) => {
                if let Some(scaling) = &network.groups[group].scaling {
                    self.look(group, scaling);
                }
            }
            Control::ScaleAct(group) => {
                if let Some(scaling) = &network.groups[group].scaling {
                    self.act(group, scaling);
                }
            }
            Control::ReadCpu(gateway) => self.read_cpu(gateway),
            Control::TellCpu(gateway) => self.tell_cpu(gateway),
            Control::WakeGateway(gateway) => self.wake_gateway(gateway),
            Control::ServerUp { group, server } => self.server_up(group, server),
        }
    }

    fn schedule_arrival(&mut self, class: usize) {
        let network = self.network;
        let Source::Arrivals { rate, spacing } = &network.classes[class].source else {
            return;
        };
        let amount = match spacing {
            Spacing::Even => 1.0,
            Spacing::Poisson => self.random.sample::<f64, _>(Exp1),
        };
        if let Some(time) = rate.after(self.now, amount) {
            let control = self.control_of(Control::Arrival(class));
            self.at(time, control);
        }
    }

    fn schedule_breakdown(&mut self, at: u32) {
        let of = self.centers[at as usize].of as usize;
        if let Some(breakdowns) = self.network.centers[of].breakdowns {
            let time = self.now + breakdowns.up.draw(&mut self.random);
            let control = self.control_of(Control::Break(at));
            self.at(time, control);
        }
    }

    fn break_down(&mut self, at: u32) {
        let of = self.centers[at as usize].of as usize;
        let breakdowns = self.network.centers[of].breakdowns;
        let down = breakdowns
            .expect("only what breaks down is scheduled to")
            .down;
        let time = self.now + down.draw(&mut self.random);
        self.set_speed(at, 1.0, false);
        let control = self.control_of(Control::Repair(at));
        self.at(time, control);
    }

    fn planned(&mut self, index: usize) {
        let network = self.network;
        match network.planned[index].what {
            Happening::Lose {
                group,
                servers,
                back_after_s,
            } => self.lose(group, servers, back_after_s),
            Happening::Servers { center, servers } => self.set_servers(center, servers),
            Happening::Speed {
                center,
                speed,
                for_s,
            } => {
                self.set_speed_everywhere(center, speed);
                if let Some(seconds) = for_s {
                    let control = self.control_of(Control::PlannedEnd(index));
                    self.at(self.now + seconds, control);
                }
            }
        }
    }

    /// All copies of a center.
    pub(super) fn copies_of(&self, center: usize) -> std::ops::Range<u32> {
        let first = self.copies[center].first;
        first..first + self.network.copies(center)
    }

    fn set_servers(&mut self, center: usize, servers: u32) {
        for at in self.copies_of(center) {
            if self.centers[at as usize].kind == Kind::Shared {
                self.advance_shared(at);
            }
            let now = self.now;
            self.centers[at as usize].advance(now);
            self.centers[at as usize].capacity = servers;
            if self.centers[at as usize].kind == Kind::Shared {
                self.schedule_shared(at);
            } else {
                self.fill(at);
            }
        }
    }

    fn set_speed_everywhere(&mut self, center: usize, speed: f64) {
        for at in self.copies_of(center) {
            // A speed of 0 is a stop; the old speed stays behind it.
            let works = speed > 0.0;
            let speed = if works {
                speed
            } else {
                self.centers[at as usize].speed
            };
            self.set_speed(at, speed, works);
        }
    }

    /// Changes how fast a station works, and what that means for those who are in service.
    fn set_speed(&mut self, at: u32, speed: f64, up: bool) {
        let now = self.now;
        let center = &mut self.centers[at as usize];
        center.advance(now);
        if center.kind == Kind::Shared {
            self.advance_shared(at);
            let center = &mut self.centers[at as usize];
            (center.speed, center.up) = (speed, up);
            return self.schedule_shared(at);
        }
        let (old, was_up) = (center.speed, center.up);
        (center.speed, center.up) = (speed, up);
        if was_up {
            self.pause(at);
        }
        if up {
            self.resume(at, old / speed);
            self.fill(at);
        }
    }

    /// Stops those in service at a station, and notes what is left of each.
    fn pause(&mut self, at: u32) {
        for id in self.entities.ids() {
            let entity = &self.entities[id];
            if entity.state == State::Serving && entity.center == at {
                self.cancel(id);
                let entity = &mut self.entities[id];
                entity.state = State::Paused;
                entity.moment -= self.now;
            }
        }
    }

    /// Goes on with those that were stopped; what is left of each takes `stretch` times as long.
    fn resume(&mut self, at: u32, stretch: f64) {
        for id in self.entities.ids() {
            let entity = &self.entities[id];
            if entity.state == State::Paused && entity.center == at {
                let until = self.now + entity.moment * stretch;
                let entity = &mut self.entities[id];
                (entity.state, entity.moment) = (State::Serving, until);
                self.wake_at(id, until);
            }
        }
    }
}
