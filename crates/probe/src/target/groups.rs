//! What groups of threads with one name spend: CPU, and waiting for it.
//!
//! The same figures as of all threads, told apart by what the threads are called: whether it is the
//! pool that answers requests which waits, or the garbage collector beside it.

use std::collections::BTreeMap;

use crate::files::Files;
use crate::kept_file::Scratch;
use crate::reading::{Reading, put};
use crate::source::census::group;

use super::rotation::ThreadId;

/// Groups that are told at most; those that came first stay, so that the columns of a timeline do.
const GROUPS: usize = 8;
/// Share of all threads' CPU time and waiting from which on a group is told.
const SHARE_MIN: f64 = 0.01;
/// Names that are read in one second: 3 ms.
const NAMES_PER_SECOND: usize = 200;

/// Names of threads, and the groups that have been told.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    names: BTreeMap<ThreadId, Option<String>>,
    told: Vec<String>,
}

/// Seconds per second of a group's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    cpu: f64,
    wait: f64,
}

impl Spent {
    fn sum(self) -> f64 {
        self.cpu + self.wait
    }
}

impl Groups {
    /// Tells what the groups spent, from each thread's seconds per second on a CPU and waiting for
    /// one; `coverage` is the share of all threads that these are.
    pub(crate) fn sample(
        &mut self,
        threads: &[(ThreadId, [f64; 2])],
        coverage: f64,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        if !files.are_here() {
            return;
        }
        self.learn_names(threads, files.scratch());
        let spent = spent_by_group(&self.names, threads);
        let new = to_tell(&spent, &self.told);
        self.told.extend(new);
        for name in &self.told {
            let spent = spent.get(name.as_str()).copied().unwrap_or_default();
            let signal = |figure: &str| format!("census.{name}.{figure}");
            put(reading, signal("cpu"), Some(spent.cpu / coverage));
            put(
                reading,
                signal("run-queue-wait"),
                Some(spent.wait / coverage),
            );
        }
    }

    /// Forgets threads that are not there any more.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&ThreadId) -> bool) {
        self.names.retain(|thread, _| is_there(thread));
    }

    fn learn_names(&mut self, threads: &[(ThreadId, [f64; 2])], scratch: &mut Scratch) {
        let unknown = threads
            .iter()
            .filter(|(thread, _)| !self.names.contains_key(thread));
        let unknown: Vec<ThreadId> = unknown.map(|(thread, _)| *thread).collect();
        for thread in unknown.into_iter().take(NAMES_PER_SECOND) {
            self.names.insert(thread, name(thread, scratch));
        }
    }
}

fn spent_by_group<'n>(
    names: &'n BTreeMap<ThreadId, Option<String>>,
    threads: &[(ThreadId, [f64; 2])],
) -> BTreeMap<&'n str, Spent> {
    let mut groups: BTreeMap<&str, Spent> = BTreeMap::new();
    for (thread, [cpu, wait]) in threads {
        if let Some(Some(name)) = names.get(thread) {
            let spent = groups.entry(name.as_str()).or_default();
            spent.cpu += cpu;
            spent.wait += wait;
        }
    }
    groups
}

/// The groups that are to be told beside those that are already, most busy first.
fn to_tell(spent: &BTreeMap<&str, Spent>, told: &[String]) -> Vec<String> {
    let all: f64 = spent.values().map(|spent| spent.sum()).sum();
    let mut most: Vec<(&str, f64)> = spent
        .iter()
        .map(|(name, spent)| (*name, spent.sum()))
        .collect();
    most.retain(|(name, sum)| {
        *sum > 0.0 && *sum >= SHARE_MIN * all && !told.iter().any(|told| told == name)
    });
    most.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names = most.into_iter().map(|(name, _)| name.to_owned());
    names.take(GROUPS.saturating_sub(told.len())).collect()
}

/// What the threads of this one's group are called.
pub(crate) fn name((pid, tid): ThreadId, scratch: &mut Scratch) -> Option<String> {
    let file = std::fs::File::open(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    let name = scratch.start(&file)?.trim_ascii_end();
    Some(group(&String::from_utf8_lossy(name)))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;

    /// Groups whose threads' names are known already.
    fn named(names: &[(u32, &str)]) -> Groups {
        let names = names.iter();
        Groups {
            names: names
                .map(|(tid, name)| ((1, *tid), Some((*name).to_owned())))
                .collect(),
            told: Vec::new(),
        }
    }

    #[test]
    fn threads_of_one_name_add_up_and_are_scaled_to_all() {
        let mut groups = named(&[
            (1, "http-nio"),
            (2, "http-nio"),
            (3, "GC-Thread"),
            (4, "idle"),
        ]);
        let threads = [
            ((1, 1), [0.25, 0.125]),
            ((1, 2), [0.25, 0.0]),
            ((1, 3), [0.5, 0.25]),
            ((1, 4), [0.0, 0.0]),
        ];
        let mut reading = Reading::new();
        groups.sample(&threads, 0.5, &mut Files::here(), &mut reading);
        assert_eq!(reading["census.http-nio.cpu"], 1.0);
        assert_eq!(reading["census.http-nio.run-queue-wait"], 0.25);
        assert_eq!(reading["census.GC-Thread.run-queue-wait"], 0.5);
        assert_eq!(
            reading.len(),
            4,
            "who does nothing is not told: {reading:?}"
        );
    }

    #[test]
    fn the_groups_that_were_told_stay_and_are_so_many_at_most() {
        let names: Vec<String> = (1..=20).map(|at| format!("pool-{at:02}")).collect();
        let names: Vec<(u32, &str)> = (1..=20).zip(names.iter().map(String::as_str)).collect();
        let mut groups = named(&names);
        let threads: Vec<(ThreadId, [f64; 2])> = (1..=20)
            .map(|tid| ((1, tid), [f64::from(tid), 0.0]))
            .collect();
        let mut reading = Reading::new();
        groups.sample(&threads, 1.0, &mut Files::here(), &mut reading);
        assert_eq!(reading.len(), 2 * GROUPS);
        assert_eq!(reading["census.pool-20.cpu"], 20.0);
        reading.clear();
        groups.sample(&threads[..1], 1.0, &mut Files::here(), &mut reading);
        assert_eq!(reading["census.pool-20.cpu"], 0.0);
        assert!(!reading.contains_key("census.pool-01.cpu"));
    }
}
