//! What is simulated: places where requests spend time, the requests' ways through them, and who
//! sends them.
//!
//! Everything is named by its index in the network's lists; [`crate::NetworkFile`] turns the names
//! of a file into them.

use weir_limit::Rules;

use crate::distribution::Distribution;
use crate::profile::Profile;

/// Most groups in one network: a request remembers one server of each.
pub const GROUPS_MAX: usize = 4;
/// Most limits that a network may have: a request remembers which of them it holds.
pub const LIMITS_MAX: usize = 32;
/// Most servers of one group.
pub const SERVERS_MAX: u32 = 60_000;
/// Most classes.
pub const CLASSES_MAX: usize = 10_000;

/// A network of stations and limits, and the classes of requests that go through it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// Stations and limits.
    pub centers: Vec<Center>,
    /// Rate limits.
    pub gates: Vec<Gate>,
    /// Flow-control gateways; a network file has none.
    pub gateways: Vec<Gateway>,
    /// Servers that are several of a kind.
    pub groups: Vec<Group>,
    /// Requests.
    pub classes: Vec<Class>,
    /// What is going to happen at known times.
    pub planned: Vec<Planned>,
}

/// A place where requests wait and are served, or a limit that they hold on their way.
#[derive(Debug, Clone, PartialEq)]
pub struct Center {
    /// Its name: `cpu`, or `web.cpu` inside a group.
    pub name: String,
    /// The group of which every server has one of its own; `None`: there is one.
    pub group: Option<usize>,
    /// What it does.
    pub kind: CenterKind,
    /// Whether classes of higher priority are taken first; nobody who is inside is thrown out.
    pub by_priority: bool,
    /// Most that may wait; `None`: any number.
    pub queue: Option<u32>,
    /// What happens to one more.
    pub when_full: WhenFull,
    /// How long a request waits before it gives up; `None`: for ever.
    pub patience: Option<Distribution>,
    /// How it breaks down by itself.
    pub breakdowns: Option<Breakdowns>,
    /// How it slows down when too many are inside; only where all are served at once.
    pub crowding: Option<Crowding>,
}

/// A station that gets slower with each request inside beyond a number: its speed is divided by 1 +
/// `cost` × (inside − `above`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crowding {
    /// The number.
    pub above: u32,
    /// What each one more costs.
    pub cost: f64,
}

/// What a [`Center`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CenterKind {
    /// Serves one after the other, as many at once as it has servers.
    Queue {
        /// Number of servers.
        servers: u32,
    },
    /// Serves all at once, each with at most one of its cores: CPUs under a time-slicing kernel.
    Shared {
        /// Number of cores.
        cores: u32,
    },
    /// Delays, and nobody waits.
    Delay,
    /// Threads, connections, permits: held while other places are visited.
    Limit {
        /// How many there are.
        capacity: u32,
    },
}

/// What happens to a request that finds the queue of a station full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// It fails.
    #[default]
    Refuse,
    /// It stays where it was served last and keeps that server busy: blocking after service.
    Block,
}

/// Time to the next breakdown, and the length of one. What is in service goes on afterwards where
/// it stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Breakdowns {
    /// From the end of one to the begin of the next.
    pub up: Distribution,
    /// Its length.
    pub down: Distribution,
}

/// A rate limit: the generic cell rate algorithm (ITU-T I.371). A request that comes early waits
/// for its time if that is not too far away, and fails otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// Requests per second.
    pub rate_per_s: f64,
    /// How many may pass at once after a pause; at least 1.
    pub burst: u32,
    /// How long a request may wait.
    pub max_wait_s: f64,
}

/// A flow-control gateway: requests ask it by [`Step::Admit`], and are its own until their way
/// ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Gateway {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub rules: Rules,
    /// How it reads the CPU time of the server behind it; `None`: it cannot.
    pub cpu: Option<CpuReader>,
}

/// A reader of the kernel's CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuReader {
    /// The station that is read.
    pub center: usize,
    /// Seconds between two readings.
    pub every_s: f64,
    /// Age of a reading when it arrives.
    pub delay_s: f64,
    /// CPU time is counted in steps of this many seconds; 0: exactly.
    pub tick_s: f64,
    /// Standard deviation of what is added to the busy share.
    pub noise: f64,
}

/// Servers of one kind behind a balancer; each has its own copy of the centers that name the group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// How many there are at the start.
    pub servers: u32,
    /// Who gets the next request.
    pub balancer: Balancer,
    /// Whether their number follows their load.
    pub scaling: Option<Scaling>,
}

/// Who gets the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balancer {
    /// Any.
    Random,
    /// One after the other.
    RoundRobin,
    /// The one with the fewest requests inside; among equals one after the other.
    LeastConnections,
    /// The one of two random ones that has fewer.
    TwoChoices,
}

/// More servers when a station of theirs is busy, fewer when it is not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// The center of the group whose busy time counts.
    pub station: usize,
    /// Fewest servers.
    pub min: u32,
    /// Most servers.
    pub max: u32,
    /// From the decision to the first request of a new server.
    pub start_up_s: f64,
    /// Who decides.
    pub by: ScalingBy,
}

/// By what another number of servers is decided on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalingBy {
    /// Thresholds of the utilization, as most clouds offer them.
    Utilization {
        /// More servers above this mean utilization.
        above: f64,
        /// So many more.
        add: u32,
        /// One server less below this; `None`: never.
        below: Option<f64>,
        /// Seconds over which utilization is averaged, and between two looks at it.
        period_s: f64,
        /// Age of a figure when it is looked at.
        delay_s: f64,
        /// After a decision, none for so long.
        cool_down_s: f64,
    },
    /// What the load wants, as Weir's gateway reckons it.
    Load {
        /// The share of the station that is to be busy.
        goal: f64,
        /// Seconds for which more have to be wanted.
        up_after_s: f64,
        /// Seconds for which fewer have to be wanted.
        down_after_s: f64,
    },
}

impl Scaling {
    /// Seconds from one look to the next.
    pub(crate) fn period_s(&self) -> f64 {
        match self.by {
            ScalingBy::Utilization { period_s, .. } => period_s,
            ScalingBy::Load { .. } => 1.0,
        }
    }
}

/// Requests that go the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Higher ones are taken first where priority counts.
    pub priority: u8,
    /// Who sends them.
    pub source: Source,
    /// Their way.
    pub route: Vec<Step>,
    /// What the client does about a request that takes long.
    pub timeout: Option<Timeout>,
    /// What the client does about one that failed.
    pub retry: Option<Retry>,
}

/// Who sends requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A number of users that think, send, and wait for the answer.
    Users {
        /// How many.
        users: u32,
        /// Pause before each request.
        think: Distribution,
        /// Seconds over which they start, evenly.
        ramp_s: f64,
    },
    /// Arrivals that wait for nobody.
    Arrivals {
        /// How many per second, over time.
        rate: Profile,
        /// How regular.
        spacing: Spacing,
    },
}

/// How regular arrivals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// As from very many users that do not know each other.
    Poisson,
    /// Evenly spaced.
    Even,
}

/// One step of a request. Numbers are indices into the lists of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Is served at a station.
    Use(usize, Distribution),
    /// Takes one of a limit, waiting while there is none.
    Acquire(usize),
    /// Gives it back.
    Release(usize),
    /// Passes a gate.
    Pass(usize),
    /// Asks a gateway, as one of a class of its rules, and goes on when it is admitted; it is over
    /// for the gateway when its way is.
    Admit {
        /// The gateway.
        gateway: usize,
        /// The class.
        class: usize,
    },
    /// Is sent to one server of a group.
    Enter(usize),
    /// Leaves it.
    Leave(usize),
    /// Takes time without using anything but what it holds.
    Sleep(Distribution),
}

/// A client that does not wait for ever.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeout {
    /// From sending to giving up; for each attempt.
    pub after: Distribution,
    /// What becomes of the work.
    pub work: AbandonedWork,
}

/// What becomes of a request whose client has given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbandonedWork {
    /// The servers do not notice and go on with it.
    GoesOn,
    /// It is taken away at once, wherever it is.
    Stops,
}

/// A client that tries again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// Attempts in all, the first included.
    pub attempts: u8,
    /// Pause before the second attempt.
    pub back_off_s: f64,
    /// By which it grows from attempt to attempt.
    pub factor: f64,
    /// Longest pause.
    pub back_off_max_s: f64,
    /// How it varies.
    pub jitter: Jitter,
    /// Retries per fresh request, over all clients of the class: above it, requests fail without
    /// another attempt. `None`: no bound.
    pub budget: Option<f64>,
}

/// How a back-off varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Uniform from half of it to all of it.
    Half,
    /// Uniform from nothing to all of it.
    Full,
}

/// Something that happens at a known time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// When, in seconds from the start.
    pub at_s: f64,
    /// What.
    pub what: Happening,
}

/// What happens at a known time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Happening {
    /// Servers of a group die with all that is in them, and come back later.
    Lose {
        /// The group.
        group: usize,
        /// How many: those that came up last.
        servers: u32,
        /// Seconds until they are back; `None`: never.
        back_after_s: Option<f64>,
    },
    /// A station or limit has so many servers from now on; what is inside is finished.
    Servers {
        /// The center.
        center: usize,
        /// How many.
        servers: u32,
    },
    /// A station works at this speed; 0 is a stop, 1 is as the network says.
    Speed {
        /// The center.
        center: usize,
        /// The speed.
        speed: f64,
        /// Seconds until it is as before; `None`: it stays.
        for_s: Option<f64>,
    },
}

impl Center {
    /// A place that only has a name and a kind.
    pub fn new(name: impl Into<String>, kind: CenterKind) -> Self {
        Self {
            name: name.into(),
            group: None,
            kind,
            by_priority: false,
            queue: None,
            when_full: WhenFull::Refuse,
            patience: None,
            breakdowns: None,
            crowding: None,
        }
    }

    /// Servers, cores or permits; `None`: any number.
    pub fn servers(&self) -> Option<u32> {
        match self.kind {
            CenterKind::Queue { servers } => Some(servers),
            CenterKind::Shared { cores } => Some(cores),
            CenterKind::Limit { capacity } => Some(capacity),
            CenterKind::Delay => None,
        }
    }

    /// Whether it is held rather than visited.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, CenterKind::Limit { .. })
    }
}

impl Class {
    /// A class that waits for ever and never tries again.
    pub fn new(name: impl Into<String>, source: Source, route: Vec<Step>) -> Self {
        Self {
            name: name.into(),
            priority: 0,
            source,
            route,
            timeout: None,
            retry: None,
        }
    }

    /// Number of users; `None` for arrivals.
    pub fn users(&self) -> Option<u32> {
        match self.source {
            Source::Users { users, .. } => Some(users),
            Source::Arrivals { .. } => None,
        }
    }
}

impl Group {
    /// Most servers that it can ever have.
    pub fn servers_max(&self) -> u32 {
        self.scaling
            .map_or(self.servers, |scaling| scaling.max.max(self.servers))
    }
}

impl Network {
    /// Users of all classes together.
    pub fn population(&self) -> u64 {
        let users = self.classes.iter().filter_map(Class::users);
        users.map(u64::from).sum()
    }

    /// How many centers of this definition there can be at once.
    pub(crate) fn copies(&self, center: usize) -> u32 {
        self.centers[center]
            .group
            .map_or(1, |group| self.groups[group].servers_max())
    }
}
