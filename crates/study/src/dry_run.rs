//! What a study will do, before it does it.

use std::time::Duration;

use weir_record::{Role, TargetFacts, Window};

use crate::best::{CONTENDERS_MAX, FINER_MAX, ROUNDS_MAX, ladder};
use crate::confirm::{CONFIRM_MAX, NEAR_MISS_MORE, ONE_MORE};
use crate::contest::BLOCKS_MAX;
use crate::file::{
    Ask, BestGoal, BestSpec, EnvironmentSpec, FindSpec, MattersSpec, SeveralSpec, SweepSpec, Varied,
};
use crate::matters::{BINDING_TRIALS, DROPPED_MAX, PAIRS_MAX};
use crate::search::TRIALS_MAX as SEARCH_TRIALS_MAX;
use crate::settings::THREADS;
use crate::several;
use crate::sweep::{Case, cases};
use crate::trials::{cost_s, least_cost_s};

/// Trials that a search takes on a quiet machine (measured in `tests/study/search_accuracy.rs`).
const SEARCH_EXPECTED: u32 = 7;
/// Trials of the check that are expected, the cost at the answer included.
const CHECK_EXPECTED: u32 = 2;

/// The trials of a study, as far as they are known before it.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    /// The trials by what they are for.
    pub steps: Vec<PlannedTrials>,
    /// Requests of every trial, when that is what ends it: the seconds are not known then.
    pub requests: Option<u64>,
    /// Seconds of load that are expected.
    pub expected_s: f64,
    /// Seconds of load at most, if no trial has to be repeated.
    pub at_most_s: f64,
}

/// Trials of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTrials {
    /// Their role.
    pub role: Role,
    /// What they are for, in words.
    pub what: String,
    /// How many are expected.
    pub expected: u32,
    /// How many there are at most.
    pub at_most: u32,
}

/// The plan of a study's trials. Without facts (the target has not been started) it is assumed
/// that its thread limit can be set.
pub fn plan_of_trials(ask: &Ask, facts: Option<&TargetFacts>) -> DryRun {
    match ask {
        Ask::Find(find) => of_find(find, facts),
        Ask::Best(best) => of_best(best),
        Ask::Several(several) => of_several(several, facts),
        Ask::Matters(matters) => of_matters(matters),
        Ask::Sweep(sweep) => of_sweep(sweep),
    }
}

fn of_find(spec: &FindSpec, facts: Option<&TargetFacts>) -> DryRun {
    match spec.varied {
        Varied::Users => {}
        Varied::GateConcurrency => return of_gate(spec),
        Varied::Rate => return of_rate(spec),
    }
    let settable =
        facts.is_none_or(|facts| facts.stage(THREADS).is_some_and(|stage| stage.settable));
    let mut steps = vec![PlannedTrials {
        role: Role::Search,
        what: format!(
            "users from {} to {}, by a model that each trial corrects",
            spec.within.0, spec.within.1
        ),
        expected: SEARCH_EXPECTED,
        at_most: SEARCH_TRIALS_MAX as u32,
    }];
    if settable {
        steps.push(PlannedTrials {
            role: Role::Check,
            what: "the settings under half as many users again, and what they cost at the answer"
                .to_owned(),
            expected: CHECK_EXPECTED,
            at_most: (CONFIRM_MAX + NEAR_MISS_MORE + ONE_MORE) as u32 + 1,
        });
        steps.push(PlannedTrials {
            role: Role::Control,
            what: "the users of the check with the limits as found, if any was changed".to_owned(),
            expected: 1,
            at_most: 1,
        });
    }
    within_budget(steps, spec.window, spec.budget)
}

fn of_gate(spec: &FindSpec) -> DryRun {
    let (low, high) = spec.within;
    let steps = vec![
        PlannedTrials {
            role: Role::Search,
            what: format!(
                "the gate open for {low} to {high} requests at a time, by a model that each trial corrects"
            ),
            expected: SEARCH_EXPECTED,
            at_most: SEARCH_TRIALS_MAX as u32,
        },
        PlannedTrials {
            role: Role::Check,
            what: "the gate at the answer".to_owned(),
            expected: 1,
            at_most: 1,
        },
    ];
    within_budget(steps, spec.window, spec.budget)
}

fn of_rate(spec: &FindSpec) -> DryRun {
    let (low, high) = spec.within;
    let steps = vec![
        PlannedTrials {
            role: Role::Search,
            what: format!("{low} to {high} arrivals a second, by a model that each trial corrects"),
            expected: SEARCH_EXPECTED,
            at_most: SEARCH_TRIALS_MAX as u32,
        },
        PlannedTrials {
            role: Role::Check,
            what: "the answer once more".to_owned(),
            expected: 1,
            at_most: 1,
        },
    ];
    within_budget(steps, spec.window, spec.budget)
}

/// Blocks and levels that are expected on a quiet machine (measured in `best/search/tests.rs`).
const BLOCKS_EXPECTED: usize = 3;
const CONTENDERS_EXPECTED: usize = 4;
/// Rounds of two trials that are expected (measured by `cargo xtask bench search`).
const ROUNDS_EXPECTED: usize = 3;

fn of_best(spec: &BestSpec) -> DryRun {
    let on_ladder = ladder(spec.within).len();
    let trials_of = |what: String, expected: usize, at_most: usize| PlannedTrials {
        role: Role::Search,
        what,
        expected: expected as u32,
        at_most: at_most as u32,
    };
    let (vary, (low, high)) = (&spec.vary, spec.within);
    let steps = vec![
        trials_of(
            format!("`{vary}` from {low} to {high} on a logarithmic ladder, in an order by chance"),
            on_ladder,
            on_ladder,
        ),
        trials_of(
            "levels between the best of these".to_owned(),
            FINER_MAX / 2,
            FINER_MAX,
        ),
        match spec.goal {
            BestGoal::Best => trials_of(
                "blocks of the levels that contend, until they are told apart".to_owned(),
                BLOCKS_EXPECTED * CONTENDERS_EXPECTED,
                BLOCKS_MAX * CONTENDERS_MAX,
            ),
            BestGoal::SmallestNearBest => trials_of(
                "rounds of a small level and one of the best, until it is shown to be as good"
                    .to_owned(),
                2 * ROUNDS_EXPECTED,
                2 * ROUNDS_MAX,
            ),
        },
    ];
    within_budget(steps, spec.window, spec.budget)
}

fn of_several(spec: &SeveralSpec, facts: Option<&TargetFacts>) -> DryRun {
    let steps = several::planned(spec, facts).into_iter();
    let steps = steps.map(|step| PlannedTrials {
        role: if step.decides {
            Role::Check
        } else {
            Role::Search
        },
        what: step.what,
        expected: step.expected as u32,
        at_most: step.at_most as u32,
    });
    within_budget(steps.collect(), spec.window, spec.budget)
}

/// Pairs that show two equal levels to be the same on a quiet machine with a margin of 3 % (docs of
/// `weir_stats::sequential_equivalence`).
const PAIRS_EXPECTED: usize = 8;

fn of_matters(spec: &MattersSpec) -> DryRun {
    let steps = vec![
        PlannedTrials {
            role: Role::Search,
            what: format!(
                "pairs of the two levels of `{}`, until they are told apart or shown to be the same",
                spec.vary
            ),
            expected: 2 * PAIRS_EXPECTED as u32,
            at_most: 2 * (PAIRS_MAX + DROPPED_MAX) as u32,
        },
        PlannedTrials {
            role: Role::Check,
            what: "more load, so that it acts as a limit".to_owned(),
            expected: 1,
            at_most: BINDING_TRIALS,
        },
    ];
    within_budget(steps, spec.window, spec.budget)
}

fn within_budget(steps: Vec<PlannedTrials>, window: Window, budget: Option<Duration>) -> DryRun {
    let sum = |of: &dyn Fn(&PlannedTrials) -> u32| steps.iter().map(of).sum::<u32>();
    let (least, most) = (least_cost_s(window), cost_s(window));
    let expected_s = f64::from(sum(&|step| step.expected)) * f64::midpoint(least, most);
    let at_most_s = f64::from(sum(&|step| step.at_most)) * most;
    let budget = budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64());
    DryRun {
        requests: None,
        expected_s: expected_s.min(budget),
        at_most_s: at_most_s.min(budget),
        steps,
    }
}

/// Up to so many cases are listed one by one.
const CASES_LISTED: usize = 20;

/// How often each environment is warmed up, and how long a trial that does it measures.
fn warm_ups(spec: &SweepSpec) -> Vec<(f64, Window)> {
    let across = &spec.across;
    let in_one = |environment: Option<&EnvironmentSpec>| {
        let (_, window) = across.warm_up_in(environment, spec.window)?;
        let most = environment.and_then(|environment| environment.replicates);
        let times = most.unwrap_or(u32::MAX).min(spec.replicates);
        Some((f64::from(times), window))
    };
    if across.environments.is_empty() {
        return in_one(None).into_iter().collect();
    }
    let environments = across.environments.iter();
    environments
        .filter_map(|environment| in_one(Some(environment)))
        .collect()
}

fn of_sweep(spec: &SweepSpec) -> DryRun {
    let cases = cases(spec);
    let times = |case: &Case| {
        case.replicates
            .map_or(spec.replicates, |most| most.min(spec.replicates))
    };
    let all = cases.iter().map(times).sum();
    let trials_of = |what: String, trials: u32| PlannedTrials {
        role: Role::Case,
        what,
        expected: trials,
        at_most: trials,
    };
    let mut windows: Vec<(f64, Window)> = cases
        .iter()
        .map(|case| (f64::from(times(case)), case.window(spec.window)))
        .collect();
    let environments = &spec.across.environments;
    let warm_ups = warm_ups(spec);
    windows.extend(warm_ups.iter().copied());
    let of_all = |cost_s: &dyn Fn(Window) -> f64| -> f64 {
        let trials = windows
            .iter()
            .map(|(times, window)| times * cost_s(*window));
        trials.sum()
    };
    let mut steps: Vec<PlannedTrials> = if environments.is_empty() && cases.len() <= CASES_LISTED {
        cases
            .iter()
            .map(|case| trials_of(case.name.clone(), times(case)))
            .collect()
    } else if environments.is_empty() {
        vec![trials_of(
            format!("{} cases, in an order by chance", cases.len()),
            all,
        )]
    } else {
        environments
            .iter()
            .map(|environment| {
                let own = cases
                    .iter()
                    .filter(|case| case.environment.as_ref() == Some(&environment.name));
                let count = own.clone().count();
                trials_of(
                    format!("{}: {count} cases", environment.name),
                    own.map(times).sum(),
                )
            })
            .collect()
    };
    let count: f64 = warm_ups.iter().map(|(times, _)| times).sum();
    if count > 0.0 {
        steps.push(trials_of("warm-ups".to_owned(), count as u32));
    }
    DryRun {
        steps,
        requests: spec.window.requests,
        expected_s: of_all(&|window| f64::midpoint(least_cost_s(window), cost_s(window))),
        at_most_s: of_all(&cost_s),
    }
}
