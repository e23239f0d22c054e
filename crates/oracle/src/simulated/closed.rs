//! Users who wait for answers.

use serde_json::Value;
use weir_sim::{Center, CenterKind, Class, Network, Source, Step};

use super::measure::{Measure, busy_share, empty_share, number, residence, response, throughput};
use super::open::exponential;
use super::{Built, Effort, Experiment, Found, Simulated};
use crate::judge::Place;
use crate::{Case, OracleError, Values};

/// The only class.
const REQUEST: usize = 0;
/// Requests with their think times, one after the other, in which users forget that they all
/// started at once.
const MEMORY: f64 = 2.0;
/// As `MEMORY`, of the queue at the busiest station, at most: the think times pull it back.
const MEMORY_OF_BUSIEST: f64 = 5.0;

/// A station with this many servers; nobody waits where there are as many as one likes.
fn station(index: usize, servers: u32) -> Center {
    let kind = if servers == u32::MAX {
        CenterKind::Delay
    } else {
        CenterKind::Queue { servers }
    };
    Center::new(format!("station {}", index + 1), kind)
}

pub(super) fn users(users: u32, think_s: f64) -> Source {
    Source::Users {
        users,
        think: exponential(think_s),
        ramp_s: 0.0,
    }
}

pub(super) fn visits(demands_s: &[f64]) -> Vec<Step> {
    let visit = |(station, demand_s): (usize, &f64)| Step::Use(station, exponential(*demand_s));
    demands_s.iter().enumerate().map(visit).collect()
}

/// A number among the solved values.
pub(super) fn solved_number(solved: &Values, name: &str) -> Result<f64, OracleError> {
    let number = solved.get(name).and_then(Value::as_f64);
    number.ok_or_else(|| OracleError::Other(format!("simulate without a solution for {name}")))
}

/// A station by its utilization and the time in which it does one request at full speed.
pub(super) type Load = (f64, f64);

/// A place that is busy for this share of the time.
pub(super) fn load(throughput_per_s: f64, busy: f64) -> Load {
    (busy, busy / throughput_per_s)
}

/// Time in which a closed network forgets its start. A queue takes s / (1 - sqrt(rho))^2; that at
/// the busiest station is bounded by the users, and two that are equally busy take N^2 s / pi^2 to
/// exchange them (a random walk between 0 and N).
pub(super) fn memory_s(users: u32, cycle_s: f64, mut loads: Vec<Load>) -> f64 {
    loads.sort_by(|one, other| other.0.total_cmp(&one.0));
    let settles_s = |(busy, service_s): Load| {
        let slack = 1.0 - busy.min(1.0).sqrt();
        if slack > 0.0 {
            service_s / (slack * slack)
        } else {
            f64::INFINITY
        }
    };
    let busiest_s = loads.first().map_or(0.0, |load| settles_s(*load));
    let second_s = loads.get(1).map_or(0.0, |load| {
        let exchange_s = f64::from(users).powi(2) * load.1 / 10.0;
        settles_s(*load).min(exchange_s)
    });
    MEMORY * cycle_s + busiest_s.min(MEMORY_OF_BUSIEST * cycle_s) + second_s
}

/// One class of users at stations of which each is visited once.
fn network(
    population: u32,
    think_s: f64,
    stations: &[(f64, u32)],
    throughput_per_s: f64,
) -> Experiment {
    let demands: Vec<f64> = stations.iter().map(|(demand_s, _)| *demand_s).collect();
    let places = stations.iter().enumerate();
    let centers = places.map(|(index, (_, servers))| station(index, *servers));
    let cycle_s = f64::from(population) / throughput_per_s;
    let loads = stations.iter().map(|(demand_s, servers)| {
        let busy = throughput_per_s * demand_s / f64::from(*servers);
        load(throughput_per_s, busy)
    });
    Experiment {
        network: Network {
            centers: centers.collect(),
            classes: vec![Class::new(
                "request",
                users(population, think_s),
                visits(&demands),
            )],
            ..Network::default()
        },
        measures: Vec::new(),
        memory_s: memory_s(population, cycle_s, loads.collect()),
        requests_per_s: throughput_per_s,
        events_each: stations.len() as f64 + 1.0,
    }
}

/// What is known of each station, as lists.
fn of_each(stations: &[(f64, u32)]) -> Vec<Measure> {
    let of_one = |(index, (_, servers)): (usize, &(f64, u32))| {
        [
            number("Q", index),
            busy_share("U", index, *servers),
            residence("Ri", index),
            empty_share("p0", index),
        ]
        .map(|measure| measure.in_list(index))
    };
    stations.iter().enumerate().flat_map(of_one).collect()
}

fn with_stations(case: &Case, solved: &Values, stations: &[(f64, u32)]) -> Built {
    let think_s = case.number_or("Z", 0.0)?;
    let throughput_per_s = solved_number(solved, "X")?;
    let mut experiment = network(case.count("N")?, think_s, stations, throughput_per_s);
    experiment.measures = of_each(stations);
    experiment.measures.push(throughput("X", REQUEST));
    experiment.measures.push(response("R", REQUEST));
    Ok(experiment)
}

/// The stations of a case that gives demands and, perhaps, servers.
fn stations_of(case: &Case) -> Result<Vec<(f64, u32)>, OracleError> {
    let demands = case.numbers("D")?;
    let servers = if case.has("servers") {
        case.counts_of("servers")?
    } else {
        vec![1; demands.len()]
    };
    Ok(demands.into_iter().zip(servers).collect())
}

pub(super) fn mva(case: &Case, solved: &Values) -> Built {
    with_stations(case, solved, &stations_of(case)?)
}

pub(super) fn multiserver(case: &Case, solved: &Values) -> Built {
    with_stations(case, solved, &case.stations("stations")?)
}

/// Only the throughput between the bounds can be played.
pub(super) fn bounds(case: &Case, solved: &Values) -> Built {
    let throughput_per_s = solved_number(solved, "X_exact")?;
    let think_s = case.number_or("Z", 0.0)?;
    let stations = stations_of(case)?;
    let mut experiment = network(case.count("N")?, think_s, &stations, throughput_per_s);
    experiment.measures = vec![throughput("X", REQUEST).named("X_exact")];
    Ok(experiment)
}

/// Several classes at stations of processor sharing, where the exact solution does not ask how
/// services vary.
pub(super) fn multiclass(case: &Case, solved: &Values) -> Built {
    let demands = case.rows("D")?;
    let population = case.counts_of("N")?;
    let think = if case.has("Z") {
        case.numbers("Z")?
    } else {
        vec![0.0; population.len()]
    };
    let stations = demands.first().map_or(0, Vec::len);
    let servers = if case.has("servers") {
        case.counts_of("servers")?
    } else {
        vec![1; stations]
    };
    let rate = |class: usize| Place::new("X", &[class]).number_in(solved).unwrap_or(0.0);
    let total = population
        .iter()
        .fold(0_u32, |sum, users| sum.saturating_add(*users));
    // A class without users has no cycle.
    let busy = (0..population.len()).filter(|class| population[*class] > 0);
    let cycles = busy.map(|class| f64::from(population[class]) / rate(class));
    let cycle_s = cycles.fold(0.0, f64::max);
    let requests_per_s: f64 = (0..population.len()).map(rate).sum();
    let loads = (0..stations).map(|station| {
        let share = |class: usize| Place::new("U", &[class, station]).number_in(solved);
        let busy: f64 = (0..population.len()).filter_map(share).sum();
        load(requests_per_s, busy)
    });
    let memory_s = memory_s(total, cycle_s, loads.collect());
    let centers = servers.iter().enumerate().map(|(index, cores)| {
        let kind = CenterKind::Shared { cores: *cores };
        Center::new(format!("station {}", index + 1), kind)
    });
    let mut measures = Vec::new();
    let mut classes = Vec::new();
    for (class, demands_s) in demands.iter().enumerate() {
        if population[class] == 0 {
            continue;
        }
        let index = classes.len();
        let source = users(population[class], think[class]);
        classes.push(Class::new(
            format!("class {}", class + 1),
            source,
            visits(demands_s),
        ));
        measures.push(throughput("X", index).in_list(class));
        measures.push(response("R", index).in_list(class));
        for (station, demand_s) in demands_s.iter().enumerate() {
            // The utilization law: a station's busy time is not counted by class.
            let share = *demand_s / f64::from(servers[station]);
            measures.push(Measure::at("U", &[class, station], move |totals| {
                Some(totals.throughput_per_s(index) * share)
            }));
        }
    }
    measures.extend((0..stations).map(|station| number("Q", station).in_list(station)));
    Ok(Experiment {
        network: Network {
            centers: centers.collect(),
            classes,
            ..Network::default()
        },
        measures,
        memory_s,
        requests_per_s,
        events_each: stations as f64 + 1.0,
    })
}

/// The utilization on both sides of the largest number of users; the number itself is what an exact
/// solution is for.
pub(super) fn largest_users(
    case: &Case,
    solved: &Values,
    effort: &Effort<'_>,
) -> Result<Simulated, OracleError> {
    let Some(largest) = solved.get("N").and_then(Value::as_f64) else {
        return Ok(Simulated::Not(
            "no number of users reaches the target: there is none to play".to_owned(),
        ));
    };
    let stations = case.stations("stations")?;
    let cpu = case.limit("cpu_station")?.unwrap_or(0) as usize;
    let (demand_s, servers) = stations[cpu];
    let mut all = Found::default();
    for (name, population) in [("U_at_N", largest), ("U_at_N_plus_1", largest + 1.0)] {
        if population < 1.0 {
            continue;
        }
        let throughput_per_s = solved_number(solved, name)? * f64::from(servers) / demand_s;
        let think_s = case.number_or("Z", 0.0)?;
        let mut experiment = network(population as u32, think_s, &stations, throughput_per_s);
        experiment.measures = vec![busy_share(name, cpu, servers)];
        match experiment.run(case, effort)? {
            Simulated::Found(found) => all.extend(found),
            not @ Simulated::Not(_) => return Ok(not),
        }
    }
    Ok(Simulated::Found(all))
}
