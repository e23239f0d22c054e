//! The just-in-time compiler takes the CPU: a server that is not warm yet.

use crate::evidence::Evidence;
use crate::hypotheses::full_cpus_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threads::{compilers, request_at_cpu};
use crate::threshold::MATTERS;
use crate::words::percent;

/// `None` for a server whose compilers are not told: it is no virtual machine, or its threads were
/// not read.
pub(crate) fn compilation(evidence: &Evidence) -> Option<Hypothesis> {
    let spent = compilers(evidence)?;
    // Of all that ran there: on CPUs that others fill, a server's compilers are nobody's cause. The
    // two are read a moment apart.
    let busy = evidence.target_cpu().zip(evidence.busy_cpus());
    let part = busy
        .map(|(own, busy)| own.max(busy))
        .filter(|cpu| *cpu > 0.0)
        .map(|cpu| (spent.cpu / cpu).min(1.0));
    let of_cpu = Test::at_least(
        "the compilers' share of the busy time of the CPUs that the server may use",
        part,
        Unit::Share,
        (
            MATTERS,
            "work that requests wait for when the CPUs are full; on idle CPUs it costs them nothing",
        ),
    )
    .from(&[
        "census.C1-CompilerThre.cpu",
        "census.C2-CompilerThre.cpu",
        "cpu",
    ]);
    let full = full_cpus_test(evidence);
    let verdict = match all_of(&[of_cpu.speaks_for, full.speaks_for]) {
        Some(true) => Verdict::Supported,
        Some(false) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let says = match part {
        None => "How much of the CPU time the server's compilers took was not recorded.".to_owned(),
        Some(part) if verdict == Verdict::Supported => format!(
            "The compilers of the virtual machine took {} of the time of full CPUs: the server was still warming up, and \
             what was measured is no steady state.",
            percent(part)
        ),
        Some(part) => format!(
            "The compilers of the virtual machine took {} of the busy time of its CPUs.",
            percent(part)
        ),
    };
    // On full CPUs the requests wait for the compilers in proportion to what these take of them.
    let share = match full.speaks_for {
        Some(true) => part
            .zip(evidence.share_of_requests(request_at_cpu(evidence)))
            .map(|(part, time)| part * time),
        Some(false) => Some(0.0),
        None => None,
    };
    let found = Hypothesis::new(
        "compilation",
        "The just-in-time compiler takes the server's CPUs: it is not warm yet",
    );
    Some(
        found
            .share(share)
            .test(of_cpu)
            .test(full)
            .idea(
                "warm",
                "the same run with a longer warm-up (`warm-up` in the study, ten times as long): the throughput rises \
                 and the compilers' share goes, if it was they",
            )
            .verdict(verdict, says),
    )
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// A Spring Boot on one CPU, two seconds after its start.
    const COLD: [(&str, f64); 7] = [
        ("cpu", 0.97),
        ("target.cpu.user", 1.7),
        ("target.cpu.system", 0.2),
        ("target.run-queue-wait", 4.0),
        ("jvm.threads", 40.0),
        ("census.C2-CompilerThre.cpu", 0.9),
        ("census.C1-CompilerThre.cpu", 0.3),
    ];

    fn with(change: &[(&str, f64)]) -> Evidence {
        evidence(&[COLD.as_slice(), change].concat())
    }

    #[test]
    fn a_server_that_still_compiles_is_not_called_full_with_requests() {
        let cold = diagnose(&with(&[]));
        assert_eq!(
            cold.first.as_deref(),
            Some("compilation"),
            "{}",
            cold.summary
        );
        assert!(cold.summary.contains("62 %"), "{}", cold.summary);
        assert!(!cold.hypothesis("cpu").unwrap().is_supported());
        let warm = [
            ("census.C2-CompilerThre.cpu", 0.02),
            ("census.C1-CompilerThre.cpu", 0.01),
        ];
        let warm = diagnose(&with(&warm));
        assert_eq!(warm.first.as_deref(), Some("cpu"), "{}", warm.summary);
        let compilation = warm.hypothesis("compilation").unwrap();
        assert_eq!(compilation.verdict, Verdict::NotSupported);
    }

    #[test]
    fn compilers_on_idle_cpus_cost_the_requests_nothing() {
        let idle = compilation(&with(&[("cpu", 0.6)])).unwrap();
        assert_eq!(
            (idle.verdict, idle.share),
            (Verdict::NotSupported, Some(0.0))
        );
    }

    /// A server that gets a tenth of its CPU, because others spin there.
    #[test]
    fn on_cpus_that_others_fill_its_compilers_are_no_cause() {
        let starved = [
            ("target.cpu.user", 0.15),
            ("target.cpu.system", 0.05),
            ("census.C2-CompilerThre.cpu", 0.04),
            ("census.C1-CompilerThre.cpu", 0.0),
        ];
        let found = compilation(&with(&starved)).unwrap();
        assert_eq!(found.verdict, Verdict::NotSupported, "{}", found.says);
    }

    #[test]
    fn a_server_without_a_virtual_machine_compiles_nothing() {
        let native = [("cpu", 0.97), ("target.cpu.user", 1.8)];
        assert!(compilation(&evidence(&native)).is_none());
    }
}
