//! A load plan: who sends what, when, for how long.
//!
//! The shape follows JMeter's, because that is what users have: groups of virtual users, and for
//! each group a tree of controllers and samplers that every user of it walks again and again.
//! What JMeter finds by scope (timers, defaults, extractors, assertions …) the reader has already
//! given to each sampler, in the order in which it applies.
//!
//! All types are generic over their text: [`Template`] as read, and what `weir-script` compiles it
//! to. Each has a `map` that visits every text once, in a fixed order: that one walk lists the
//! texts of a plan, checks them and compiles them.

use std::path::PathBuf;

use weir_reach::Reach;

use crate::assertions::Assertion;
use crate::config::{AuthManager, CacheManager, CookieManager, DnsCache, IterationElement};
use crate::controller::{ControllerKind, Node};
use crate::http::Proxy;
use crate::listener::{AutoStop, Listener};
use crate::on_sample_error::OnSampleError;
use crate::processors::{PostProcessor, PreProcessor, Script};
use crate::sampler::SamplerKind;
use crate::starts::Starts;
use crate::timer::TimerKind;
use crate::variable::Variable;
use crate::{Position, Template};

/// Identity of an element that keeps state while the test runs. Samplers that have the same
/// element in scope hold the same id; a copy made by a Module Controller keeps it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct ElementId(pub u32);

/// A whole plan.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPlan<T = Template> {
    /// What the plan calls itself; not empty.
    pub name: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// Which files it may touch; `None`: those in its folder and in the one that Weir is run in.
    pub reach: Option<Reach>,
    /// Files that elements name which are not in the plan: those that it includes, and those of
    /// elements that only a JMeter runs.
    pub named_files: Vec<NamedFile>,
    /// User-defined variables: one list per element that defines some, in file order.
    ///
    /// Within a list the first of a name counts and none sees the others; a later list replaces
    /// what an earlier one defined and may use it.
    pub variables: Vec<Vec<Variable<T>>>,
    /// The thread groups that are enabled, in file order, of all kinds.
    pub groups: Vec<ThreadGroup<T>>,
    /// The main groups run one after another instead of together.
    pub serialized: bool,
    /// Tear-down groups run even after the test was stopped.
    pub tear_down_on_shutdown: bool,
    /// Cookie managers; requests name theirs by its place here.
    pub cookie_managers: Vec<CookieManager<T>>,
    /// Cache managers; requests name theirs by its place here.
    pub cache_managers: Vec<CacheManager<T>>,
    /// Authorization managers; requests name theirs by its place here.
    pub auth_managers: Vec<AuthManager<T>>,
    /// DNS cache managers; requests name theirs by its place here.
    pub dns_caches: Vec<DnsCache<T>>,
    /// Listeners that write a file; samplers name theirs by its place here.
    pub listeners: Vec<Listener<T>>,
    /// Listeners that stop the test; samplers name theirs by its place here.
    pub auto_stops: Vec<AutoStop<T>>,
    /// Listeners that are scripts; samplers name theirs by its place here.
    pub script_listeners: Vec<Script<T>>,
}

impl<T> Default for LoadPlan<T> {
    fn default() -> Self {
        Self {
            name: String::new(),
            source: None,
            reach: None,
            named_files: Vec::new(),
            variables: Vec::new(),
            groups: Vec::new(),
            serialized: false,
            tear_down_on_shutdown: true,
            cookie_managers: Vec::new(),
            cache_managers: Vec::new(),
            auth_managers: Vec::new(),
            dns_caches: Vec::new(),
            listeners: Vec::new(),
            auto_stops: Vec::new(),
            script_listeners: Vec::new(),
        }
    }
}

impl<T: Clone> LoadPlan<T> {
    /// Sends every request through this proxy that has none of its own.
    pub fn set_proxy(&mut self, proxy: &Proxy<T>) {
        for group in &mut self.groups {
            set_proxy(&mut group.nodes, proxy);
        }
    }
}

fn set_proxy<T: Clone>(nodes: &mut [Node<T>], proxy: &Proxy<T>) {
    for node in nodes {
        match node {
            Node::Controller(controller) => set_proxy(&mut controller.children, proxy),
            Node::Sampler(sampler) => {
                if let SamplerKind::Http(request) = &mut sampler.kind {
                    request.proxy.get_or_insert_with(|| proxy.clone());
                }
            }
        }
    }
}

/// A file that an element names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The element's type.
    pub class: String,
    /// Its name.
    pub file: Template,
    /// Weir does not run the element: what it does with the file, only a JMeter does.
    pub only_jmeter: bool,
}

/// When a group runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// Before all main groups, which wait for it.
    SetUp,
    /// The test itself.
    #[default]
    Main,
    /// After all main groups.
    TearDown,
}

/// A group of virtual users that all do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadGroup<T = Template> {
    /// When it runs.
    pub kind: GroupKind,
    /// The group's name; users are named `<name> <group>-<user>`.
    pub name: T,
    /// When users start, where it is not along the ramp-up; then what the others say of users,
    /// ramp-up and schedule does not count.
    pub starts: Starts<T>,
    /// How many users.
    pub users: T,
    /// Seconds over which the users start: user i of n (from 0) starts at i × ramp-up / n.
    pub ramp_up_s: T,
    /// How often each user goes through the steps.
    pub iterations: Iterations<T>,
    /// The name of the group's own loop, which `__jm__<name>__idx` counts: the group's, if the
    /// plan names the loop at all.
    pub loop_name: T,
    /// When the group starts and ends; `None`: at once, until the iterations are done.
    pub schedule: Option<Schedule<T>>,
    /// What a failed sample does to the user or the test.
    pub on_error: OnSampleError,
    /// Whether an iteration goes on as the user of the one before it: cookies, cache,
    /// connections.
    pub same_user: bool,
    /// What advances when an iteration starts, in this order, which is the reverse of the file's.
    pub on_iteration: Vec<IterationElement<T>>,
    /// What each user does, in order.
    pub nodes: Vec<Node<T>>,
    /// Where the group stands.
    pub at: Position,
}

impl<T: Default> Default for ThreadGroup<T> {
    /// Nobody, doing nothing for ever.
    fn default() -> Self {
        Self {
            kind: GroupKind::Main,
            name: T::default(),
            starts: Starts::Ramp,
            users: T::default(),
            ramp_up_s: T::default(),
            iterations: Iterations::Forever,
            loop_name: T::default(),
            schedule: None,
            on_error: OnSampleError::Continue,
            same_user: true,
            on_iteration: Vec::new(),
            nodes: Vec::new(),
            at: Position::default(),
        }
    }
}

/// How often a user goes through the steps of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Iterations<T = Template> {
    /// Until the group's time is over or the test is stopped.
    Forever,
    /// This many times.
    Count(T),
}

/// The time of a group, in seconds from the start of the test; empty text counts as 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule<T = Template> {
    /// Seconds from the start of the group's users to its end; the ramp-up is inside.
    pub duration_s: T,
    /// Seconds before the first user starts.
    pub delay_s: T,
}

impl<T> LoadPlan<T> {
    /// Replaces every text of the plan, visiting every text once in a fixed order.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> LoadPlan<U> {
        LoadPlan {
            name: self.name.clone(),
            source: self.source.clone(),
            reach: self.reach.clone(),
            named_files: self.named_files.clone(),
            variables: self
                .variables
                .iter()
                .map(|list| list.iter().map(|variable| variable.map(f)).collect())
                .collect(),
            groups: self.groups.iter().map(|group| group.map(f)).collect(),
            serialized: self.serialized,
            tear_down_on_shutdown: self.tear_down_on_shutdown,
            cookie_managers: self.cookie_managers.iter().map(|m| m.map(f)).collect(),
            cache_managers: self.cache_managers.iter().map(|m| m.map(f)).collect(),
            auth_managers: self.auth_managers.iter().map(|m| m.map(f)).collect(),
            dns_caches: self.dns_caches.iter().map(|m| m.map(f)).collect(),
            listeners: self.listeners.iter().map(|m| m.map(f)).collect(),
            auto_stops: self.auto_stops.iter().map(|m| m.map(f)).collect(),
            script_listeners: self.script_listeners.iter().map(|m| m.map(f)).collect(),
        }
    }
}

impl<T> LoadPlan<T> {
    /// Visits every script.
    pub fn for_each_script<'a>(&'a self, visit: &mut dyn FnMut(&'a Script<T>)) {
        self.script_listeners.iter().for_each(&mut *visit);
        for group in &self.groups {
            scripts_of(&group.nodes, visit);
        }
    }
}

/// Visits every script of these nodes.
pub fn scripts_of<'a, T>(nodes: &'a [Node<T>], visit: &mut dyn FnMut(&'a Script<T>)) {
    let judging = |assertions: &'a [Assertion<T>], visit: &mut dyn FnMut(&'a Script<T>)| {
        for assertion in assertions {
            if let Assertion::Script(script) = assertion {
                visit(script);
            }
        }
    };
    for node in nodes {
        match node {
            Node::Sampler(sampler) => {
                for before in &sampler.before {
                    if let PreProcessor::Script(script) = before {
                        visit(script);
                    }
                }
                for timer in &sampler.timers {
                    if let TimerKind::Script(script) = &timer.kind {
                        visit(script);
                    }
                }
                if let SamplerKind::Script(script) = &sampler.kind {
                    visit(script);
                }
                for after in &sampler.after {
                    if let PostProcessor::Script(script) = after {
                        visit(script);
                    }
                }
                judging(&sampler.assertions, visit);
            }
            Node::Controller(controller) => {
                if let ControllerKind::Transaction(transaction) = &controller.kind {
                    judging(&transaction.assertions, visit);
                }
                scripts_of(&controller.children, visit);
            }
        }
    }
}

impl<T> ThreadGroup<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> ThreadGroup<U> {
        ThreadGroup {
            kind: self.kind,
            name: f(&self.name),
            starts: self.starts.map(f),
            users: f(&self.users),
            ramp_up_s: f(&self.ramp_up_s),
            iterations: match &self.iterations {
                Iterations::Forever => Iterations::Forever,
                Iterations::Count(count) => Iterations::Count(f(count)),
            },
            loop_name: f(&self.loop_name),
            schedule: self.schedule.as_ref().map(|schedule| Schedule {
                duration_s: f(&schedule.duration_s),
                delay_s: f(&schedule.delay_s),
            }),
            on_error: self.on_error,
            same_user: self.same_user,
            on_iteration: self.on_iteration.iter().map(|e| e.map(f)).collect(),
            nodes: self.nodes.iter().map(|node| node.map(f)).collect(),
            at: self.at,
        }
    }
}
