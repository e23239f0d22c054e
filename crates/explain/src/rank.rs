//! Which of several supported hypotheses explains most.

use crate::threshold::MATTERS;

/// What a broad hypothesis looks like from outside: time that a narrower one accounts for is in its
/// share as well. Of the time that nothing counts a part may be retransmission timers; on full CPUs
/// the requests wait for a collector, a compiler, threads without a request or other virtual
/// machines; whoever takes the CPUs makes threads wait for them; and pages are fetched from the
/// disk.
const CONTAINS: [(&str, &[&str]); 4] = [
    ("locks", &["network"]),
    ("disk", &["paging"]),
    (
        "cpu",
        &[
            "garbage-collection",
            "compilation",
            "quota",
            "idle-threads",
            "steal-and-frequency",
        ],
    ),
    (
        "scheduler",
        &[
            "cpu",
            "neighbour",
            "quota",
            "garbage-collection",
            "compilation",
            "idle-threads",
            "steal-and-frequency",
        ],
    ),
];
/// A narrower hypothesis is the better answer when it accounts for this part of the broader one's
/// time.
const MOST_OF_IT: f64 = 0.5;
/// What takes CPU from the requests, or is their own need of it; and what is not the server's at
/// all.
const TAKES_CPU: [&str; 9] = [
    "load-tool",
    "cpu",
    "quota",
    "garbage-collection",
    "compilation",
    "idle-threads",
    "neighbour",
    "steal-and-frequency",
    "scheduler",
];

/// A hypothesis that is supported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate<'c> {
    pub(crate) id: &'c str,
    /// The part of the time, or of a difference of times, that it accounts for.
    pub(crate) share: Option<f64>,
    /// What of that is in the share of a broader one as well.
    pub(crate) within: Option<f64>,
}

/// The one that explains most: a load generator that was the limit, since nothing else was measured
/// then; else the largest share (a load generator whose threads waited for their CPU has one),
/// where a broader hypothesis gives way to a narrower one that accounts for half of its time. What
/// takes less than a tenth comes last. Where the server's own work bounds all (`cpu_bounds`), what
/// takes no CPU is only where the queue stands.
pub(crate) fn explains_most<'c>(candidates: &[Candidate<'c>], cpu_bounds: bool) -> Option<&'c str> {
    let was_the_limit = |found: &&Candidate<'_>| found.id == "load-tool" && found.share.is_none();
    let load_tool = candidates.iter().find(was_the_limit);
    if let Some(load_tool) = load_tool {
        return Some(load_tool.id);
    }
    let counts = |found: &&Candidate<'_>| {
        !gives_way(found, candidates) && (!cpu_bounds || TAKES_CPU.contains(&found.id))
    };
    // Of equals the one that stands before the others, which is the narrower.
    let first = candidates.iter().filter(counts).min_by(|a, b| {
        let share = |found: &Candidate<'_>| found.share.unwrap_or(0.0);
        let by_size = a.is_small().cmp(&b.is_small());
        by_size.then(share(b).total_cmp(&share(a)))
    });
    first.map(|found| found.id)
}

impl Candidate<'_> {
    fn is_small(&self) -> bool {
        self.share.is_some_and(|share| share < MATTERS)
    }
}

fn gives_way(broad: &Candidate<'_>, candidates: &[Candidate<'_>]) -> bool {
    let contained = CONTAINS.iter().find(|(id, _)| *id == broad.id);
    contained.is_some_and(|(_, narrower)| {
        candidates
            .iter()
            .filter(|found| narrower.contains(&found.id))
            .any(|found| match found.within.zip(broad.share) {
                Some((share, of)) => share >= MOST_OF_IT * of,
                None => true,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most<'c>(found: &[(&'c str, f64)], cpu_bounds: bool) -> Option<&'c str> {
        let candidates: Vec<Candidate<'c>> = found
            .iter()
            .map(|&(id, share)| Candidate {
                id,
                share: Some(share),
                within: Some(share),
            })
            .collect();
        explains_most(&candidates, cpu_bounds)
    }

    #[test]
    fn a_narrower_one_that_is_most_of_a_broader_one() {
        let starved = [("neighbour", 0.45), ("scheduler", 0.76), ("locks", 0.24)];
        assert_eq!(most(&starved, false), Some("neighbour"));
        let lossy = [("locks", 0.96), ("network", 0.9)];
        assert_eq!(most(&lossy, false), Some("network"));
        let stolen = [("cpu", 0.9), ("steal-and-frequency", 0.5)];
        assert_eq!(most(&stolen, false), Some("steal-and-frequency"));
    }

    #[test]
    fn a_small_part_of_a_broader_one_is_not_the_answer() {
        let pauses = [("garbage-collection", 0.15), ("cpu", 0.8)];
        assert_eq!(most(&pauses, false), Some("cpu"));
        let timers = [("locks", 0.9), ("network", 0.2)];
        assert_eq!(most(&timers, false), Some("locks"));
    }

    #[test]
    fn of_times_apart_the_larger_one() {
        let apart = [("disk", 0.22), ("cpu", 0.75)];
        assert_eq!(most(&apart, false), Some("cpu"));
        let apart = [("disk", 0.75), ("cpu", 0.22)];
        assert_eq!(most(&apart, false), Some("disk"));
        assert_eq!(
            most(&apart, true),
            Some("cpu"),
            "a faster disk would only make requests wait for the CPU"
        );
    }

    #[test]
    fn less_than_a_tenth_comes_last() {
        let rare = [("garbage-collection", 0.02), ("scheduler", 0.12)];
        assert_eq!(most(&rare, false), Some("scheduler"));
        let alone = [("garbage-collection", 0.02)];
        assert_eq!(most(&alone, false), Some("garbage-collection"));
    }

    #[test]
    fn a_load_tool_that_was_the_limit_comes_before_all() {
        let one = |id, share| Candidate {
            id,
            share,
            within: share,
        };
        let spoilt = [one("locks", Some(0.9)), one("load-tool", None)];
        assert_eq!(explains_most(&spoilt, false), Some("load-tool"));
        let waits = [("locks", 0.9), ("load-tool", 0.12)];
        assert_eq!(most(&waits, false), Some("locks"), "an eighth of the time");
        assert_eq!(most(&waits[1..], true), Some("load-tool"));
        assert_eq!(most(&[], false), None);
    }

    #[test]
    fn without_shares_the_narrower_one() {
        let unknown = ["disk", "cpu", "scheduler"].map(|id| Candidate {
            id,
            share: None,
            within: None,
        });
        assert_eq!(explains_most(&unknown, false), Some("disk"));
        assert_eq!(explains_most(&unknown[1..], false), Some("cpu"));
    }
}
