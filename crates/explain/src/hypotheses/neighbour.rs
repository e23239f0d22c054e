//! Another process of the machine uses the server's CPUs.

use weir_record::{CpuUse, names};

use crate::evidence::Evidence;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threads::requests_for_cpu;
use crate::threshold::{FOREIGN, FOREIGN_BECAUSE};
use crate::words::percent;

pub(crate) fn neighbour(evidence: &Evidence) -> Hypothesis {
    let foreign = foreign(evidence);
    let used = Test::at_least(
        "share of the server's CPUs that others used",
        foreign,
        Unit::Share,
        (FOREIGN, FOREIGN_BECAUSE),
    )
    .from(&["cpu", "target.cpu.user", "target.cpu.system", "load.cpu"]);
    let waiting = requests_for_cpu(evidence);
    let waits = waiting_test(evidence, "ready to run, waiting for a CPU", waiting)
        .from(&["target.run-queue-wait", names::ARRIVAL_CPU_WAIT]);
    let verdict = match all_of(&[used.speaks_for, waits.speaks_for]) {
        Some(true) => Verdict::Supported,
        Some(false) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let says = match foreign {
        None => "Whose work ran on the server's CPUs was not recorded: name the server's process."
            .to_owned(),
        Some(foreign) => {
            let meanwhile = waits.figure.map_or_else(String::new, |_| {
                let waited = if waits.speaks() {
                    "waited"
                } else {
                    "did not wait"
                };
                format!("; requests {waited} for a CPU meanwhile")
            });
            let load = match evidence.load_on_target {
                Some(false) => "",
                _ => ", the load generator left out",
            };
            format!(
                "Others used {} of the server's CPUs{load}{meanwhile}.",
                percent(foreign)
            )
        }
    };
    // Of the waiting, the part that others are to blame for is in proportion to what they used.
    let blame = foreign
        .zip(evidence.signal("cpu"))
        .filter(|(_, busy)| *busy > 0.0)
        .map(|(foreign, busy)| (foreign / busy).min(1.0));
    let waited = waiting.zip(blame).map(|(wait, blame)| wait * blame);
    Hypothesis::new("neighbour", "Another process of the machine uses the server's CPUs")
        .share(evidence.share_of_requests(waited))
        .test(used)
        .test(waits)
        .idea("alone", "the same run with the neighbour stopped (`top` names it), or with the server on CPUs of its own (`taskset`, a cgroup's cpuset)")
        .verdict(verdict, says)
}

/// Share of the server's CPUs that others used; nobody is blamed for the load's own work where the
/// load generator may run on the same CPUs.
pub(crate) fn foreign(evidence: &Evidence) -> Option<f64> {
    let cpus = evidence.cpus?;
    let busy = evidence.busy_cpus()?;
    let load_is_there = evidence.load_on_target != Some(false);
    let used = CpuUse::of(|name| evidence.signal(name), load_is_there)?;
    Some((used.others(busy) / cpus).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    const STARVED: [(&str, f64); 5] = [
        ("cpu", 0.99),
        ("target.cpu.user", 0.9),
        ("target.cpu.system", 0.1),
        ("target.run-queue-wait", 4.0),
        ("load.cpu", 0.9),
    ];

    #[test]
    fn cpus_that_others_use_while_the_server_waits() {
        let starved = neighbour(&evidence(&STARVED));
        assert_eq!(starved.verdict, Verdict::Supported, "{starved:#?}");
        let mut idle = evidence(&STARVED);
        idle.in_flight = Some(1000.0);
        assert_eq!(
            neighbour(&idle).verdict,
            Verdict::NotSupported,
            "hardly anything waited"
        );
    }

    /// An nginx with one process beside six programs that spin: 40 users in 13.9 ms.
    #[test]
    fn all_connections_of_one_thread_wait_with_it() {
        let mut nginx = evidence(&[
            ("cpu", 1.0),
            ("target.cpu.user", 0.03),
            ("target.cpu.system", 0.11),
            ("target.run-queue-wait", 0.85),
            ("load.cpu", 0.13),
            (names::ARRIVAL_CPU_WAIT, 0.0117),
        ]);
        (nginx.in_flight, nginx.mean_s) = (Some(40.0), Some(0.0139));
        nginx.cpus = Some(1.0);
        let found = neighbour(&nginx);
        assert_eq!(found.verdict, Verdict::Supported, "{found:#?}");
        let share = found.share.unwrap_or_default();
        assert!((share - 0.84 * 0.86).abs() < 0.01, "{share}");
        assert!(
            found.says.contains("requests waited for a CPU"),
            "{found:#?}"
        );
    }

    #[test]
    fn the_load_tool_is_no_neighbour_where_it_shares_the_cpus() {
        let mut shared = evidence(&STARVED);
        shared.load_on_target = Some(true);
        assert_eq!(neighbour(&shared).verdict, Verdict::NotSupported);
        shared.load_on_target = None;
        assert_eq!(
            neighbour(&shared).verdict,
            Verdict::NotSupported,
            "nor where it may"
        );
    }

    #[test]
    fn without_the_servers_process_nobody_is_blamed() {
        assert_eq!(
            neighbour(&evidence(&[("cpu", 0.99)])).verdict,
            Verdict::NotMeasured
        );
    }
}
