//! Threads without a request wake up, and take the CPU that requests wait for.

use crate::evidence::Evidence;
use crate::hypotheses::full_cpus_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threads::{request_wait, waiting};
use crate::threshold::{
    IDLE_BECAUSE, IDLE_MIN, KERNEL_OF_OWN, KERNEL_OF_OWN_BECAUSE, RAN_BECAUSE, RAN_PER_REQUEST,
};
use crate::words::{number, percent};

const RAN: &str = "target.threads.ran";
const FEWER: &str = "the same run without the threads that are left over (a restart, or a smaller maximum of the pool that they are of): more is \
     answered, and the kernel's part of the CPU falls, if it was they";

pub(crate) fn idle_threads(evidence: &Evidence) -> Hypothesis {
    let ran = evidence.signal(RAN);
    let without = ran
        .zip(evidence.in_flight)
        .map(|(ran, in_flight)| (ran - in_flight).max(0.0));
    let per_request = Test::at_least(
        "threads that ran in a second, over the requests answered in it",
        evidence.per_request(ran),
        Unit::PerRequest,
        (RAN_PER_REQUEST, RAN_BECAUSE),
    )
    .from(&[RAN, "throughput"]);
    let many = Test::at_least(
        "threads that ran in a second, those left out that can have a request in flight",
        without,
        Unit::Count,
        (IDLE_MIN, IDLE_BECAUSE),
    )
    .from(&[RAN, "throughput", "response_time_ms.mean"]);
    let kernel = Test::at_least(
        "the kernel's part of the server's CPU time",
        kernel_part(evidence),
        Unit::Share,
        (KERNEL_OF_OWN, KERNEL_OF_OWN_BECAUSE),
    )
    .from(&["target.cpu.user", "target.cpu.system"]);
    let full = full_cpus_test(evidence);
    let tests = [&per_request, &many, &kernel, &full].map(|test| test.speaks_for);
    let verdict = match all_of(&tests) {
        Some(true) => Verdict::Supported,
        Some(false) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let says = match (ran, per_request.figure) {
        (Some(ran), Some(each)) => {
            let threads = evidence
                .signal("target.threads")
                .map_or_else(String::new, |threads| {
                    format!(" of the server's {} threads", number(threads))
                });
            let kernel = kernel.figure.map_or_else(String::new, |part| {
                format!(
                    "; the kernel had {} of the server's CPU time",
                    percent(part)
                )
            });
            format!(
                "{}{threads} ran in a second, {} for each request that was answered{kernel}.",
                number(ran),
                number(each)
            )
        }
        _ => "How many of the server's threads ran in a second was not recorded: it takes its process."
            .to_owned(),
    };
    let share = evidence
        .share_of_requests(request_wait(evidence))
        .zip(others_in_the_queue(evidence))
        .filter(|_| verdict == Verdict::Supported)
        .map(|(time, others)| time * others);
    Hypothesis::new(
        "idle-threads",
        "Threads without a request wake up, and take the CPU that requests wait for",
    )
    .share(share)
    .test(per_request)
    .test(many)
    .test(kernel)
    .test(full)
    .idea("fewer-threads", FEWER)
    .verdict(verdict, says)
}

/// Of those that a request finds in front of it when it waits for a CPU, the share that can have no
/// request: the larger of what two counts say. Of the threads that wait, no more have a request
/// than there are requests. And of the times that a thread was put on a CPU, at least one in a
/// second was that of each thread that ran without a request; where all wait equally long for their
/// turn, the queue is made up as its arrivals are (Little's law).
fn others_in_the_queue(evidence: &Evidence) -> Option<f64> {
    let in_flight = evidence.in_flight?;
    let all = waiting(evidence).filter(|all| *all > 0.0);
    let by_places = all.map(|all| 1.0 - in_flight / all);
    let turns = evidence.signal("target.time-slices");
    let by_turns = evidence
        .signal(RAN)
        .zip(turns.filter(|turns| *turns > 0.0))
        .map(|(ran, turns)| ((ran - in_flight) / turns).min(1.0));
    let most = by_places.into_iter().chain(by_turns).reduce(f64::max)?;
    Some(most.max(0.0))
}

fn kernel_part(evidence: &Evidence) -> Option<f64> {
    let own = evidence.target_cpu().filter(|own| *own > 0.0)?;
    Some(evidence.signal("target.cpu.system")? / own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::Evidence;
    use crate::evidence::made::evidence;

    /// 10,000 idle threads of the published experiment: two orders a second are left.
    fn left_over(change: &[(&str, f64)]) -> Evidence {
        let signals = [
            ("target.threads", 10_060.0),
            ("target.threads.ran", 7_200.0),
            ("target.cpu.user", 0.25),
            ("target.cpu.system", 0.74),
            ("target.run-queue-wait", 1149.0),
            ("cpu", 1.0),
            ("load.cpu", 0.1),
            ("gc.time", 0.0),
            ("gc.count", 0.0),
        ];
        let mut made = evidence(&[signals.as_slice(), change].concat());
        made.cpus = Some(1.0);
        made.throughput_per_s = Some(2.5);
        made.mean_s = Some(3.6);
        made.in_flight = Some(9.0);
        made.elsewhere = 1.0;
        made
    }

    #[test]
    fn threads_that_wake_up_without_a_request_come_first() {
        let found = idle_threads(&left_over(&[]));
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(
            found.says.contains("7200 of the server's 10060 threads"),
            "{}",
            found.says
        );
        let all = diagnose(&left_over(&[]));
        assert_eq!(
            all.first.as_deref(),
            Some("idle-threads"),
            "{}",
            all.summary
        );
    }

    /// As many wait as there are requests: the queue's length alone does not tell who is in it.
    #[test]
    fn whose_turns_they_are_tells_who_is_in_a_short_queue() {
        let waits = ("target.run-queue-wait", 17.0);
        let short = left_over(&[waits, ("target.time-slices", 9_000.0)]);
        let share = idle_threads(&short).share;
        assert!(share.is_some_and(|share| share > 0.7), "{share:?}");
        assert_eq!(diagnose(&short).first.as_deref(), Some("idle-threads"));
        let untold = left_over(&[waits]);
        assert_eq!(diagnose(&untold).first.as_deref(), Some("cpu"));
    }

    #[test]
    fn threads_that_have_work_or_a_cpu_to_spare_hold_nobody_up() {
        for change in [
            ("cpu", 0.5),
            ("target.threads.ran", 20.0),
            ("target.cpu.system", 0.05),
        ] {
            let found = idle_threads(&left_over(&[change]));
            assert_eq!(
                found.verdict,
                Verdict::NotSupported,
                "{change:?}: {found:#?}"
            );
        }
        let mut many = left_over(&[]);
        many.throughput_per_s = Some(2_000.0);
        assert_eq!(idle_threads(&many).verdict, Verdict::NotSupported);
        assert_eq!(idle_threads(&evidence(&[])).verdict, Verdict::NotMeasured);
    }
}
