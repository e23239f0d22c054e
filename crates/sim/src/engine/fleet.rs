//! Servers of one kind behind a balancer: which one gets a request, and how they come and go.

use std::collections::VecDeque;
use std::time::Duration;

use rand::RngExt as _;

use weir_scale::{Bounds, Second, Seconds, Steady};

use super::Simulation;
use super::center::Kind;
use super::client::Failure;
use super::control::Control;
use super::gateway::GatewayState;
use crate::network::{Balancer, Group, Scaling, ScalingBy};
use crate::totals::GroupTotals;

/// What one server of a group does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    /// Not there.
    Off,
    /// Bought and booting.
    Starting,
    /// At work.
    Up,
    /// Gets no new request; off when the last one has left.
    Draining,
}

/// A group while it runs.
#[derive(Debug)]
pub(crate) struct GroupState {
    lives: Vec<Life>,
    /// Requests inside each server.
    inside: Vec<u32>,
    /// Servers that get requests, by number.
    up: Vec<u16>,
    turn: usize,
    /// Time up to which the integral is right.
    at: f64,
    /// Servers that get requests, over time, since the figures were last set to 0.
    up_s: f64,
    /// As `up_s`, of servers that cost money: starting and draining ones too.
    paid_s: f64,
    scaled: u64,
    /// No decision before.
    quiet_until: f64,
    /// Readings of the utilization that have not arrived yet.
    readings: VecDeque<f64>,
    /// Busy time of the scaling station at the last reading, by server, and the time of that
    /// reading.
    last_busy: Vec<f64>,
    last_at: f64,
    /// Requests that have come and gone since the begin.
    entered: u64,
    ended: u64,
    following: Following,
}

/// What is known of the load that the number of servers follows.
#[derive(Debug, Default)]
struct Following {
    seconds: Seconds,
    steady: Option<Steady>,
    /// Counts at the last look, and how many servers were up.
    offered: u64,
    ended: u64,
    up: usize,
}

impl GroupState {
    pub(crate) fn new(group: &Group) -> Self {
        let max = group.servers_max() as usize;
        let mut lives = vec![Life::Off; max];
        lives[..group.servers as usize].fill(Life::Up);
        Self {
            lives,
            inside: vec![0; max],
            up: (0..group.servers as u16).collect(),
            turn: 0,
            at: 0.0,
            up_s: 0.0,
            paid_s: 0.0,
            scaled: 0,
            quiet_until: 0.0,
            readings: VecDeque::new(),
            last_busy: vec![0.0; max],
            last_at: 0.0,
            entered: 0,
            ended: 0,
            following: Following {
                up: group.servers as usize,
                ..Following::default()
            },
        }
    }

    /// Servers that are there or about to be.
    fn servers(&self) -> u32 {
        let active = |life: &&Life| matches!(life, Life::Up | Life::Starting);
        self.lives.iter().filter(active).count() as u32
    }

    /// Servers that get requests.
    pub(crate) fn servers_up(&self) -> usize {
        self.up.len()
    }

    /// Brings the integrals up to `now`.
    pub(crate) fn advance(&mut self, now: f64) {
        let totals = self.totals(now);
        (self.at, self.up_s, self.paid_s) = (now, totals.up_s, totals.paid_s);
    }

    /// The figures as they stand at `now`.
    pub(crate) fn totals(&self, now: f64) -> GroupTotals {
        let elapsed = now - self.at;
        let paid = self.lives.iter().filter(|life| **life != Life::Off).count();
        GroupTotals {
            up_s: self.up_s + elapsed * self.up.len() as f64,
            paid_s: self.paid_s + elapsed * paid as f64,
            scaled: self.scaled,
            up: self.up.len() as u32,
        }
    }

    /// Sets the figures to 0; the integrals are up to date.
    pub(crate) fn forget(&mut self) {
        (self.up_s, self.paid_s, self.scaled) = (0.0, 0.0, 0);
        // The meters of the stations begin at 0 again.
        self.last_busy.fill(0.0);
        self.last_at = self.at;
    }

    /// Whose turn it is; there is at least one server.
    fn choose(&mut self, balancer: Balancer, random: &mut crate::distribution::Random) -> u16 {
        let count = self.up.len();
        let turn = self.turn;
        match balancer {
            Balancer::Random => self.up[random.random_range(0..count)],
            Balancer::RoundRobin => {
                self.turn = (turn + 1) % count;
                self.up[turn % count]
            }
            Balancer::LeastConnections => {
                let places = (0..count).map(|step| (turn + step) % count);
                let least = places.min_by_key(|place| self.inside[usize::from(self.up[*place])]);
                let place = least.expect("there is a server");
                self.turn = (place + 1) % count;
                self.up[place]
            }
            Balancer::TwoChoices => {
                let one = self.up[random.random_range(0..count)];
                let other = self.up[random.random_range(0..count)];
                let load = |server: u16| self.inside[usize::from(server)];
                if load(other) < load(one) { other } else { one }
            }
        }
    }
}

impl Simulation<'_> {
    /// Sends a request to one server of a group; says whether there is one.
    pub(super) fn enter(&mut self, id: u32, group: usize) -> bool {
        let state = &mut self.groups[group];
        state.entered += 1;
        if state.up.is_empty() {
            return false;
        }
        let balancer = self.network.groups[group].balancer;
        let server = state.choose(balancer, &mut self.random);
        state.inside[usize::from(server)] += 1;
        let entity = &mut self.entities[id];
        entity.server[group] = server;
        entity.inside |= 1 << group;
        true
    }

    pub(super) fn is_inside(&self, id: u32, group: usize) -> bool {
        self.entities[id].inside >> group & 1 == 1
    }

    pub(super) fn leave(&mut self, id: u32, group: usize) {
        let entity = &mut self.entities[id];
        entity.inside &= !(1 << group);
        let server = usize::from(entity.server[group]);
        let state = &mut self.groups[group];
        state.inside[server] -= 1;
        state.ended += 1;
        if state.lives[server] == Life::Draining && state.inside[server] == 0 {
            self.set_life(group, server, Life::Off);
        }
    }

    /// Changes what a server does, and with it who gets requests and what counts as capacity.
    fn set_life(&mut self, group: usize, server: usize, life: Life) {
        let now = self.now;
        let state = &mut self.groups[group];
        state.advance(now);
        state.lives[server] = life;
        state.up.retain(|up| usize::from(*up) != server);
        if life == Life::Up {
            state.up.push(server as u16);
        }
        let there = matches!(life, Life::Up | Life::Draining);
        for at in self.centers_of(group, server) {
            self.centers[at as usize].advance(now);
            self.centers[at as usize].there = there;
        }
    }

    /// The centers of one server.
    fn centers_of(&self, group: usize, server: usize) -> Vec<u32> {
        let copies = self.copies.iter();
        let own = copies.filter(|copies| copies.group.map(usize::from) == Some(group));
        own.map(|copies| copies.first + server as u32).collect()
    }

    /// Servers die with all that is in them.
    pub(super) fn lose(&mut self, group: usize, servers: u32, back_after_s: Option<f64>) {
        for _ in 0..servers {
            let Some(server) = self.groups[group].up.last().copied() else {
                return;
            };
            self.kill(group, usize::from(server));
            if let Some(seconds) = back_after_s {
                self.schedule_server(group, usize::from(server), self.now + seconds);
            }
        }
    }

    fn kill(&mut self, group: usize, server: usize) {
        self.set_life(group, server, Life::Off);
        let victims: Vec<u32> = self
            .entities
            .ids()
            .filter(|&id| {
                self.is_inside(id, group) && usize::from(self.entities[id].server[group]) == server
            })
            .collect();
        // Nothing starts on the dead server while its requests are taken away one by one.
        self.set_working(group, server, false);
        for id in victims {
            self.withdraw(id);
            self.fail(id, Failure::Lost);
        }
    }

    fn set_working(&mut self, group: usize, server: usize, up: bool) {
        for at in self.centers_of(group, server) {
            if self.centers[at as usize].kind == Kind::Shared {
                self.advance_shared(at);
            }
            self.centers[at as usize].up = up;
        }
    }

    /// A server is there from `time` on.
    fn schedule_server(&mut self, group: usize, server: usize, time: f64) {
        self.groups[group].lives[server] = Life::Starting;
        let control = self.control_of(Control::ServerUp { group, server });
        self.at(time, control);
    }

    pub(super) fn server_up(&mut self, group: usize, server: usize) {
        self.set_working(group, server, true);
        self.set_life(group, server, Life::Up);
    }

    /// Starts servers that are off.
    fn start_servers(&mut self, group: usize, count: u32, start_up_s: f64) {
        let now = self.now;
        let state = &mut self.groups[group];
        state.advance(now);
        state.scaled += 1;
        let off = state.lives.iter().enumerate();
        let off = off.filter(|(_, life)| **life == Life::Off);
        let chosen: Vec<usize> = off.map(|(server, _)| server).take(count as usize).collect();
        for server in chosen {
            self.schedule_server(group, server, now + start_up_s);
        }
    }

    /// The last server gets no new requests, and is off when it is empty.
    fn stop_server(&mut self, group: usize) {
        let state = &mut self.groups[group];
        let Some(server) = state.up.last().copied().map(usize::from) else {
            return;
        };
        state.scaled += 1;
        let life = if state.inside[server] == 0 {
            Life::Off
        } else {
            Life::Draining
        };
        self.set_life(group, server, life);
    }

    /// Looks whether another number of servers is wanted, and sees to the next look.
    pub(super) fn look(&mut self, group: usize, scaling: &Scaling) {
        match scaling.by {
            ScalingBy::Utilization { delay_s, .. } => {
                self.read_utilization(group, scaling, delay_s);
            }
            ScalingBy::Load { .. } => self.follow_load(group, scaling),
        }
        let control = self.control_of(Control::ScaleRead(group));
        self.at(self.now + scaling.period_s(), control);
    }

    /// Reads the utilization; the reading arrives later.
    fn read_utilization(&mut self, group: usize, scaling: &Scaling, delay_s: f64) {
        let (busy, capacity) = self.busy_since(group, scaling, |life| life == Life::Up);
        if capacity > 0.0 {
            self.groups[group].readings.push_back(busy / capacity);
            let control = self.control_of(Control::ScaleAct(group));
            self.at(self.now + delay_s, control);
        }
    }

    /// Seconds in which the stations of servers were busy since the last look, and could have been.
    fn busy_since(
        &mut self,
        group: usize,
        scaling: &Scaling,
        counts: impl Fn(Life) -> bool,
    ) -> (f64, f64) {
        let first = self.copies[scaling.station].first;
        let now = self.now;
        let state = &mut self.groups[group];
        let elapsed = now - state.last_at;
        let (mut busy, mut capacity) = (0.0, 0.0);
        for server in 0..state.lives.len() {
            let center = &mut self.centers[first as usize + server];
            center.advance(now);
            let before = std::mem::replace(&mut state.last_busy[server], center.meter.busy_s);
            if counts(state.lives[server]) {
                busy += center.meter.busy_s - before;
                capacity += f64::from(center.capacity) * elapsed;
            }
        }
        state.last_at = now;
        (busy, capacity)
    }

    /// Acts on the oldest reading.
    pub(super) fn act(&mut self, group: usize, scaling: &Scaling) {
        let ScalingBy::Utilization {
            above,
            add,
            below,
            cool_down_s,
            ..
        } = scaling.by
        else {
            return;
        };
        let now = self.now;
        let state = &mut self.groups[group];
        let Some(utilization) = state.readings.pop_front() else {
            return;
        };
        if now < state.quiet_until {
            return;
        }
        let servers = state.servers();
        if utilization > above && servers < scaling.max {
            state.quiet_until = now + cool_down_s;
            let count = add.min(scaling.max - servers);
            self.start_servers(group, count, scaling.start_up_s);
        } else if below.is_some_and(|below| utilization < below)
            && state.up.len() as u32 > scaling.min
        {
            state.quiet_until = now + cool_down_s;
            self.stop_server(group);
        }
    }

    /// Counts the second that is over, and asks for as many servers as the load wants.
    fn follow_load(&mut self, group: usize, scaling: &Scaling) {
        let ScalingBy::Load {
            goal,
            up_after_s,
            down_after_s,
        } = scaling.by
        else {
            return;
        };
        let (busy_s, _) = self.busy_since(group, scaling, |_| true);
        // Whom a gateway rejects wants to be answered, too.
        let offered = if self.gateways.is_empty() {
            self.groups[group].entered
        } else {
            self.gateways.iter().map(GatewayState::arrived).sum()
        };
        let cpus = f64::from(self.centers[self.copies[scaling.station].first as usize].capacity);
        let bounds = Bounds {
            min: scaling.min,
            max: scaling.max,
            up_after: Duration::from_secs_f64(up_after_s),
            down_after: Duration::from_secs_f64(down_after_s),
        };
        let now = Duration::from_secs_f64(self.now);
        let state = &mut self.groups[group];
        let servers = state.servers();
        let following = &mut state.following;
        let second = Second {
            offered: (offered - following.offered) as f64,
            ended: (state.ended - following.ended) as f64,
            busy_s,
        };
        (following.offered, following.ended) = (offered, state.ended);
        if std::mem::replace(&mut following.up, state.up.len()) == state.up.len() {
            following.seconds.push(second);
        } else {
            // As in the gateway, which reads the CPU of other processes then.
            following.seconds.clear();
        }
        let wanted = following.seconds.wanted(cpus, goal).ok();
        let wanted = wanted.map(|wanted| wanted.in_whole(&bounds));
        let steady = following.steady.get_or_insert_with(|| Steady::new(servers));
        match steady.at(now, wanted, &bounds) {
            Some(count) if count > servers => {
                self.start_servers(group, count - servers, scaling.start_up_s);
            }
            Some(count) => (count..servers).for_each(|_| self.stop_server(group)),
            None => {}
        }
    }
}
