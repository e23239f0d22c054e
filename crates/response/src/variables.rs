//! The variables of one user, as far as extractors and assertions need them.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// Variables by name.
pub trait Variables {
    /// The value of a variable.
    fn get(&self, name: &str) -> Option<&str>;
    /// Sets a variable.
    fn set(&mut self, name: &str, value: &str);
    /// Removes a variable, if it is there.
    fn remove(&mut self, name: &str);
}

impl Variables for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<&str> {
        self.get(name).map(String::as_str)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &str) {
        self.remove(name);
    }
}

impl<S: BuildHasher> Variables for HashMap<String, String, S> {
    fn get(&self, name: &str) -> Option<&str> {
        self.get(name).map(String::as_str)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &str) {
        self.remove(name);
    }
}
