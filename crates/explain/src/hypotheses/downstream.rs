//! Requests wait for answers of what stands behind the server.

use weir_record::Doing;

use crate::evidence::Evidence;
use crate::hypotheses::{of_dumps, waiting_test};
use crate::hypothesis::{Hypothesis, Verdict};

pub(crate) fn downstream(evidence: &Evidence) -> Hypothesis {
    let hypothesis = || {
        Hypothesis::new(
            "downstream",
            "Requests wait for what stands behind the server: a database, another service",
        )
    };
    let what = "for an answer of a database or another service";
    of_dumps(evidence, Doing::WaitsForAnswer, what, hypothesis())
        .unwrap_or_else(|| {
            let untold = waiting_test(evidence, &format!("in threads that wait {what}"), None);
            let says = "What the threads that serve requests wait for was not recorded: it is told by thread dumps, of a \
                        virtual machine that Weir may attach to.";
            let untold = untold.from(Doing::WaitsForAnswer.signals());
            hypothesis().test(untold).verdict(Verdict::NotMeasured, says)
        })
        .idea(
            "called-side",
            "the time of the same calls as the called service sees it: when it is short there, the network or its own queue is between",
        )
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
