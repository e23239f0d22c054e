//! Requests wait for something that the operating system does for the server, seen in thread dumps:
//! the names of hosts, random numbers.

use weir_record::Doing;

use crate::evidence::Evidence;
use crate::hypotheses::of_dumps;
use crate::hypothesis::Hypothesis;

/// Requests whose thread has a host looked up; `None` where thread dumps do not tell.
pub(crate) fn name_lookup(evidence: &Evidence) -> Option<Hypothesis> {
    let found = of_dumps(
        evidence,
        Doing::LooksUpHost,
        "for a host to be looked up",
        Hypothesis::new(
            "name-lookup",
            "Requests wait for names of hosts to be looked up",
        ),
    )?;
    Some(found.idea(
        "resolver",
        "the time of one lookup on the server's machine (`getent ahosts NAME`), and what its resolvers answer: a cache on \
         the machine, or a longer `networkaddress.cache.ttl`, takes the wait away",
    ))
}

/// Requests whose thread reads random numbers; `None` where thread dumps do not tell.
pub(crate) fn random_numbers(evidence: &Evidence) -> Option<Hypothesis> {
    let found = of_dumps(
        evidence,
        Doing::WaitsForRandom,
        "for random numbers of the system",
        Hypothesis::new("entropy", "Requests wait for random numbers of the system"),
    )?;
    Some(found.idea(
        "urandom",
        "the same load with `-Djava.security.egd=file:/dev/./urandom`: kernels before 5.6 let readers of `/dev/random` wait",
    ))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;
    use crate::hypothesis::Verdict;

    const DUMPS: [(&str, f64); 9] = [
        ("threads.occupancy", 8.0),
        ("request-threads.seen", 8.0),
        ("request-threads.monitor", 0.0),
        ("request-threads.lock", 0.0),
        ("request-threads.asleep", 0.0),
        ("request-threads.answer", 0.0),
        ("request-threads.parked", 0.0),
        ("request-threads.lookup", 0.0),
        ("request-threads.random", 0.0),
    ];

    #[test]
    fn lookups_and_random_numbers_are_causes_of_their_own() {
        for (signal, id) in [
            ("request-threads.lookup", "name-lookup"),
            ("request-threads.random", "entropy"),
        ] {
            let told = [DUMPS.as_slice(), &[(signal, 7.0)]].concat();
            let found = diagnose(&evidence(&told));
            assert_eq!(found.first.as_deref(), Some(id), "{}", found.summary);
            let none = diagnose(&evidence(&DUMPS));
            let none = none.hypothesis(id).unwrap();
            assert_eq!(none.verdict, Verdict::NotSupported, "{}", none.says);
        }
        assert!(name_lookup(&evidence(&[])).is_none());
    }
}
