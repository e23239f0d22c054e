//! A variable that a plan defines.

use crate::Template;

/// One user-defined variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable<T = Template> {
    /// Its name.
    pub name: T,
    /// Its value, evaluated once before any user starts.
    pub value: T,
}

impl<T> Variable<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Variable<U> {
        Variable {
            name: f(&self.name),
            value: f(&self.value),
        }
    }
}
