//! The limit on open files, which bounds how many connections can be open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files beside connections: listeners, event queues, admin connections, and room for the
/// unforeseen.
const RESERVE: u64 = 128;

/// Raises the limit as far as `connections` need and the system lets us; returns how many
/// connections fit.
///
/// `others` counts what else each may hold one file: database connections, and workers that read a
/// file.
pub(crate) fn room_for_connections(connections: u64, others: u64) -> u64 {
    let reserve = RESERVE + others;
    let wanted = connections + reserve;
    let now = getrlimit(Resource::Nofile);
    let enough = |current: Option<u64>| current.is_none_or(|files| files >= wanted);
    if enough(now.current) {
        return connections;
    }
    // A privileged process may raise the maximum too; anyone may rise up to it.
    let beyond = Rlimit {
        current: Some(wanted),
        maximum: now.maximum.map(|maximum| maximum.max(wanted)),
    };
    let within = Rlimit {
        current: now
            .maximum
            .map_or(Some(wanted), |maximum| Some(maximum.min(wanted))),
        ..now
    };
    // Where neither is allowed, what there is has to do.
    let _ = setrlimit(Resource::Nofile, beyond).or_else(|_| setrlimit(Resource::Nofile, within));
    let files = getrlimit(Resource::Nofile).current.unwrap_or(wanted);
    connections.min(files.saturating_sub(reserve)).max(1)
}
