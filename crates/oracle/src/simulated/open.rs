//! Arrivals that do not wait for answers.

use weir_sim::{
    Breakdowns, Center, CenterKind, Class, Distribution, Network, Profile, Source, Spacing, Step,
    Totals, WhenFull,
};

use super::measure::{
    Measure, busy_share, empty_share, inside, number, refused_share, response, share, throughput,
    wait, waiting,
};
use super::{Built, Experiment};
use crate::families::quantile_of;
use crate::{Case, OracleError, Values};

/// The only station.
const SERVER: usize = 0;
/// The only class.
const REQUEST: usize = 0;
/// An arrival and the end of a service.
const EVENTS_EACH: f64 = 2.0;
/// The most stages of an Erlang distribution; with more it is as good as constant, and each costs a
/// draw.
const STAGES_MAX: f64 = 1000.0;
/// Variation of the services under processor sharing, which should not matter.
const SHARED_SCV: f64 = 4.0;

pub(super) fn exponential(mean_s: f64) -> Distribution {
    Distribution::exponential(mean_s)
}

pub(super) fn poisson(rate_per_s: f64) -> Source {
    Source::Arrivals {
        rate: Profile::constant(rate_per_s),
        spacing: Spacing::Poisson,
    }
}

/// One station with Poisson arrivals.
fn network(server: Center, arrivals_per_s: f64, service: Distribution) -> Network {
    Network {
        centers: vec![server],
        classes: vec![Class::new(
            "request",
            poisson(arrivals_per_s),
            vec![Step::Use(SERVER, service)],
        )],
        ..Network::default()
    }
}

fn servers(servers: u32) -> Center {
    Center::new("server", CenterKind::Queue { servers })
}

/// How long an M/M/c queue remembers (Kleinrock 1975): 1/(c mu (1 - sqrt(rho))^2), never less than
/// a service; endless at a utilization of 1.
fn memory_s(arrivals_per_s: f64, services_per_s: f64, servers: u32) -> f64 {
    let capacity = f64::from(servers) * services_per_s;
    let slack = 1.0 - (arrivals_per_s / capacity).sqrt();
    (1.0 / (capacity * slack * slack)).max(1.0 / services_per_s)
}

/// M/M/1 and M/M/c. Played in services rather than seconds: the simulator's histograms end at a
/// microsecond.
pub(super) fn unbounded(case: &Case, _: &Values) -> Built {
    let count = case.limit("c")?.unwrap_or(1);
    let service_s = 1.0 / case.number_or("mu", 1.0)?;
    let arrivals = case.number("lam")? * service_s;
    let mut measures = vec![
        busy_share("rho", SERVER, count),
        Measure::new("p_wait", waited_share),
        Measure::new("Wq", move |totals| Some(totals.wait_s(SERVER)? * service_s)),
        Measure::new("W", move |totals| {
            Some(totals.response_s(REQUEST)? * service_s)
        }),
        waiting("Lq", SERVER),
        number("L", SERVER),
        empty_share("p0", SERVER),
    ];
    for name in case.expected.keys() {
        if let Some(q) = quantile_of(name, "Wq_p") {
            measures.push(Measure::new(name, move |totals| {
                Some(totals.wait_quantile_s(SERVER, q)? * service_s)
            }));
        } else if let Some(q) = quantile_of(name, "W_p") {
            measures.push(Measure::new(name, move |totals| {
                Some(totals.response_quantile_s(REQUEST, q)? * service_s)
            }));
        }
    }
    Ok(Experiment {
        network: network(servers(count), arrivals, exponential(1.0)),
        measures,
        memory_s: memory_s(arrivals, 1.0, count),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// Share of the arrivals that do not get in at once, of those that came to be served or gave up.
fn waited_share(totals: &Totals) -> Option<f64> {
    let server = &totals.centers[SERVER];
    let waited = server.waits_us.len() + server.abandoned;
    share(waited, server.entries + server.abandoned)
}

/// Erlang's loss system.
pub(super) fn loss(case: &Case, _: &Values) -> Built {
    let offered = if case.has("a") {
        case.number("a")?
    } else {
        case.number("lam")? / case.number_or("mu", 1.0)?
    };
    let mut server = servers(case.count("c")?);
    server.queue = Some(0);
    Ok(Experiment {
        network: network(server, offered, exponential(1.0)),
        measures: vec![refused_share("p_block"), inside("carried", SERVER)],
        memory_s: 1.0,
        requests_per_s: offered,
        events_each: EVENTS_EACH,
    })
}

/// M/M/c/K.
pub(super) fn bounded(case: &Case, solved: &Values) -> Built {
    let Some(room) = case.limit("K")? else {
        return unbounded(case, solved);
    };
    let (arrivals, services) = (case.number("lam")?, case.number_or("mu", 1.0)?);
    let count = case.count("c")?;
    let working = count.min(room);
    let mut server = servers(working);
    server.queue = Some(room - working);
    let capacity = f64::from(working) * services;
    let filled_s = (f64::from(room) + 1.0).powi(2) / capacity;
    Ok(Experiment {
        network: network(server, arrivals, exponential(1.0 / services)),
        measures: vec![
            refused_share("p_block"),
            throughput("X", REQUEST),
            number("L", SERVER),
            waiting("Lq", SERVER),
            response("W", REQUEST),
            wait("Wq", SERVER),
            busy_share("util", SERVER, count),
            empty_share("p0", SERVER),
        ],
        memory_s: memory_s(arrivals, services, working)
            .min(filled_s)
            .max(1.0 / services),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// Services with this mean and squared coefficient of variation, of the kind that the case names if
/// it is one of that variation.
fn service(case: &Case, mean_s: f64, scv: f64) -> Result<Distribution, OracleError> {
    if scv.is_nan() || scv < 0.0 {
        return Err(OracleError::Other(format!(
            "services with a squared coefficient of variation of {scv}"
        )));
    }
    let kind = case.text("dist").unwrap_or_default();
    let stages = 1.0 / scv;
    Ok(if scv == 0.0 {
        Distribution::constant(mean_s)
    } else if kind.starts_with("LN") {
        Distribution::lognormal(mean_s, scv)
    } else if (scv - 1.0).abs() < 1e-9 {
        exponential(mean_s)
    } else if scv > 1.0 && kind.starts_with('H') {
        Distribution::hyperexponential(mean_s, scv)
    } else if stages <= STAGES_MAX && (stages - stages.round()).abs() < 1e-9 {
        Distribution::erlang(mean_s, stages.round() as u32)
    } else {
        Distribution::lognormal(mean_s, scv)
    })
}

/// M/G/1 in order of arrival.
pub(super) fn general(case: &Case, _: &Values) -> Built {
    let (arrivals, mean_s) = (case.number("lam")?, case.number("s")?);
    let scv = case.number("scv")?;
    Ok(Experiment {
        network: network(servers(1), arrivals, service(case, mean_s, scv)?),
        measures: vec![
            busy_share("rho", SERVER, 1),
            wait("Wq", SERVER),
            response("W", REQUEST),
            waiting("Lq", SERVER),
            number("L", SERVER),
        ],
        memory_s: memory_s(arrivals, 1.0 / mean_s, 1) * f64::midpoint(1.0, scv).max(1.0),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// M/G/1 under processor sharing.
pub(super) fn shared(case: &Case, _: &Values) -> Built {
    let (arrivals, mean_s) = (case.number("lam")?, case.number("s")?);
    let scv = case.number("scv").unwrap_or(SHARED_SCV);
    let server = Center::new("server", CenterKind::Shared { cores: 1 });
    Ok(Experiment {
        network: network(server, arrivals, service(case, mean_s, scv)?),
        measures: vec![
            busy_share("rho", SERVER, 1),
            response("W", REQUEST),
            Measure::new("slowdown", move |totals| {
                Some(totals.response_s(REQUEST)? / mean_s)
            }),
            number("L", SERVER),
        ],
        memory_s: memory_s(arrivals, 1.0 / mean_s, 1) * f64::midpoint(1.0, scv).max(1.0),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// M/M/1 with a server that fails and is repaired.
pub(super) fn breakdowns(case: &Case, _: &Values) -> Built {
    let (arrivals, services) = (case.number("lam")?, case.number("mu")?);
    let (up_s, down_s) = (case.number("mean_up")?, case.number("mean_down")?);
    let mut server = servers(1);
    server.breakdowns = Some(Breakdowns {
        up: exponential(up_s),
        down: exponential(down_s),
    });
    let cycle_s = up_s + down_s;
    let capacity = services * up_s / cycle_s;
    // The queue as a Brownian motion with the drift and variance of arrivals less services; a cycle
    // of work and repair varies the work by 2 up^2 down^2 / cycle^3 for each second (Cox 1962,
    // alternating renewal processes).
    let repairs = 2.0 * (services * up_s * down_s).powi(2) / cycle_s.powi(3);
    let variance = arrivals + capacity + repairs;
    let settles_s = 2.0 * variance / (capacity - arrivals).powi(2);
    Ok(Experiment {
        network: network(server, arrivals, exponential(1.0 / services)),
        measures: vec![number("L", SERVER), response("W", REQUEST)],
        memory_s: settles_s.max(cycle_s),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// M/M/c with callers who give up.
pub(super) fn impatient(case: &Case, solved: &Values) -> Built {
    let give_up = case.number("theta")?;
    if give_up == 0.0 {
        return unbounded(case, solved);
    }
    let (arrivals, services) = (case.number("lam")?, case.number_or("mu", 1.0)?);
    let count = case.count("c")?;
    let mut server = servers(count);
    server.patience = Some(exponential(1.0 / give_up));
    Ok(Experiment {
        network: network(server, arrivals, exponential(1.0 / services)),
        measures: vec![
            Measure::new("p_abandon", |totals| {
                let class = &totals.classes[REQUEST];
                share(class.abandoned, class.fresh)
            }),
            waiting("Lq", SERVER),
            number("L", SERVER),
            throughput("X", REQUEST),
            busy_share("util", SERVER, count),
            Measure::new("p_wait", waited_share),
            Measure::new("Wq", |totals| {
                let class = &totals.classes[REQUEST];
                (class.fresh > 0).then(|| totals.centers[SERVER].waiting_s / class.fresh as f64)
            }),
        ],
        memory_s: memory_s(arrivals, services, count)
            .min(1.0 / give_up)
            .max(1.0 / services),
        requests_per_s: arrivals,
        events_each: EVENTS_EACH,
    })
}

/// Two stations, the first of which always has work and is blocked by the second.
pub(super) fn tandem(case: &Case, solved: &Values) -> Built {
    let (first, second) = (case.number("mu1")?, case.number("mu2")?);
    let room = case.count("buffer")?;
    let mut behind = Center::new("second", CenterKind::Queue { servers: 1 });
    behind.queue = Some(room);
    behind.when_full = WhenFull::Block;
    // Enough to fill the second station and its room, to be blocked before it, and to wait at the
    // first.
    let users = room
        .checked_add(4)
        .ok_or_else(|| OracleError::Other(format!("a room of {room} places")))?;
    let source = Source::Users {
        users,
        think: Distribution::ZERO,
        ramp_s: 0.0,
    };
    let route = vec![
        Step::Use(0, exponential(1.0 / first)),
        Step::Use(1, exponential(1.0 / second)),
    ];
    let slower = first.min(second);
    Ok(Experiment {
        network: Network {
            centers: vec![servers(1), behind],
            classes: vec![Class::new("part", source, route)],
            ..Network::default()
        },
        measures: vec![
            throughput("X", REQUEST),
            Measure::new("p_blocked", |totals| {
                Some(totals.centers[0].blocked_s / totals.seconds)
            }),
            number("mean_at_2", 1),
        ],
        memory_s: (f64::from(room) + 3.0).powi(2) / slower,
        requests_per_s: solved
            .get("X")
            .and_then(serde_json::Value::as_f64)
            .unwrap_or(slower),
        events_each: 3.0,
    })
}
