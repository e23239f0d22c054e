//! Listeners that do more than show: those that write a file of their own, and those that stop the
//! test.

use crate::{ElementId, Template};

/// A listener that writes a file, or sends figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Its name.
    pub name: T,
    /// The file, relative to the plan's folder; empty: it writes none.
    pub file: T,
    /// Where it sends figures instead.
    pub sends: Option<Backend<T>>,
    /// Only samples that failed, only those that succeeded, or all.
    pub only: Option<Logged>,
    /// Names and values of the `saveConfig` in the plan.
    pub save: Vec<(String, String)>,
}

/// What figures are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// `InfluxDB`.
    Influx,
    /// Graphite.
    Graphite,
}

/// A Backend Listener.
#[derive(Debug, Clone, PartialEq)]
pub struct Backend<T = Template> {
    /// What it sends to.
    pub to: Database,
    /// Its arguments, by their names.
    pub arguments: Vec<(String, T)>,
}

impl<T> Backend<T> {
    /// The value of an argument.
    pub fn argument(&self, wanted: &str) -> Option<&T> {
        let mut arguments = self.arguments.iter();
        let found = arguments.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value)
    }

    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Backend<U> {
        let arguments = self.arguments.iter();
        Backend {
            to: self.to,
            arguments: arguments
                .map(|(name, value)| (name.clone(), f(value)))
                .collect(),
        }
    }
}

/// Which samples a listener writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// Samples that failed.
    Failed,
    /// Samples that succeeded.
    Succeeded,
}

/// A listener that stops the test (jp@gc `AutoStop`).
#[derive(Debug, Clone, PartialEq)]
pub struct AutoStop<T = Template> {
    /// Its name.
    pub name: T,
    /// Mean response time of a second, in milliseconds.
    pub response_time_ms: AutoStopLimit<T>,
    /// Mean latency of a second, in milliseconds.
    pub latency_ms: AutoStopLimit<T>,
    /// Percentage of a second's samples that failed.
    pub errors_percent: AutoStopLimit<T>,
}

/// A mean that must not be above a bound for so long; a bound of 0 or nothing is none.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoStopLimit<T = Template> {
    /// The bound.
    pub above: T,
    /// Seconds one after the other.
    pub seconds: T,
}

impl<T> AutoStop<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> AutoStop<U> {
        let mut limit = |limit: &AutoStopLimit<T>| AutoStopLimit {
            above: f(&limit.above),
            seconds: f(&limit.seconds),
        };
        let response_time_ms = limit(&self.response_time_ms);
        let latency_ms = limit(&self.latency_ms);
        let errors_percent = limit(&self.errors_percent);
        AutoStop {
            name: f(&self.name),
            response_time_ms,
            latency_ms,
            errors_percent,
        }
    }
}

impl<T> Listener<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Listener<U> {
        Listener {
            id: self.id,
            name: f(&self.name),
            file: f(&self.file),
            sends: self.sends.as_ref().map(|backend| backend.map(f)),
            only: self.only,
            save: self.save.clone(),
        }
    }
}
