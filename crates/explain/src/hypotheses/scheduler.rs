//! Threads that could run wait for a CPU.

use crate::arrival;
use crate::evidence::Evidence;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, StartChange, Test, Unit, Verdict, any_of};
use crate::threads::{self, longest_waiting, request_wait, requests_for_cpu};
use crate::words::{percent, time};

pub(crate) fn scheduler(evidence: &Evidence) -> Hypothesis {
    let waiting = request_wait(evidence);
    let share = evidence.share_of_requests(requests_for_cpu(evidence));
    let waits = waiting_test(evidence, "ready to run, waiting for a CPU", waiting)
        .from(&["target.run-queue-wait"]);
    let waits_before_read = arrival::wait_test(evidence);
    let verdict = if waits_before_read.speaks() {
        Verdict::Supported
    } else {
        any_of(&[waits.speaks_for])
    };
    let involuntary = evidence.signal("target.context-switches.involuntary");
    let slice_s = evidence
        .target_cpu()
        .zip(evidence.signal("target.time-slices"))
        .and_then(|(cpu, slices)| (slices > 0.0).then(|| cpu / slices));
    let mut hypothesis = Hypothesis::new("scheduler", "Threads that could run wait for a CPU")
        .share(share)
        .test(waits)
        .test(waits_before_read)
        .test(
            Test::figure(
                "wait for a CPU per request",
                wait_per_request(evidence),
                Unit::Seconds,
            )
            .from(&["target.run-queue-wait", "throughput"]),
        )
        .test(
            Test::figure("mean time slice", slice_s, Unit::Seconds).from(&[
                "target.time-slices",
                "target.cpu.user",
                "target.cpu.system",
            ]),
        )
        .test(
            Test::figure(
                "context switches that took a CPU away",
                evidence.per_request(involuntary),
                Unit::PerRequest,
            )
            .from(&["target.context-switches.involuntary"]),
        )
        .test(
            Test::figure(
                "context switches because a thread waited",
                evidence.per_request(evidence.signal("target.context-switches.voluntary")),
                Unit::PerRequest,
            )
            .from(&["target.context-switches.voluntary"]),
        );
    for test in arrival::figures(evidence) {
        hypothesis = hypothesis.test(test);
    }
    for (group, wait) in longest_waiting(evidence) {
        let name = format!("census.{group}.run-queue-wait");
        let what = format!("of threads `{group}`: waiting for a CPU, on average");
        hypothesis = hypothesis.test(Test::figure(what, Some(wait), Unit::Count).from(&[&name]));
    }
    for test in of_classes(evidence) {
        hypothesis = hypothesis.test(test);
    }
    hypothesis
        .start("batch", "the same run with the server under SCHED_BATCH (`chrt --batch 0`): longer slices, fewer switches. A change of the response time shows that the scheduler has a part in it", StartChange::Batch)
        .start("pinned", "the same run with the server's threads on CPUs of their own (`taskset`)", StartChange::OwnCpus)
        .verdict(verdict, says(evidence))
}

fn wait_per_request(evidence: &Evidence) -> Option<f64> {
    evidence.per_request(request_wait(evidence))
}

/// What the mean wait is to each class of requests. No counter tells the classes apart: a wait
/// belongs to a thread.
fn of_classes(evidence: &Evidence) -> Vec<Test> {
    let Some(wait_s) = wait_per_request(evidence).filter(|_| evidence.classes.len() > 1) else {
        return Vec::new();
    };
    let of_class = |(label, times): (&String, &weir_record::ResponseTime)| {
        let mean_s = times.mean / 1e3;
        let share = (mean_s > 0.0).then(|| wait_s / mean_s);
        let what = format!(
            "wait for a CPU, if every request waits alike, as a share of the time of `{label}`"
        );
        Test::figure(what, share, Unit::Share).from(&["target.run-queue-wait", "classes"])
    };
    evidence.classes.iter().map(of_class).collect()
}

fn says(evidence: &Evidence) -> String {
    let of_threads = of_threads(evidence);
    match arrival::says(evidence) {
        Some(of_arrivals) => format!("{of_threads} {of_arrivals}"),
        None => of_threads,
    }
}

fn of_threads(evidence: &Evidence) -> String {
    let Some(waiting) = request_wait(evidence) else {
        return "The waits for a CPU were not recorded: no process of the server was named, or it runs where they cannot be read."
            .to_owned();
    };
    let all = threads::waiting(evidence).unwrap_or(waiting);
    let what = if all > waiting {
        format!(
            "{all:.0} threads waited for a CPU on average, of which {waiting:.2} at most can have had a request"
        )
    } else {
        format!("{waiting:.2} threads waited for a CPU on average")
    };
    let per_request = wait_per_request(evidence).map(|wait| format!("{} a request", time(wait)));
    let of_time = evidence
        .share_of_requests(Some(waiting))
        .map(|share| format!("{} of its time", percent(share)));
    let parts = [Some(what), per_request, of_time];
    format!(
        "{}.",
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::{evidence, without};

    #[test]
    fn threads_that_wait_for_a_cpu_are_requests_that_wait() {
        let verdict = |wait| scheduler(&evidence(&[("target.run-queue-wait", wait)]));
        let waits = verdict(4.0);
        assert_eq!(
            (waits.verdict, waits.share),
            (Verdict::Supported, Some(0.4))
        );
        assert_eq!(verdict(0.5).verdict, Verdict::NotSupported);
        assert_eq!(scheduler(&evidence(&[])).verdict, Verdict::NotMeasured);
    }

    #[test]
    fn the_waits_of_the_collector_are_not_the_requests() {
        let made = evidence(&[
            ("target.run-queue-wait", 4.0),
            ("census.GC-Thread.run-queue-wait", 3.5),
        ]);
        assert_eq!(scheduler(&made).verdict, Verdict::NotSupported);
    }

    #[test]
    fn a_request_that_is_read_late_for_want_of_a_cpu_waits_for_one() {
        let traced = |wait| {
            scheduler(&evidence(&[
                ("target.run-queue-wait", 0.5),
                ("target.arrival.to-read", 0.05),
                ("target.arrival.cpu-wait", wait),
                ("target.arrival.sampled", 300.0),
                ("target.arrival.unread", 0.0),
            ]))
        };
        let late = traced(0.03);
        assert_eq!((late.verdict, late.share), (Verdict::Supported, Some(0.3)));
        assert!(
            late.says.contains("30.0 ms of that its thread waited"),
            "{}",
            late.says
        );
        let soon = traced(0.001);
        assert_eq!(soon.verdict, Verdict::NotSupported);
        assert_eq!(soon.share, Some(0.05), "of the threads, which is more");
    }

    #[test]
    fn why_arrivals_were_not_traced_is_said_and_counts_for_nothing() {
        let name = "target.arrival.to-read";
        let made = without(
            evidence(&[]),
            name,
            "tracefs may not be read: run Weir as root",
        );
        let untold = scheduler(&made);
        assert_eq!(untold.verdict, Verdict::NotMeasured);
        assert!(
            untold.says.ends_with("run Weir as root."),
            "{}",
            untold.says
        );
        // The beginning of a request alone does not clear the scheduler.
        let only = scheduler(&evidence(&[("target.arrival.cpu-wait", 0.001)]));
        assert_eq!(only.verdict, Verdict::NotMeasured);
    }

    #[test]
    fn without_requests_half_a_thread_counts() {
        let watched = |wait| {
            let mut made = evidence(&[("target.run-queue-wait", wait)]);
            made.in_flight = None;
            scheduler(&made)
        };
        assert_eq!(watched(0.6).verdict, Verdict::Supported);
        assert_eq!(watched(0.6).share, None);
        assert_eq!(watched(0.4).verdict, Verdict::NotSupported);
    }
}
