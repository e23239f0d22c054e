//! The connections of all servers together, against what the database takes.

use weir_model::Limits;

use crate::SizeError;
use crate::answer::{ConnectionsCapped, Setting};
use crate::capacity::{Draw, Problem};
use crate::size::at;

/// What is left when the database takes fewer connections than the settings would open; `None`
/// where it takes them all.
pub(crate) fn capped(
    problem: &mut Problem<'_>,
    draws: &[Draw],
    settings: &[Setting],
    servers: u32,
) -> Result<Option<ConnectionsCapped>, SizeError> {
    let pool = problem.model.set.pool.as_deref();
    let pool = settings
        .iter()
        .find(|setting| Some(setting.stage.as_str()) == pool);
    let (Some(pool), Some(most)) = (pool, problem.ask.database_connections) else {
        return Ok(None);
    };
    if pool.total <= u64::from(most) {
        return Ok(None);
    }
    let per_server = most / servers;
    let before = problem.limits;
    let at = if per_server == 0 {
        None
    } else {
        problem.limits = Limits {
            pool: Some(per_server),
            ..before
        };
        Some(at(problem, draws, servers)?)
    };
    problem.limits = before;
    Ok(Some(ConnectionsCapped {
        database_connections: most,
        wanted: pool.total,
        per_server,
        at,
    }))
}
