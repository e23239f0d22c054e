//! The server starts its processes more slowly than clients come.

use weir_record::{SPAWN_AGREES, SPAWN_CPU_MAX, SPAWN_OCCUPIED_MAX, SPAWN_WAIT_MIN_S, SpawnRate};

use crate::evidence::Evidence;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::words::{number, percent};

const THREADS: &str = "threads";
const SPAWNED: &str = "threads.spawned";
const LIFETIME: &str = "threads.lifetime";

const STAY: &str = "the same run with processes that serve twice the connections, or stay (httpd: MaxConnectionsPerChild): twice the throughput, if \
     it was how fast they are started; more processes or a longer queue change nothing";

/// `None` for servers whose processes or threads stay.
pub(crate) fn spawn_rate(evidence: &Evidence) -> Option<Hypothesis> {
    let lifetime = evidence.signal(LIFETIME)?;
    let waiting = evidence.waiting(THREADS);
    let taken = evidence.taken(THREADS);
    let spawned = evidence.signal(SPAWNED).filter(|spawned| *spawned > 0.0);
    let shows = answered_per_s(evidence).map(|rate| SpawnRate {
        rate,
        spawned: spawned.unwrap_or(0.0),
        lifetime,
        waiting: waiting.unwrap_or(0.0),
        taken: taken.unwrap_or(0.0),
        own_cpu: own_cpu(evidence),
    });
    let wait = Test::at_least(
        "mean wait of a connection for a process, by Little's law",
        shows.filter(|_| waiting.is_some()).map(|shows| shows.wait_s()),
        Unit::Seconds,
        (
            SPAWN_WAIT_MIN_S,
            "processes are started once a second: who comes between waits for the next time in any case",
        ),
    )
    .from(&["threads.waiting", "throughput"]);
    let free = Test::below(
        "share of the processes that there may be which are busy",
        taken,
        Unit::Share,
        (
            SPAWN_OCCUPIED_MAX,
            "a server that may have more processes than are busy is not held by their number",
        ),
    )
    .from(&["threads.occupancy", "threads.limit"]);
    let differs = Test::below(
        "by which share the throughput differs from what the started processes can serve",
        shows
            .filter(|_| spawned.is_some())
            .map(|shows| shows.disagreement()),
        Unit::Share,
        (
            SPAWN_AGREES,
            "a cycle is not a whole second, and a process may end with a connection less",
        ),
    )
    .from(&["throughput", SPAWNED, LIFETIME]);
    let idle = Test::below(
        "share of its CPUs that the server itself used",
        own_cpu(evidence),
        Unit::Share,
        (
            SPAWN_CPU_MAX,
            "a server that needs its CPUs is slow at everything",
        ),
    )
    .from(&["target.cpu.user", "target.cpu.system"]);
    let tests = [wait.speaks_for, free.speaks_for, differs.speaks_for];
    let verdict = match all_of(&tests) {
        // Where its CPU time is not known, it is not known to be full.
        Some(held) if held && idle.speaks_for != Some(false) => Verdict::Supported,
        Some(_) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let says = match (shows, spawned, taken) {
        (Some(shows), Some(spawned), Some(taken)) => format!(
            "The server started {} processes a second for {} connection(s) each, which can serve {} a second; {} were \
             answered, while {} waited and {} of the processes that there may be were busy.",
            number(spawned),
            number(lifetime),
            number(shows.capacity()),
            number(shows.rate),
            waiting.map_or_else(|| "an unknown number".to_owned(), number),
            percent(taken)
        ),
        _ => "The server did not tell that it started many processes at once, or its log could not be read.".to_owned(),
    };
    let share = evidence.share_of_requests(waiting);
    let hypothesis = Hypothesis::new(
        "spawn-rate",
        "The server starts its processes more slowly than clients come",
    )
    .share(share)
    .test(wait)
    .test(free)
    .test(differs)
    .test(idle)
    .idea("longer-lives", STAY);
    Some(hypothesis.verdict(verdict, says))
}

/// Requests with an answer, behind the beginning where that is known.
fn answered_per_s(evidence: &Evidence) -> Option<f64> {
    let rate = evidence
        .signal("throughput.steady")
        .or(evidence.throughput_per_s)?;
    let failed = evidence.errors.as_ref().map_or(0.0, |errors| errors.share);
    Some(rate * (1.0 - failed)).filter(|rate| *rate > 0.0)
}

fn own_cpu(evidence: &Evidence) -> Option<f64> {
    Some(evidence.target_cpu()? / evidence.cpus?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// 60 a second at 50 processes of one connection each, as published; the made evidence
    /// answers 100 a second.
    const CAPPED: [(&str, f64); 8] = [
        ("threads.spawned", 98.0),
        ("threads.lifetime", 1.0),
        ("threads.waiting", 400.0),
        ("threads.occupancy", 3.0),
        ("threads.limit", 50.0),
        ("target.cpu.user", 0.1),
        ("target.cpu.system", 0.1),
        ("cpu", 0.2),
    ];

    #[test]
    fn processes_that_are_started_too_slowly_come_first() {
        let found = spawn_rate(&evidence(&CAPPED)).unwrap();
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(
            found.says.contains("98.0 processes a second"),
            "{}",
            found.says
        );
        assert_eq!(
            diagnose(&evidence(&CAPPED)).first.as_deref(),
            Some("spawn-rate")
        );
    }

    #[test]
    fn what_is_held_by_something_else_is_no_spawn_rate() {
        for change in [
            ("threads.occupancy", 49.0),
            ("threads.waiting", 10.0),
            ("threads.spawned", 30.0),
            ("target.cpu.user", 1.9),
        ] {
            let with = [CAPPED.as_slice(), &[change]].concat();
            let found = spawn_rate(&evidence(&with)).unwrap();
            assert_eq!(
                found.verdict,
                Verdict::NotSupported,
                "{change:?}: {found:#?}"
            );
        }
        let untold = spawn_rate(&evidence(&CAPPED[1..])).unwrap();
        assert_eq!(untold.verdict, Verdict::NotMeasured);
        assert!(
            spawn_rate(&evidence(&CAPPED[2..])).is_none(),
            "its processes stay"
        );
    }
}
