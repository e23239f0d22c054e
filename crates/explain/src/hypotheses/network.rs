//! The network loses packets, or connections find no place at the server's door.

use crate::evidence::{CONNECTIONS, Evidence};
use crate::hypotheses::{failing_test, waiting_test};
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of, any_of};
use crate::threshold::{IN_P99, IN_P99_BECAUSE, P99_HAS_TIMER_BECAUSE, RETRANSMISSION_S, SYN_S};
use crate::words::{capital, number, percent};

/// `held`: something else holds those that have a place in the server, so that a queue at its door
/// is not the door's.
pub(crate) fn network(evidence: &Evidence, held: bool) -> Hypothesis {
    let again = SentAgain::of(evidence);
    let waiting = again.map(SentAgain::waiting);
    let at_the_door = accepting(evidence);
    let both = match (waiting, at_the_door.filter(|_| !held)) {
        (None, None) => None,
        (timers, door) => Some(timers.unwrap_or(0.0) + door.unwrap_or(0.0)),
    };
    let share = evidence.share_of_requests(both);
    let in_timers = waiting_test(evidence, "in retransmission timers", waiting)
        .from(&["tcp.retransmissions", "tcp.syn-retries"]);
    let not_accepted = waiting_test(
        evidence,
        "on connections that wait to be accepted",
        at_the_door,
    )
    .from(&["tcp.PORT.accept-queue"]);
    let per_request = Test::at_least(
        "segments sent again",
        evidence.per_request(again.map(SentAgain::all)),
        Unit::PerRequest,
        (IN_P99, IN_P99_BECAUSE),
    )
    .from(&["tcp.retransmissions", "load.tcp.retransmissions"]);
    let p99 = Test::at_least(
        "99th percentile of the response time",
        evidence.p99_s,
        Unit::Seconds,
        (RETRANSMISSION_S, P99_HAS_TIMER_BECAUSE),
    )
    .from(&["response_time_ms.p99"]);
    let refused_at_the_door = Test::at_least(
        "connections dropped by a listener",
        evidence.per_request(evidence.signal("tcp.listen-drops")),
        Unit::PerRequest,
        (IN_P99, "the client then tries again after a second (RFC 6298), and the 99th percentile is one of these"),
    )
    .from(&["tcp.listen-drops"]);
    let failed = failing_test(
        "samples that could not connect or lost their connection",
        evidence.lost(),
    );
    let unknown_host = failing_test(
        "samples whose host was not found by its name",
        evidence.unknown_host(),
    );
    let refused_by_limit = evidence.refuses(CONNECTIONS);
    // Much that is sent again while no request waits for it belongs to somebody else's connections.
    let seen = all_of(&[per_request.speaks_for, p99.speaks_for]);
    let verdict = any_of(&[
        all_of(&[in_timers.speaks_for, p99.speaks_for.or(Some(true))]),
        seen.or(in_timers.speaks_for),
        not_accepted
            .speaks_for
            .map(|waits| waits && !held)
            .or(Some(false)),
        refused_at_the_door.speaks_for.or(Some(false)),
        failed
            .speaks_for
            .map(|failed| failed && !refused_by_limit)
            .or(Some(false)),
        unknown_host.speaks_for.or(Some(false)),
    ]);
    let says = says(
        verdict,
        evidence,
        again,
        held,
        [&not_accepted, &refused_at_the_door, &failed, &unknown_host],
    );
    Hypothesis::new("network", "The network loses packets, or connections find no place at the server's door")
        .share(share)
        .test(in_timers)
        .test(per_request)
        .test(p99)
        .test(share_of_segments(evidence))
        .test(not_accepted)
        .test(refused_at_the_door)
        .test(overflows(evidence))
        .test(failed)
        .test(unknown_host)
        .idea("loopback", "the same load from the server's own machine, over the loopback: if the time stays, it was not the network")
        .idea("capture", "`tcpdump` on both sides during 10 s: a packet that one side sent and the other never saw")
        .verdict(verdict, says)
}

/// Segments sent again per second.
#[derive(Debug, Clone, Copy)]
struct SentAgain {
    data: f64,
    syn: f64,
}

impl SentAgain {
    fn of(evidence: &Evidence) -> Option<Self> {
        let sum = |server: &str, load: &str| match (evidence.signal(server), evidence.signal(load))
        {
            (None, None) => None,
            (server, load) => Some(server.unwrap_or(0.0) + load.unwrap_or(0.0)),
        };
        let all = sum("tcp.retransmissions", "load.tcp.retransmissions")?;
        let syn = sum("tcp.syn-retries", "load.tcp.syn-retries")?;
        Some(Self {
            // The kernel counts SYN packets among all.
            data: (all - syn).max(0.0),
            syn,
        })
    }

    fn all(self) -> f64 {
        self.data + self.syn
    }

    /// Connections that wait for a timer, on average. Data that is sent again quickly, because
    /// later segments of the same answer arrived, waits less: this is the most that it can be.
    fn waiting(self) -> f64 {
        self.data * RETRANSMISSION_S + self.syn * SYN_S
    }
}

/// Share of the requests' time in retransmission timers, at most.
pub(crate) fn in_timers(evidence: &Evidence) -> Option<f64> {
    evidence.share_of_requests(SentAgain::of(evidence).map(SentAgain::waiting))
}

/// Connections that wait to be accepted, on average; those that wait at a gateway in front are not
/// the server's. Of a server whose workers accept themselves (httpd's prefork) they are those that
/// wait for a thread, and of one that has all the connections that it may have those that wait for
/// one of them: they count there.
pub(crate) fn accepting(evidence: &Evidence) -> Option<f64> {
    let wait_for_others = evidence.threads_accept() || evidence.is_full(CONNECTIONS);
    evidence.in_accept_queue().filter(|_| !wait_for_others)
}

fn share_of_segments(evidence: &Evidence) -> Test {
    let again = evidence.signal("tcp.retransmissions");
    let share = again
        .zip(evidence.signal("tcp.segments"))
        .and_then(|(again, sent)| (again + sent > 0.0).then(|| again / (again + sent)));
    Test::figure(
        "share of the segments that were sent again",
        share,
        Unit::Share,
    )
    .from(&["tcp.retransmissions", "tcp.segments"])
}

fn overflows(evidence: &Evidence) -> Test {
    Test::figure(
        "connections that found the accept queue full",
        evidence.signal("tcp.listen-overflows"),
        Unit::PerSecond,
    )
    .from(&["tcp.listen-overflows"])
}

fn says(
    verdict: Verdict,
    evidence: &Evidence,
    again: Option<SentAgain>,
    held: bool,
    [not_accepted, dropped, failed, unknown_host]: [&Test; 4],
) -> String {
    let at_the_door = not_accepted.speaks().then(|| {
        let behind = if held {
            ", because something else holds those that have a place"
        } else {
            ""
        };
        format!(
            "{} connections waited to be accepted, on average{behind}",
            number(accepting(evidence).unwrap_or_default())
        )
    });
    let mut parts: Vec<String> = again
        .map(|again| {
            let rates = format!(
                "{} segments/s were sent again, {} SYN/s among them",
                number(again.all()),
                number(again.syn)
            );
            match evidence.share_of_requests(Some(again.waiting())) {
                Some(share) => format!("{rates}: at most {} of the requests' time", percent(share)),
                None => rates,
            }
        })
        .into_iter()
        .collect();
    parts.extend(at_the_door);
    if dropped.speaks() {
        parts.push(format!(
            "a listener dropped {} connections/s, because its accept queue was full",
            number(evidence.signal("tcp.listen-drops").unwrap_or_default())
        ));
    }
    if failed.speaks() {
        let refused = if evidence.refuses(CONNECTIONS) {
            ", because the server had all the connections that it may have"
        } else {
            ""
        };
        parts.push(format!(
            "{} of the samples failed to connect or lost their connection{refused}",
            percent(failed.figure.unwrap_or_default())
        ));
    }
    if unknown_host.speaks() {
        parts.push(format!(
            "the host of {} of the samples was not found by its name (DNS, or the hosts file of the load generator's machine)",
            percent(unknown_host.figure.unwrap_or_default())
        ));
    }
    if again.is_none() {
        let unknown = "what was sent again on the network was not recorded: the server's machine was not watched";
        parts.push(unknown.to_owned());
    } else if verdict == Verdict::NotMeasured {
        parts.push("how many requests that is among was not recorded".to_owned());
    }
    format!("{}.", capital(&parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    const QUIET: [(&str, f64); 5] = [
        ("tcp.retransmissions", 0.1),
        ("tcp.syn-retries", 0.0),
        ("tcp.segments", 1000.0),
        ("tcp.listen-drops", 0.0),
        ("tcp.listen-overflows", 0.0),
    ];

    fn with(change: &[(&str, f64)]) -> Hypothesis {
        let signals: Vec<(&str, f64)> = QUIET.iter().chain(change).copied().collect();
        network(&evidence(&signals), false)
    }

    #[test]
    fn lost_packets_are_in_the_response_time() {
        let lossy = with(&[("tcp.retransmissions", 20.0), ("tcp.syn-retries", 2.0)]);
        assert_eq!(lossy.verdict, Verdict::Supported, "{lossy:#?}");
        // 18 × 0.2 s + 2 × 1 s of ten requests in flight.
        assert!((lossy.share.unwrap_or_default() - 0.56).abs() < 1e-9);
        assert_eq!(with(&[]).verdict, Verdict::NotSupported);
    }

    #[test]
    fn what_the_load_tools_side_sends_again_counts_too() {
        let lossy = with(&[
            ("load.tcp.retransmissions", 20.0),
            ("load.tcp.syn-retries", 20.0),
        ]);
        assert!(lossy.is_supported(), "{lossy:#?}");
    }

    #[test]
    fn retransmissions_of_others_are_not_the_requests() {
        let mut quick = evidence(&[QUIET.as_slice(), &[("tcp.retransmissions", 20.0)]].concat());
        quick.p99_s = Some(0.02);
        assert_eq!(
            network(&quick, false).verdict,
            Verdict::NotSupported,
            "no request took as long as a timer"
        );
    }

    #[test]
    fn connections_that_wait_to_be_accepted_are_in_the_response_time() {
        let door = with(&[
            ("tcp.8080.accept-queue", 3.0),
            ("tcp.8080.accept-queue.limit", 100.0),
        ]);
        assert!(door.is_supported(), "{door:#?}");
        assert!(
            (door.share.unwrap_or_default() - 0.302).abs() < 1e-9,
            "{door:#?}"
        );
        assert!(
            door.says
                .ends_with("3.00 connections waited to be accepted, on average."),
            "{}",
            door.says
        );
        let held = [QUIET.as_slice(), &[("tcp.8080.accept-queue", 3.0)]].concat();
        let held = network(&evidence(&held), true);
        assert!(!held.is_supported(), "{held:#?}");
        assert!(held.share.unwrap_or_default() < 0.01);
        let prefork = [("tcp.8080.accept-queue", 3.0), ("threads.waiting", 3.0)];
        assert!(!with(&prefork).is_supported(), "they wait for a thread");
        let alone = network(&evidence(&[("tcp.8080.accept-queue", 3.0)]), false);
        assert!(
            alone.is_supported() && alone.says.starts_with("3.00 connections waited"),
            "{}",
            alone.says
        );
        assert!(!with(&[("tcp.gate.accept-queue", 3.0)]).is_supported());
        assert!(!with(&[("tcp.8080.accept-queue", 0.2)]).is_supported());
    }

    #[test]
    fn connections_that_a_listener_drops_wait_a_second() {
        assert!(with(&[("tcp.listen-drops", 5.0)]).is_supported());
    }

    #[test]
    fn failed_connections_are_told_from_other_errors() {
        let failing = |signals: &[(&str, f64)], code: &str| {
            let mut made = evidence(signals);
            made.errors = Some(weir_record::Errors {
                count: 10,
                share: 0.1,
                by_code: [(code.to_owned(), 10)].into(),
            });
            network(&made, false)
        };
        let reset = "Non HTTP response code: java.net.SocketException";
        let unknown = "Non HTTP response code: java.net.UnknownHostException";
        for (code, says) in [
            (reset, "10 % of the samples failed to connect"),
            (unknown, "the host of 10 % of the samples was not found"),
        ] {
            for signals in [&QUIET[..], &[]] {
                let found = failing(signals, code);
                assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
                let told = found.says.to_lowercase();
                assert!(told.contains(&says.to_lowercase()), "{found:#?}");
            }
        }
        assert_eq!(failing(&QUIET, "503").verdict, Verdict::NotSupported);
        let no_port = failing(&QUIET, "Non HTTP response code: java.net.BindException");
        assert_eq!(no_port.verdict, Verdict::NotSupported, "no packet was lost");
    }

    #[test]
    fn a_machine_that_was_not_watched_tells_nothing() {
        assert_eq!(network(&evidence(&[]), false).verdict, Verdict::NotMeasured);
    }
}
