//! What a text may depend on while it is rendered: one user's variables, its name, its randomness.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Properties;

/// What all users start from; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct GlobalVariables {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) properties: Properties,
}

impl GlobalVariables {
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

/// One user's variables: the global ones, and over them what the user itself has set.
#[derive(Debug, Clone)]
pub struct Variables {
    globals: GlobalVariables,
    // A user sets few variables, most users none: a list takes less memory than a map.
    own: Vec<(Box<str>, String)>,
}

impl Variables {
    /// A copy of the global variables, as every user starts with.
    pub fn new(globals: GlobalVariables) -> Self {
        Self {
            globals,
            own: Vec::new(),
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.own.iter().find(|(own, _)| **own == *name) {
            Some((_, value)) => Some(value),
            None => self.globals.get(name),
        }
    }

    /// Sets a variable for this user.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.own.iter_mut().find(|(own, _)| **own == *name) {
            Some((_, own)) => {
                own.clear();
                own.push_str(value);
            }
            None => self.own.push((name.into(), value.to_owned())),
        }
    }

    /// What the user itself has set.
    pub(crate) fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        self.own.iter().map(|(name, value)| (&**name, &**value))
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.globals.shared.properties
    }
}

/// One user, as far as texts can tell.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The user's variables.
    pub variables: Variables,
    /// The user's number in its group, from 1.
    pub user: u32,
    /// The name of the user's group.
    pub group: Arc<str>,
    /// The user's own randomness, for functions and timers.
    pub random: Xoshiro256PlusPlus,
    /// Milliseconds since 1970 at which the current sample starts; the engine keeps it up to date.
    pub epoch_ms: i64,
}

impl Scope {
    /// No user: what is evaluated before there are any.
    pub(crate) fn nobody(variables: Variables) -> Self {
        Self {
            variables,
            user: 0,
            group: "".into(),
            random: Xoshiro256PlusPlus::seed_from_u64(0),
            epoch_ms: 0,
        }
    }
}
