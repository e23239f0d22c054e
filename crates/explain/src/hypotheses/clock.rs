//! The CPUs are slower than they seem: other virtual machines take them, or their frequency is low.

use weir_record::STEAL_MAX;

use crate::evidence::Evidence;
use crate::hypothesis::{Hypothesis, Test, Unit, all_of, any_of};
use crate::threads::request_at_cpu;
use crate::threshold::{BUSY, SLOW_CLOCK, SLOW_CLOCK_BECAUSE, STEAL_BECAUSE};
use crate::words::{capital, percent};

pub(crate) fn clock(evidence: &Evidence) -> Hypothesis {
    let steal = evidence.signal("cpu.steal");
    let stolen = Test::at_least(
        "share of the server's CPU time that other virtual machines took",
        steal,
        Unit::Share,
        (STEAL_MAX, STEAL_BECAUSE),
    )
    .from(&["cpu.steal"]);
    let frequency = evidence.signal("machine.cpu.frequency");
    let slow = Test::below(
        "clock frequency as a share of the nominal one",
        frequency,
        Unit::Share,
        (SLOW_CLOCK, SLOW_CLOCK_BECAUSE),
    )
    .from(&["machine.cpu.frequency"]);
    // An idle CPU is slow on purpose.
    let busy = evidence.signal("cpu").map(|cpu| cpu >= BUSY);
    let throttled = all_of(&[slow.speaks_for, busy]);
    // Where the frequency cannot be read, as in most virtual machines, steal alone decides.
    let verdict = match steal {
        None => any_of(&[throttled]),
        Some(_) => any_of(&[stolen.speaks_for, throttled.or(Some(false))]),
    };
    let told = [
        steal.map(|steal| {
            format!(
                "other virtual machines took {} of the CPU time",
                percent(steal)
            )
        }),
        frequency.map(|share| {
            format!(
                "the CPUs ran at {} of their nominal frequency",
                percent(share)
            )
        }),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let says = if told.is_empty() {
        "Neither steal nor the frequency of the CPUs was recorded.".to_owned()
    } else {
        let unknown = if frequency.is_none() {
            "; the frequency cannot be read here"
        } else {
            ""
        };
        format!("{}{unknown}.", capital(&told.join("; ")))
    };
    // Work takes so much longer, and so do the waits behind it.
    let at_cpu = request_at_cpu(evidence).or_else(|| evidence.target_cpu());
    let slowed = frequency.filter(|_| throttled == Some(true));
    let got = match (steal, slowed) {
        (None, None) => None,
        (steal, slowed) => Some((1.0 - steal.unwrap_or(0.0)) * slowed.unwrap_or(1.0)),
    };
    let share = got
        .zip(evidence.share_of_requests(at_cpu))
        .map(|(got, at_cpu)| (1.0 - got) * at_cpu);
    Hypothesis::new(
        "steal-and-frequency",
        "The CPUs are slower than they seem: other virtual machines, or a low frequency",
    )
    .share(share)
    .test(stolen)
    .test(slow)
    .idea(
        "performance",
        "the same run with the governor `performance`, or on another host",
    )
    .verdict(verdict, says)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;
    use crate::hypothesis::Verdict;

    fn verdict(signals: &[(&str, f64)]) -> Verdict {
        clock(&evidence(signals)).verdict
    }

    #[test]
    fn stolen_time_is_enough() {
        assert_eq!(verdict(&[("cpu.steal", 0.2)]), Verdict::Supported);
        assert_eq!(
            verdict(&[("cpu.steal", 0.01)]),
            Verdict::NotSupported,
            "the frequency need not be known"
        );
        assert_eq!(verdict(&[]), Verdict::NotMeasured);
    }

    #[test]
    fn a_low_frequency_counts_when_the_cpus_have_work() {
        let slow = |cpu| {
            verdict(&[
                ("cpu.steal", 0.0),
                ("machine.cpu.frequency", 0.5),
                ("cpu", cpu),
            ])
        };
        assert_eq!(slow(0.8), Verdict::Supported);
        assert_eq!(slow(0.1), Verdict::NotSupported);
    }

    #[test]
    fn what_a_slow_clock_costs_is_a_part_of_the_time_at_the_cpu() {
        let share = |steal, frequency| {
            let mut found = evidence(&[
                ("cpu.steal", steal),
                ("machine.cpu.frequency", frequency),
                ("cpu", 0.95),
                ("target.cpu.user", 0.8),
                ("target.cpu.system", 0.0),
                ("target.run-queue-wait", 0.0),
            ]);
            found.in_flight = Some(1.0);
            clock(&found).share.unwrap()
        };
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        };
        close(share(0.0, 0.5), 0.4);
        close(share(0.2, 1.0), 0.16);
        close(share(0.2, 0.5), 0.48);
    }
}
