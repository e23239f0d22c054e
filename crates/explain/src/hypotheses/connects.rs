//! Requests wait for connections to be made: each on one of its own, or kept ones that the server
//! has closed.

use weir_record::names;

use crate::evidence::Evidence;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict};
use crate::threshold::{FAILURES, RESENT_BECAUSE};
use crate::words::{number, percent};

/// From so many connections a request on most requests have one of their own.
const OF_THEIR_OWN: f64 = 0.5;

/// `None` where the load did not tell how long connecting took. `door` is what else holds
/// connections up: packets that are lost, a limit or a backlog that is full.
pub(crate) fn connects(evidence: &Evidence, door: Option<&str>) -> Option<Hypothesis> {
    let connecting = evidence.signal(names::CONNECTING)?;
    let share = evidence.share_of_requests(Some(connecting));
    let waits = waiting_test(
        evidence,
        "on connections that are being made",
        Some(connecting),
    )
    .from(&[names::CONNECTING]);
    let each = evidence.per_request(evidence.signal(names::CONNECTED));
    let made = Test::figure("connections that were made", each, Unit::PerRequest)
        .from(&[names::CONNECTED]);
    let again = evidence.per_request(evidence.signal(names::RESENDS));
    let resent = Test::at_least(
        "requests that were sent on a second connection",
        again,
        Unit::PerRequest,
        (FAILURES, RESENT_BECAUSE),
    )
    .from(&[names::RESENDS]);
    let verdict = match waits.speaks_for {
        Some(true) if door.is_some() => Verdict::NotSupported,
        Some(true) => Verdict::Supported,
        Some(false) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let says = says(
        connecting,
        share,
        each,
        door.filter(|_| waits.speaks()),
        &resent,
    );
    Some(
        Hypothesis::new("connects", "Requests wait for connections to be made")
            .share(share)
            .test(waits)
            .test(made)
            .test(resent)
            .idea(
                "keep-alive",
                "the same load with connections that are kept (in a JMeter plan *Use KeepAlive*; a proxy that keeps some to \
                 the server): the wait goes, if it was the making of them",
            )
            .verdict(verdict, says),
    )
}

fn says(
    connecting: f64,
    share: Option<f64>,
    each: Option<f64>,
    door: Option<&str>,
    resent: &Test,
) -> String {
    let of_time = share.map_or_else(String::new, |share| {
        format!(", {} of the requests' time", percent(share))
    });
    let waited = format!(
        "{} requests had a connection made on average{of_time}, with names looked up and handshakes of TLS",
        number(connecting)
    );
    let each = each.map(|each| {
        if each >= OF_THEIR_OWN {
            "most requests had one of their own: they are not kept".to_owned()
        } else {
            format!("{} were made a request: most were kept", number(each))
        }
    });
    let closed = resent.figure.filter(|_| resent.speaks()).map(|share| {
        format!(
            "{} of the requests met a connection that the server had closed: its time-out for kept connections, or its number \
             of requests on one, is less than the load's pauses need",
            percent(share)
        )
    });
    let door = door.map(|door| format!("but what holds connections up is {door}"));
    let parts = [Some(waited), each, closed, door];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}.", parts.join("; "))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    /// Ten requests in flight, 100 a second.
    fn of(connecting: f64, made: f64, resent: f64) -> Hypothesis {
        let told = [
            (names::CONNECTING, connecting),
            (names::CONNECTED, made),
            (names::RESENDS, resent),
        ];
        connects(&evidence(&told), None).unwrap()
    }

    #[test]
    fn connections_that_are_not_kept_take_time() {
        let tls = of(4.0, 100.0, 0.0);
        assert_eq!((tls.verdict, tls.share), (Verdict::Supported, Some(0.4)));
        assert!(tls.says.contains("one of their own"), "{}", tls.says);
        let near = of(0.2, 100.0, 0.0);
        assert_eq!(near.verdict, Verdict::NotSupported, "{}", near.says);
        assert!(connects(&evidence(&[]), None).is_none(), "nobody has told");
    }

    #[test]
    fn kept_connections_that_the_server_closes_are_told() {
        let closed = of(1.5, 30.0, 29.0);
        assert_eq!(closed.verdict, Verdict::Supported);
        assert!(
            closed
                .says
                .contains("29 % of the requests met a connection"),
            "{}",
            closed.says
        );
        assert!(!of(1.5, 30.0, 0.0).says.contains("had closed"));
    }

    #[test]
    fn who_waits_at_the_door_waits_for_what_holds_it() {
        let told = [(names::CONNECTING, 5.0), (names::CONNECTED, 100.0)];
        let held = connects(&evidence(&told), Some("the network")).unwrap();
        assert_eq!(held.verdict, Verdict::NotSupported);
        assert!(
            held.says
                .ends_with("but what holds connections up is the network."),
            "{}",
            held.says
        );
    }
}
