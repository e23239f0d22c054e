//! What to set on each server for its share of the users.

use crate::SizeError;
use crate::answer::Setting;
use crate::capacity::Problem;
use crate::played::Played;
use weir_model::Limits;

/// Room above the mean number in use, in square roots of it (square-root staffing: Halfin and Whitt
/// 1981), from the least on: the first with which the simulated fleet is as good as with the limits
/// of the trials.
const ROOM: [f64; 4] = [3.0, 4.0, 6.0, 9.0];
/// A limit is as good if the limiting figure is no worse than this times that without it.
const AS_GOOD: f64 = 1.03;

/// Limits for a fleet whose servers have so many users each and do what `played` shows.
pub(crate) fn limits(
    problem: &Problem<'_>,
    played: &Played,
    users_each: f64,
) -> Result<Limits, SizeError> {
    let fitted = problem.fitted();
    let server = problem.server(fitted.parameters);
    let (threads, connections) = (
        played.threads_busy(&server),
        played.connections_busy(&server),
    );
    let (_, without) = problem.worst(played, users_each, fitted.off);
    for room in ROOM {
        let limits = Limits {
            threads: Some(staffed(threads, room, problem.limits.threads)),
            pool: (connections > 0.0).then(|| staffed(connections, room, problem.limits.pool)),
        };
        let mut limited = server;
        limited.limits = limits;
        let with = problem
            .play(limited, users_each)
            .run(problem.cores.watcher)?;
        let (_, with) = problem.worst(&with, users_each, fitted.off);
        if with <= 1.0 && with <= without * AS_GOOD {
            return Ok(limits);
        }
    }
    Ok(problem.limits)
}

/// Room for a number that varies about its mean; never more than what was measured.
fn staffed(busy: f64, room: f64, measured: Option<u32>) -> u32 {
    let staffed = (busy + room * busy.sqrt()).ceil().max(1.0) as u32;
    measured.map_or(staffed, |measured| staffed.min(measured))
}

/// The limits as settings of so many servers.
pub(crate) fn settings(
    problem: &Problem<'_>,
    played: &Played,
    limits: Limits,
    servers: u32,
) -> Vec<Setting> {
    let server = problem.server(problem.fitted().parameters);
    let setting = |stage: &str, busy: f64, limit: Option<u32>, measured_limit: Option<u32>| {
        limit.map(|limit| Setting {
            stage: stage.to_owned(),
            busy,
            limit,
            measured_limit,
            total: u64::from(limit) * u64::from(servers),
        })
    };
    let threads = setting(
        "threads",
        played.threads_busy(&server),
        limits.threads,
        problem.limits.threads,
    );
    let pool = problem.model.set.pool.as_deref().and_then(|pool| {
        setting(
            pool,
            played.connections_busy(&server),
            limits.pool,
            problem.limits.pool,
        )
    });
    threads.into_iter().chain(pool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_with_the_root_and_stops_at_what_was_measured() {
        assert_eq!(staffed(100.0, 3.0, None), 130);
        assert_eq!(staffed(100.0, 3.0, Some(120)), 120);
        assert_eq!(staffed(0.0, 3.0, Some(20)), 1);
    }
}
