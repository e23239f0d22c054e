//! What the study knows: the settings, what their searches propose, what was out of the question.

use weir_record::Levels;

use super::joint::Joint;
use super::limits::Limit;
use super::walk::Beside;
use super::{Out, Point};
use crate::best::Scale;

/// What a setting's search led to.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    /// The levels among which it was searched.
    pub(super) within: (u32, u32),
    /// The neighbours of the level that was chosen, where they were tried.
    pub(super) below: Option<Beside>,
    pub(super) above: Option<Beside>,
    pub(super) by: By,
}

/// Where a level comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Its search.
    Search,
    /// The model alone: the budget did not reach for its search.
    Model,
    /// Nothing: it is open.
    Open,
}

/// What the study knows at its end.
pub(super) struct Found {
    pub(super) scale: Scale,
    /// All settings, in the order of the search.
    pub(super) limits: Vec<Limit>,
    /// Where in `limits` those stand that are searched.
    pub(super) searched: Vec<usize>,
    pub(super) open: Point,
    /// What the searches propose.
    pub(super) proposal: Point,
    pub(super) chosen: Vec<Chosen>,
    pub(super) joint: Option<Joint>,
    pub(super) out: Vec<Out>,
    /// Whether nothing that was tried meets the requirements.
    pub(super) nothing_meets: bool,
}

impl Found {
    /// The names of the settings that are searched.
    pub(super) fn stages(&self) -> impl Iterator<Item = &str> {
        self.searched
            .iter()
            .map(|&at| self.limits[at].stage.as_str())
    }

    /// The levels of a point.
    pub(super) fn levels(&self, set: &Levels, point: &Point) -> Levels {
        let mut levels = set.clone();
        let own = self.stages().zip(point);
        levels.extend(own.map(|(stage, &level)| (stage.to_owned(), f64::from(level).into())));
        levels
    }

    /// What a point is called: `threads 8, pool.db 4`.
    pub(super) fn name(&self, point: &Point) -> String {
        let own = self.stages().zip(point);
        let parts: Vec<String> = own
            .map(|(stage, level)| format!("{stage} {level}"))
            .collect();
        parts.join(", ")
    }
}
