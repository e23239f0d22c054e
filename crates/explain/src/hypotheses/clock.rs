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
    let share = steal.zip(evidence.share_of_requests(at_cpu));
    let share = share.map(|(steal, at_cpu)| steal * at_cpu);
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
}
