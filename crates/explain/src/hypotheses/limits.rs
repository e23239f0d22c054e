//! A pool or another limit of the funnel holds requests back.

use weir_metric::is_pool;
use weir_record::{Doing, are_most};

use crate::evidence::{CONNECTIONS, Evidence, GATE};
use crate::hypotheses::{cpu, waiting_test};
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threshold::{
    FAILURES, FULL, FULL_BECAUSE, FULL_POOL, FULL_POOL_BECAUSE, REFUSED_BECAUSE,
};
use crate::words::{number, percent, time};

const TWICE: &str = "the same run with twice the limit: if requests wait as long as before somewhere else, it was not the limit";

/// What a stage shows.
struct Stage {
    name: String,
    waits: Test,
    full: Test,
    /// Whether it refuses requests, where that is told or seen.
    refuses: Option<Test>,
    waiting: Option<f64>,
    /// The rate at which it lets in, and the most that it may: where that is what fills it.
    at_rate: Option<(f64, f64)>,
}

/// What holds the requests that have a place in a full stage.
#[derive(Debug, Clone, Copy)]
enum Behind<'w> {
    Known(&'w str),
    /// The CPUs are full; whether with the server's work was not recorded.
    FullCpus,
}

/// `behind` is whether something inside the server was found that holds up requests which have
/// their place already: a stage in front of it is full then because of that.
pub(crate) fn limits(evidence: &Evidence, behind: Option<&str>) -> Hypothesis {
    let stages = stages(evidence);
    let cpu_full = cpu::holds(evidence);
    // The innermost one is what the others wait behind.
    let innermost = stages.iter().rfind(|stage| stage.holds() == Some(true));
    let unknown = stages.is_empty() || stages.iter().any(|stage| stage.holds().is_none());
    let is_held =
        innermost.is_some_and(|stage| cpu_full != Some(false) || stage.stands_before(behind));
    // Whatever makes those slow that have a place: who was refused was refused by a limit.
    let refusing = stages.iter().rfind(|stage| stage.refuses());
    let innermost = refusing.filter(|_| is_held).or(innermost);
    let verdict = match innermost {
        Some(stage) if stage.refuses() => Verdict::Supported,
        Some(_) if cpu_full == Some(true) => Verdict::NotSupported,
        Some(_) if cpu_full.is_none() => Verdict::NotMeasured,
        Some(_) if is_held => Verdict::NotSupported,
        Some(_) => Verdict::Supported,
        None if unknown => Verdict::NotMeasured,
        None => Verdict::NotSupported,
    };
    let says = says(
        evidence,
        verdict,
        &stages,
        innermost,
        match cpu_full {
            Some(true) => Some(Behind::Known("the CPU")),
            None => Some(Behind::FullCpus),
            Some(false) => behind.map(Behind::Known),
        },
    );
    // Where none is full, what waits all the same: two runs are compared by it.
    let most = innermost.or_else(|| {
        let waiting = |stage: &&Stage| stage.waiting.unwrap_or(0.0);
        stages
            .iter()
            .filter(|stage| stage.waiting.is_some())
            .max_by(|a, b| waiting(a).total_cmp(&waiting(b)))
    });
    // Who is refused waits for nothing.
    let waits =
        |stage: &&Stage| !stage.refuses() || stage.waiting.is_some_and(|waiting| waiting > 0.0);
    let share = most
        .filter(waits)
        .and_then(|stage| evidence.share_of_requests(stage.waiting));
    let twice = innermost.map(|stage| stage.name.clone());
    let mut hypothesis = Hypothesis::new(
        "limit",
        "A pool or another limit of the server holds requests back",
    )
    .share(share);
    for stage in stages {
        hypothesis = hypothesis.test(stage.waits).test(stage.full);
        hypothesis = stage.refuses.into_iter().fold(hypothesis, Hypothesis::test);
    }
    let hypothesis = match twice {
        Some(stage) => hypothesis.trial("twice", TWICE, (&stage, 2.0)),
        None => hypothesis.idea("twice", TWICE),
    };
    hypothesis.verdict(verdict, says)
}

/// Threads or connections that are all taken while requests wait for one: how many are taken, and
/// how many wait. The innermost such stage, unless a pool or a cap on the rate is further in.
pub(crate) fn all_taken(evidence: &Evidence) -> Option<(f64, f64)> {
    let innermost = stages(evidence)
        .into_iter()
        .rfind(|stage| stage.holds() == Some(true) && !stage.refuses())
        .filter(|stage| !stage.is_by_itself())?;
    let taken = evidence.signal(&format!("{}.occupancy", innermost.name))?;
    Some((taken, innermost.waiting?))
}

impl Stage {
    /// Whether requests wait for it while it is full, or are refused because it is.
    fn holds(&self) -> Option<bool> {
        let waits = all_of(&[self.waits.speaks_for, self.full.speaks_for]);
        if self.refuses() { Some(true) } else { waits }
    }

    /// Whether it is in front of what holds those that have a place: a pool and a cap on the rate
    /// are told apart from that by themselves.
    fn stands_before(&self, holder: Option<&str>) -> bool {
        holder.is_some() && !self.is_by_itself()
    }

    fn is_by_itself(&self) -> bool {
        is_pool(&self.name) || self.at_rate.is_some()
    }

    fn refuses(&self) -> bool {
        self.refuses.as_ref().is_some_and(Test::speaks)
    }
}

/// What is known of each stage, innermost last. Of a gateway that holds classes of requests one by
/// one, each is a stage; the one with most that wait is the last of them.
fn stages(evidence: &Evidence) -> Vec<Stage> {
    let mut classes = evidence.capped_classes();
    let waiting = |class: &String| evidence.waiting(class).unwrap_or(0.0);
    classes.sort_by(|a, b| waiting(a).total_cmp(&waiting(b)));
    let names = evidence.stages().into_iter();
    let names = names.filter(|name| name != GATE || classes.is_empty());
    let names: Vec<String> = classes.iter().cloned().chain(names).collect();
    let known = names.into_iter().filter_map(|name| stage(evidence, name));
    known.collect()
}

fn stage(evidence: &Evidence, name: String) -> Option<Stage> {
    // Who waits in the request queue waits for the threads: one stage, told once. Whose workers
    // accept themselves wait in the same queue.
    let is_connections = name == CONNECTIONS;
    if name == "request-queue" || (is_connections && evidence.threads_accept()) {
        return None;
    }
    let waiting = if is_connections {
        evidence.in_accept_queue()
    } else {
        evidence.waiting(&name)
    };
    // Connections are held while nobody asks for anything: a limit that is not known says nothing.
    let refused = evidence.refused(&name);
    if is_connections && (waiting.is_none() && refused.is_none() || evidence.limit(&name).is_none())
    {
        return None;
    }
    let occupancy = evidence.signal(&format!("{name}.occupancy"));
    let limit = evidence.limit(&name);
    if waiting.is_none() && (occupancy.is_none() || limit.is_none()) {
        return None;
    }
    let signal = |figure: &str| format!("{name}.{figure}");
    let taken = occupancy.zip(limit).map(|(used, limit)| used / limit);
    let at_rate = evidence
        .signal(&signal("entries"))
        .zip(evidence.signal(&signal("rate-limit")))
        .filter(|(entries, most)| taken.is_none_or(|taken| taken < entries / most));
    let waits = waiting_test(evidence, &format!("waiting for `{name}`"), waiting)
        .from(&[&signal("waiting"), &signal("wait")]);
    let waited_for = evidence
        .signal(&signal("full"))
        .filter(|share| *share > 0.0);
    let full = if let Some((entries, most)) = at_rate {
        let what = format!("what `{name}` let in, over the rate that it may");
        Test::at_least(
            what,
            Some(entries / most),
            Unit::Share,
            (FULL, FULL_BECAUSE),
        )
        .from(&[&signal("entries"), &signal("rate-limit")])
    } else if let Some((taken, waited_for)) = taken.zip(waited_for) {
        let what = format!(
            "share of the places of `{name}` that were taken, over the share of the time in which somebody waited for one"
        );
        let while_waiting = (taken / waited_for).min(1.0);
        Test::at_least(
            what,
            Some(while_waiting),
            Unit::Share,
            (FULL_POOL, FULL_POOL_BECAUSE),
        )
        .from(&[&signal("occupancy"), &signal("limit"), &signal("full")])
    } else {
        let what = format!("share of the places of `{name}` that were taken");
        Test::at_least(what, taken, Unit::Share, (FULL, FULL_BECAUSE))
            .from(&[&signal("occupancy"), &signal("limit")])
    };
    let refuses = refused.map(|share| {
        Test::at_least(
            format!("share of the requests that `{name}` refused"),
            Some(share),
            Unit::Share,
            (FAILURES, REFUSED_BECAUSE),
        )
        .from(&[&signal("refused"), "errors.by_code"])
    });
    Some(Stage {
        name,
        waits,
        full,
        refuses,
        waiting,
        at_rate,
    })
}

fn says(
    evidence: &Evidence,
    verdict: Verdict,
    stages: &[Stage],
    innermost: Option<&Stage>,
    behind: Option<Behind<'_>>,
) -> String {
    if stages.is_empty() {
        return "The server's stages were not recorded: it tells no figures of its threads and pools, or none were read."
            .to_owned();
    }
    let Some(stage) = innermost else {
        let fullest = stages
            .iter()
            .filter_map(|stage| Some((stage, stage.full.figure?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        return match (verdict, fullest) {
            (Verdict::NotSupported, Some((stage, used))) => format!(
                "No stage was full with requests waiting for it; the fullest is `{}` with {} of its places taken.",
                stage.name,
                percent(used)
            ),
            _ => "Of some stages either what waits for them or their limit was not recorded, and no other was full.".to_owned(),
        };
    };
    let limit = evidence
        .limit(&stage.name)
        .map_or_else(String::new, |limit| format!(" (limit {})", number(limit)));
    let wait = evidence
        .signal(&format!("{}.wait", stage.name))
        .map_or_else(String::new, |wait| format!(", {} each", time(wait)));
    let waiting = number(stage.waiting.unwrap_or_default());
    let refused = stage.refuses.as_ref().filter(|refuses| refuses.speaks());
    let what = match stage.at_rate {
        _ if refused.is_some() => format!(
            "`{}`{limit} was full, and refused {} of the requests",
            stage.name,
            percent(
                refused
                    .and_then(|refuses| refuses.figure)
                    .unwrap_or_default()
            )
        ),
        Some((entries, most)) => format!(
            "`{}` lets in at most {} requests a second. It let in {}, and {waiting} waited for it on average{wait}: the cap \
             does what it is there for",
            stage.name,
            number(most),
            number(entries)
        ),
        None => format!(
            "`{}`{limit} was full{}, and {waiting} requests waited for it on average{wait}",
            stage.name,
            in_bursts(evidence, stage)
        ),
    };
    match behind.filter(|_| verdict != Verdict::Supported) {
        Some(Behind::FullCpus) => format!(
            "{what}. But the CPUs were full as well, and whether they hold those that have a place was not recorded: name the server's process."
        ),
        Some(Behind::Known(behind)) => format!(
            "{what}. But {behind} is what holds those that have a place: a higher limit would only move the queue there."
        ),
        None => format!("{what}.{}", left_open(evidence, stage)),
    }
}

/// For how much of the time it was full, where it has room on average.
fn in_bursts(evidence: &Evidence, stage: &Stage) -> String {
    let waited_for = evidence
        .signal(&format!("{}.full", stage.name))
        .filter(|share| *share < FULL && !evidence.is_full(&stage.name));
    waited_for.map_or_else(String::new, |share| {
        format!(" {} of the time", percent(share))
    })
}

/// Whether a higher limit helps depends on what those wait for that have a place: what is known of
/// that and leaves it open.
fn left_open(evidence: &Evidence, stage: &Stage) -> String {
    if stage.is_by_itself() || stage.refuses() {
        return String::new();
    }
    let taken = evidence.signal(&format!("{}.occupancy", stage.name));
    match evidence.requests(Doing::WaitsForAnswer).zip(taken) {
        Some((waiting, taken)) if are_most(waiting, taken) => format!(
            " {} of those that have a place wait for another service: a higher limit helps as far as that one can take more.",
            number(waiting)
        ),
        None if evidence.signal("request-threads.seen").is_none() => {
            " What those wait for that have a place was not recorded: a higher limit helps only if there is room behind it."
                .to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    const STARVED: [(&str, f64); 6] = [
        ("pool.db.waiting", 6.0),
        ("pool.db.wait", 0.06),
        ("pool.db.occupancy", 2.0),
        ("pool.db.limit", 2.0),
        ("threads.occupancy", 9.0),
        ("threads.limit", 50.0),
    ];

    /// What is said of a pool with so many places of so many taken, this many waiting, and somebody
    /// for this share of the time.
    fn of_pool(taken: (f64, f64), waiting: f64, share: f64) -> Hypothesis {
        let signals = [
            ("cpu", 0.16),
            ("pool.db.occupancy", taken.0),
            ("pool.db.limit", taken.1),
            ("pool.db.waiting", waiting),
            ("pool.db.full", share),
        ];
        limits(&evidence(&signals), None)
    }

    /// A pool of one, of a Tomcat: it is free for a moment between one request and the next.
    #[test]
    fn a_pool_that_somebody_always_waits_for_is_full() {
        let small = of_pool((0.9, 1.0), 8.0, 1.0);
        assert_eq!(small.verdict, Verdict::Supported);
        assert!(
            small
                .says
                .contains("`pool.db` (limit 1.00) was full, and 8.00 requests"),
            "{}",
            small.says
        );
        let slow = of_pool((0.2, 1.0), 8.0, 1.0);
        assert_eq!(slow.verdict, Verdict::NotSupported, "it is slow to fill");
    }

    /// Requests that come in bursts, on Spring Boot: two of three connections in use on average,
    /// none free while somebody waits.
    #[test]
    fn a_pool_that_is_full_in_bursts_is_what_they_wait_for() {
        let bursts = of_pool((1.8, 3.0), 4.2, 0.6);
        assert_eq!(bursts.verdict, Verdict::Supported);
        assert!(
            bursts
                .says
                .contains("`pool.db` (limit 3.00) was full 60 % of the time, and 4.20"),
            "{}",
            bursts.says
        );
        let nobody = of_pool((1.8, 3.0), 0.0, 0.0);
        assert_eq!(nobody.verdict, Verdict::NotSupported);
    }

    #[test]
    fn a_full_pool_with_requests_waiting_for_it() {
        let small = limits(&evidence(&STARVED), None);
        assert_eq!(
            (small.verdict, small.share),
            (Verdict::Supported, Some(0.6))
        );
        assert!(
            small.says.contains("`pool.db` (limit 2.00) was full"),
            "{}",
            small.says
        );
    }

    #[test]
    fn connections_wait_outside_of_a_server_that_has_all_it_may_have() {
        let full = [
            ("connections.occupancy", 10.0),
            ("connections.limit", 10.0),
            ("tcp.8080.accept-queue", 20.0),
            ("threads.occupancy", 10.0),
            ("threads.limit", 200.0),
            ("request-queue.waiting", 0.0),
        ];
        let found = limits(&evidence(&full), None);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(found.says.contains("`connections`"), "{}", found.says);
        let ample = [full.as_slice(), &[("connections.limit", 100.0)]].concat();
        let found = limits(&evidence(&ample), None);
        assert_eq!(found.verdict, Verdict::NotSupported, "{found:#?}");
    }

    /// E1 with 40 connections and 60 users: most of them find none.
    #[test]
    fn connections_that_are_refused_are_the_limits_and_not_the_networks() {
        let told = [
            ("connections.occupancy", 39.9),
            ("connections.limit", 40.0),
            ("tcp.8080.accept-queue", 0.0),
            ("tcp.retransmissions", 0.0),
            ("tcp.syn-retries", 0.0),
            ("threads.occupancy", 5.0),
            ("threads.limit", 200.0),
            ("request-queue.waiting", 0.0),
        ];
        let refused = |signals: &[(&str, f64)], share: f64| {
            let mut made = evidence(signals);
            let code = "Non HTTP response code: org.apache.http.NoHttpResponseException";
            made.errors = Some(weir_record::Errors {
                count: 62,
                share,
                by_code: [(code.to_owned(), 62)].into(),
            });
            made
        };
        let full = refused(&told, 0.62);
        let found = limits(&full, None);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(
            found.says.contains("refused 62 % of the requests"),
            "{}",
            found.says
        );
        let all = crate::diagnosis::diagnose(&full);
        assert_eq!(all.first.as_deref(), Some("limit"), "{}", all.summary);
        let busy = [
            told.as_slice(),
            &[("target.run-queue-wait", 2.0), ("cpu", 0.5)],
        ]
        .concat();
        let all = crate::diagnosis::diagnose(&refused(&busy, 0.62));
        assert_eq!(
            all.first.as_deref(),
            Some("limit"),
            "more requests are refused than time is waited for a CPU: {}",
            all.summary
        );
        assert!(!all.hypothesis("network").unwrap().is_supported());
        let own = [
            ("cpu", 0.93),
            ("target.cpu.user", 1.7),
            ("target.cpu.system", 0.1),
        ];
        let full = [told.as_slice(), &own].concat();
        let all = crate::diagnosis::diagnose(&refused(&full, 0.62));
        assert_eq!(
            all.first.as_deref(),
            Some("limit"),
            "a full CPU refuses nobody: {}",
            all.summary
        );
        assert!(all.hypothesis("cpu").unwrap().is_supported());
        let held = limits(&refused(&told, 0.62), Some("a lock"));
        assert_eq!(held.verdict, Verdict::Supported, "nor does a lock");
        let ample = [told.as_slice(), &[("connections.limit", 8192.0)]].concat();
        let all = crate::diagnosis::diagnose(&refused(&ample, 0.62));
        assert_eq!(all.first.as_deref(), Some("network"), "nobody knows whose");
        let counted = [ample.as_slice(), &[("connections.refused", 60.0)]].concat();
        let found = limits(&refused(&counted, 0.62), None);
        assert_eq!(found.verdict, Verdict::Supported, "the server counts them");
    }

    #[test]
    fn a_cap_on_the_rate_holds_what_waits_in_front_of_it() {
        let capped = [
            ("gate.waiting", 9.0),
            ("gate.wait", 0.18),
            ("gate.entries", 49.9),
            ("gate.rate-limit", 50.0),
            ("gate.occupancy", 0.4),
            ("threads.occupancy", 0.4),
            ("threads.limit", 50.0),
            ("request-queue.waiting", 0.0),
        ];
        let found = limits(&evidence(&capped), Some("a lock"));
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(
            found.says.contains("the cap does what it is there for"),
            "{}",
            found.says
        );
        let below = [capped.as_slice(), &[("gate.entries", 30.0)]].concat();
        let found = limits(&evidence(&below), None);
        assert_eq!(found.verdict, Verdict::NotSupported, "{found:#?}");
    }

    /// E1 with 60 users behind a cap for each kind of request.
    #[test]
    fn a_class_of_a_gateway_holds_what_waits_for_it() {
        let capped = [
            ("gate.waiting", 19.6),
            ("gate.occupancy", 33.0),
            ("gate.db-heavy.waiting", 8.9),
            ("gate.db-heavy.occupancy", 19.0),
            ("gate.db-heavy.limit", 19.0),
            ("gate.cpu-heavy.waiting", 10.7),
            ("gate.cpu-heavy.occupancy", 13.9),
            ("gate.cpu-heavy.limit", 14.0),
            ("threads.occupancy", 33.0),
            ("threads.limit", 200.0),
            ("request-queue.waiting", 0.0),
        ];
        let found = limits(&evidence(&capped), None);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        let says = "`gate.cpu-heavy` (limit 14.0) was full, and 10.7 requests waited";
        assert!(found.says.contains(says), "{}", found.says);
        let mut free = capped;
        for (_, limit) in free
            .iter_mut()
            .filter(|(name, _)| name.contains("heavy.limit"))
        {
            *limit = 200.0;
        }
        let found = limits(&evidence(&free), None);
        assert_eq!(found.verdict, Verdict::NotSupported, "{found:#?}");
        // One class is held, the other is not.
        let one = [&capped[..5], &capped[8..]].concat();
        let found = limits(&evidence(&one), None);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        assert!(found.says.contains("`gate.db-heavy`"), "{}", found.says);
    }

    #[test]
    fn a_stage_in_front_of_full_cpus_is_not_the_cause() {
        let own = [
            ("cpu", 0.98),
            ("target.cpu.user", 1.8),
            ("target.cpu.system", 0.1),
        ];
        let full = evidence(&[STARVED.as_slice(), &own].concat());
        let found = limits(&full, None);
        assert_eq!(found.verdict, Verdict::NotSupported);
        assert!(
            found.says.contains("But the CPU is what holds"),
            "{}",
            found.says
        );
    }

    #[test]
    fn full_cpus_of_nobody_knows_whom_leave_it_open() {
        let full = evidence(&[STARVED.as_slice(), &[("cpu", 0.98)]].concat());
        let found = limits(&full, None);
        assert_eq!(found.verdict, Verdict::NotMeasured);
        assert!(
            found.says.ends_with("name the server's process."),
            "{}",
            found.says
        );
    }

    #[test]
    fn cpus_that_others_fill_while_nobody_waits_for_them_hold_nothing() {
        let idle = [
            ("cpu", 0.98),
            ("target.cpu.user", 0.02),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 0.01),
        ];
        let small = limits(&evidence(&[STARVED.as_slice(), &idle].concat()), None);
        assert_eq!(small.verdict, Verdict::Supported, "{small:#?}");
    }

    #[test]
    fn threads_that_are_held_by_something_else_are_not_the_cause() {
        let full = [
            ("threads.occupancy", 50.0),
            ("threads.limit", 50.0),
            ("request-queue.waiting", 5.0),
        ];
        let verdict = |behind| limits(&evidence(&full), behind).verdict;
        assert_eq!(verdict(Some("the disk")), Verdict::NotSupported);
        assert_eq!(verdict(None), Verdict::Supported);
    }

    #[test]
    fn ample_stages_speak_against_it_and_unknown_ones_leave_it_open() {
        let ample = [
            ("threads.occupancy", 5.0),
            ("threads.limit", 50.0),
            ("request-queue.waiting", 0.0),
        ];
        assert_eq!(
            limits(&evidence(&ample), None).verdict,
            Verdict::NotSupported
        );
        assert_eq!(
            limits(&evidence(&ample[..1]), None).verdict,
            Verdict::NotMeasured
        );
        assert_eq!(limits(&evidence(&[]), None).verdict, Verdict::NotMeasured);
    }
}
