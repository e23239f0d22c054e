//! The plan as the load engine runs it: what decides who starts when as numbers, the rest as
//! compiled texts.
//!
//! The types are those of `weir-plan` over [`Text`]: what can be known before the first user starts
//! is known and has been checked, and what may differ from sample to sample is left to render.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_plan::{
    ArrivalStep, AuthManager, AutoStop, CacheManager, Controller, CookieManager, DnsCache,
    GroupKind, HttpRequest, IterationElement, Listener, Node, OnSampleError, Position, Sampler,
    SamplerKind, Script, UserLife, WhenFull, scripts_of,
};

use crate::{FileUse, GlobalVariables, Problem, Scope, SessionProperties, Text, Variables};

/// A whole plan, ready to run.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent facts about the plan"
)]
pub struct ResolvedPlan {
    /// What the plan calls itself.
    pub name: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// What every user's variables start from.
    pub variables: GlobalVariables,
    /// The groups, in file order, of all kinds.
    pub groups: Vec<ResolvedGroup>,
    /// The main groups run one after another instead of together.
    pub serialized: bool,
    /// Tear-down groups run even after the test was stopped.
    pub tear_down_on_shutdown: bool,
    /// Cookie managers; requests name theirs by its place here.
    pub cookie_managers: Vec<CookieManager<Text>>,
    /// Cache managers; requests name theirs by its place here.
    pub cache_managers: Vec<CacheManager<Text>>,
    /// Authorization managers; requests name theirs by its place here.
    pub auth_managers: Vec<AuthManager<Text>>,
    /// DNS cache managers; requests name theirs by its place here.
    pub dns_caches: Vec<DnsCache<Text>>,
    /// What properties say about cookies, kept answers and connections.
    pub session: SessionProperties,
    /// Listeners that write a file; samplers name theirs by its place here.
    pub listeners: Vec<Listener<Text>>,
    /// Listeners that stop the test; samplers name theirs by its place here.
    pub auto_stops: Vec<AutoStop<Text>>,
    /// Listeners that are scripts; samplers name theirs by its place here.
    pub script_listeners: Vec<Script<Text>>,
    /// JMeter's property `timer.factor`, by which delays that are random are multiplied; 1 when it
    /// is not set.
    pub timer_factor: f32,
    /// Which HTTP is spoken; [`HttpVersion::One`] unless somebody changes it, because JMeter has
    /// no other.
    pub http_version: HttpVersion,
    /// Some text may read the variables that loops and users set by themselves.
    pub reads_own_variables: bool,
    /// Something may look at the response before.
    pub reads_previous: bool,
    /// The files that it reads and writes, as far as that shows before it runs.
    pub files: Vec<FileUse>,
    /// What can be run but deserves a second look.
    pub warnings: Vec<Problem>,
}

/// Which HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    One,
    /// HTTP/2: on `https` when the server agrees, on `http` in any case.
    Two,
}

/// A group of virtual users that all do the same.
#[derive(Debug, Clone)]
pub struct ResolvedGroup {
    /// When it runs.
    pub kind: GroupKind,
    /// Which of its kind, from 1.
    pub number: u32,
    /// The group's name; user n (from 1) is called `<name> <number>-<n>`.
    pub name: String,
    /// When users start, where it is not along the ramp-up.
    pub starts: ResolvedStarts,
    /// How many users; with arrivals and with a level that changes at most, 0 if nobody says.
    pub users: u32,
    /// Time over which the users start: user i of n (from 0) starts at i × ramp-up / n.
    pub ramp_up: Duration,
    /// How often each user goes through the nodes.
    pub iterations: ResolvedIterations,
    /// The name of the group's own loop, which `__jm__<name>__idx` counts.
    pub loop_name: String,
    /// From the start of the group's first user to its end, for all users; `None`: no end.
    pub duration: Option<Duration>,
    /// From the start of the test to the start of the group's first user.
    pub delay: Duration,
    /// What a failed sample does to the user or the test.
    pub on_error: OnSampleError,
    /// Whether an iteration goes on as the user of the one before it.
    pub same_user: bool,
    /// What advances when an iteration starts, in file order.
    pub on_iteration: Vec<IterationElement<Text>>,
    /// What each user does, in order.
    pub nodes: Vec<Node<Text>>,
    /// Where the group stands.
    pub at: Position,
}

/// How often a user goes through the nodes of its group.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedIterations {
    /// Until its time is over.
    Forever,
    /// This many times.
    Count(u64),
    /// As often as this text says when the user starts; any negative number: for ever, and no
    /// number: not at all.
    Asked(Text),
}

/// When users start.
#[derive(Debug, Clone)]
pub enum ResolvedStarts {
    /// Along the group's ramp-up, each with the group's iterations, delay and duration.
    Ramp,
    /// Each user from its own start to its own end.
    Lives(Vec<UserLife>),
    /// As many as are needed to have so many at a time.
    Level(Box<ResolvedLevel>),
    /// One iteration for each arrival.
    Arrivals(Box<ResolvedArrivals>),
}

/// Users at a time.
#[derive(Debug, Clone)]
pub struct ResolvedLevel {
    /// How many, as it is now.
    pub users: Text,
    /// From the start to the full level.
    pub ramp_up: Duration,
    /// In so many steps; 0: linearly.
    pub steps: u64,
    /// How long the full level is held.
    pub hold: Duration,
    /// Iterations of each user; then another takes its place.
    pub iterations_max: Option<u64>,
}

/// An arrival process.
#[derive(Debug, Clone)]
pub struct ResolvedArrivals {
    /// Stretches one after the other.
    pub steps: Vec<ArrivalStep>,
    /// Its own seed; `None`: the run's.
    pub seed: Option<i64>,
    /// Users at a time.
    pub users_max: Option<u32>,
    /// Arrivals in all.
    pub arrivals_max: Option<u64>,
    /// Iterations of each user.
    pub iterations_max: Option<u64>,
    /// What becomes of an arrival while all users are busy.
    pub when_full: WhenFull,
    /// Each arrival is a new user.
    pub new_users: bool,
}

impl ResolvedGroup {
    /// All samplers of the group, in file order.
    pub fn samplers(&self) -> Vec<&Sampler<Text>> {
        let mut samplers = Vec::new();
        gather_samplers(&self.nodes, &mut samplers);
        samplers
    }

    /// All HTTP requests of the group, in file order.
    pub fn requests(&self) -> impl Iterator<Item = &HttpRequest<Text>> {
        self.samplers()
            .into_iter()
            .filter_map(|sampler| match &sampler.kind {
                SamplerKind::Http(request) => Some(&**request),
                _ => None,
            })
    }

    /// All controllers of the group, in file order, outer before inner.
    pub fn controllers(&self) -> Vec<&Controller<Text>> {
        let mut controllers = Vec::new();
        gather_controllers(&self.nodes, &mut controllers);
        controllers
    }
}

fn gather_samplers<'a, T>(nodes: &'a [Node<T>], samplers: &mut Vec<&'a Sampler<T>>) {
    for node in nodes {
        match node {
            Node::Sampler(sampler) => samplers.push(sampler),
            Node::Controller(controller) => gather_samplers(&controller.children, samplers),
        }
    }
}

fn gather_controllers<'a, T>(nodes: &'a [Node<T>], controllers: &mut Vec<&'a Controller<T>>) {
    for node in nodes {
        if let Node::Controller(controller) = node {
            controllers.push(controller);
            gather_controllers(&controller.children, controllers);
        }
    }
}

impl ResolvedPlan {
    /// Does what happens before there is a user: the fields of most scripts are filled in once.
    /// What functions in them count, read or set, is one further then, as in JMeter.
    ///
    /// Call it once, when the test starts.
    pub fn begin(&mut self, random: Xoshiro256PlusPlus, epoch_ms: i64) {
        // All samplers in whose scope a script stands have a copy of it.
        let mut scripts: BTreeMap<Position, &Script<Text>> = BTreeMap::new();
        let mut note = |script| note_changing(script, &mut scripts);
        self.script_listeners.iter().for_each(&mut note);
        for group in &self.groups {
            scripts_of(&group.nodes, &mut note);
        }
        if scripts.is_empty() {
            return;
        }
        let mut scope = Scope {
            random,
            epoch_ms,
            ..Scope::nobody(Variables::new(self.variables.clone()))
        };
        for script in scripts.into_values() {
            for field in [&script.text, &script.parameters, &script.file] {
                // What fails here fails again when the script runs.
                field.rendered(&mut scope);
                scope.take_problem();
            }
        }
        let set = scope.variables.own();
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set: Vec<_> = set.collect();
        self.variables.extend(set);
    }
}

/// Notes a script whose fields are not the same for all.
fn note_changing<'a>(script: &'a Script<Text>, into: &mut BTreeMap<Position, &'a Script<Text>>) {
    let mut fields = [&script.text, &script.parameters, &script.file].into_iter();
    if script.filled_in_at_start && fields.any(|field| field.constant().is_none()) {
        into.insert(script.at, script);
    }
}
