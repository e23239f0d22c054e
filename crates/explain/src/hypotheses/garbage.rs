//! The garbage collector stops the application, or takes its CPU.

use crate::evidence::Evidence;
use crate::hypothesis::{Change, Hypothesis, StartChange, Test, Unit, Verdict, all_of, any_of};
use crate::threads::{collectors, request_at_cpu};
use crate::threshold::{
    MATTERS, MATTERS_BECAUSE, PAUSE_OF_P99, PAUSE_OF_P99_BECAUSE, PAUSES_SEEN, SATURATED,
};
use crate::words::{percent, time};

pub(crate) fn garbage(evidence: &Evidence) -> Hypothesis {
    let stopped = evidence.signal("gc.time");
    let pause_s = stopped
        .zip(evidence.signal("gc.count"))
        .and_then(|(time, count)| (count > 0.0).then(|| time / count));
    let of_time = Test::at_least(
        "share of the time in which the collector had stopped the application",
        stopped,
        Unit::Share,
        (MATTERS, MATTERS_BECAUSE),
    )
    .from(&["gc.time"]);
    let meet = meet_a_pause(evidence, pause_s);
    let of_p99 = Test::at_least(
        "mean pause as a share of the 99th percentile, where one request in a hundred meets one",
        pause_of_p99(evidence, stopped, pause_s, meet),
        Unit::Share,
        (PAUSE_OF_P99, PAUSE_OF_P99_BECAUSE),
    )
    .from(&["gc.time", "gc.count", "response_time_ms.p99", "throughput"]);
    let of_cpu = Test::at_least(
        "the collector's threads' share of the server's CPU time",
        cpu_share(evidence),
        Unit::Share,
        (
            MATTERS,
            "work that requests wait for when the CPUs are full; on idle CPUs it costs them nothing",
        ),
    )
    .from(&["census.GC-Thread.cpu", "target.cpu.user"]);
    let full = evidence.signal("cpu").map(|cpu| cpu >= SATURATED);
    let verdict = match stopped {
        None => Verdict::NotMeasured,
        Some(_) => any_of(&[
            of_time.speaks_for,
            of_p99.speaks_for.or(Some(false)),
            all_of(&[of_cpu.speaks_for, full]).or(Some(false)),
        ]),
    };
    let says = says(evidence, stopped, pause_s, &of_cpu);
    // On full CPUs the requests wait for the collector in proportion to what it takes of them.
    let for_its_cpu = of_cpu
        .figure
        .filter(|_| of_cpu.speaks() && full == Some(true));
    let for_its_cpu = for_its_cpu
        .zip(evidence.share_of_requests(request_at_cpu(evidence)))
        .map(|(part, time)| part * time);
    let share = in_pauses(evidence).map(|share| share.max(for_its_cpu.unwrap_or(0.0)));
    Hypothesis::new(
        "garbage-collection",
        "The garbage collector stops the application, or takes its CPU",
    )
    .share(share)
    .test(of_time)
    .test(of_p99)
    .test(of_cpu)
    .test(
        Test::figure("share of the requests that meet a pause", meet, Unit::Share)
            .from(&["gc.count", "throughput", "response_time_ms.mean"]),
    )
    .test(Test::figure("mean pause", pause_s, Unit::Seconds).from(&["gc.time", "gc.count"]))
    .test(Test::figure("collections", evidence.signal("gc.count"), Unit::PerSecond).from(&["gc.count"]))
    .changed("no-garbage", "a load without garbage (a request that allocates next to nothing) at the same rate: if the time stays, it was not the collector", Change::Requests)
    .start("serial", "the same run with another collector than it has, such as `-XX:+UseSerialGC`: if the time goes with the pauses, it was the collector", StartChange::Serial)
    .start("epsilon", "the same run with `-XX:+UseEpsilonGC` and a heap that lasts for the window: if the time goes, it was the collector", StartChange::Epsilon)
    .verdict(verdict, says)
}

/// Share of the requests' time in pauses: while one lasts, more and more of the users who are not
/// waiting for an answer come to wait for it, so that more requests stand still than are in flight
/// on average.
pub(crate) fn in_pauses(evidence: &Evidence) -> Option<f64> {
    let stopped = evidence.signal("gc.time")?;
    let pause_s = evidence
        .signal("gc.count")
        .filter(|count| *count > 0.0)
        .map(|count| stopped / count);
    let known = evidence
        .throughput_per_s
        .zip(evidence.in_flight)
        .zip(pause_s);
    let more = known.map_or(1.0, |((rate, in_flight), pause_s)| {
        let coming = (rate * pause_s / 2.0).min(evidence.elsewhere);
        (in_flight + coming) / in_flight
    });
    Some((stopped * more).min(1.0))
}

/// Only when enough requests meet a pause for the 99th percentile to be one of them.
fn pause_of_p99(
    evidence: &Evidence,
    stopped: Option<f64>,
    pause_s: Option<f64>,
    meet: Option<f64>,
) -> Option<f64> {
    let share = pause_s.unwrap_or(0.0) / evidence.p99_s?;
    let seen = meet.or(stopped)? >= PAUSES_SEEN;
    Some(if seen { share } else { 0.0 })
}

/// Share of the requests that meet a pause: those in flight when it begins, and those that come
/// while it lasts, of users who are not waiting for an answer.
fn meet_a_pause(evidence: &Evidence, pause_s: Option<f64>) -> Option<f64> {
    let (rate, in_flight) = (evidence.throughput_per_s?, evidence.in_flight?);
    let pauses = evidence.signal("gc.count")?;
    let coming = (rate * pause_s.unwrap_or(0.0)).min(evidence.elsewhere);
    Some((pauses * (in_flight + coming) / rate).min(1.0))
}

fn cpu_share(evidence: &Evidence) -> Option<f64> {
    let collectors = collectors(evidence)?;
    evidence
        .target_cpu()
        .filter(|cpu| *cpu > 0.0)
        // The two are read a moment apart.
        .map(|cpu| (collectors.cpu / cpu).min(1.0))
}

fn says(evidence: &Evidence, stopped: Option<f64>, pause_s: Option<f64>, of_cpu: &Test) -> String {
    let Some(stopped) = stopped else {
        return "No figures of a garbage collector were recorded: it is no virtual machine, or one that tells none."
            .to_owned();
    };
    let mut parts = vec![match pause_s {
        Some(pause_s) => format!(
            "The application stood still for {} of the time, {} in the mean each time",
            percent(stopped),
            time(pause_s)
        ),
        None => "There was no collection".to_owned(),
    }];
    if let Some(share) = of_cpu.figure {
        parts.push(format!(
            "the collector's threads took {} of the server's CPU time",
            percent(share)
        ));
    }
    if let Some(p99) = evidence.p99_s {
        parts.push(format!("the 99th percentile is {}", time(p99)));
    }
    format!("{}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    fn verdict(signals: &[(&str, f64)]) -> Verdict {
        garbage(&evidence(signals)).verdict
    }

    #[test]
    fn a_tenth_of_the_time_is_enough() {
        assert_eq!(
            verdict(&[("gc.time", 0.25), ("gc.count", 10.0)]),
            Verdict::Supported
        );
        assert_eq!(
            verdict(&[("gc.time", 0.005), ("gc.count", 1.0)]),
            Verdict::NotSupported
        );
        assert_eq!(
            verdict(&[("gc.time", 0.0), ("gc.count", 0.0)]),
            Verdict::NotSupported
        );
    }

    #[test]
    fn rare_long_pauses_are_the_99th_percentile() {
        // A pause of 200 ms every ten seconds; the 99th percentile is 300 ms.
        assert_eq!(
            verdict(&[("gc.time", 0.02), ("gc.count", 0.1)]),
            Verdict::Supported
        );
        assert_eq!(
            verdict(&[("gc.time", 0.02), ("gc.count", 2.0)]),
            Verdict::NotSupported
        );
    }

    /// Eight users who do not think, answered after 2 ms: at most eight of 4,000 requests meet the
    /// one pause of a second.
    #[test]
    fn pauses_that_few_requests_meet_are_not_the_99th_percentile() {
        let with = |elsewhere| {
            let mut made = evidence(&[("gc.time", 0.012), ("gc.count", 1.0)]);
            made.throughput_per_s = Some(4000.0);
            made.mean_s = Some(0.002);
            made.in_flight = Some(8.0);
            made.p99_s = Some(0.005);
            made.elsewhere = elsewhere;
            garbage(&made).verdict
        };
        assert_eq!(with(0.0), Verdict::NotSupported);
        assert_eq!(
            with(f64::INFINITY),
            Verdict::Supported,
            "48 more come meanwhile at a constant rate"
        );
    }

    /// The published experiment with 10,000 idle threads: 10 users, of whom 5.7 wait on average and
    /// soon all while a collection of half a second lasts.
    #[test]
    fn while_a_pause_lasts_more_users_wait_than_on_average() {
        let mut made = evidence(&[("gc.time", 0.28), ("gc.count", 0.533)]);
        made.throughput_per_s = Some(350.0);
        made.in_flight = Some(5.7);
        made.elsewhere = 4.3;
        let share = garbage(&made).share.unwrap_or_default();
        assert!((share - 0.28 * 10.0 / 5.7).abs() < 1e-9, "{share}");
        made.elsewhere = 0.0;
        let share = garbage(&made).share.unwrap_or_default();
        assert!(
            (share - 0.28).abs() < 1e-9,
            "all of them wait always: {share}"
        );
    }

    #[test]
    fn a_collector_that_works_beside_takes_cpu_only_where_there_is_none_left() {
        let beside = |cpu| {
            verdict(&[
                ("gc.time", 0.001),
                ("gc.count", 1.0),
                ("jvm.threads", 30.0),
                ("census.ZWorkerYoung.cpu", 0.6),
                ("target.cpu.user", 1.8),
                ("target.cpu.system", 0.1),
                ("cpu", cpu),
            ])
        };
        assert_eq!(beside(0.98), Verdict::Supported);
        assert_eq!(beside(0.5), Verdict::NotSupported);
    }

    #[test]
    fn a_server_without_a_collector_is_not_measured() {
        assert_eq!(verdict(&[("cpu", 0.9)]), Verdict::NotMeasured);
    }
}
