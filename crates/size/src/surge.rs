//! More users than planned: everybody let in, held back in front of the threads, or given more
//! servers.

use weir_model::Limits;

use crate::SizeError;
use crate::answer::{Surge, SurgeCase};
use crate::capacity::Problem;
use crate::goal::shown;

/// So many times the users that were planned.
const SURGE: f64 = 1.5;

/// The three ways to meet them. `users_each_max` is what one server can have for sure.
pub(crate) fn surge(
    problem: &Problem<'_>,
    held: Limits,
    servers: u32,
    users_each_max: f64,
) -> Result<Surge, SizeError> {
    let population = (f64::from(problem.ask.population) * SURGE).round();
    let more = ((population / users_each_max).ceil() as u32).max(servers);
    let case = |limits, servers| case(problem, limits, servers, population);
    Ok(Surge {
        population: population as u32,
        let_in: case(problem.limits, servers)?,
        held: case(held, servers)?,
        scaled_out: case(problem.limits, more)?,
    })
}

fn case(
    problem: &Problem<'_>,
    limits: Limits,
    servers: u32,
    population: f64,
) -> Result<SurgeCase, SizeError> {
    let mut server = problem.server(problem.fitted().parameters);
    server.limits = limits;
    let users_each = population / f64::from(servers);
    let played = problem
        .play(server, users_each)
        .run(problem.cores.watcher)?;
    let values = problem.required.iter().map(|required| {
        let value = required.value(&played, population, users_each);
        (required, value, required.ratio(value))
    });
    let (worst, value, ratio) = values
        .max_by(|left, right| left.2.total_cmp(&right.2))
        .expect("there is a requirement");
    Ok(SurgeCase {
        servers,
        threads: limits.threads,
        throughput_per_s: played.throughput_per_s() * f64::from(servers),
        cpu: played.cpu(),
        response_time_s: played.mean_s(),
        wait_s: played.wait_for_thread_s(),
        says: shown(worst.figure, value),
        holds: ratio <= 1.0,
    })
}
