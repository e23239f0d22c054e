//! Servers that come after the load has stepped up.

use serde_json::Value;
use weir_sim::{
    Center, CenterKind, Class, Distribution, Happening, Network, Planned, Profile, Simulation,
    Source, Spacing, Step,
};

use super::{Effort, Found, Simulated};
use crate::judge::Place;
use crate::{Case, OracleError, Values};

/// Evenly spaced arrivals of the rate before the step, so that servers are at work when it comes.
const BEFORE: f64 = 100.0;
/// Moments at which the curves are read.
const MOMENTS: u32 = 4000;
/// How much longer than the fluid says is played.
const LONGER: f64 = 1.1;
const SERVER: usize = 0;

/// Arrivals and services started, at one moment.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at_s: f64,
    arrived: f64,
    started: f64,
}

/// The fluid's own assumption, nothing random, with whole requests: arrivals and services are as
/// even as can be.
pub(super) fn scale_out(
    case: &Case,
    solved: &Values,
    effort: &Effort<'_>,
) -> Result<Simulated, OracleError> {
    let rate = case.number("rate_after")?;
    let delay_s = case.number("startup_delay")?;
    let solved_number = |name: &str| solved.get(name).and_then(Value::as_f64);
    let from = case.number_or("t_step", 0.0)?;
    if solved_number("backlog_at_ready").is_none_or(|backlog| backlog < 1.0) {
        return Ok(Simulated::Not(
            "the servers keep up: nobody waits".to_owned(),
        ));
    }
    // All servers together may be too few for good; what happens until they come is seen all the
    // same.
    let recovered_s = solved_number("recovered_at").map(|at| at - from);
    let wait_s = solved_number("wait_at_ready").unwrap_or(0.0);
    let needed_s = recovered_s.unwrap_or(0.0).max(delay_s + wait_s) * LONGER;
    let events = 2.0 * rate * needed_s;
    if events.is_nan() || events > effort.events {
        return Ok(Simulated::Not(format!(
            "it would take {events:.1e} events, and {:.1e} are the bound",
            effort.events
        )));
    }
    let (network, step_s) = network(case, rate, delay_s)?;
    let (moments, delayed) = curves(&network, step_s, needed_s);
    let mut found = Found::default();
    let values = values(&moments, delay_s, recovered_s.is_some(), from);
    for (name, value) in values {
        found.add(Place::new(name, &[]), value, 0.0);
    }
    if recovered_s.is_some() {
        found.add(Place::new("delayed_requests", &[]), delayed, 0.0);
    }
    Ok(Simulated::Found(found))
}

/// The network, and when the step comes in it.
fn network(case: &Case, rate: f64, delay_s: f64) -> Result<(Network, f64), OracleError> {
    let per_server = case.number("per_server")?;
    let (servers, added) = (case.count("servers")?, case.count("servers_added")?);
    let before = case.number_or("rate_before", 0.0)?;
    let keeps_up = before < f64::from(servers) * per_server;
    let step_s = if before > 0.0 && keeps_up {
        BEFORE / before
    } else {
        0.0
    };
    let points = vec![(0.0, before), (step_s, before), (step_s, rate)];
    let rate = Profile::new(points).map_err(OracleError::Other)?;
    let spacing = Spacing::Even;
    let service = Distribution::constant(1.0 / per_server);
    let all = servers.saturating_add(added);
    let network = Network {
        centers: vec![Center::new("servers", CenterKind::Queue { servers })],
        classes: vec![Class::new(
            "request",
            Source::Arrivals { rate, spacing },
            vec![Step::Use(SERVER, service)],
        )],
        planned: vec![Planned {
            at_s: step_s + delay_s,
            what: Happening::Servers {
                center: SERVER,
                servers: all,
            },
        }],
        ..Network::default()
    };
    Ok((network, step_s))
}

/// How many have arrived and started from the step on, and how many had to wait.
fn curves(network: &Network, step_s: f64, length_s: f64) -> (Vec<Moment>, f64) {
    let mut simulation = Simulation::new(network, 0);
    simulation.run_until(step_s);
    simulation.forget();
    simulation.watch_seconds();
    let inside_at_step = f64::from(simulation.totals().centers[SERVER].number);
    let mut moments = Vec::new();
    let (mut answered, mut started) = (0, 0);
    for moment in 1..=MOMENTS {
        let at_s = length_s * f64::from(moment) / f64::from(MOMENTS);
        simulation.run_until(step_s + at_s);
        let Some(second) = simulation.take_second() else {
            break;
        };
        answered += second.classes[0].answered;
        started += second.centers[SERVER].entries;
        let in_flight = f64::from(second.classes[0].in_flight);
        moments.push(Moment {
            at_s,
            arrived: answered as f64 + in_flight - inside_at_step,
            started: started as f64,
        });
    }
    let waited = simulation.totals().centers[SERVER].waits_us.len();
    (moments, waited as f64)
}

/// The values of the family that the curves show.
fn values(moments: &[Moment], delay_s: f64, recovers: bool, from: f64) -> Vec<(&'static str, f64)> {
    let waiting = |moment: &Moment| moment.arrived - moment.started;
    let ready = moments.iter().find(|moment| moment.at_s >= delay_s);
    let Some(ready) = ready else {
        return Vec::new();
    };
    let mut values = vec![
        ("backlog_at_ready", waiting(ready)),
        ("wait_at_ready", wait_of(moments, ready)),
    ];
    if !recovers {
        return values;
    }
    let behind = moments.iter().filter(|moment| waiting(moment) >= 1.0);
    let last = behind.clone().next_back();
    let recovered_s = last.map_or(0.0, |last| last.at_s);
    let longest = behind
        .map(|moment| (moment.at_s, wait_of(moments, moment)))
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let (longest_at_s, longest_s) = longest.unwrap_or((0.0, 0.0));
    values.extend([
        ("drain_time", recovered_s - delay_s),
        ("recovered_at", from + recovered_s),
        ("max_wait", longest_s),
        ("arrival_time_of_max_wait", from + longest_at_s),
    ]);
    values
}

/// How long the last request to arrive by a moment waits: requests start in their order, so until
/// as many have started.
fn wait_of(moments: &[Moment], arrival: &Moment) -> f64 {
    let start = moments.partition_point(|moment| moment.started < arrival.arrived);
    let start = moments.get(start).map_or(arrival.at_s, |start| start.at_s);
    (start - arrival.at_s).max(0.0)
}
