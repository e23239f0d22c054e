//! Memory is full, and requests wait for pages that were taken away.

use crate::evidence::Evidence;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threshold::{FAULTS, FAULTS_BECAUSE, MATTERS, MEMORY_STALL_BECAUSE};
use crate::words::{capital, number, percent};

const STALLED: &str = "pressure.memory.some";
const FAULTED: &str = "target.page-faults.major";
const REFAULTS: &str = "machine.refaults";
const HELD: &str = "target.group.memory";
const LIMIT: &str = "target.group.memory.limit";
const HITS: &str = "target.group.memory.hits";
const MB: f64 = 1e6;

pub(crate) fn paging(evidence: &Evidence) -> Hypothesis {
    let stalled = Test::at_least(
        "share of the time in which a task of the machine waited for memory",
        evidence.signal(STALLED),
        Unit::Share,
        (MATTERS, MEMORY_STALL_BECAUSE),
    )
    .from(&[STALLED]);
    let faults = Test::at_least(
        "page faults of the server that had to fetch something",
        evidence.per_request(evidence.signal(FAULTED)),
        Unit::PerRequest,
        (FAULTS, FAULTS_BECAUSE),
    )
    .from(&[FAULTED, "throughput"]);
    // Kernels without pressure tell that pages came back which had been taken away.
    let without_pressure = || {
        let came_back = [REFAULTS, "machine.swap.in"].map(|name| evidence.signal(name));
        let any = came_back.iter().flatten().any(|rate| *rate > 0.0);
        came_back.iter().any(Option::is_some).then_some(any)
    };
    let full = stalled.speaks_for.or_else(without_pressure);
    let verdict = match all_of(&[full, faults.speaks_for]) {
        Some(true) if stalled.speaks_for.is_some() => Verdict::Supported,
        // That pages came back does not say that it took long.
        Some(true) | None => Verdict::NotMeasured,
        Some(false) => Verdict::NotSupported,
    };
    let says = match (stalled.figure, faults.figure) {
        (None, None) => "Whether memory was short was not recorded.".to_owned(),
        (stalled, faults) => {
            let stalled = stalled.map(|share| {
                format!(
                    "some task of the machine waited for memory in {} of the time",
                    percent(share)
                )
            });
            let faults = faults.map(|each| {
                format!(
                    "the server fetched {} pages a request from storage",
                    number(each)
                )
            });
            let again = evidence
                .signal(REFAULTS)
                .map(|rate| format!("{} pages a second had been taken away before", number(rate)));
            let parts = [stalled, faults, again, limit(evidence)]
                .into_iter()
                .flatten();
            let text = parts.collect::<Vec<_>>().join("; ");
            format!("{}.", capital(&text))
        }
    };
    let waits = evidence
        .signal("target.blocked")
        .filter(|_| verdict == Verdict::Supported);
    Hypothesis::new(
        "paging",
        "Memory is full, and requests wait for pages that were taken away",
    )
    .share(evidence.share_of_requests(waits))
    .test(stalled)
    .test(faults)
    .test(
        Test::figure(
            "pages that were fetched again soon after they had been taken away",
            evidence.signal(REFAULTS),
            Unit::PerSecond,
        )
        .from(&[REFAULTS]),
    )
    .test(
        Test::figure(
            "how often the server's control group came to its memory limit",
            evidence.signal(HITS),
            Unit::PerSecond,
        )
        .from(&[HITS]),
    )
    .test(
        Test::figure(
            "bytes fetched from swap",
            evidence.signal("machine.swap.in"),
            Unit::PerSecond,
        )
        .from(&["machine.swap.in"]),
    )
    .idea("more-memory", more_memory(evidence))
    .verdict(verdict, says)
}

/// That the server's control group came to its memory limit.
fn limit(evidence: &Evidence) -> Option<String> {
    let hits = evidence.signal(HITS).filter(|hits| *hits > 0.0)?;
    let of = evidence.signal(HELD).zip(evidence.signal(LIMIT));
    let of = of.map_or_else(String::new, |(held, limit)| {
        format!(" ({} of {} MB)", number(held / MB), number(limit / MB))
    });
    let hits = number(hits);
    Some(format!(
        "the server's control group came to its memory limit{of} {hits} times a second"
    ))
}

fn more_memory(evidence: &Evidence) -> &'static str {
    if limit(evidence).is_some() {
        "the same run with a larger memory limit of the control group (`memory.max`, a container's memory limit), or a smaller heap: if the time goes, it was the limit"
    } else {
        "the same run with more memory, a larger limit of the control group, or a smaller heap: if the time goes, it was the memory"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// Six of ten requests sleep for a page.
    const SHORT: [(&str, f64); 6] = [
        ("pressure.memory.some", 0.6),
        ("target.page-faults.major", 250.0),
        ("machine.refaults", 400.0),
        ("target.blocked", 6.0),
        ("pressure.io.some", 0.7),
        ("target.storage.read", 1e6),
    ];

    #[test]
    fn requests_that_wait_for_pages_wait_for_memory_and_not_for_the_disk() {
        let found = paging(&evidence(&SHORT));
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert_eq!(diagnose(&evidence(&SHORT)).first.as_deref(), Some("paging"));
        let reads = [SHORT.as_slice(), &[("pressure.memory.some", 0.0)]].concat();
        assert_eq!(paging(&evidence(&reads)).verdict, Verdict::NotSupported);
        assert_eq!(diagnose(&evidence(&reads)).first.as_deref(), Some("disk"));
    }

    #[test]
    fn pages_of_others_and_pages_that_came_back_decide_nothing() {
        let others = [SHORT.as_slice(), &[("target.page-faults.major", 0.0)]].concat();
        assert_eq!(paging(&evidence(&others)).verdict, Verdict::NotSupported);
        let old = paging(&evidence(&SHORT[1..]));
        assert_eq!(
            old.verdict,
            Verdict::NotMeasured,
            "a kernel without pressure"
        );
        let still = paging(&evidence(&[("machine.refaults", 0.0)]));
        assert_eq!(still.verdict, Verdict::NotSupported);
        assert_eq!(paging(&evidence(&[])).verdict, Verdict::NotMeasured);
    }

    #[test]
    fn a_limit_of_the_group_is_told_from_memory_that_is_short() {
        let limited = [
            SHORT.as_slice(),
            &[(HELD, 509e6), (LIMIT, 512e6), (HITS, 120.0)],
        ]
        .concat();
        let way_out = |found: &Hypothesis| found.would_decide[0].how.clone();
        let found = paging(&evidence(&limited));
        assert!(
            found
                .says
                .contains("limit (509 of 512 MB) 120 times a second"),
            "{}",
            found.says
        );
        assert!(way_out(&found).contains("`memory.max`"));
        let idle = [
            SHORT.as_slice(),
            &[(HELD, 5e6), (LIMIT, 512e6), (HITS, 0.0)],
        ]
        .concat();
        let found = paging(&evidence(&idle));
        assert!(!found.says.contains("limit"), "{}", found.says);
        assert!(!way_out(&found).contains("`memory.max`"));
    }
}
