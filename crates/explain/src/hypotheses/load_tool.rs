//! The load generator is the limit, and the server is not.

use weir_record::names;

use crate::evidence::Evidence;
use crate::hypotheses::failing_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, any_of};
use crate::threshold::{
    LATE, LATE_BECAUSE, LOAD_CPU, LOAD_CPU_BECAUSE, LOAD_WAIT_BECAUSE, MATTERS, MATTERS_BECAUSE,
};
use crate::words::percent;

pub(crate) fn load_tool(evidence: &Evidence) -> Hypothesis {
    let used = Test::at_least(
        "share of its CPUs that the load generator used",
        cpu_share(evidence),
        Unit::Share,
        (LOAD_CPU, LOAD_CPU_BECAUSE),
    )
    .from(&[names::LOAD_CPU, names::LOAD_CPUS]);
    let late = Test::at_least(
        "share of the users' wake-ups that were more than 10 ms late",
        evidence.signal(names::LATE_SHARE),
        Unit::Share,
        (LATE, LATE_BECAUSE),
    )
    .from(&[names::LATE_SHARE]);
    let waits = Test::at_least(
        "mean wait of the threads that send the load each time they wanted a CPU, as a share of the mean response time",
        wait_share(evidence),
        Unit::Share,
        (MATTERS, LOAD_WAIT_BECAUSE),
    )
    .from(&[names::LOAD_WAIT, names::LOAD_SLICES, "response_time_ms.mean"]);
    let stopped = Test::at_least(
        "share of the time in which the load generator's own collector had stopped it",
        evidence.signal(names::LOAD_GC_PAUSE),
        Unit::Share,
        (MATTERS, MATTERS_BECAUSE),
    )
    .from(&[names::LOAD_GC_PAUSE]);
    let no_port = failing_test(
        "samples for which the load generator's machine had no port left",
        evidence.without_port(),
    );
    let delay = evidence
        .start_delay_s
        .zip(evidence.mean_s)
        .map(|(delay, service)| delay / (delay + service));
    let delayed = Test::figure(
        "open workload: share of the response time before a user was free to send",
        delay,
        Unit::Share,
    )
    .from(&["open.start_delay_ms"]);
    // What it waited is a part of the response times; where it was late or full, nobody knows how
    // large a part.
    let is_only_wait = waits.speaks() && !used.speaks() && !late.speaks() && !stopped.speaks();
    let is_told = |is_load_tool| {
        let mut spoilt = evidence.spoilt.iter();
        spoilt.find(|invalid| invalid.reason.is_load_tool() == is_load_tool)
    };
    let told = is_told(Some(true)).map(|invalid| &invalid.says);
    let cannot_tell = is_told(None).is_some();
    let verdict = match evidence.trial {
        None => Verdict::NotSupported,
        Some(_) => any_of(&[
            (told.is_some() || !cannot_tell).then_some(told.is_some()),
            used.speaks_for,
            late.speaks_for.or(Some(false)),
            waits.speaks_for.or(Some(false)),
            stopped.speaks_for.or(Some(false)),
            no_port.speaks_for.or(Some(false)),
        ]),
    };
    let says = match (evidence.trial, told) {
        (None, _) => "There was no load generator: this is a watch.".to_owned(),
        (_, Some(told)) => format!("The run's own check says: {told}."),
        _ => says(&used, &late, &waits, &stopped, &no_port),
    };
    Hypothesis::new(
        "load-tool",
        "The load generator is the limit, and the server is not",
    )
    .share(wait_share(evidence).filter(|_| is_only_wait && told.is_none()))
    .test(used)
    .test(late)
    .test(waits)
    .test(stopped)
    .test(no_port)
    .test(delayed)
    .idea(
        "second-tool",
        "half the users on a second machine: if the throughput grows, the first one was the limit",
    )
    .idea(
        "keep-alive",
        "the same load with connections that are kept: without a port for each request none can be missing",
    )
    .idea(
        "more-cpus",
        "more CPUs for the load (`--load-cpus`), or less to send",
    )
    .verdict(verdict, says)
}

fn cpu_share(evidence: &Evidence) -> Option<f64> {
    let cpus = evidence
        .signal(names::LOAD_CPUS)
        .filter(|cpus| *cpus > 0.0)?;
    Some(evidence.signal(names::LOAD_CPU)? / cpus)
}

/// An answer counts when its thread has read it, so that a request has at least one of these waits
/// in its time.
fn wait_share(evidence: &Evidence) -> Option<f64> {
    let slices = evidence
        .signal(names::LOAD_SLICES)
        .filter(|slices| *slices > 0.0)?;
    Some(evidence.signal(names::LOAD_WAIT)? / slices / evidence.mean_s?)
}

fn says(used: &Test, late: &Test, waits: &Test, stopped: &Test, no_port: &Test) -> String {
    let paused = stopped.figure.filter(|_| stopped.speaks());
    let waited = waits.figure.filter(|_| waits.speaks());
    let without = no_port.figure.filter(|_| no_port.speaks());
    let parts = [
        used.figure
            .map(|used| format!("it used {} of its CPUs", percent(used))),
        late.figure
            .map(|late| format!("{} of its starts were late", percent(late))),
        waited.map(|share| {
            format!(
                "each time its threads wanted a CPU they waited for {} of a response time",
                percent(share)
            )
        }),
        paused.map(|share| {
            format!(
                "its own collector had stopped it for {} of the time",
                percent(share)
            )
        }),
        without.map(|share| {
            format!(
                "its machine had no port left for {} of the samples: each closed connection keeps one for a minute (TIME_WAIT)",
                percent(share)
            )
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "Nothing was recorded of the load generator.".to_owned()
    } else {
        format!("Of the load generator: {}.", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use weir_record::{Errors, Invalid, InvalidReason};

    use super::*;
    use crate::evidence::made::evidence;

    fn verdict(signals: &[(&str, f64)]) -> Verdict {
        load_tool(&evidence(signals)).verdict
    }

    #[test]
    fn a_busy_or_late_load_tool_is_the_limit() {
        assert_eq!(
            verdict(&[("load.cpu", 0.9), ("load.cpus", 1.0)]),
            Verdict::Supported
        );
        assert_eq!(
            verdict(&[("load.cpu", 0.9), ("load.cpus", 2.0)]),
            Verdict::NotSupported
        );
        let late = [
            ("load.cpu", 0.1),
            ("load.cpus", 1.0),
            ("load.late-share", 0.05),
        ];
        assert_eq!(verdict(&late), Verdict::Supported);
        assert_eq!(verdict(&[]), Verdict::NotMeasured);
    }

    /// Six neighbours on its CPU: it uses little of it, and nobody who does not think can be late.
    #[test]
    fn a_load_tool_that_waits_for_its_cpu_is_the_limit() {
        let starved = |waited| {
            let mut made = evidence(&[
                ("load.cpu", 0.14),
                ("load.cpus", 1.0),
                ("load.run-queue-wait", waited),
                ("load.time-slices", 50.0),
            ]);
            made.mean_s = Some(0.02);
            load_tool(&made)
        };
        let found = starved(0.8);
        assert_eq!(found.verdict, Verdict::Supported, "16 of 20 ms");
        assert!(
            found
                .says
                .ends_with("they waited for 80 % of a response time."),
            "{}",
            found.says
        );
        assert_eq!(starved(0.05).verdict, Verdict::NotSupported, "1 of 20 ms");
    }

    #[test]
    fn a_load_tool_that_its_own_collector_stops_is_the_limit() {
        let found = load_tool(&evidence(&[
            ("load.cpu", 0.1),
            ("load.cpus", 1.0),
            (names::LOAD_GC_PAUSE, 0.3),
        ]));
        assert_eq!(found.verdict, Verdict::Supported);
        let why = "its own collector had stopped it for 30 % of the time.";
        assert!(found.says.ends_with(why), "{}", found.says);
    }

    /// A connection for each request, 28,000 of them in a minute.
    #[test]
    fn a_machine_without_a_port_left_is_the_load_tools() {
        let mut made = evidence(&[]);
        let code = "Non HTTP response code: java.net.BindException";
        made.errors = Some(Errors {
            count: 40,
            share: 0.4,
            by_code: [(code.to_owned(), 40)].into(),
        });
        let found = load_tool(&made);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(found.says.contains("no port left for 40 %"), "{found:#?}");
        assert_eq!(made.lost(), Some(0.0), "the network loses none of them");
    }

    #[test]
    fn what_made_a_trial_invalid_is_taken_over() {
        let mut made = evidence(&[("load.cpu", 0.1), ("load.cpus", 1.0)]);
        let mut verdict = |reason: InvalidReason| {
            made.spoilt = vec![Invalid::from(reason)];
            load_tool(&made).verdict
        };
        let (samples, missed, of) = (7, 12, 60);
        let late = InvalidReason::LoadToolWroteLate { samples };
        assert_eq!(verdict(late), Verdict::Supported);
        let missed = InvalidReason::SecondsMissed { missed, of };
        assert_eq!(verdict(missed), Verdict::NotSupported);
        // A run of an earlier version has sentences only: nothing is concluded from words.
        assert_eq!(verdict(InvalidReason::Untold), Verdict::NotMeasured);
    }

    #[test]
    fn a_watch_has_no_load_tool() {
        let mut made = evidence(&[]);
        made.trial = None;
        assert_eq!(load_tool(&made).verdict, Verdict::NotSupported);
    }
}
