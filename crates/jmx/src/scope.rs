//! What samplers inherit from the levels above them.
//!
//! JMeter's rule: an element of this kind applies to every sampler below its parent. Timers add
//! up; defaults and headers fill what nearer ones leave open.

use weir_plan::Timer;

use crate::element::{Branch, Element};
use crate::elements::timer;

/// The elements in scope.
#[derive(Clone, Default)]
pub(crate) struct Scope<'a> {
    /// All timers.
    pub(crate) timers: Vec<Timer>,
    /// Header managers, nearest first, in file order within a level.
    pub(crate) headers: Vec<Element<'a>>,
    /// HTTP request defaults, nearest first, in file order within a level.
    pub(crate) defaults: Vec<Element<'a>>,
}

impl<'a> Scope<'a> {
    /// What applies to the samplers of a level: its own elements, then those of the levels above.
    pub(crate) fn of_level(branches: &[Branch<'a>], outer: &Self) -> Self {
        let mut scope = Self::default();
        let enabled = branches.iter().filter(|branch| branch.element.is_enabled());
        for branch in enabled {
            scope.take(branch.element);
        }
        scope.timers.extend_from_slice(&outer.timers);
        scope.headers.extend_from_slice(&outer.headers);
        scope.defaults.extend_from_slice(&outer.defaults);
        scope
    }

    /// Takes in an element if it is of a kind that samplers inherit.
    pub(crate) fn take(&mut self, element: Element<'a>) -> bool {
        match element.class() {
            "ConstantTimer" => self.timers.push(timer::constant(&element)),
            "GaussianRandomTimer" => self.timers.push(timer::gaussian(&element)),
            "HeaderManager" => self.headers.push(element),
            "ConfigTestElement" if element.attribute("guiclass") == "HttpDefaultsGui" => {
                self.defaults.push(element);
            }
            _ => return false,
        }
        true
    }
}
