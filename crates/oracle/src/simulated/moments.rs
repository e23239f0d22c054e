//! A queue at a moment, before it has settled: very many short replications.

use weir_sim::{
    Center, CenterKind, Class, Network, Plan, Profile, Replication, Source, Spacing, Step,
    replicate,
};
use weir_stats::mean_of_independent;

use super::open::{exponential, poisson};
use super::{Effort, Found, Simulated};
use crate::judge::Place;
use crate::{Case, OracleError};

/// Replications that say how many it takes.
const PILOTS: u32 = 1000;
const PILOT_SEED: u64 = 1;
const SEED: u64 = 2;
const CONFIDENCE: f64 = 0.95;
/// Half-width to aim at, as a share of the tolerance.
const AIM: f64 = 0.4;
/// What starting a replication costs, in events.
const START: f64 = 100.0;
/// Whoever is there at the start has come in this share of the time.
const START_SHARE: f64 = 1e-9;

/// M/M/1 some time after it was started.
pub(super) fn at_a_time(case: &Case, effort: &Effort<'_>) -> Result<Simulated, OracleError> {
    let arrivals = case.number("lam")?;
    let time_s = case.number("t")?;
    if time_s == 0.0 {
        return Ok(Simulated::Not(
            "at the start nothing has happened".to_owned(),
        ));
    }
    let network = network(case, arrivals, time_s)?;
    let at_start = f64::from(case.limit("n0")?.unwrap_or(0));
    let events = 2.0 * (arrivals * time_s + at_start) + START;
    let most = effort.events / events;
    if most < 2.0 * f64::from(PILOTS) {
        return Ok(Simulated::Not(format!(
            "{:.1e} events are the bound, and {PILOTS} replications of {events:.1e} would not say enough",
            effort.events
        )));
    }
    let play = |replications, seed| {
        let plan = Plan {
            seconds: time_s,
            warm_up_s: 0.0,
            replications,
            seed,
            timelines: 0,
        };
        let present = |replication: Replication| f64::from(replication.totals.centers[0].number);
        replicate(&network, &plan, effort.threads, &present, effort.watcher)
            .ok_or(OracleError::Stopped)
    };
    let pilots = figures(&play(PILOTS, PILOT_SEED)?)?;
    let wanted = pilots.iter().filter_map(|(place, _, half_width)| {
        let allowed = place.allowed(case)?;
        Some(f64::from(PILOTS) * (half_width / (AIM * allowed)).powi(2))
    });
    let wanted = wanted.fold(f64::from(PILOTS), f64::max);
    let replications = wanted.min(most - f64::from(PILOTS)).ceil() as u32;
    let mut found = Found::default();
    for (place, value, half_width) in figures(&play(replications, SEED)?)? {
        found.add(place, value, half_width);
    }
    Ok(Simulated::Found(found))
}

/// The queue, and a class of those who are there at the start.
fn network(case: &Case, arrivals: f64, time_s: f64) -> Result<Network, OracleError> {
    let service = exponential(1.0 / case.number_or("mu", 1.0)?);
    let route = vec![Step::Use(0, service)];
    let mut classes = vec![Class::new("request", poisson(arrivals), route.clone())];
    let at_start = case.limit("n0")?.unwrap_or(0);
    if at_start > 0 {
        let moment = time_s * START_SHARE;
        // Half an arrival more than come, so that rounding does not leave out the last one.
        let rate = (f64::from(at_start) + 0.5) / moment;
        let points = vec![(0.0, rate), (moment, rate), (moment, 0.0)];
        let rate = Profile::new(points).map_err(OracleError::Other)?;
        let spacing = Spacing::Even;
        let source = Source::Arrivals { rate, spacing };
        classes.push(Class::new("there at the start", source, route));
    }
    Ok(Network {
        centers: vec![Center::new("server", CenterKind::Queue { servers: 1 })],
        classes,
        ..Network::default()
    })
}

/// Mean number present and share of replications without anybody, each with its half-width.
fn figures(present: &[f64]) -> Result<[(Place, f64, f64); 2], OracleError> {
    let empty: Vec<f64> = present
        .iter()
        .map(|number| f64::from(u8::from(*number == 0.0)))
        .collect();
    let figure = |name: &str, values: &[f64]| {
        let estimate = mean_of_independent(values, CONFIDENCE)?;
        let place = Place::new(name, &[]);
        Ok::<_, OracleError>((place, estimate.value, estimate.half_width()))
    };
    Ok([figure("mean_number", present)?, figure("p0", &empty)?])
}
