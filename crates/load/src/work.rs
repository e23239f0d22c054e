//! The plan as all runtimes share it: who starts when, what is sent, whose texts are known.

mod branches;
mod step;

use std::sync::Arc;
use std::time::Duration;

use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use weir_plan::{
    ArrivalStep, ControllerKind, DnsCache, GroupKind, OnSampleError, RatePiece, SamplerKind,
    UserLife,
};
use weir_script::{
    Host, ResolvedArrivals, ResolvedGroup, ResolvedIterations, ResolvedPlan, ResolvedStarts, Scope,
    SentRequest, Target, Text,
};

use crate::across_users::Shared;
use crate::audience::{Audience, Audiences, Hearers, Wanted};
use crate::auto_stop::Watcher;
use crate::budget::Budget;
use crate::clock::Moment;
use crate::error::LoadError;
use crate::groups::arrival_times::ArrivalTimes;
use crate::groups::level::LevelGroup;
use crate::groups::open::{ArrivalCounts, OpenGroup, OpenRules};
use crate::http::server::Server;
use crate::http::servers::{Reach, Servers};
use crate::open_files;
use crate::parallel::at_once;
use crate::settings::Length;
use crate::tree::Tree;
use branches::Branches;
pub(crate) use step::{SAMPLER, Step, Waits, sees_sampler};

/// Everything that does not change while a load runs.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) plan: ResolvedPlan,
    pub(crate) seed: u64,
    /// The server that gets all requests, if one was given.
    pub(crate) target: Option<Target>,
    /// Every server that gets requests.
    pub(crate) servers: Servers,
    pub(crate) groups: Vec<Group>,
    /// How many samples may still be started.
    pub(crate) budget: Budget,
    /// Users wait when they are refused again and again.
    pub(crate) backs_off: bool,
    /// The labels that are known, each once, in the plan's order.
    pub(crate) labels: Vec<Arc<str>>,
    /// What users of all runtimes share.
    pub(crate) shared: Shared,
    /// Who may stop the test, by its place in the plan's list.
    pub(crate) watchers: Vec<Watcher>,
    /// Who hears of samples.
    pub(crate) audiences: Audiences,
    /// What any result file shows of samples.
    pub(crate) wanted: Wanted,
    /// Variables whose values result files show with each sample.
    pub(crate) shown_variables: Vec<String>,
}

/// Which phase each group runs in: set-up groups, then the main groups, then the tear-down groups;
/// those of a kind together or one after another.
fn phases(groups: &[ResolvedGroup], serialized: bool) -> Vec<usize> {
    let mut phases = vec![0; groups.len()];
    let mut next = 0;
    for kind in [GroupKind::SetUp, GroupKind::Main, GroupKind::TearDown] {
        let of_kind = (0..groups.len()).filter(|at| groups[*at].kind == kind);
        for (earlier, at) in of_kind.enumerate() {
            phases[at] = next + if serialized { earlier } else { 0 };
        }
        next = phases.iter().max().map_or(0, |last| last + 1);
    }
    phases
}

/// A group of users: what their one loop reads.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    /// Which of its kind, from 1.
    pub(crate) number: u32,
    /// Which phase of the test it runs in.
    pub(crate) phase: usize,
    pub(crate) kind: GroupKind,
    /// Its users run although the test was stopped.
    pub(crate) outlives_stop: bool,
    pub(crate) users: u32,
    pub(crate) ramp_up: Duration,
    /// From the start of the phase to the start of the first user.
    pub(crate) start: Duration,
    /// From the start of the phase to the end of all users.
    pub(crate) end: Option<Duration>,
    /// Where its users come from.
    pub(crate) supply: Supply,
    pub(crate) on_error: OnSampleError,
    /// Each iteration goes on as the user of the one before it.
    pub(crate) same_user: bool,
    pub(crate) tree: Tree,
    /// The samplers of the tree, by their places.
    pub(crate) steps: Vec<Step>,
    /// It is no group of the plan, but a child of a Parallel Controller: nobody starts in it.
    pub(crate) is_branch: bool,
}

/// Where the users of a group come from.
#[derive(Debug)]
pub(crate) enum Supply {
    /// They are known beforehand; each with its own start and end, or along the ramp-up.
    Users(Option<Vec<UserLife>>),
    /// The group starts them to keep a level.
    Level(Box<LevelGroup>),
    /// The group starts them for its arrivals.
    Open(Box<OpenGroup>),
}

impl Supply {
    /// The level that the group keeps.
    pub(crate) fn level(&self) -> Option<&LevelGroup> {
        match self {
            Self::Level(level) => Some(level),
            _ => None,
        }
    }

    /// The arrivals of the group.
    pub(crate) fn open(&self) -> Option<&OpenGroup> {
        match self {
            Self::Open(open) => Some(open),
            _ => None,
        }
    }

    /// Whether a wait that would go on past the end of the group is not begun: JMeter's rule for
    /// groups with a scheduler.
    pub(crate) fn cuts_waits(&self) -> bool {
        matches!(self, Self::Users(_))
    }
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
    /// Its end, from the start of the phase, where it is not that of the group.
    pub(crate) end: Option<Duration>,
}

/// Users at a time of a group that starts them by itself, if the plan has no bound and the process
/// may open as many files.
const SUPPLIED_MAX: u32 = 20_000;

impl Work {
    /// Prepares a plan; looks up the names of all servers.
    pub(crate) fn prepare(
        plan: ResolvedPlan,
        target: Option<Target>,
        seed: u64,
        length: Length,
        allowed_hosts: Vec<String>,
    ) -> Result<Self, LoadError> {
        let hosts = plan.hosts(target.as_ref())?;
        let tables: Arc<[DnsCache<Text>]> = plan.dns_caches.as_slice().into();
        let look_up = |host: &Host| {
            let (proxy, table) = (host.proxy.as_ref(), host.table);
            Server::look_up(&host.server, proxy, table, &tables)
        };
        let mut servers: Vec<Server> = hosts.iter().map(look_up).collect();
        let reach = Reach {
            allowed: allowed_hosts,
            named: plan.named_hosts(),
            target: target.clone(),
            tables,
        };
        // A name may stand for something else than when the user was asked.
        for server in &mut servers {
            reach.admit(server).map_err(LoadError::NotAllowed)?;
        }
        let mut work = Self {
            seed,
            target,
            servers: Servers::new(servers, reach, plan.http_version),
            groups: Vec::new(),
            budget: Budget::default(),
            backs_off: false,
            labels: Vec::new(),
            shared: Shared::default(),
            watchers: plan.auto_stops.iter().cloned().map(Watcher::new).collect(),
            audiences: Audiences::default(),
            wanted: Wanted::default(),
            shown_variables: Vec::new(),
            plan,
        };
        let groups = std::mem::take(&mut work.plan.groups);
        let phases = phases(&groups, work.plan.serialized);
        let mut branches = Branches {
            first: groups.len(),
            groups: Vec::new(),
        };
        for (group, phase) in groups.into_iter().zip(phases) {
            let group = work.group(group, length, &mut branches);
            work.groups.push(Group { phase, ..group });
        }
        work.groups.append(&mut branches.groups);
        if work.users() == 0 {
            return Err(LoadError::NoUsers);
        }
        Ok(work)
    }

    fn group(
        &mut self,
        mut group: ResolvedGroup,
        length: Length,
        branches: &mut Branches,
    ) -> Group {
        let kind = group.kind;
        let outlives_stop = kind == GroupKind::TearDown && self.plan.tear_down_on_shutdown;
        let same_user = group.same_user;
        let planned = length == Length::AsPlanned;
        let starts = std::mem::replace(&mut group.starts, ResolvedStarts::Ramp);
        let is_supplied = matches!(
            starts,
            ResolvedStarts::Level(_) | ResolvedStarts::Arrivals(_)
        );
        if !planned || is_supplied {
            group.iterations = ResolvedIterations::Forever;
        }
        let mut steps = Vec::new();
        let mut tree = Tree::of(
            &mut group,
            self.plan.reads_own_variables,
            &mut |sampler, place, nodes| {
                let mut step = self.step(sampler, place);
                let nodes = nodes.into_iter();
                step.branches = nodes
                    .map(|node| {
                        let branch = self.branch(node, &step);
                        branches.groups.push(Group {
                            kind,
                            outlives_stop,
                            same_user,
                            ..branch
                        });
                        branches.first + branches.groups.len() - 1
                    })
                    .collect();
                steps.push(step);
            },
        );
        tree.stops_between_iterations = is_supplied;
        for controller in &mut tree.controllers {
            if let ControllerKind::Transaction(transaction) = &controller.kind {
                controller.audience = self.audience(true, &transaction.listeners);
            }
        }
        let start = if planned { group.delay } else { Duration::ZERO };
        let duration = group.duration.filter(|_| planned);
        let end = duration.map(|duration| start.saturating_add(duration));
        let supply = self.supply(starts, &group, length);
        Group {
            name: group.name.into(),
            number: group.number,
            phase: 0,
            kind,
            outlives_stop,
            users: group.users,
            ramp_up: group.ramp_up,
            start,
            end: match &supply {
                Supply::Users(Some(lives)) if planned => lives.iter().map(|life| life.end).max(),
                Supply::Users(_) => end,
                Supply::Level(level) => level.end(),
                Supply::Open(open) => open.rules.end,
            },
            supply,
            on_error: group.on_error,
            same_user,
            tree,
            steps,
            is_branch: false,
        }
    }

    fn supply(&self, starts: ResolvedStarts, group: &ResolvedGroup, length: Length) -> Supply {
        let endless = length == Length::UntilStopped;
        match starts {
            ResolvedStarts::Ramp => Supply::Users(None),
            ResolvedStarts::Lives(lives) => Supply::Users(Some(lives)),
            ResolvedStarts::Level(level) => {
                let most = match group.users {
                    0 => self.supplied_max(),
                    users => users,
                };
                let level = LevelGroup::new(*level, endless, most);
                Supply::Level(Box::new(level))
            }
            ResolvedStarts::Arrivals(arrivals) => {
                let number = u64::from(group.number);
                let seed = match arrivals.seed {
                    Some(seed) => seed.cast_unsigned(),
                    None => SplitMix64::seed_from_u64(self.seed ^ (number << 32)).next_u64(),
                };
                let users_max = arrivals.users_max.unwrap_or_else(|| self.supplied_max());
                Supply::Open(Box::new(open_group(*arrivals, seed, endless, users_max)))
            }
        }
    }

    /// Users at a time of a group that starts them by itself and has no bound of its own.
    fn supplied_max(&self) -> u32 {
        let servers = self.servers.len().max(1) as u64;
        let sockets = open_files::most_sockets() / servers;
        let sockets = u32::try_from(sockets).unwrap_or(u32::MAX);
        SUPPLIED_MAX.min(sockets).max(1)
    }

    fn audience(&mut self, test: bool, listeners: &[usize]) -> Audience {
        let has_files = !self.plan.listeners.is_empty();
        let listeners = if has_files { listeners } else { &[] };
        self.audiences.of(Hearers {
            test,
            listeners: listeners.to_vec(),
        })
    }

    /// Place of a request's server among [`Work::servers`].
    pub(crate) fn server(&self, sent: &SentRequest) -> Option<usize> {
        self.servers.place(sent)
    }

    /// Users of all groups that have something to do; of those that start them by themselves as
    /// many as there may be.
    pub(crate) fn users(&self) -> u64 {
        self.active_groups()
            .map(|(_, group)| match &group.supply {
                Supply::Users(_) => u64::from(group.users),
                Supply::Level(level) => u64::from(level.users_max),
                Supply::Open(open) => u64::from(open.rules.users_max),
            })
            .sum()
    }

    /// How many connections a user has open at most: one to each server, more where it fetches
    /// several resources of a page at once.
    pub(crate) fn connections_of_user(&self) -> u64 {
        let steps = self.groups.iter().flat_map(|group| &group.steps);
        let at_once = steps.map(|step| match &step.source.kind {
            SamplerKind::Http(request) => at_once(request),
            _ => step.branches.len().max(1) as u64,
        });
        at_once.max().unwrap_or(1) * self.servers.len() as u64
    }

    /// Whether a group has arrivals.
    pub(crate) fn is_open(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.supply.open().is_some())
    }

    /// How many users each phase has; a group that starts them by itself counts once for each
    /// runtime.
    pub(crate) fn users_of_phases(&self, runtimes: usize) -> Vec<u32> {
        let mut users = Vec::new();
        for (_, group) in self.active_groups() {
            if users.len() <= group.phase {
                users.resize(group.phase + 1, 0);
            }
            users[group.phase] += match &group.supply {
                Supply::Users(_) => group.users,
                _ => runtimes as u32,
            };
        }
        users
    }

    /// Whether others run after a group although it has stopped the test.
    pub(crate) fn is_followed(&self, group: usize) -> bool {
        let is_main = self.groups[group].kind == GroupKind::Main;
        is_main && self.groups.iter().any(|group| group.outlives_stop)
    }

    fn active_groups(&self) -> impl Iterator<Item = (usize, &Group)> {
        let groups = self.groups.iter().enumerate();
        groups.filter(|(_, group)| !group.steps.is_empty() && !group.is_branch)
    }

    /// The groups of a phase that start users by themselves.
    pub(crate) fn supplied_groups(&self, phase: usize) -> impl Iterator<Item = (usize, &Group)> {
        self.active_groups().filter(move |(_, group)| {
            group.phase == phase && !matches!(group.supply, Supply::Users(_))
        })
    }

    /// What became of all arrivals; `None` when no group has any.
    pub(crate) fn arrivals(&self, now: Moment) -> Option<ArrivalCounts> {
        let mut sum = None;
        for (_, group) in self.active_groups() {
            if let Some(open) = group.supply.open() {
                *sum.get_or_insert(ArrivalCounts::default()) += open.counts(now);
            }
        }
        sum
    }

    /// Arrivals that were due in each second until then; `None` when no group has any.
    pub(crate) fn due_by_second(&self, until: Moment) -> Option<Vec<u64>> {
        let mut by_second = None;
        for (_, group) in self.active_groups() {
            if let Some(open) = group.supply.open() {
                open.add_due(until, by_second.get_or_insert_with(Vec::new));
            }
        }
        by_second
    }

    /// From the start of the test to its end, when the plan has one that is a time.
    pub(crate) fn planned_end(&self) -> Option<Duration> {
        let phases = self.users_of_phases(1);
        if phases.iter().filter(|users| **users > 0).count() > 1 {
            return None;
        }
        let ends = self.active_groups().map(|(_, group)| group.end);
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Deals all users that are known beforehand to this many runtimes in turn; each gets its own
    /// in order of their start.
    pub(crate) fn deal(&self, runtimes: usize) -> Vec<Vec<UserStart>> {
        let mut hands = vec![Vec::new(); runtimes];
        let mut turn = (0..runtimes).cycle();
        for (at, group) in self.active_groups() {
            let Supply::Users(lives) = &group.supply else {
                continue;
            };
            for user in 0..group.users {
                let life = lives.as_ref().map(|lives| lives[user as usize]);
                let along_ramp = || group.start + group.ramp_up * user / group.users;
                let start = UserStart {
                    phase: group.phase,
                    at: life.map_or_else(along_ramp, |life| life.start),
                    group: at,
                    user,
                    // Without an end of its own the group goes on until it is stopped.
                    end: life.and(group.end).and(life.map(|life| life.end)),
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

    /// Notes what result files show: that of the test, and those of the plan's listeners.
    pub(crate) fn show(&mut self, test: Wanted, listeners: &[Wanted], variables: Vec<String>) {
        for step in self.groups.iter_mut().flat_map(|group| &mut group.steps) {
            let own = step.source.listeners.iter();
            let own = own.filter_map(|place| listeners.get(*place));
            step.wanted = own.fold(test, |sum, wanted| sum.or(*wanted));
        }
        self.wanted = listeners.iter().fold(test, |sum, wanted| sum.or(*wanted));
        self.shown_variables = variables;
    }

    /// Nobody, for texts that are rendered before the test.
    pub(crate) fn nobody(&self) -> Scope {
        let random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        self.plan.scope("", 0, random)
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

fn open_group(arrivals: ResolvedArrivals, seed: u64, endless: bool, users_max: u32) -> OpenGroup {
    let mut steps = arrivals.steps;
    let length: f64 = steps.iter().map(|step| step.rate.seconds).sum();
    if endless && length.is_finite() {
        // The last rate holds until the load is stopped.
        let last = steps.iter().rev().find(|step| step.rate.to_per_s > 0.0);
        let held = last.map(|step| ArrivalStep {
            rate: RatePiece::endless(step.rate.to_per_s),
            process: step.process.endless(),
        });
        steps.extend(held);
    }
    let end = Duration::try_from_secs_f64(length).ok();
    let rules = OpenRules {
        users_max,
        iterations_max: arrivals.iterations_max,
        when_full: arrivals.when_full,
        new_users: arrivals.new_users,
        end: end.filter(|_| !endless),
    };
    let arrivals_max = arrivals.arrivals_max.filter(|_| !endless);
    OpenGroup::new(ArrivalTimes::new(steps, seed), arrivals_max, rules)
}

#[cfg(test)]
mod tests;
