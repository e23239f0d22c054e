//! The limit on open files, which bounds how many clients can be connected.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Open files beside connections: listeners, event queues, the log, the admin side, health checks.
const RESERVE: u64 = 128;
/// Without a limit on open files, and without a wish.
const ROOM_DEFAULT: u64 = 50_000;
/// A semaphore counts no further.
const ROOM_MAX: u64 = 1_000_000;

/// How many clients can be connected: as many as wished, and not more than each could have a
/// connection to a backend beside its own. Raises this process's limit as far as it may.
pub(crate) fn room_for_connections(wished: Option<u32>) -> usize {
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.maximum;
    // Where it may not be raised, what there is has to do.
    let _ = setrlimit(Resource::Nofile, limits);
    let files = getrlimit(Resource::Nofile).current;
    let room = files.map_or(ROOM_MAX, |files| files.saturating_sub(RESERVE) / 2);
    let wished = wished.map_or(ROOM_DEFAULT, u64::from);
    wished.min(room).clamp(1, ROOM_MAX) as usize
}
