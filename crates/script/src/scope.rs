//! What a text may depend on while it is rendered: one user's variables, its name, its randomness.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use weir_reach::Reach;
use weir_snippet::Sample;

use crate::date;
use crate::live::{Live, LogSink};
use crate::scripting::Remembered;
use crate::{PreviousResponse, Properties, Text};

/// What all users start from; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct GlobalVariables {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) live: Arc<Live>,
}

impl GlobalVariables {
    /// No variables, but the properties of a test and the file of its plan, which may touch the
    /// files beside it.
    pub fn new(properties: &Properties, plan: Option<&Path>) -> Self {
        Self::within(Reach::of_plan(plan), properties, plan)
    }

    /// A scope for a plan that may touch these files.
    pub fn within(reach: Reach, properties: &Properties, plan: Option<&Path>) -> Self {
        let live = Live::new(properties.clone(), plan, reach);
        Self::with(BTreeMap::new(), live)
    }

    /// Adds variables, replacing earlier values.
    pub fn extend(&mut self, variables: impl IntoIterator<Item = (String, String)>) {
        let mut all = self.shared.variables.clone();
        all.extend(variables);
        *self = Self::with(all, Arc::clone(&self.shared.live));
    }

    /// Sets the variables that say when the test started; JMeter has them as properties too.
    pub(crate) fn define_start(&mut self, epoch_ms: i64) {
        let at = |pattern| date::format_epoch(epoch_ms, pattern, self.live().time_zone());
        let names = ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"];
        let ms = epoch_ms.to_string();
        let values = [ms.clone(), at("yyyyMMdd"), at("HHmmss"), ms];
        for (name, value) in names.iter().zip(&values) {
            self.set_property(name, value);
        }
        self.extend(names.map(str::to_owned).into_iter().zip(values));
    }

    fn with(variables: BTreeMap<String, String>, live: Arc<Live>) -> Self {
        Self {
            shared: Arc::new(Shared { variables, live }),
        }
    }

    /// The value of a property as it is now: functions and scripts may set it at any time.
    pub fn property(&self, name: &str) -> Option<String> {
        self.live().property(name)
    }

    /// All properties as they are now, in the order of their names.
    pub fn properties(&self) -> BTreeMap<String, String> {
        self.live().properties().into_iter().collect()
    }

    /// Sets a property for all users of the test; the answer is its earlier value.
    pub fn set_property(&self, name: &str, value: &str) -> Option<String> {
        self.live().set_property(name, value)
    }

    /// Where `__log` and `__logn` write; without a sink they write nowhere. The first one stays.
    pub fn log_to(&self, sink: LogSink) {
        self.live().log_to(sink);
    }

    /// Writes into the log, as `__log` does.
    pub fn log(&self, level: &str, text: &str) {
        self.live().log(level, text);
    }

    /// The files that the plan may touch.
    pub fn reach(&self) -> &Reach {
        self.live().reach()
    }

    pub(crate) fn live(&self) -> &Live {
        &self.shared.live
    }

    /// The value of a user-defined variable, as evaluated once before the test.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.shared.variables.get(name).map(String::as_str)
    }

    /// All user-defined variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.shared.variables.iter();
        variables.map(|(name, value)| (&**name, &**value))
    }
}

/// One user's variables: the global ones, and over them what the user itself has set or removed.
#[derive(Debug, Clone)]
pub struct Variables {
    globals: GlobalVariables,
    // In the order of their names. A user sets few variables, most users none: a list takes less
    // memory than a map. `None`: removed by the user.
    own: Vec<(Box<str>, Option<String>)>,
}

impl Variables {
    /// A copy of the global variables, as every user starts with.
    pub fn new(globals: GlobalVariables) -> Self {
        Self {
            globals,
            own: Vec::new(),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.own.binary_search_by(|(own, _)| (**own).cmp(name))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Ok(at) => self.own[at].1.as_deref(),
            Err(_) => self.globals.get(name),
        }
    }

    /// Sets a variable for this user.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.find(name) {
            Ok(at) => {
                let own = self.own[at].1.get_or_insert_default();
                own.clear();
                own.push_str(value);
            }
            Err(at) => self.own.insert(at, (name.into(), Some(value.to_owned()))),
        }
    }

    /// Takes a variable away from this user.
    pub fn remove(&mut self, name: &str) {
        match self.find(name) {
            Ok(at) => self.own[at].1 = None,
            Err(at) if self.globals.get(name).is_some() => self.own.insert(at, (name.into(), None)),
            Err(_) => {}
        }
    }

    /// Takes over the changes that lead from `before` to `after`, a later state of the same
    /// variables.
    pub fn take_changes(&mut self, before: &Self, after: &Self) {
        // A name that was set stays in the list for good.
        for (name, value) in &after.own {
            let was = before.find(name).ok().map(|at| &before.own[at].1);
            if was == Some(value) {
                continue;
            }
            match value {
                Some(value) => self.set(name, value),
                None => self.remove(name),
            }
        }
    }

    /// What the user itself has set.
    pub fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.own.iter();
        own.filter_map(|(name, value)| Some((&**name, value.as_deref()?)))
    }

    /// What all users share.
    pub fn globals(&self) -> &GlobalVariables {
        &self.globals
    }
}

/// A function failed as it does in JMeter, where this ends the user at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What JMeter's exception says.
    pub says: String,
}

/// What functions remember of one user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// How often the user has come by a counter, by its occurrence.
    pub(crate) counts: Vec<(usize, i32)>,
    /// The user's row in each file of `__CSVRead`, by its name or alias.
    pub(crate) rows: Vec<(Box<str>, usize)>,
    /// What scripts left.
    pub(crate) scripts: Remembered,
    /// How deep texts that are evaluated while the test runs are nested now.
    pub(crate) depth: u32,
}

/// The name of a sampler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplerName {
    /// One for all users and samples.
    Known(Arc<str>),
    /// As it is written.
    Written(Arc<Text>),
}

impl Default for SamplerName {
    fn default() -> Self {
        Self::Known(Arc::default())
    }
}

/// One user, as far as texts can tell.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The user's variables.
    pub variables: Variables,
    /// The user's number in its group, from 1.
    pub user: u32,
    /// The number of the iteration of its group, from 1; the engine keeps it up to date.
    pub iteration: u32,
    /// The name of the user's group.
    pub group: Arc<str>,
    /// The name of the user, as results show it; the engine sets it.
    pub thread_name: Arc<str>,
    /// The name of the current sampler; the engine keeps it up to date.
    pub sampler: SamplerName,
    /// The user's own randomness, for functions and timers.
    pub random: Xoshiro256PlusPlus,
    /// Milliseconds since 1970 at which the current sample starts; the engine keeps it up to date.
    pub epoch_ms: i64,
    /// The response before, for functions that search it; the engine keeps it up to date.
    pub previous: Option<Arc<PreviousResponse>>,
    /// Set when a function fails in a way that ends the user in JMeter. Rendering goes on without
    /// its answer; the engine takes the fault and ends the user.
    pub fault: Option<Box<Fault>>,
    /// What Weir could not do since it was looked at last.
    pub beyond: Option<Box<String>>,
    // Few users need one, and there are many users.
    pub(crate) memory: Option<Box<Memory>>,
}

impl Scope {
    /// A user who has done nothing yet.
    pub fn new(
        variables: Variables,
        user: u32,
        group: Arc<str>,
        random: Xoshiro256PlusPlus,
    ) -> Self {
        Self {
            variables,
            user,
            iteration: 0,
            group,
            thread_name: "".into(),
            sampler: SamplerName::default(),
            random,
            epoch_ms: 0,
            previous: None,
            fault: None,
            beyond: None,
            memory: None,
        }
    }

    /// No user: what is evaluated before there are any.
    pub(crate) fn nobody(variables: Variables) -> Self {
        Self::new(
            variables,
            0,
            "".into(),
            Xoshiro256PlusPlus::seed_from_u64(0),
        )
    }

    /// The name of the current sampler, made anew each time that somebody looks at it (JMeter).
    pub fn sampler_name(&mut self) -> Arc<str> {
        // A name that asks for itself is not known yet.
        match std::mem::take(&mut self.sampler) {
            SamplerName::Known(name) => {
                self.sampler = SamplerName::Known(Arc::clone(&name));
                name
            }
            SamplerName::Written(text) => {
                let name = text.rendered(self).into();
                self.sampler = SamplerName::Written(text);
                name
            }
        }
    }

    /// Looks at the name of the current sampler for what functions in it do.
    pub(crate) fn look_at_sampler_name(&mut self) {
        if matches!(self.sampler, SamplerName::Written(_)) {
            self.sampler_name();
        }
    }

    /// Keeps a sample for scripts that come after it.
    pub fn remember(&mut self, sample: Sample) {
        self.memory().scripts.previous = Some(sample);
    }

    /// The sample before, if it was kept.
    pub fn sample_before(&self) -> Option<&Sample> {
        self.memory.as_ref()?.scripts.previous.as_ref()
    }

    /// Why something that is made before there is a user cannot be made.
    pub(crate) fn take_problem(&mut self) -> Option<String> {
        let beyond = self.beyond.take().map(|says| *says);
        self.fault.take().map(|fault| fault.says).or(beyond)
    }

    /// Notes the first thing that Weir cannot do and JMeter may: a sample has to say so.
    pub(crate) fn cannot(&mut self, says: impl Into<String>) {
        if self.beyond.is_none() {
            self.beyond = Some(Box::new(says.into()));
        }
    }

    pub(crate) fn fail(&mut self, says: impl Into<String>) {
        self.fault = Some(Box::new(Fault { says: says.into() }));
    }

    pub(crate) fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_default()
    }

    pub(crate) fn live(&self) -> &Live {
        self.variables.globals.live()
    }
}
