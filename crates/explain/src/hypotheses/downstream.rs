//! Requests wait for answers of what stands behind the server.

use weir_record::Doing;

use crate::evidence::Evidence;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, any_of};
use crate::words::{number, percent};

pub(crate) fn downstream(evidence: &Evidence) -> Hypothesis {
    let waiting = evidence.requests(Doing::WaitsForAnswer);
    let waits = waiting_test(
        evidence,
        "in threads that wait for bytes of a socket, or for a client's answer",
        waiting,
    )
    .from(Doing::WaitsForAnswer.signals());
    let verdict = any_of(&[waits.speaks_for]);
    let share = evidence.share_of_requests(waiting);
    let says = waiting.map_or_else(
        || {
            "What the threads that serve requests wait for was not recorded: it is told by thread dumps, of a virtual \
             machine that Weir may attach to."
                .to_owned()
        },
        |waiting| {
            let share = share.map_or_else(String::new, |share| {
                format!(", {} of the requests' time", percent(share))
            });
            format!(
                "{} of the threads that serve requests waited for an answer on average{share}: of a database or another \
                 service.",
                number(waiting)
            )
        },
    );
    Hypothesis::new(
        "downstream",
        "Requests wait for what stands behind the server: a database, another service",
    )
    .share(share)
    .test(waits)
    .idea(
        "called-side",
        "the time of the same calls as the called service sees it: when it is short there, the network or its own queue is between",
    )
    .verdict(verdict, says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;
    use crate::hypothesis::Verdict;

    #[test]
    fn threads_that_wait_for_a_socket_wait_for_somebody_else() {
        let verdict = |answer: f64| {
            let told = [
                ("request-threads.seen", 8.0),
                ("request-threads.answer", answer),
                ("threads.occupancy", 8.0),
            ];
            downstream(&evidence(&told)).verdict
        };
        assert_eq!(verdict(6.0), Verdict::Supported);
        assert_eq!(verdict(0.2), Verdict::NotSupported);
        let untold = downstream(&evidence(&[]));
        assert_eq!(untold.verdict, Verdict::NotMeasured);
        assert!(untold.says.contains("thread dumps"), "{}", untold.says);
    }
}
