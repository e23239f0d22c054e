//! What groups of threads with one name spend: CPU, and waiting for it.
//!
//! The same figures as of all threads, told apart by what the threads are called: whether it is the
//! pool that answers requests which waits, or the garbage collector beside it.
//!
//! Where the threads take turns, each counts with what it spent since its turn before, and those of
//! a group that had none yet as the others of their group. The threads of small groups take none:
//! they are read each second.

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
/// Names that are read in one second: 3 ms. The first time, before any second is told, all are.
const NAMES_PER_SECOND: usize = 200;
/// Threads of a group that do not take turns: those of a virtual machine's collectors, compilers
/// and other parts, each of which is a group of its own or of a few.
const SMALL: usize = 8;

/// Names of threads, and the groups that have been told.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    names: BTreeMap<ThreadId, Option<String>>,
    /// What each spent in a second, when it was read last: on a CPU, and waiting for one.
    latest: BTreeMap<ThreadId, [f64; 2]>,
    told: Vec<String>,
    /// Whether threads have come or gone since [`Groups::small`] was last asked.
    changed: bool,
}

/// Seconds per second of a group's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    cpu: f64,
    wait: f64,
    /// Threads that have been read, and that there are.
    read: usize,
    threads: usize,
}

impl Spent {
    fn sum(self) -> f64 {
        self.cpu + self.wait
    }

    /// With those that have not been read yet; `None` when none has.
    fn of_all(self) -> Option<Self> {
        let scale = self.threads as f64 / self.read as f64;
        (self.read > 0).then_some(Self {
            cpu: self.cpu * scale,
            wait: self.wait * scale,
            ..self
        })
    }
}

impl Groups {
    /// Learns the names of threads that are new.
    pub(crate) fn learn(&mut self, threads: impl Iterator<Item = ThreadId>, files: &mut Files) {
        if !files.are_here() {
            return;
        }
        let at_once = if self.names.is_empty() {
            usize::MAX
        } else {
            NAMES_PER_SECOND
        };
        let unknown: Vec<ThreadId> = threads
            .filter(|thread| !self.names.contains_key(thread))
            .take(at_once)
            .collect();
        self.changed |= !unknown.is_empty();
        for thread in unknown {
            self.names.insert(thread, name(thread, files.scratch()));
        }
    }

    /// The threads of small groups; `None` when they are those of the last time.
    pub(crate) fn small(&mut self) -> Option<Vec<ThreadId>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        let named = || {
            let names = self.names.iter();
            names.filter_map(|(thread, name)| Some((*thread, name.as_deref()?)))
        };
        for (_, name) in named() {
            *sizes.entry(name).or_default() += 1;
        }
        let small = named().filter(|(_, name)| sizes[name] <= SMALL);
        Some(small.map(|(thread, _)| thread).collect())
    }

    /// Tells what the groups spent, from the seconds per second on a CPU and waiting for one of
    /// each thread that was read.
    pub(crate) fn sample(
        &mut self,
        threads: &[(ThreadId, [f64; 2])],
        files: &mut Files,
        reading: &mut Reading,
    ) {
        if !files.are_here() {
            return;
        }
        self.latest.extend(threads.iter().copied());
        let spent = spent_by_group(&self.names, &self.latest);
        let new = to_tell(&spent, &self.told);
        self.told.extend(new);
        for name in &self.told {
            // One of which no thread has been read yet spent what nobody knows, not nothing.
            let spent = match spent.get(name.as_str()) {
                Some(spent) => spent.of_all(),
                None => Some(Spent::default()),
            };
            let signal = |figure: &str| format!("census.{name}.{figure}");
            put(reading, signal("cpu"), spent.map(|spent| spent.cpu));
            put(
                reading,
                signal("run-queue-wait"),
                spent.map(|spent| spent.wait),
            );
        }
    }

    /// Forgets threads that are not there any more.
    pub(crate) fn retain(&mut self, is_there: impl Fn(&ThreadId) -> bool) {
        let before = self.names.len();
        self.names.retain(|thread, _| is_there(thread));
        self.changed |= self.names.len() != before;
        self.latest.retain(|thread, _| is_there(thread));
    }
}

fn spent_by_group<'n>(
    names: &'n BTreeMap<ThreadId, Option<String>>,
    latest: &BTreeMap<ThreadId, [f64; 2]>,
) -> BTreeMap<&'n str, Spent> {
    let mut groups: BTreeMap<&str, Spent> = BTreeMap::new();
    let named = names
        .iter()
        .filter_map(|(thread, name)| Some((thread, name.as_deref()?)));
    for (thread, name) in named {
        let spent = groups.entry(name).or_default();
        spent.threads += 1;
        if let Some([cpu, wait]) = latest.get(thread) {
            spent.cpu += cpu;
            spent.wait += wait;
            spent.read += 1;
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
            latest: BTreeMap::new(),
            told: Vec::new(),
            changed: true,
        }
    }

    #[test]
    fn threads_of_one_name_add_up_and_stand_for_those_that_were_not_read_yet() {
        let mut groups = named(&[
            (1, "http-nio"),
            (2, "http-nio"),
            (3, "GC-Thread"),
            (4, "idle"),
            (5, "http-nio"),
            (6, "http-nio"),
            (7, "VM-Thread"),
        ]);
        let threads = [
            ((1, 1), [0.25, 0.125]),
            ((1, 2), [0.25, 0.0]),
            ((1, 3), [0.5, 0.25]),
            ((1, 4), [0.0, 0.0]),
        ];
        let mut reading = Reading::new();
        groups.sample(&threads, &mut Files::here(), &mut reading);
        assert_eq!(reading["census.http-nio.cpu"], 1.0);
        assert_eq!(reading["census.http-nio.run-queue-wait"], 0.25);
        assert_eq!(reading["census.GC-Thread.cpu"], 0.5, "there is only one");
        assert_eq!(
            reading.len(),
            4,
            "who does nothing, or had no turn yet, is not told: {reading:?}"
        );
    }

    #[test]
    fn a_thread_that_had_no_turn_counts_as_in_its_last_one() {
        let mut groups = named(&[(1, "VM-Thread"), (2, "idle"), (3, "idle")]);
        let mut reading = Reading::new();
        let (first, second) = ([((1, 1), [0.25, 0.0])], [((1, 2), [0.5, 0.0])]);
        groups.sample(&first, &mut Files::here(), &mut reading);
        reading.clear();
        groups.sample(&second, &mut Files::here(), &mut reading);
        assert_eq!(reading["census.VM-Thread.cpu"], 0.25);
        assert_eq!(reading["census.idle.cpu"], 1.0);
        groups.retain(|thread| *thread != (1, 1));
        reading.clear();
        groups.sample(&second, &mut Files::here(), &mut reading);
        assert_eq!(reading["census.VM-Thread.cpu"], 0.0, "it has ended");
    }

    #[test]
    fn threads_of_small_groups_take_no_turns() {
        let pool = (10..30).map(|tid| (tid, "pool"));
        let names: Vec<(u32, &str)> = pool
            .chain([(1, "VM-Thread"), (2, "GC"), (3, "GC")])
            .collect();
        let mut groups = named(&names);
        assert_eq!(groups.small(), Some(vec![(1, 1), (1, 2), (1, 3)]));
        assert_eq!(groups.small(), None, "none has come or gone");
        groups.retain(|(_, tid)| *tid < 13);
        let left = groups.small().unwrap_or_default();
        assert_eq!(left.len(), 6, "the pool has become small: {left:?}");
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
        groups.sample(&threads, &mut Files::here(), &mut reading);
        assert_eq!(reading.len(), 2 * GROUPS);
        assert_eq!(reading["census.pool-20.cpu"], 20.0);
        reading.clear();
        groups.retain(|thread| *thread == (1, 1));
        groups.sample(&threads[..1], &mut Files::here(), &mut reading);
        assert_eq!(reading["census.pool-20.cpu"], 0.0);
        assert!(!reading.contains_key("census.pool-01.cpu"));
    }
}
