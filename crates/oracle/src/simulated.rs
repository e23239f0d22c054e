//! The simulator's half: the same values by playing the case event by event.
//!
//! Each family with events becomes a [`weir_sim::Network`] with the [`Measure`]s that read its
//! values. [`Experiment`] plays it as long as the tolerances of the case ask for; three families
//! are played in another way, in [`moments`] and [`planning`].

mod closed;
mod experiment;
mod limited;
mod measure;
mod moments;
mod open;
mod planning;
mod reality;

use weir_sim::Watcher;

use self::experiment::Experiment;
use self::measure::Measure;
use crate::judge::{Judgement, Place};
use crate::{Case, OracleError, Values};

/// Events of one case that take about half a minute on two CPUs.
const EVENTS: f64 = 6e8;

/// How much may be simulated, on how many threads, and who hears of it.
///
/// The values do not depend on the number of threads.
pub struct Effort<'a> {
    /// Most events of one case. A case that needs more to have anything to say is not simulated.
    pub events: f64,
    /// Threads.
    pub threads: usize,
    /// Hears of the simulated seconds.
    pub watcher: &'a dyn Watcher,
}

impl<'a> Effort<'a> {
    /// Enough for the interval of nearly every value to be small against its tolerance.
    pub fn full(threads: usize, watcher: &'a dyn Watcher) -> Self {
        Self {
            events: EVENTS,
            threads,
            watcher,
        }
    }
}

/// What came of simulating a case.
#[derive(Debug)]
pub(crate) enum Simulated {
    /// Values with intervals.
    Found(Found),
    /// Nothing, and why.
    Not(String),
}

/// Values of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) values: Values,
    /// Half-widths of their 95 % intervals; 0 where nothing is random.
    pub(crate) half_widths: Values,
    places: Vec<(Place, f64, f64)>,
}

impl Found {
    fn add(&mut self, place: Place, value: f64, half_width: f64) {
        place.put_into(&mut self.values, value);
        place.put_into(&mut self.half_widths, half_width);
        self.places.push((place, value, half_width));
    }

    fn extend(&mut self, other: Self) {
        for (place, value, half_width) in other.places {
            self.add(place, value, half_width);
        }
    }

    pub(crate) fn judge(&self, case: &Case) -> Judgement {
        let mut judgement = Judgement::default();
        for (place, value, half_width) in &self.places {
            judgement.add(case, place, *value, *half_width);
        }
        judgement
    }
}

type Built = Result<Experiment, OracleError>;

/// The values of a case by simulation, given those by solution (none where nothing solves it).
pub(crate) fn simulate(
    case: &Case,
    solved: &Values,
    effort: &Effort<'_>,
) -> Result<Simulated, OracleError> {
    if let Some(because) = not_played(&case.family) {
        return Ok(Simulated::Not(because.to_owned()));
    }
    let build: fn(&Case, &Values) -> Built = match case.family.as_str() {
        "mm1" | "mmc" => open::unbounded,
        "mmcc" => open::loss,
        "mmck" => open::bounded,
        "mg1" => open::general,
        "mg1ps" => open::shared,
        "mm1_breakdown" => open::breakdowns,
        "erlang_a" => open::impatient,
        "tandem_bas" => open::tandem,
        "mva" => closed::mva,
        "mva_multiserver" => closed::multiserver,
        "mva_multiclass" => closed::multiclass,
        "finite_source" => limited::finite_source,
        "tpc" => limited::threads_pool_cpu,
        "bounds" => closed::bounds,
        "largest_N_cpu" => return closed::largest_users(case, solved, effort),
        "mm1_transient" => return moments::at_a_time(case, effort),
        "fluid_scaleout" => return planning::scale_out(case, solved, effort),
        "reality" if case.has("groups") => reality::experiment,
        "reality" => {
            return Ok(Simulated::Not(
                "what was observed is not described well enough to be played".to_owned(),
            ));
        }
        _ => return Ok(Simulated::Not("the family is not known".to_owned())),
    };
    build(case, solved)?.run(case, effort)
}

/// Families without events, and why.
fn not_played(family: &str) -> Option<&'static str> {
    Some(match family {
        "little" => "Little's law holds for any system: it is arithmetic on given figures",
        "coordinated_omission" => {
            "the solution is itself the replay of every request, and nothing in it is random"
        }
        "series_stats" => "the series is given by its generator; there is no system behind it",
        "quantile_ci" | "tost" | "duet" => {
            "statistics of given numbers; there is no system behind them"
        }
        "usl" => "a curve through given points; there is no system behind it",
        _ => return None,
    })
}
