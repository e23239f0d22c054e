//! The answer, put together.

use weir_metric::Requirement;
use weir_model::{FittedModel, Question};
use weir_record::TrialRecord;

use crate::SizeError;
use crate::answer::{At, Goal, LostServer, Range, SIZE_SCHEMA, Sizing};
use crate::ask::Ask;
use crate::calibration::Calibration;
use crate::capacity::{Draw, Problem};
use crate::cores::{Cores, Watcher};
use crate::goal::{Required, shown};
use crate::played::Played;
use crate::{curve, database, settings, storm, surge};

/// The requirement has to hold in this share of the draws.
const CONFIDENCE: f64 = 0.95;
/// Users that a closed form can be asked about.
const POPULATION_MAX: u32 = 100_000_000;
/// Figures of the fitted numbers are made from so many times the requests of a draw.
const MORE_FOR_FITTED: u32 = 4;
/// Beyond so many times the users that were measured on one server, the answer says so.
const FAR: f64 = 1.5;

/// Sizes a fleet of the server that `model` was fitted to from `records`, on so many cores.
pub fn size(
    model: &FittedModel,
    records: &[TrialRecord],
    ask: &Ask,
    cores: usize,
    watcher: &dyn Watcher,
) -> Result<Sizing, SizeError> {
    check(model, ask)?;
    let cores = Cores {
        count: cores,
        watcher,
    };
    let required = required(&ask.requirements)?;
    let percentiles: Vec<f64> = required.iter().filter_map(Required::percent).collect();
    let calibration = if percentiles.is_empty() {
        Calibration::without()
    } else {
        Calibration::of(model, records, ask, cores)?
    };
    for percent in percentiles {
        calibration.check(percent)?;
    }
    let mut problem = Problem {
        ask,
        model,
        required,
        calibration,
        limits: model.set.usual_limits(),
        cores,
    };
    let draws = problem.draws();
    let capacity = Capacity::of(&problem, &draws)?;
    answer(&mut problem, &draws, &capacity)
}

fn check(model: &FittedModel, ask: &Ask) -> Result<(), SizeError> {
    if let Some(disagreement) = model.validation.disagreements.first() {
        return Err(SizeError::Refused(disagreement.says.clone()));
    }
    if ask.population == 0 || ask.population > POPULATION_MAX {
        return Err(SizeError::Users {
            population: ask.population,
            most: POPULATION_MAX,
        });
    }
    Ok(())
}

fn required(requirements: &[Requirement]) -> Result<Vec<Required>, SizeError> {
    let required: Vec<Required> = requirements
        .iter()
        .map(Required::of)
        .collect::<Result<_, _>>()?;
    if required.is_empty() {
        return Err(SizeError::Requirement {
            requirement: String::new(),
            why: "nothing is required; name it, such as `p99 <= 300 ms`".to_owned(),
        });
    }
    Ok(required)
}

/// The most users of one server.
struct Capacity {
    fitted: f64,
    /// Of each draw, ascending.
    draws: Vec<f64>,
}

impl Capacity {
    fn of(problem: &Problem<'_>, draws: &[Draw]) -> Result<Self, SizeError> {
        let fitted = problem.of_fitted()?;
        let mut draws = problem
            .cores
            .map(draws, |draw| problem.of_draw(draw, fitted))?;
        draws.sort_by(f64::total_cmp);
        let found = Self { fitted, draws };
        if found.for_sure() < 1.0 {
            return Err(SizeError::Unsure {
                share: found.share_with(1.0) * 100.0,
            });
        }
        Ok(found)
    }

    /// What a server can have in 95 % of the draws.
    fn for_sure(&self) -> f64 {
        self.draws[(self.draws.len() as f64 * (1.0 - CONFIDENCE)) as usize]
    }

    /// Share of the draws that can have so many users each.
    fn share_with(&self, users_each: f64) -> f64 {
        let enough = |users: &&f64| **users >= users_each * (1.0 - 1e-9);
        self.draws.iter().filter(enough).count() as f64 / self.draws.len() as f64
    }

    fn range(&self) -> Range {
        range(self.fitted, self.draws.clone())
    }
}

/// Servers for so many users, with so many on each at most.
fn servers(population: f64, users_each: f64) -> u32 {
    (population / users_each - 1e-9).ceil().max(1.0) as u32
}

fn answer(
    problem: &mut Problem<'_>,
    draws: &[Draw],
    capacity: &Capacity,
) -> Result<Sizing, SizeError> {
    let population = f64::from(problem.ask.population);
    let servers_needed = servers(population, capacity.for_sure());
    let users_each = population / f64::from(servers_needed);
    check_mix(problem, users_each)?;
    let played = fitted(problem, users_each)?;
    let limits = settings::limits(problem, &played, users_each)?;
    let settings = settings::settings(problem, &played, limits, servers_needed);
    let at_servers = with_share(at(problem, draws, servers_needed)?, capacity);
    let lost = lost(problem, draws, capacity, servers_needed, &played)?;
    let surge = surge::surge(problem, limits, servers_needed, capacity.for_sure())?;
    let storm = storm::storm(problem, users_each, played.mean_s())?;
    let connections_capped = database::capped(problem, draws, &settings, servers_needed)?;
    let users_range = capacity.range();
    let (binding, _) = problem.worst(&played, users_each, problem.fitted().off);
    let curve = curve::curve(problem, draws, servers_needed, binding)?;
    let beyond = users_each / f64::from(problem.model.most_users());
    let by_percentile = !problem.calibration.percentiles.is_empty();
    Ok(Sizing {
        schema: SIZE_SCHEMA.to_owned(),
        weir: problem.ask.weir.clone(),
        run: problem.ask.run.clone(),
        users: problem.ask.users,
        population: problem.ask.population,
        servers: servers_needed,
        servers_range: Range {
            value: f64::from(servers(population, users_range.value)),
            low: f64::from(servers(population, users_range.high)),
            high: f64::from(servers(population, users_range.low.max(1.0))),
        },
        users_per_server_max: users_range,
        confidence: CONFIDENCE,
        draws: draws.len() as u32,
        seed: problem.ask.seed,
        binding: problem.required[binding].says.clone(),
        bound: problem.required[binding].bound,
        curve,
        calibration: by_percentile.then(|| problem.calibration.clone()),
        at: at_servers,
        beyond,
        settings,
        connections_capped,
        lost,
        surge,
        storm,
        notes: notes(problem, beyond),
    })
}

/// Requests of kinds that differ, behind a full limit, are no ground for an answer.
fn check_mix(problem: &Problem<'_>, users_each: f64) -> Result<(), SizeError> {
    problem.model.predict(Question {
        population: (users_each.round() as u32).max(1),
        limits: problem.limits,
    })?;
    Ok(())
}

/// The fitted numbers with so many users each, more exactly than draws.
fn fitted(problem: &Problem<'_>, users_each: f64) -> Result<Played, SizeError> {
    let mut play = problem.play(problem.server(problem.fitted().parameters), users_each);
    play.requests = play.requests.saturating_mul(MORE_FOR_FITTED);
    play.run(problem.cores.watcher)
}

/// Figures of so many servers, with their intervals over the draws.
pub(crate) fn at(problem: &Problem<'_>, draws: &[Draw], servers: u32) -> Result<At, SizeError> {
    let population = f64::from(problem.ask.population);
    let users_each = population / f64::from(servers);
    let best = fitted(problem, users_each)?;
    let of_draws = problem.cores.map(draws, |draw| {
        let play = problem.play(problem.server(draw.parameters), users_each);
        Ok((draw.off, play.run(problem.cores.watcher)?))
    })?;
    let over_draws = |of: &dyn Fn(&Played) -> f64, off: &dyn Fn(&Draw) -> f64| {
        let values = of_draws.iter().zip(draws);
        let values = values.map(|((_, played), draw)| of(played) * (1.0 + off(draw)));
        range(of(&best), values.collect())
    };
    let goals = problem.required.iter().map(|required| {
        let value = |played: &Played| required.value(played, population, users_each);
        let values = of_draws
            .iter()
            .map(|(off, played)| required.off_by(value(played), *off));
        Goal {
            requirement: required.says.clone(),
            value: range(value(&best), values.collect()),
            says: shown(required.figure, value(&best)),
        }
    });
    let holds = of_draws
        .iter()
        .filter(|(off, played)| problem.worst(played, users_each, *off).1 <= 1.0);
    let all_servers = f64::from(servers);
    Ok(At {
        servers,
        users_per_server: users_each,
        throughput_per_s: over_draws(&|played| played.throughput_per_s() * all_servers, &|draw| {
            draw.off.throughput
        }),
        cpu: capped_at_one(over_draws(&Played::cpu, &|draw| draw.off.cpu)),
        response_time_s: over_draws(&Played::mean_s, &|draw| draw.off.response_time),
        goals: goals.collect(),
        holds_share: holds.count() as f64 / draws.len() as f64,
    })
}

/// The share that the search found: it looked closer than one simulation of each draw.
fn with_share(mut at: At, capacity: &Capacity) -> At {
    at.holds_share = capacity.share_with(at.users_per_server);
    at
}

fn capped_at_one(range: Range) -> Range {
    Range {
        high: range.high.min(1.0),
        ..range
    }
}

/// A value with the 95 % interval of draws.
fn range(value: f64, mut draws: Vec<f64>) -> Range {
    draws.sort_by(f64::total_cmp);
    let last = (draws.len() - 1) as f64;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Range {
        value,
        low: draws[(last * tail).round() as usize],
        high: draws[(last * (1.0 - tail)).round() as usize],
    }
}

fn lost(
    problem: &Problem<'_>,
    draws: &[Draw],
    capacity: &Capacity,
    servers: u32,
    played: &Played,
) -> Result<LostServer, SizeError> {
    let server = problem.server(problem.fitted().parameters);
    let waiting = played.throughput_per_s() * played.wait_for_thread_s();
    let at = if servers == 1 {
        None
    } else {
        Some(with_share(at(problem, draws, servers - 1)?, capacity))
    };
    Ok(LostServer {
        requests_lost: played.threads_busy(&server) + waiting,
        at,
        // `servers` is the smallest number that is enough, so what is left of it after a loss is
        // not.
        servers_needed: servers + 1,
    })
}

fn notes(problem: &Problem<'_>, beyond: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if beyond > FAR {
        notes.push(format!(
            "each server has {beyond:.1} times the users that were measured on one: run a trial there before you trust this"
        ));
    }
    if problem.model.set.pool.is_none() || problem.model.parameters.hold_s == 0.0 {
        if problem.ask.database_connections.is_some() {
            notes.push(
                "the run shows no pool of connections, so nothing can be said about the database's connections".to_owned(),
            );
        }
    } else {
        notes.push(
            "the database is taken to answer all servers as quickly as it answered one: a run cannot show where it ends unless it ended \
             there; load it on its own with the requests of all servers"
                .to_owned(),
        );
    }
    notes
}
