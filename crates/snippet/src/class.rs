//! Classes as tables of what can be done with them.

use crate::Value;
use crate::machine::{Machine, Stop};

/// What a routine answers.
pub(crate) type Answer = Result<Value, Stop>;

/// A constructor, method or function of a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    /// The fewest and the most arguments.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Gets what it is called on ([`Value::Null`] for none) and the arguments.
    pub(crate) run: fn(&mut Machine<'_>, &Value, &[Value]) -> Answer,
}

/// Any number of arguments.
pub(crate) const MANY: usize = usize::MAX;

/// A routine with so many arguments.
pub(crate) const fn routine(
    name: &'static str,
    arguments: usize,
    run: fn(&mut Machine<'_>, &Value, &[Value]) -> Answer,
) -> Routine {
    between(name, arguments, arguments, run)
}

/// A routine with at least and at most so many arguments.
pub(crate) const fn between(
    name: &'static str,
    least: usize,
    most: usize,
    run: fn(&mut Machine<'_>, &Value, &[Value]) -> Answer,
) -> Routine {
    Routine {
        name,
        least,
        most,
        run,
    }
}

/// A constant by its name.
pub(crate) type Constant = (&'static str, fn(&mut Machine<'_>) -> Value);

/// What is known of a class.
#[derive(Debug)]
pub(crate) struct Class {
    /// Its name with its package.
    pub(crate) name: &'static str,
    pub(crate) make: Option<Routine>,
    pub(crate) statics: &'static [Routine],
    pub(crate) constants: &'static [Constant],
    /// The tables of its methods, its own first.
    pub(crate) methods: &'static [&'static [Routine]],
}

impl Class {
    /// A class of which only the name is known.
    pub(crate) const fn named(name: &'static str) -> Self {
        Self {
            name,
            make: None,
            statics: &[],
            constants: &[],
            methods: &[],
        }
    }

    /// Its name without the package.
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    pub(crate) fn method(&self, name: &str, arguments: usize) -> Option<&'static Routine> {
        let methods = self.methods.iter().copied().flatten();
        find(methods, name, arguments)
    }

    /// Whether there is such a method with any number of arguments.
    pub(crate) fn has_method(&self, name: &str) -> bool {
        let mut methods = self.methods.iter().copied().flatten();
        methods.any(|method| method.name == name)
    }

    pub(crate) fn function(&self, name: &str, arguments: usize) -> Option<&'static Routine> {
        find(self.statics.iter(), name, arguments)
    }

    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.statics.iter().any(|function| function.name == name)
    }
}

pub(crate) fn find(
    mut routines: impl Iterator<Item = &'static Routine>,
    name: &str,
    arguments: usize,
) -> Option<&'static Routine> {
    routines
        .find(|routine| routine.name == name && (routine.least..=routine.most).contains(&arguments))
}
