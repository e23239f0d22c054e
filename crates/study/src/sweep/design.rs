//! The cases of a design, and their order.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use weir_record::{Level, Levels, Window};

use crate::file::{CaseSpec, Design, EnvironmentSpec, Factor, SweepSpec, depth};

/// Between the name of an environment and that of a case.
const BEHIND_ENVIRONMENT: &str = ": ";

/// One case: what is set, and what was published for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Case {
    /// Its name in the trials' records: with that of the environment, where there are some.
    pub(crate) name: String,
    /// Where it runs; `None` without environments.
    pub(crate) environment: Option<String>,
    pub(crate) levels: Levels,
    /// What was published for a signal, as written.
    pub(crate) published: BTreeMap<String, String>,
    /// How long its trials measure, where that is not what the study's others do.
    pub(crate) window: Option<Duration>,
    /// How often it is run at most.
    pub(crate) replicates: Option<u32>,
    /// The environments in which it is run; `None`: all.
    pub(crate) only_in: Option<Vec<String>>,
    /// How many other cases have to come before it, because its levels follow from what they
    /// measure.
    pub(crate) depth: usize,
}

impl Case {
    /// Its name in the study.
    pub(crate) fn short(&self) -> &str {
        let environment = self.environment.as_deref().unwrap_or_default();
        let own = self.name.strip_prefix(environment);
        own.and_then(|own| own.strip_prefix(BEHIND_ENVIRONMENT))
            .unwrap_or(&self.name)
    }

    /// How long its trials measure in a study whose others take `common`.
    pub(crate) fn window(&self, common: Window) -> Window {
        match self.window {
            Some(length) => Window::fixed(common.warm_up_min, length),
            None => common,
        }
    }

    fn runs_in(&self, environment: &EnvironmentSpec) -> bool {
        environment.runs(&self.name, self.only_in.as_deref())
    }

    /// This case in an environment; what the case says goes before what the environment says.
    fn within(&self, environment: &EnvironmentSpec) -> Self {
        let mut levels = environment.set.clone();
        levels.extend(self.levels.clone());
        let replicates = [self.replicates, environment.replicates];
        Self {
            name: format!("{}{BEHIND_ENVIRONMENT}{}", environment.name, self.name),
            environment: Some(environment.name.clone()),
            levels,
            window: self.window.or(environment.window),
            replicates: replicates.into_iter().flatten().min(),
            ..self.clone()
        }
    }
}

/// All cases of a sweep in the study's order: those of the design, in every environment.
pub(crate) fn cases(spec: &SweepSpec) -> Vec<Case> {
    let of_design = of_design(&spec.design);
    if spec.across.environments.is_empty() {
        return of_design;
    }
    let environments = spec.across.environments.iter();
    environments
        .flat_map(|environment| {
            let own = of_design.iter().filter(|case| case.runs_in(environment));
            own.map(|case| case.within(environment))
        })
        .collect()
}

fn of_design(design: &Design) -> Vec<Case> {
    match design {
        Design::Cases(listed) => listed
            .iter()
            .map(|case| listed_case(case, listed))
            .collect(),
        Design::Full(factors) => full(factors).into_iter().map(named).collect(),
        Design::OneAtATime(factors) => one_at_a_time(factors).into_iter().map(named).collect(),
    }
}

fn listed_case(case: &CaseSpec, all: &[CaseSpec]) -> Case {
    Case {
        name: case.name.clone(),
        environment: None,
        levels: case.set.clone(),
        published: case.published.clone(),
        window: case.window,
        replicates: case.replicates,
        only_in: case.only_in.clone(),
        depth: depth(case, all, 0).unwrap_or(0),
    }
}

/// The cases of a block in the order in which they run: environment by environment, in an order by
/// chance; in each those first from which others follow, otherwise by chance.
pub(crate) fn order(
    cases: &[Case],
    block: u32,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Vec<usize>> {
    let mut environments: Vec<Option<&str>> = Vec::new();
    for case in cases {
        let environment = case.environment.as_deref();
        if !environments.contains(&environment) {
            environments.push(environment);
        }
    }
    let by_chance = match environments.len() {
        0 | 1 => vec![0; environments.len()],
        several => shuffled(several, random),
    };
    by_chance
        .into_iter()
        .map(|at| {
            let of_environment = |case: &Case| case.environment.as_deref() == environments[at];
            let own: Vec<usize> = (0..cases.len())
                .filter(|case| of_environment(&cases[*case]))
                .collect();
            let mut order: Vec<usize> = shuffled(own.len(), random)
                .into_iter()
                .map(|at| own[at])
                .filter(|case| cases[*case].replicates.is_none_or(|most| block <= most))
                .collect();
            order.sort_by_key(|case| cases[*case].depth);
            order
        })
        .collect()
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
        ..Case::default()
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
