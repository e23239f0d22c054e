//! The plan as all runtimes share it: who starts when, what is sent, whose texts are known.

use std::sync::Arc;
use std::time::Duration;

use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use weir_plan::OnSampleError;
use weir_script::{ResolvedPlan, ResolvedStep, Scheme, Scope, SentRequest, Target};

use crate::error::LoadError;
use crate::names::Server;
use crate::settings::Length;

/// Everything that does not change while a load runs.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) plan: ResolvedPlan,
    pub(crate) seed: u64,
    /// The server that gets all requests, if one was given.
    pub(crate) target: Option<Target>,
    /// Every server that gets requests.
    pub(crate) servers: Vec<Server>,
    pub(crate) groups: Vec<Group>,
    /// The labels that are known, each once, in the plan's order.
    pub(crate) labels: Vec<Arc<str>>,
}

/// A group of users: what their one loop reads.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    pub(crate) users: u32,
    pub(crate) ramp_up: Duration,
    /// From the start of the test to the start of the first user.
    pub(crate) start: Duration,
    /// From the start of the test to the end of all users.
    pub(crate) end: Option<Duration>,
    /// How often each user goes through the steps; `None`: for ever.
    pub(crate) iterations: Option<u64>,
    pub(crate) on_error: OnSampleError,
    pub(crate) steps: Vec<Step>,
}

/// One sample of a group.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) source: ResolvedStep,
    /// Place of the label among [`Work::labels`], when it is always the same.
    pub(crate) label: Option<usize>,
    /// The request, when it is always the same.
    pub(crate) prepared: Option<Prepared>,
}

/// A request that is built before the test.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) sent: SentRequest,
    pub(crate) url: Arc<str>,
    /// Place of the server among [`Work::servers`].
    pub(crate) server: usize,
}

/// A user that is going to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UserStart {
    /// From the start of the test.
    pub(crate) at: Duration,
    /// Place of the group among [`Work::groups`].
    pub(crate) group: usize,
    /// Which user of the group, from 0.
    pub(crate) user: u32,
}

impl Work {
    /// Prepares a plan; looks up the names of all servers.
    pub(crate) fn prepare(
        plan: ResolvedPlan,
        target: Option<Target>,
        seed: u64,
        length: Length,
    ) -> Result<Self, LoadError> {
        let hosts = plan.hosts(target.as_ref())?;
        if let Some(host) = hosts.iter().find(|h| h.server.scheme == Scheme::Https) {
            return Err(LoadError::Tls {
                server: host.server.clone(),
                at: host.at,
            });
        }
        let servers = hosts.iter().map(|host| Server::look_up(&host.server));
        let mut work = Self {
            seed,
            target,
            servers: servers.collect(),
            groups: Vec::new(),
            labels: Vec::new(),
            plan,
        };
        for group in std::mem::take(&mut work.plan.groups) {
            let steps = group
                .steps
                .into_iter()
                .map(|step| work.step(step))
                .collect();
            let planned = length == Length::AsPlanned;
            let start = if planned { group.delay } else { Duration::ZERO };
            let duration = group.duration.filter(|_| planned);
            work.groups.push(Group {
                name: group.name.into(),
                users: group.users,
                ramp_up: group.ramp_up,
                start,
                end: duration.map(|duration| start.saturating_add(duration)),
                iterations: group.iterations.filter(|_| planned),
                on_error: group.on_error,
                steps,
            });
        }
        if work.users() == 0 {
            return Err(LoadError::NoUsers);
        }
        Ok(work)
    }

    fn step(&mut self, source: ResolvedStep) -> Step {
        let label = source.label.constant().map(|label| {
            let known = self.labels.iter().position(|known| **known == *label);
            known.unwrap_or_else(|| {
                self.labels.push(label.into());
                self.labels.len() - 1
            })
        });
        let prepared = source.request.prepare(self.target.as_ref());
        let prepared = prepared.and_then(|built| {
            // What cannot be sent fails again at each sample, and is not worth preparing.
            let sent = built.ok()?;
            Some(Prepared {
                url: sent.url.as_str().into(),
                server: self.server(&sent)?,
                sent,
            })
        });
        Step {
            source,
            label,
            prepared,
        }
    }

    /// Place of a request's server among [`Work::servers`].
    pub(crate) fn server(&self, sent: &SentRequest) -> Option<usize> {
        self.servers
            .iter()
            .position(|server| server.host == sent.host && server.port == sent.port)
    }

    /// Users of all groups that have something to do.
    pub(crate) fn users(&self) -> u64 {
        self.active_groups()
            .map(|(_, group)| u64::from(group.users))
            .sum()
    }

    fn active_groups(&self) -> impl Iterator<Item = (usize, &Group)> {
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, group)| !group.steps.is_empty())
    }

    /// From the start of the test to its end, when the plan has one that is a time.
    pub(crate) fn planned_end(&self) -> Option<Duration> {
        let ends = self.active_groups().map(|(_, group)| group.end);
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Deals all users to this many runtimes in turn; each gets its own in order of their start.
    pub(crate) fn deal(&self, runtimes: usize) -> Vec<Vec<UserStart>> {
        let mut hands = vec![Vec::new(); runtimes];
        let mut turn = (0..runtimes).cycle();
        for (at, group) in self.active_groups() {
            for user in 0..group.users {
                let start = UserStart {
                    at: group.start + group.ramp_up * user / group.users,
                    group: at,
                    user,
                };
                if let Some(runtime) = turn.next() {
                    hands[runtime].push(start);
                }
            }
        }
        for hand in &mut hands {
            hand.sort();
        }
        hands
    }

    /// What a user's texts and timers start from. Its random numbers depend on the seed and on who
    /// it is, and on nothing else.
    pub(crate) fn scope(&self, start: UserStart) -> Scope {
        let who = ((start.group as u64) << 32) | u64::from(start.user);
        let mixed = SplitMix64::seed_from_u64(who).next_u64() ^ self.seed;
        let random = Xoshiro256PlusPlus::seed_from_u64(mixed);
        let name = &self.groups[start.group].name;
        self.plan.scope(name, start.user + 1, random)
    }
}

#[cfg(test)]
mod tests;
