//! A network played until its intervals are small against the tolerances.
//!
//! Two stages, so that nobody looks at the result and goes on until it pleases: a pilot of ten
//! short replications says how much the values vary, and thirty others, with their own seed, are
//! made as long as that asks for (Stein 1945). Only they count; a quantile far out varies more than
//! short replications show, and then there are thirty longer ones that count instead.
//! What is looked at is the width of the intervals, never the values. A value is that of all of
//! them together; the spread of their own values gives its interval.

use weir_sim::{Network, Plan, Replication, Totals, check, replicate};
use weir_stats::mean_of_independent;

use super::{Effort, Found, Measure, Simulated};
use crate::{Case, OracleError};

const PILOTS: u32 = 10;
const REPLICATIONS: u32 = 30;
const PILOT_SEED: u64 = 1;
/// Of the stages behind the pilot.
const SEEDS: [u64; 2] = [2, 3];
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Half-width to aim at, as a share of the tolerance; half of it is where a value can be judged
/// without doubt, and the pilot's half-width is off by a quarter.
const AIM: f64 = 0.4;
/// A stage counts when replications of this many times its length would be enough: half of the
/// tolerance, then.
const LONG_ENOUGH: f64 = 1.5625;
/// The half-width to aim at as a share of the value, where the case gives no tolerance and the
/// value is reported only.
const AIM_UNJUDGED: f64 = 0.01;
/// Length of the warm-up and of the shortest replication, in times that the network takes to forget
/// its start.
const WARM_UP: f64 = 5.0;
const SHORTEST: f64 = 20.0;
/// Requests in the shortest replication.
const REQUESTS: f64 = 500.0;

/// A network with what is to be read from it.
pub(super) struct Experiment {
    pub(super) network: Network,
    pub(super) measures: Vec<Measure>,
    /// Time in which the network forgets how it started.
    pub(super) memory_s: f64,
    /// Requests that arrive or are answered, about.
    pub(super) requests_per_s: f64,
    /// Events of a request, about.
    pub(super) events_each: f64,
}

impl Experiment {
    /// Plays both stages and reads what the case expects.
    pub(super) fn run(
        mut self,
        case: &Case,
        effort: &Effort<'_>,
    ) -> Result<Simulated, OracleError> {
        // What nobody asks for must not make it longer.
        self.measures
            .retain(|measure| measure.place.number_in(&case.expected).is_some());
        if self.measures.is_empty() {
            let because = "a simulation has nothing to say of what is expected";
            return Ok(Simulated::Not(because.to_owned()));
        }
        if let Some(fault) = check(&self.network).into_iter().next() {
            return Ok(Simulated::Not(fault.says));
        }
        let warm_up_s = WARM_UP * self.memory_s;
        let shortest_s = (SHORTEST * self.memory_s).max(REQUESTS / self.requests_per_s);
        let all = f64::from(PILOTS + REPLICATIONS) * (warm_up_s + shortest_s);
        let needed = all * self.requests_per_s * self.events_each;
        // A rate that is no number must not begin either.
        if needed.is_nan() || needed > effort.events {
            return Ok(Simulated::Not(format!(
                "it would take {needed:.1e} events to forget the empty start and to see anything, and {:.1e} are the bound",
                effort.events
            )));
        }
        let pilot = Plan {
            seconds: shortest_s,
            warm_up_s,
            replications: PILOTS,
            seed: PILOT_SEED,
            timelines: 0,
        };
        let mut plan = pilot;
        let mut totals = self.play(&plan, effort)?;
        let mut left = effort.events;
        for seed in SEEDS {
            left -=
                events_per_s(&totals) * f64::from(plan.replications) * (warm_up_s + plan.seconds);
            let seconds = self.length_s(case, &plan, &totals, left);
            if plan.replications == REPLICATIONS && seconds <= LONG_ENOUGH * plan.seconds {
                break;
            }
            plan = Plan {
                seconds,
                replications: REPLICATIONS,
                seed,
                ..plan
            };
            totals = self.play(&plan, effort)?;
        }
        Ok(Simulated::Found(self.found(&totals)))
    }

    fn play(&self, plan: &Plan, effort: &Effort<'_>) -> Result<Vec<Totals>, OracleError> {
        let totals = |replication: Replication| replication.totals;
        replicate(&self.network, plan, effort.threads, &totals, effort.watcher)
            .ok_or(OracleError::Stopped)
    }

    /// How long a replication has to be, by what those so far say, and how long it may be with so
    /// many events left.
    fn length_s(&self, case: &Case, plan: &Plan, totals: &[Totals], events_left: f64) -> f64 {
        let wanted = self.measures.iter().filter_map(|measure| {
            let (value, half_width) = figure(measure, totals)?;
            let allowed = measure.place.allowed(case);
            let aim = allowed.map_or(AIM_UNJUDGED * value.abs(), |allowed| AIM * allowed);
            (aim > 0.0).then(|| (half_width / aim).powi(2))
        });
        let more =
            wanted.fold(0.0, f64::max) * f64::from(plan.replications) / f64::from(REPLICATIONS);
        let left = events_left / events_per_s(totals) / f64::from(REPLICATIONS);
        let longest = left - plan.warm_up_s;
        (plan.seconds * more).min(longest).max(plan.seconds)
    }

    fn found(&self, totals: &[Totals]) -> Found {
        let mut found = Found::default();
        for measure in &self.measures {
            if let Some((value, half_width)) = figure(measure, totals) {
                found.add(measure.place.clone(), value, half_width);
            }
        }
        found
    }
}

/// Events in a second of one replication.
fn events_per_s(totals: &[Totals]) -> f64 {
    let seconds: f64 = totals.iter().map(|totals| totals.seconds).sum();
    let events: u64 = totals.iter().map(|totals| totals.events).sum();
    events as f64 / seconds
}

/// A value over all replications together, and the half-width of its interval.
fn figure(measure: &Measure, totals: &[Totals]) -> Option<(f64, f64)> {
    let each: Vec<f64> = totals.iter().filter_map(|one| measure.of(one)).collect();
    let interval = mean_of_independent(&each, CONFIDENCE).ok()?;
    let value = measure.of(&Totals::together(totals)?)?;
    Some((value, interval.half_width()))
}
