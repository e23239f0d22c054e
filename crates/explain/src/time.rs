//! Where the requests' time went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_record::Doing;

use crate::evidence::Evidence;
use crate::hypotheses::{cpu, garbage::in_pauses, locks, network::accepting};
use crate::room;
use crate::threads::{request_cpu, requests_for_cpu};

/// A part of the requests' time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimePart {
    /// What the requests did meanwhile.
    pub what: String,
    /// Share of their time.
    pub share: f64,
    /// Between which it lies at 95 %: of what remains when the others are taken away, where they
    /// have intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<[f64; 2]>,
}

impl TimePart {
    /// The most that it may be.
    pub fn most(&self) -> f64 {
        self.within.map_or(self.share, |[_, high]| high)
    }
}

/// How the time on a CPU is called.
pub(crate) const ON_A_CPU: &str = "working on a CPU";
/// How the time of threads that could run is called.
const FOR_A_CPU: &str = "waiting for a CPU";

/// Where the requests' time went. The parts overlap where a collector stops threads that run, so
/// they can come to a little more than all.
pub(crate) fn time(evidence: &Evidence) -> Vec<TimePart> {
    let part = |what: &str, present: Option<f64>| {
        let share = evidence.share_of_requests(present)?;
        Some(TimePart {
            what: what.to_owned(),
            share,
            within: None,
        })
    };
    let stages = evidence.stages();
    let stages = stages
        .iter()
        .filter(|stage| *stage != "request-queue")
        .map(|stage| part(&format!("waiting for `{stage}`"), evidence.waiting(stage)));
    let stopped = in_pauses(evidence).and_then(|share| {
        let in_flight = evidence.in_flight?;
        part("stopped by the garbage collector", Some(share * in_flight))
    });
    let standing = |doing| room::fitting(evidence, doing);
    let seen = standing(Doing::WaitsForLock).is_some();
    let rest = locks::rest(evidence).map(|share| TimePart {
        what: if cpu::bounds_the_rest(evidence) {
            "waiting inside the program for the full CPUs (its own scheduler, an event loop)"
        } else if seen {
            "unattributed: other waits of the application, the network"
        } else {
            "unattributed: locks, services behind the server, the network"
        }
        .to_owned(),
        share,
        within: locks::rest_within(evidence, share),
    });
    let ends = [
        part("waiting to be accepted", accepting(evidence)),
        part(FOR_A_CPU, requests_for_cpu(evidence)),
        part(
            "asleep in the kernel for storage",
            evidence.signal("target.blocked"),
        ),
    ];
    let working = part(ON_A_CPU, request_cpu(evidence));
    let beside = [
        part("having a connection made", room::connecting(evidence)),
        part("waiting for a lock", standing(Doing::WaitsForLock)),
        part(
            "waiting for an answer of another service",
            standing(Doing::WaitsForAnswer),
        ),
        part(
            "waiting for a host to be looked up",
            standing(Doing::LooksUpHost),
        ),
        part(
            "waiting for random numbers of the system",
            standing(Doing::WaitsForRandom),
        ),
        part("asleep in the application", standing(Doing::Sleeps)),
        part(
            "waiting for another thread, a queue or a semaphore of the application",
            standing(Doing::WaitsForOthers),
        ),
    ];
    let parts = std::iter::once(working)
        .chain(stages)
        .chain(ends)
        .chain(beside)
        .chain([stopped, rest]);
    without_waits_in_pauses(parts.flatten().collect(), evidence)
}

/// A thread that is woken while the collector has stopped all others waits for a CPU as well: what
/// comes to more than all of the time is counted twice there.
fn without_waits_in_pauses(mut parts: Vec<TimePart>, evidence: &Evidence) -> Vec<TimePart> {
    let all: f64 = parts.iter().map(|part| part.share).sum();
    let twice = (all - 1.0).min(in_pauses(evidence).unwrap_or(0.0));
    let waits = parts.iter_mut().find(|part| part.what == FOR_A_CPU);
    if let Some(waits) = waits.filter(|_| twice > 0.0) {
        waits.share = (waits.share - twice).max(0.0);
    }
    parts
}

#[cfg(test)]
mod tests {
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    #[test]
    fn the_parts_of_the_time_do_not_come_to_more_than_all_of_it() {
        // Of 10 requests 3 wait for a CPU; of these 2 were woken from a sleep and still look
        // asleep.
        let signals = [
            ("threads.occupancy", 10.0),
            ("threads.entries", 100.0),
            ("target.run-queue-wait", 3.0),
            ("target.cpu.user", 1.0),
            ("target.cpu.system", 0.0),
            ("request-threads.seen", 10.0),
            ("request-threads.monitor", 0.0),
            ("request-threads.lock", 0.0),
            ("request-threads.answer", 0.0),
            ("request-threads.asleep", 8.0),
        ];
        let found = diagnose(&evidence(&signals));
        let all: f64 = found.time.iter().map(|part| part.share).sum();
        assert!((all - 1.0).abs() < 0.01, "{:?}", found.time);
        let asleep = found
            .time
            .iter()
            .find(|part| part.what.starts_with("asleep in the app"));
        let share = asleep.map(|part| part.share).unwrap_or_default();
        assert!((0.55..=0.65).contains(&share), "{share}");
    }

    #[test]
    fn parts_of_the_time_add_up() {
        let idle = [
            ("cpu", 0.3),
            ("target.cpu.user", 0.5),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 0.5),
            ("pool.db.waiting", 6.0),
        ];
        let found = diagnose(&evidence(&idle));
        let sum: f64 = found.time.iter().map(|part| part.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{:#?}", found.time);
        let words: Vec<&str> = found.time.iter().map(|part| part.what.as_str()).collect();
        assert!(words.contains(&"waiting for `pool.db`"), "{words:?}");
    }
}
