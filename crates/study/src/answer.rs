//! The answer with its interval, its figures and its curves.

use std::collections::BTreeMap;

use weir_record::{Answer, TrialRecord};

use crate::beside;
use crate::confirm::AnswerPoint;
use crate::file::{FindSpec, Varied};
use crate::search::cpu::CpuFit;
use crate::search::model::Curve;
use crate::search::root::{CONFIDENCE, NEAR, Root};
use crate::search::users::Users;
use crate::search::{bounded::Bounded, level as level_of};
use crate::settings::think_s;

/// Points of a curve that is drawn.
const CURVE_POINTS: usize = 60;
/// A curve is drawn a little further than the trials went.
const CURVE_BEYOND: f64 = 1.1;

/// The answer, and the fitted figures that the check compares with.
pub(crate) fn answer(
    spec: &FindSpec,
    trials: &[&TrialRecord],
    fit: Option<&CpuFit>,
    servers: u32,
    root: &Root,
    binding: usize,
) -> (Answer, AnswerPoint) {
    let (low, high) = (f64::from(spec.within.0), f64::from(spec.within.1));
    // The largest whole level that does not lie behind the root; a hair's breadth is no user.
    let whole = |level: f64| (level + 1e-9).floor().clamp(low, high);
    let value = whole(root.level);
    let fitted = Fitted::new(spec, trials, fit, root, servers);
    // Between two neighbours no curve says more than the trials at them; nor does one that does
    // not fit those beside the answer.
    let fits = beside::fits(trials, value, |level| fitted.figures(level));
    let interpolated = !trials.is_empty() && (root.is_between_neighbours() || !fits);
    let figures = |level: f64| {
        if interpolated {
            beside::between(trials, level)
        } else {
            fitted.figures(level)
        }
    };
    let at_value = figures(value);
    let point = AnswerPoint {
        users: value as u32,
        cpu: at_value.get("cpu").copied().unwrap_or_default(),
        throughput_per_s: at_value
            .get("throughput_per_s")
            .copied()
            .unwrap_or_default(),
        response_ms: at_value
            .get("response_time_ms.mean")
            .copied()
            .unwrap_or_default(),
        think_s: fitted.think_s,
    };
    let answer = Answer {
        factor: spec.varied.factor().to_owned(),
        value,
        low: whole(root.low).min(value),
        high: whole(root.high).max(value),
        confidence: CONFIDENCE,
        population: population(spec, trials, value),
        limited_by: None,
        binding: Some(spec.requirements[binding].to_string()),
        at_next: figures(value + 1.0),
        curves: fitted.curves(spec, binding, trials),
        interpolated,
        at_value,
    };
    (answer, point)
}

/// Virtual users of all kinds at a level; behind a gateway they are the same at every level.
fn population(spec: &FindSpec, trials: &[&TrialRecord], level: f64) -> u32 {
    match spec.varied {
        Varied::Users => Users::of(trials)
            .map_or(level, |users| users.population(level))
            .round() as u32,
        Varied::GateConcurrency => {
            let populations = trials.iter().map(|trial| trial.population);
            populations.max().unwrap_or(0)
        }
        // Nobody stays: as many users as it takes.
        Varied::Rate => 0,
    }
}

/// The fitted figures at any level.
struct Fitted {
    /// The model through the answer; where the CPU is not known, a model without it.
    curve: Option<Curve>,
    think_s: f64,
    /// The users in front of a gateway, whose response time includes their wait in it.
    in_front: Option<f64>,
}

impl Fitted {
    fn new(
        spec: &FindSpec,
        trials: &[&TrialRecord],
        fit: Option<&CpuFit>,
        root: &Root,
        servers: u32,
    ) -> Self {
        // Without a CPU goal the model still knows the curve, from the CPU that was measured.
        let own = fit.map_or_else(|| CpuFit::of(trials, servers, 0.8), |fit| Some(fit.clone()));
        let near: Vec<&&TrialRecord> = trials
            .iter()
            .filter(|trial| {
                level_of(trial).is_some_and(|level| NEAR.contains(&(level / root.level)))
            })
            .collect();
        let used: Vec<&TrialRecord> = if near.is_empty() {
            trials.to_vec()
        } else {
            near.into_iter().copied().collect()
        };
        let think = used.iter().map(|trial| think_s(trial)).sum::<f64>() / used.len().max(1) as f64;
        Self {
            curve: own.map(|own| own.through_root()),
            think_s: think,
            in_front: (spec.varied == Varied::GateConcurrency)
                .then(|| f64::from(population(spec, trials, root.level))),
        }
    }

    fn response_s(&self, curve: &Curve, level: f64) -> Option<f64> {
        match self.in_front {
            None => curve.response_s(level, self.think_s),
            Some(users) => Some(users / curve.throughput_per_s(level) - self.think_s),
        }
    }

    fn figures(&self, level: f64) -> BTreeMap<String, f64> {
        let Some(curve) = &self.curve else {
            return BTreeMap::new();
        };
        let response_s = self.response_s(curve, level);
        let mut figures = BTreeMap::from([
            ("cpu".to_owned(), curve.cpu(level)),
            ("throughput_per_s".to_owned(), curve.throughput_per_s(level)),
        ]);
        figures.extend(response_s.map(|s| ("response_time_ms.mean".to_owned(), 1e3 * s)));
        figures
    }

    fn curves(
        &self,
        spec: &FindSpec,
        binding: usize,
        trials: &[&TrialRecord],
    ) -> BTreeMap<String, Vec<(f64, f64)>> {
        let largest = trials
            .iter()
            .filter_map(|trial| level_of(trial))
            .fold(1.0, f64::max);
        let last = (CURVE_BEYOND * largest).ceil();
        let step = ((last - 1.0) / (CURVE_POINTS as f64 - 1.0)).max(1.0);
        let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for index in 0..CURVE_POINTS {
            let level = (1.0 + step * index as f64).round();
            if level > last {
                break;
            }
            for (name, value) in self.figures(level) {
                curves.entry(name).or_default().push((level, value));
            }
        }
        if let Some(bounded) = Bounded::new(&spec.requirements[binding]) {
            let name = bounded.figure().to_string();
            curves.entry(name).or_insert_with(|| bounded.curve(trials));
        }
        curves
    }
}
