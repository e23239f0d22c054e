//! What happens to servers and gateways while they are under load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::backend::Backend;
use crate::bench::gate::clients::Chance;
use crate::bench::gate::peers::Peers;
use crate::bench::soak::gates::Gates;
use crate::bench::soak::guests::between;
use crate::error::TaskError;

/// From one trouble with a server to the next, at least and at most.
const EVERY_S: (f64, f64) = (2.0, 8.0);
/// How long a server is gone, or hangs.
const FOR_S: (f64, f64) = (0.1, 3.0);
/// One of so many troubles is that it hangs; the others, that it is killed.
const HANGS_ONE_OF: f64 = 3.0;
/// From one reload to the next.
const RELOADS_S: (f64, f64) = (5.0, 20.0);
/// From one gateway to its successor.
const REPLACED_S: (f64, f64) = (10.0, 30.0);

/// What was done to the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Troubles {
    pub(crate) killed: u32,
    pub(crate) hung: u32,
}

/// Kills a server and starts it again, or lets it hang, now and then, until the load has ended.
pub(crate) fn of_servers(
    peers: &Peers,
    servers: &mut [Backend],
    seed: u64,
    ended: &AtomicBool,
) -> Result<Troubles, TaskError> {
    let mut chance = Chance(seed ^ 0x5eed);
    let mut troubles = Troubles::default();
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_secs_f64(between(&mut chance, EVERY_S)));
        let victim = between(&mut chance, (0.0, servers.len() as f64)) as usize;
        let length = Duration::from_secs_f64(between(&mut chance, FOR_S));
        if between(&mut chance, (0.0, HANGS_ONE_OF)) < 1.0 {
            servers[victim].pause(length);
            troubles.hung += 1;
        } else {
            let port = servers[victim].port();
            servers[victim].kill();
            troubles.killed += 1;
            thread::sleep(length);
            servers[victim] = Backend::start(peers, SERVER_CPU, Some(port))?;
        }
    }
    Ok(troubles)
}

/// Has the file of the gateway read again now and then, until the load has ended, and replaces the
/// gateway in the time that is given: after it, the memory of one and the same is watched.
pub(crate) fn of_gates<'all>(
    mut gates: Gates<'all>,
    replacing: Duration,
    seed: u64,
    ended: &AtomicBool,
) -> Result<Gates<'all>, TaskError> {
    let mut chance = Chance(seed ^ 0x6a7e);
    let begun = Instant::now();
    let mut next = |range| Duration::from_secs_f64(between(&mut chance, range));
    let (mut reload, mut replace) = (next(RELOADS_S), next(REPLACED_S));
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        if begun.elapsed() > reload {
            gates.reload()?;
            reload = begun.elapsed() + next(RELOADS_S);
        }
        if begun.elapsed() > replace && begun.elapsed() < replacing {
            gates.replace()?;
            replace = begun.elapsed() + next(REPLACED_S);
        }
    }
    Ok(gates)
}
