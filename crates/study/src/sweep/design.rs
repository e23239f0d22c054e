//! The cases of a design, and their order.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use weir_record::{Level, Levels, Window};

use crate::spec::{Design, Factor};

/// One case: what is set, and what was published for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) levels: Levels,
    /// What was published for a signal, as written.
    pub(crate) published: BTreeMap<String, String>,
    /// How long its trials measure, where that is not what the study's others do.
    pub(crate) window: Option<Duration>,
}

impl Case {
    /// How long its trials measure in a study whose others take `common`.
    pub(crate) fn window(&self, common: Window) -> Window {
        match self.window {
            Some(length) => Window::fixed(common.warm_up_min, length),
            None => common,
        }
    }
}

/// All cases of a design, in the study's order.
pub(crate) fn cases(design: &Design) -> Vec<Case> {
    match design {
        Design::Cases(listed) => listed
            .iter()
            .map(|case| Case {
                name: case.name.clone(),
                levels: case.set.clone(),
                published: case.published.clone(),
                window: case.window,
            })
            .collect(),
        Design::Full(factors) => full(factors).into_iter().map(named).collect(),
        Design::OneAtATime(factors) => one_at_a_time(factors).into_iter().map(named).collect(),
    }
}

/// The first level of every factor, and each other level of one factor with the first of the
/// others.
fn one_at_a_time(factors: &[Factor]) -> Vec<Vec<(String, Level)>> {
    let base: Vec<(String, Level)> = factors
        .iter()
        .filter_map(|factor| Some((factor.name.clone(), factor.levels.first()?.clone())))
        .collect();
    let mut all = vec![base.clone()];
    for (at, factor) in factors.iter().enumerate() {
        for level in factor.levels.iter().skip(1) {
            let mut case = base.clone();
            case[at].1 = level.clone();
            all.push(case);
        }
    }
    all
}

/// Every combination; the last factor changes fastest.
fn full(factors: &[Factor]) -> Vec<Vec<(String, Level)>> {
    factors.iter().fold(vec![Vec::new()], |cases, factor| {
        let with = |case: &Vec<(String, Level)>, level: &Level| {
            let mut case = case.clone();
            case.push((factor.name.clone(), level.clone()));
            case
        };
        cases
            .iter()
            .flat_map(|case| factor.levels.iter().map(move |level| with(case, level)))
            .collect()
    })
}

fn named(levels: Vec<(String, Level)>) -> Case {
    let parts: Vec<String> = levels
        .iter()
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    Case {
        name: parts.join(", "),
        levels: levels.into_iter().collect(),
        published: BTreeMap::new(),
        window: None,
    }
}

/// The numbers below `count` in a random order (Fisher and Yates; Durstenfeld 1964).
pub(crate) fn shuffled(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // The product's upper half is uniform on 0..=last but for a bias below last / 2^64.
        let pick = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        order.swap(last, pick as usize);
    }
    order
}
