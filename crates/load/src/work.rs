//! The plan as all runtimes share it: who starts when, what is sent, whose texts are known.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use tokio_rustls::rustls::ClientConfig;
use weir_plan::{GroupKind, HttpRequest, OnSampleError, Sampler, SamplerKind};
use weir_script::{ResolvedGroup, ResolvedPlan, Scope, SentRequest, Target, Text, prepare_request};

use crate::across_users::Shared;
use crate::budget::Budget;
use crate::error::LoadError;
use crate::names::Server;
use crate::settings::Length;
use crate::tls;
use crate::tree::{Place, Tree};

/// Everything that does not change while a load runs.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) plan: ResolvedPlan,
    pub(crate) seed: u64,
    /// The server that gets all requests, if one was given.
    pub(crate) target: Option<Target>,
    /// Every server that gets requests.
    pub(crate) servers: Vec<Server>,
    /// How all users speak TLS.
    pub(crate) tls: ClientConfig,
    pub(crate) groups: Vec<Group>,
    /// How many samples may still be started.
    pub(crate) budget: Budget,
    /// The labels that are known, each once, in the plan's order.
    pub(crate) labels: Vec<Arc<str>>,
    /// The folder that files of the plan are relative to.
    pub(crate) directory: Arc<Path>,
    /// What users of all runtimes share.
    pub(crate) shared: Shared,
}

/// Which phase each group runs in: set-up groups together, then the main groups together or one
/// after another, then the tear-down groups together.
fn phases(groups: &[ResolvedGroup], serialized: bool) -> Vec<usize> {
    let main = groups.iter().filter(|group| group.kind == GroupKind::Main);
    let main_phases = if serialized { main.count().max(1) } else { 1 };
    let mut next_main = 0;
    let phase = |group: &ResolvedGroup| match group.kind {
        GroupKind::SetUp => 0,
        GroupKind::TearDown => 1 + main_phases,
        GroupKind::Main => {
            next_main += usize::from(serialized);
            if serialized { next_main } else { 1 }
        }
    };
    groups.iter().map(phase).collect()
}

/// The folder of the plan's file.
fn folder(plan: &ResolvedPlan) -> &Path {
    let folder = plan.source.as_deref().and_then(Path::parent);
    folder.unwrap_or(Path::new(""))
}

/// A group of users: what their one loop reads.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    /// Which of its kind, from 1.
    pub(crate) number: u32,
    /// Which phase of the test it runs in.
    pub(crate) phase: usize,
    /// Its users run although the test was stopped.
    pub(crate) outlives_stop: bool,
    pub(crate) users: u32,
    pub(crate) ramp_up: Duration,
    /// From the start of the test to the start of the first user.
    pub(crate) start: Duration,
    /// From the start of the test to the end of all users.
    pub(crate) end: Option<Duration>,
    pub(crate) on_error: OnSampleError,
    pub(crate) tree: Tree,
    /// The samplers of the tree, by their places.
    pub(crate) steps: Vec<Step>,
}

/// One sample of a group.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) source: Sampler<Text>,
    /// Place of the label among [`Work::labels`], when it is always the same.
    pub(crate) label: Option<usize>,
    /// The request, when it is always the same.
    pub(crate) prepared: Option<Prepared>,
    pub(crate) waits: Waits,
    /// The controller that it stands in.
    pub(crate) parent: u32,
    /// Somebody in the plan looks at its samples.
    pub(crate) is_looked_at: bool,
}

impl Step {
    /// Whether somebody looks into its responses.
    pub(crate) fn looks_into(&self) -> bool {
        !self.source.after.is_empty() || !self.source.assertions.is_empty()
    }
}

/// The longest times that a request may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) connect: Option<Duration>,
    pub(crate) response: Option<Duration>,
}

impl Waits {
    /// The times of a request in which they do not change.
    fn of(request: &HttpRequest<Text>) -> Self {
        let milliseconds = |text: &Text| {
            let number = text.constant()?.parse::<i32>().ok()?;
            let milliseconds = u64::try_from(number).ok().filter(|ms| *ms > 0)?;
            Some(Duration::from_millis(milliseconds))
        };
        Self {
            connect: milliseconds(&request.connect_timeout_ms),
            response: milliseconds(&request.response_timeout_ms),
        }
    }
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
    /// Which phase of the test: it begins when all users of the phases before have ended.
    pub(crate) phase: usize,
    /// From the start of the phase.
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
        let servers = hosts.iter();
        let servers = servers.map(|host| Server::look_up(&host.server, host.proxy.as_ref()));
        let mut work = Self {
            seed,
            target,
            servers: servers.collect(),
            tls: tls::for_all(plan.http_version),
            groups: Vec::new(),
            budget: Budget::default(),
            labels: Vec::new(),
            directory: folder(&plan).into(),
            shared: Shared::default(),
            plan,
        };
        let groups = std::mem::take(&mut work.plan.groups);
        let phases = phases(&groups, work.plan.serialized);
        for (group, phase) in groups.into_iter().zip(phases) {
            let group = work.group(group, length);
            work.groups.push(Group { phase, ..group });
        }
        if work.users() == 0 {
            return Err(LoadError::NoUsers);
        }
        Ok(work)
    }

    fn group(&mut self, mut group: ResolvedGroup, length: Length) -> Group {
        let planned = length == Length::AsPlanned;
        group.iterations = group.iterations.filter(|_| planned);
        let mut steps = Vec::new();
        let tree = Tree::of(
            &mut group,
            self.plan.reads_own_variables,
            &mut |sampler, place| steps.push(self.step(sampler, place)),
        );
        let start = if planned { group.delay } else { Duration::ZERO };
        let duration = group.duration.filter(|_| planned);
        Group {
            name: group.name.into(),
            number: group.number,
            phase: 0,
            outlives_stop: group.kind == GroupKind::TearDown && self.plan.tear_down_on_shutdown,
            users: group.users,
            ramp_up: group.ramp_up,
            start,
            end: duration.map(|duration| start.saturating_add(duration)),
            on_error: group.on_error,
            tree,
            steps,
        }
    }

    fn step(&mut self, source: Sampler<Text>, place: Place) -> Step {
        let label = source.label.constant().map(|label| {
            let known = self.labels.iter().position(|known| **known == *label);
            known.unwrap_or_else(|| {
                self.labels.push(label.into());
                self.labels.len() - 1
            })
        });
        let prepared = match &source.kind {
            SamplerKind::Http(request) => prepare_request(request, self.target.as_ref()),
            _ => None,
        };
        let prepared = prepared.and_then(|built| {
            // What cannot be sent fails again at each sample, and is not worth preparing.
            let sent = built.ok()?;
            Some(Prepared {
                url: sent.url.as_str().into(),
                server: self.server(&sent)?,
                sent,
            })
        });
        let waits = match &source.kind {
            SamplerKind::Http(request) => Waits::of(request),
            _ => Waits::default(),
        };
        let mut step = Step {
            source,
            label,
            prepared,
            waits,
            parent: place.parent,
            is_looked_at: place.in_transaction,
        };
        step.is_looked_at |= step.looks_into();
        step
    }

    /// Place of a request's server among [`Work::servers`].
    pub(crate) fn server(&self, sent: &SentRequest) -> Option<usize> {
        self.servers.iter().position(|server| server.takes(sent))
    }

    /// Users of all groups that have something to do.
    pub(crate) fn users(&self) -> u64 {
        self.active_groups()
            .map(|(_, group)| u64::from(group.users))
            .sum()
    }

    /// How many users each phase has.
    pub(crate) fn users_of_phases(&self) -> Vec<u32> {
        let mut users = Vec::new();
        for (_, group) in self.active_groups() {
            if users.len() <= group.phase {
                users.resize(group.phase + 1, 0);
            }
            users[group.phase] += group.users;
        }
        users
    }

    fn active_groups(&self) -> impl Iterator<Item = (usize, &Group)> {
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, group)| !group.steps.is_empty())
    }

    /// From the start of the test to its end, when the plan has one that is a time.
    pub(crate) fn planned_end(&self) -> Option<Duration> {
        if self
            .users_of_phases()
            .iter()
            .filter(|users| **users > 0)
            .count()
            > 1
        {
            return None;
        }
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
                    phase: group.phase,
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
