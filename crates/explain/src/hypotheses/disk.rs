//! Requests wait for storage.

use crate::evidence::Evidence;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, Test, Unit, all_of, any_of};
use crate::threshold::{IO_STALL_BECAUSE, MATTERS};
use crate::words::{number, percent};

pub(crate) fn disk(evidence: &Evidence) -> Hypothesis {
    let blocked = evidence.signal("target.blocked");
    let waits = waiting_test(evidence, "asleep in the kernel for storage", blocked)
        .from(&["target.blocked"]);
    let stalled = Test::at_least(
        "share of the time in which a task of the machine waited for storage",
        evidence.signal("pressure.io.some"),
        Unit::Share,
        (MATTERS, IO_STALL_BECAUSE),
    )
    .from(&["pressure.io.some"]);
    let transferred = evidence.sum("target.storage.read", "target.storage.written");
    let verdict = any_of(&[match waits.speaks_for {
        Some(waits) => Some(waits),
        // Without the threads' own state: somebody waited, and the server is one who uses storage.
        None => all_of(&[stalled.speaks_for, transferred.map(|bytes| bytes > 0.0)]),
    }]);
    let share = evidence.share_of_requests(blocked);
    let says = match (blocked, stalled.figure) {
        (None, None) if transferred.is_none() => "Waiting for storage was not recorded.".to_owned(),
        (blocked, stalled) => {
            let blocked = blocked.map(|blocked| {
                let share = share.map_or_else(String::new, |share| {
                    format!(", {} of the requests' time", percent(share))
                });
                format!(
                    "{} of the server's threads slept in the kernel for storage on average{share}",
                    number(blocked)
                )
            });
            let stalled = stalled.map(|stalled| {
                format!(
                    "some task of the machine waited for storage in {} of the time",
                    percent(stalled)
                )
            });
            let bytes = transferred
                .map(|bytes| format!("the server read and wrote {} MB/s", number(bytes / 1e6)));
            format!(
                "{}.",
                [blocked, stalled, bytes]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; ")
            )
        }
    };
    Hypothesis::new("disk", "Requests wait for storage")
        .share(share)
        .test(waits)
        .test(stalled)
        .test(
            Test::figure(
                "share of the CPUs' time idle while a task waited for storage",
                evidence.signal("cpu.iowait"),
                Unit::Share,
            )
            .from(&["cpu.iowait"]),
        )
        .test(
            Test::figure(
                "bytes read from storage",
                evidence.signal("target.storage.read"),
                Unit::PerSecond,
            )
            .from(&["target.storage.read"]),
        )
        .test(
            Test::figure(
                "bytes written to storage",
                evidence.signal("target.storage.written"),
                Unit::PerSecond,
            )
            .from(&["target.storage.written"]),
        )
        .idea(
            "memory",
            "the same run with the data in memory (a tmpfs): if the time goes, it was the disk",
        )
        .verdict(verdict, says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;
    use crate::hypothesis::Verdict;

    fn verdict(signals: &[(&str, f64)]) -> Verdict {
        disk(&evidence(signals)).verdict
    }

    #[test]
    fn threads_that_sleep_for_storage_are_requests_that_wait() {
        assert_eq!(verdict(&[("target.blocked", 6.0)]), Verdict::Supported);
        assert_eq!(
            verdict(&[("target.blocked", 0.2), ("pressure.io.some", 0.5)]),
            Verdict::NotSupported,
            "another's"
        );
    }

    #[test]
    fn stalls_of_the_machine_count_when_the_server_uses_storage() {
        let stalled = |written| {
            verdict(&[
                ("pressure.io.some", 0.6),
                ("target.storage.read", 0.0),
                ("target.storage.written", written),
            ])
        };
        assert_eq!(stalled(4096.0), Verdict::Supported);
        assert_eq!(stalled(0.0), Verdict::NotSupported);
        assert_eq!(
            verdict(&[("pressure.io.some", 0.6)]),
            Verdict::NotMeasured,
            "whose it was is not known"
        );
        assert_eq!(
            verdict(&[("pressure.io.some", 0.01)]),
            Verdict::NotSupported
        );
        assert_eq!(verdict(&[]), Verdict::NotMeasured);
    }
}
