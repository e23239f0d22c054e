//! Listeners that write results into a file of their own.

use crate::{ElementId, Template};

/// A listener with a file name.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Its name.
    pub name: T,
    /// The file; relative to the plan's folder.
    pub file: T,
    /// Only samples that failed, only those that succeeded, or all.
    pub only: Option<Logged>,
    /// Names and values of the `saveConfig` in the plan.
    pub save: Vec<(String, String)>,
}

/// Which samples a listener writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// Samples that failed.
    Failed,
    /// Samples that succeeded.
    Succeeded,
}

impl<T> Listener<T> {
    /// The same with each text replaced.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Listener<U> {
        Listener {
            id: self.id,
            name: f(&self.name),
            file: f(&self.file),
            only: self.only,
            save: self.save.clone(),
        }
    }
}
