//! What samplers inherit from the levels above them.
//!
//! JMeter's rule: an element of this kind applies to every sampler below its parent, and to its
//! parent if that is a sampler. What a level has is read once; a sampler then gathers what it
//! needs from the chain of levels above it.

use std::collections::HashMap;

use weir_plan::{
    Assertion, ElementId, FailureHandler, PostProcessor, PreProcessor, ResultAction, Template,
    Timer,
};

use crate::element::Element;

/// The elements of one level that samplers below it inherit, each kind in file order.
#[derive(Default)]
pub(crate) struct Level<'a> {
    pub(crate) defaults: Vec<Element<'a>>,
    pub(crate) headers: Vec<Element<'a>>,
    pub(crate) cookies: Vec<Element<'a>>,
    pub(crate) caches: Vec<Element<'a>>,
    pub(crate) auths: Vec<Element<'a>>,
    pub(crate) dns: Vec<Element<'a>>,
    pub(crate) timers: Vec<Timer>,
    pub(crate) before: Vec<PreProcessor>,
    pub(crate) after: Vec<PostProcessor>,
    pub(crate) assertions: Vec<Assertion<Template>>,
    /// Each with how many listeners of the level that are scripts stand before it.
    pub(crate) on_failure: Vec<(ResultAction, usize)>,
    /// Places in the plan's list.
    pub(crate) listeners: Vec<usize>,
    /// Places in the plan's list.
    pub(crate) auto_stops: Vec<usize>,
    /// Places in the plan's list.
    pub(crate) script_listeners: Vec<usize>,
    /// The controllers of the level, each with how many of these stand before it.
    pub(crate) controllers: HashMap<ElementId, usize>,
    /// How many bytes of the file all of them take.
    pub(crate) bytes: usize,
}

/// A level and those above it.
pub(crate) struct Scope<'s, 'a> {
    level: Level<'a>,
    /// More of the same level, after its own.
    shared: Option<&'s Level<'a>>,
    outer: Option<&'s Scope<'s, 'a>>,
    /// What a sampler here inherits, in bytes of the file.
    pub(crate) bytes: usize,
}

impl<'s, 'a> Scope<'s, 'a> {
    /// The level of a thread group, with what all groups share.
    pub(crate) fn of_group(level: Level<'a>, shared: &'s Level<'a>) -> Self {
        let bytes = level.bytes.saturating_add(shared.bytes);
        Self {
            level,
            shared: Some(shared),
            outer: None,
            bytes,
        }
    }

    /// A level inside this one.
    pub(crate) fn inner<'i>(&'i self, level: Level<'a>) -> Scope<'i, 'a>
    where
        's: 'i,
    {
        let bytes = self.bytes.saturating_add(level.bytes);
        Scope {
            level,
            shared: None,
            outer: Some(self),
            bytes,
        }
    }

    /// All levels, innermost first, each with what it shares.
    fn scopes(&self) -> impl Iterator<Item = &Scope<'s, 'a>> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let scope = next?;
            next = scope.outer;
            Some(scope)
        })
    }

    fn parts(&self) -> impl Iterator<Item = &Level<'a>> {
        std::iter::once(&self.level).chain(self.shared)
    }

    fn levels(&self) -> impl Iterator<Item = &Level<'a>> {
        self.scopes().flat_map(Scope::parts)
    }

    /// Config elements of a kind, innermost level first.
    pub(crate) fn nearest_first(
        &self,
        kind: impl for<'l> Fn(&'l Level<'a>) -> &'l Vec<Element<'a>>,
    ) -> Vec<Element<'a>> {
        self.levels()
            .flat_map(|level| kind(level).iter().copied())
            .collect()
    }

    /// JMeter asks timers from the inside to the outside.
    pub(crate) fn timers(&self) -> Vec<Timer> {
        self.levels()
            .flat_map(|level| level.timers.iter().cloned())
            .collect()
    }

    pub(crate) fn before(&self) -> Vec<PreProcessor> {
        self.outermost_first(|level| &level.before)
    }

    pub(crate) fn after(&self) -> Vec<PostProcessor> {
        self.outermost_first(|level| &level.after)
    }

    pub(crate) fn assertions(&self) -> Vec<Assertion<Template>> {
        self.outermost_first(|level| &level.assertions)
    }

    /// As JMeter gives them to a transaction.
    pub(crate) fn assertions_inside_out(&self) -> Vec<Assertion<Template>> {
        self.levels()
            .flat_map(|level| level.assertions.iter().cloned())
            .collect()
    }

    /// What failures do, innermost level first.
    pub(crate) fn on_failure(&self) -> Vec<FailureHandler> {
        let mut left = self.script_listeners().len();
        let mut handlers = Vec::new();
        for level in self.levels() {
            handlers.extend(
                level
                    .on_failure
                    .iter()
                    .map(|(action, before)| FailureHandler {
                        action: *action,
                        scripts_after: left - before,
                    }),
            );
            left -= level.script_listeners.len();
        }
        handlers
    }

    /// How many listeners that are scripts hear of samples after a controller of this level does.
    pub(crate) fn scripts_after(&self, controller: ElementId) -> usize {
        // What a Module Controller stands for is alone on its level.
        let before = self.level.controllers.get(&controller);
        self.script_listeners().len() - before.copied().unwrap_or(0)
    }

    /// Places in the plan's list, innermost level first.
    pub(crate) fn listeners(&self) -> Vec<usize> {
        self.levels()
            .flat_map(|level| level.listeners.iter().copied())
            .collect()
    }

    /// Places in the plan's list.
    pub(crate) fn auto_stops(&self) -> Vec<usize> {
        self.levels()
            .flat_map(|level| level.auto_stops.iter().copied())
            .collect()
    }

    /// Places in the plan's list, innermost level first.
    pub(crate) fn script_listeners(&self) -> Vec<usize> {
        self.levels()
            .flat_map(|level| level.script_listeners.iter().copied())
            .collect()
    }

    fn outermost_first<T: Clone>(
        &self,
        kind: impl for<'l> Fn(&'l Level<'a>) -> &'l Vec<T>,
    ) -> Vec<T> {
        let scopes: Vec<_> = self.scopes().collect();
        let levels = scopes.into_iter().rev().flat_map(Scope::parts);
        levels
            .flat_map(|level| kind(level).iter().cloned())
            .collect()
    }
}
