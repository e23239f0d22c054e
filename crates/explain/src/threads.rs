//! Which threads of a server answer requests, and which work beside them, by name.

use weir_record::{is_collector, is_compiler};

use crate::arrival;
use crate::evidence::Evidence;

/// What threads spent, in seconds per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Spent {
    pub(crate) cpu: f64,
    pub(crate) wait: f64,
}

/// What the threads of the garbage collector spent; `None` when no thread of a virtual machine was
/// told.
pub(crate) fn collectors(evidence: &Evidence) -> Option<Spent> {
    evidence.signal("jvm.threads")?;
    Some(spent(evidence, is_collector))
}

/// What the threads of the just-in-time compilers spent; `None` when no thread of a virtual machine
/// was told.
pub(crate) fn compilers(evidence: &Evidence) -> Option<Spent> {
    let spent = spent(evidence, is_compiler);
    (spent.cpu > 0.0 || evidence.signal("jvm.threads").is_some()).then_some(spent)
}

/// What threads spent that answer no request: collectors and compilers of a virtual machine.
pub(crate) fn background(evidence: &Evidence) -> Spent {
    spent(evidence, |group| is_collector(group) || is_compiler(group))
}

/// CPU seconds per second of what answers requests.
pub(crate) fn request_cpu(evidence: &Evidence) -> Option<f64> {
    Some((evidence.target_cpu()? - background(evidence).cpu).max(0.0))
}

/// Threads that answer requests and wait for a CPU, on average: of those that wait, no more than
/// there are requests in flight that have none.
pub(crate) fn request_wait(evidence: &Evidence) -> Option<f64> {
    let most = evidence.in_flight.map_or(f64::INFINITY, |in_flight| {
        // Work that one request does on several CPUs at once tells nothing of the others.
        let running = request_cpu(evidence).filter(|running| *running < in_flight);
        in_flight - running.unwrap_or(0.0)
    });
    Some(waiting(evidence)?.min(most))
}

/// Requests that wait for a CPU on average: those whose threads do, or those that no thread has
/// read yet because it has none, if these are more. All connections of one thread wait with it.
pub(crate) fn requests_for_cpu(evidence: &Evidence) -> Option<f64> {
    let unread = arrival::wait_share(evidence)
        .zip(evidence.in_flight)
        .map(|(share, in_flight)| share * in_flight);
    request_wait(evidence)
        .into_iter()
        .chain(unread)
        .reduce(f64::max)
}

/// Threads that wait for a CPU on average, collectors and compilers left out, whether they have a
/// request or not.
pub(crate) fn waiting(evidence: &Evidence) -> Option<f64> {
    let all = evidence.signal("target.run-queue-wait")?;
    Some((all - background(evidence).wait).max(0.0))
}

/// Requests that have a CPU or wait for one, on average.
pub(crate) fn request_at_cpu(evidence: &Evidence) -> Option<f64> {
    Some(request_cpu(evidence)? + requests_for_cpu(evidence)?)
}

/// The groups that waited most for a CPU, with the seconds per second of each.
pub(crate) fn longest_waiting(evidence: &Evidence) -> Vec<(String, f64)> {
    let mut groups: Vec<(String, f64)> = evidence
        .named("census.", ".run-queue-wait")
        .map(|(group, wait)| (group.to_owned(), wait))
        .filter(|(_, wait)| *wait >= 0.01)
        .collect();
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    groups.truncate(3);
    groups
}

fn spent(evidence: &Evidence, is_meant: impl Fn(&str) -> bool) -> Spent {
    let sum = |figure: &str| -> f64 {
        let groups = evidence.named("census.", figure);
        groups
            .filter(|(group, _)| is_meant(group))
            .map(|(_, spent)| spent)
            .sum()
    };
    Spent {
        cpu: sum(".cpu"),
        wait: sum(".run-queue-wait"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    #[test]
    fn no_more_threads_wait_with_a_request_than_there_are_requests() {
        let made = evidence(&[("target.run-queue-wait", 1149.0)]);
        assert_eq!(request_wait(&made), Some(10.0));
        assert_eq!(waiting(&made), Some(1149.0));
    }

    #[test]
    fn collectors_and_compilers_answer_no_requests() {
        let made = evidence(&[
            ("jvm.threads", 30.0),
            ("target.cpu.user", 1.5),
            ("target.cpu.system", 0.25),
            ("target.run-queue-wait", 3.0),
            ("census.GC-Thread.cpu", 0.5),
            ("census.GC-Thread.run-queue-wait", 0.25),
            ("census.C2-CompilerThre.cpu", 0.125),
            ("census.http-nio.run-queue-wait", 2.5),
            ("census.G1-Conc", 2.0),
        ]);
        assert_eq!(
            collectors(&made),
            Some(Spent {
                cpu: 0.5,
                wait: 0.25
            })
        );
        assert_eq!(request_cpu(&made), Some(1.125));
        assert_eq!(request_wait(&made), Some(2.75));
        assert_eq!(longest_waiting(&made)[0], ("http-nio".to_owned(), 2.5));
        assert_eq!(collectors(&evidence(&[])), None, "no virtual machine");
    }
}
