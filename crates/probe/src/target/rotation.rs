//! Following counters of many threads while reading only so many of their files a second.
//!
//! Up to the budget all threads are read each second and their files stay open. Above it they are
//! read in turn: the growth of each over the time since its own last reading gives its rate, and
//! the sum over those that were read is scaled to all of them. Over one full turn this is the sum
//! of all threads' rates; within a second it is an estimate, and its coverage is told with it.
//! Only the first time, before any second is told, all are read: 0.4 s of CPU for 10,000 threads.
//! Some can be read each second whatever their number is (a stratum of its own, of which nothing is
//! estimated): one thread that works among thousands that do not would else count as twenty in the
//! second of its turn, and as none in all others.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::ops::Bound;
use std::time::Instant;

use rustix::process::{Resource, getrlimit};

use crate::files::Files;

/// Process and thread.
pub(crate) type ThreadId = (u32, u32);

/// `N` counters of every thread, all in one file per thread.
#[derive(Debug)]
pub(crate) struct Rotation<const N: usize> {
    file_name: &'static str,
    parse: fn(&[u8]) -> Option<[u64; N]>,
    budget: usize,
    /// How many files may stay open: an eighth of what the process may open at most, because the
    /// load's connections need them more.
    keep_at_most: usize,
    threads: BTreeMap<ThreadId, Followed<N>>,
    /// Those that are read each second.
    always: BTreeSet<ThreadId>,
    started: bool,
    read_last: ThreadId,
    turn: Vec<ThreadId>,
}

#[derive(Debug)]
struct Followed<const N: usize> {
    file: Option<File>,
    last: Option<(Instant, [u64; N])>,
}

/// The sum over all threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summed<const N: usize> {
    /// Growth of each counter per second.
    pub(crate) per_s: [f64; N],
    /// The sum of what was made of the growth of each thread.
    pub(crate) made: f64,
    /// Share of the threads that were read for it.
    pub(crate) coverage: f64,
}

impl<const N: usize> Rotation<N> {
    pub(crate) fn new(
        file_name: &'static str,
        budget: usize,
        parse: fn(&[u8]) -> Option<[u64; N]>,
    ) -> Self {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self {
            file_name,
            parse,
            budget,
            keep_at_most: usize::try_from(allowed / 8).unwrap_or(usize::MAX),
            threads: BTreeMap::new(),
            always: BTreeSet::new(),
            started: false,
            read_last: (0, 0),
            turn: Vec::with_capacity(budget),
        }
    }

    /// Follows these threads of a process and no others of it. One that has started since
    /// `born_after` counts from nothing; one that was there before the watch (`None`) is only
    /// noted when it is first read.
    pub(crate) fn set_threads(
        &mut self,
        pid: u32,
        tids: &HashSet<u32>,
        born_after: Option<Instant>,
    ) {
        let followed = self.threads.range((pid, 0)..=(pid, u32::MAX));
        let gone: Vec<ThreadId> = followed
            .map(|(&thread, _)| thread)
            .filter(|(_, tid)| !tids.contains(tid))
            .collect();
        for thread in gone {
            self.threads.remove(&thread);
        }
        for &tid in tids {
            self.threads.entry((pid, tid)).or_insert_with(|| Followed {
                file: None,
                last: born_after.map(|then| (then, [0; N])),
            });
        }
    }

    /// Whether a thread is followed.
    pub(crate) fn follows(&self, thread: ThreadId) -> bool {
        self.threads.contains_key(&thread)
    }

    /// The threads that are followed.
    pub(crate) fn followed(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.keys().copied()
    }

    /// Whether they have to take turns.
    pub(crate) fn takes_turns(&self) -> bool {
        self.threads.len() > self.budget
    }

    /// Reads these each second, at most half of the budget of them; the others take turns.
    pub(crate) fn read_always(&mut self, threads: impl IntoIterator<Item = ThreadId>) {
        self.always = threads.into_iter().take(self.budget / 2).collect();
    }

    /// Reads those whose turn it is, of so many threads that the target has. `None` when none of
    /// them had been read before. The first time all are read, so that every later turn has
    /// something to compare with.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        threads: u64,
        files: &mut Files,
    ) -> Option<Summed<N>> {
        self.sample_each(now, threads, files, |_, _| 0.0)
    }

    /// As `sample`; `each` hears of the growth per second of every thread that was read, and makes
    /// a figure of it that is summed as well.
    pub(crate) fn sample_each(
        &mut self,
        now: Instant,
        threads: u64,
        files: &mut Files,
        mut each: impl FnMut(ThreadId, [f64; N]) -> f64,
    ) -> Option<Summed<N>> {
        let budget = if self.started {
            self.budget
        } else {
            usize::MAX
        };
        self.started = true;
        self.choose(budget);
        let keep_open = self.threads.len() <= self.budget.min(self.keep_at_most);
        // Of those that are always read, and of the others, for which they stand.
        let (mut exact, mut taken) = (([0.0; N], 0.0), ([0.0; N], 0.0));
        let (mut always, mut read) = (0_u64, 0_u64);
        for thread in &self.turn {
            let Some(followed) = self.threads.get_mut(thread) else {
                continue;
            };
            let Some(counters) = followed.read(*thread, self.file_name, self.parse, files) else {
                self.threads.remove(thread);
                continue;
            };
            let is_always = self.always.contains(thread);
            if !keep_open && !is_always {
                followed.file = None;
            }
            let before = followed.last.replace((now, counters));
            if let Some(rates) = rates(before, now, counters) {
                let sums = if is_always { &mut exact } else { &mut taken };
                for (sum, rate) in sums.0.iter_mut().zip(rates) {
                    *sum += rate;
                }
                sums.1 += each(*thread, rates);
                *(if is_always { &mut always } else { &mut read }) += 1;
            }
        }
        let all = always + read;
        // More are read than the target has when one has ended in between.
        let coverage = (all > 0).then(|| all as f64 / threads.max(all) as f64)?;
        let others = threads.saturating_sub(always).max(read);
        let scale = if read > 0 {
            others as f64 / read as f64
        } else {
            1.0
        };
        Some(Summed {
            per_s: std::array::from_fn(|at| exact.0[at] + taken.0[at] * scale),
            made: exact.1 + taken.1 * scale,
            coverage,
        })
    }

    /// Those that are always read, and the next ones of the others after those that were read
    /// last, once around at most.
    fn choose(&mut self, budget: usize) {
        let always = self
            .always
            .iter()
            .filter(|thread| self.threads.contains_key(thread));
        self.turn.clear();
        self.turn.extend(always);
        let budget = budget.saturating_sub(self.turn.len());
        let after = (Bound::Excluded(self.read_last), Bound::Unbounded);
        let later = self.threads.range(after);
        let earlier = self.threads.range(..=self.read_last);
        let others = later
            .chain(earlier)
            .map(|(&thread, _)| thread)
            .filter(|thread| !self.always.contains(thread));
        let from = self.turn.len();
        self.turn.extend(others.take(budget));
        if let Some(&last) = self.turn[from..].last() {
            self.read_last = last;
        }
    }
}

impl<const N: usize> Followed<N> {
    fn read(
        &mut self,
        (pid, tid): ThreadId,
        file_name: &str,
        parse: fn(&[u8]) -> Option<[u64; N]>,
        files: &mut Files,
    ) -> Option<[u64; N]> {
        let path = || format!("/proc/{pid}/task/{tid}/{file_name}");
        parse(files.start(path, &mut self.file)?)
    }
}

/// The growth per second since `before`; `None` when there is nothing to compare with.
fn rates<const N: usize>(
    before: Option<(Instant, [u64; N])>,
    now: Instant,
    counters: [u64; N],
) -> Option<[f64; N]> {
    let (then, before) = before?;
    let elapsed_s = now.duration_since(then).as_secs_f64();
    let growth = |at: usize| counters[at].saturating_sub(before[at]) as f64 / elapsed_s;
    (elapsed_s > 0.0).then(|| std::array::from_fn(growth))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier, mpsc};
    use std::time::Duration;

    /// With counters that are always 7, what each thread adds is known.
    fn sevens(text: &[u8]) -> Option<[u64; 1]> {
        (!text.is_empty()).then_some([7])
    }

    fn own_tid() -> u32 {
        rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs()
    }

    /// Threads that live until someone else waits at the returned barrier.
    fn parked_threads(count: usize) -> (HashSet<u32>, Arc<Barrier>) {
        let barrier = Arc::new(Barrier::new(count + 1));
        let (tell, told) = mpsc::channel();
        for _ in 0..count {
            let (tell, barrier) = (tell.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                tell.send(own_tid()).unwrap();
                barrier.wait();
            });
        }
        (told.iter().take(count).collect(), barrier)
    }

    #[test]
    fn above_the_budget_the_threads_take_turns_and_the_sum_is_scaled() {
        let (tids, release) = parked_threads(20);
        let mut rotation = Rotation::new("schedstat", 8, sevens);
        let mut files = Files::here();
        let start = Instant::now();
        assert_eq!(rotation.sample(start, 0, &mut files), None);
        rotation.set_threads(std::process::id(), &tids, Some(start));
        let mut turns = HashSet::new();
        let mut sums = Vec::new();
        for second in 1..=3 {
            let now = start + Duration::from_secs(second);
            let summed = rotation.sample(now, 20, &mut files).unwrap();
            assert!((summed.coverage - 0.4).abs() < 1e-12);
            sums.push(summed.per_s[0]);
            turns.extend(rotation.turn.iter().map(|&(_, tid)| tid));
            assert!(
                rotation
                    .threads
                    .values()
                    .all(|thread| thread.file.is_none())
            );
        }
        release.wait();
        assert_eq!(turns, tids, "three turns of eight reach all twenty");
        // Eight threads at 7 in a second, eight at 7 in two; then four at 7 in three seconds and
        // four that have not moved since they were read. Scaled from eight to twenty.
        let expected = [8.0 * 7.0, 8.0 * 3.5, 4.0 * 7.0 / 3.0].map(|sum| sum * 20.0 / 8.0);
        for (sum, expected) in sums.iter().zip(expected) {
            assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
        }
    }

    #[test]
    fn those_that_are_always_read_stand_for_nobody_else() {
        let (tids, release) = parked_threads(20);
        let pid = std::process::id();
        let mut rotation = Rotation::new("schedstat", 8, sevens);
        let mut files = Files::here();
        let start = Instant::now();
        assert_eq!(rotation.sample(start, 0, &mut files), None);
        rotation.set_threads(pid, &tids, Some(start));
        assert!(rotation.takes_turns());
        let one = *tids.iter().next().unwrap();
        rotation.read_always([(pid, one)]);
        let mut turns = HashSet::new();
        for second in 1..=3 {
            let now = start + Duration::from_secs(second);
            let mut seen = Vec::new();
            let summed = rotation.sample_each(now, 20, &mut files, |thread, rates| {
                seen.push((thread.1, rates[0]));
                1.0
            });
            let summed = summed.unwrap();
            assert!((summed.coverage - 0.4).abs() < 1e-12);
            assert!((summed.made - 20.0).abs() < 1e-9, "a thread each");
            let (always, others): (Vec<_>, Vec<_>) = seen.iter().partition(|(tid, _)| *tid == one);
            assert_eq!((always.len(), others.len()), (1, 7));
            // The one as it is, and seven others for nineteen.
            let others: f64 = others.iter().map(|(_, rate)| rate).sum();
            let expected = always[0].1 + others * 19.0 / 7.0;
            assert!(
                (summed.per_s[0] - expected).abs() < 1e-9,
                "{summed:?} {expected}"
            );
            turns.extend(seen.iter().map(|(tid, _)| *tid));
        }
        release.wait();
        assert_eq!(turns, tids, "the others have their turns as before");
    }

    #[test]
    fn a_thread_that_was_there_before_is_only_noted() {
        let mut rotation = Rotation::new("schedstat", 500, sevens);
        rotation.set_threads(std::process::id(), &HashSet::from([own_tid()]), None);
        let start = Instant::now();
        let mut files = Files::here();
        assert_eq!(rotation.sample(start, 1, &mut files), None);
        let later = start + Duration::from_secs(1);
        let summed = rotation.sample(later, 1, &mut files).unwrap();
        assert_eq!((summed.per_s, summed.coverage), ([0.0], 1.0));
    }

    #[test]
    fn the_first_time_all_are_noted_whatever_the_budget() {
        let (tids, release) = parked_threads(20);
        let mut rotation = Rotation::new("schedstat", 8, sevens);
        rotation.set_threads(std::process::id(), &tids, None);
        let start = Instant::now();
        let mut files = Files::here();
        assert_eq!(rotation.sample(start, 20, &mut files), None);
        let later = start + Duration::from_secs(1);
        let summed = rotation.sample(later, 20, &mut files);
        release.wait();
        assert_eq!(
            summed,
            Some(Summed {
                per_s: [0.0],
                made: 0.0,
                coverage: 0.4
            })
        );
    }

    #[test]
    fn a_thread_born_since_counts_from_nothing() {
        let mut rotation = Rotation::new("schedstat", 500, sevens);
        let start = Instant::now();
        rotation.set_threads(std::process::id(), &HashSet::from([own_tid()]), Some(start));
        let later = start + Duration::from_secs(2);
        let summed = rotation.sample(later, 1, &mut Files::here()).unwrap();
        assert_eq!((summed.per_s, summed.coverage), ([3.5], 1.0));
    }

    #[test]
    fn threads_that_are_gone_are_dropped() {
        let mut rotation = Rotation::new("schedstat", 500, sevens);
        let start = Instant::now();
        let nobody = HashSet::from([u32::MAX]);
        rotation.set_threads(std::process::id(), &nobody, Some(start));
        let later = start + Duration::from_secs(1);
        assert_eq!(rotation.sample(later, 1, &mut Files::here()), None);
        assert!(rotation.threads.is_empty());
        rotation.set_threads(7, &HashSet::from([7, 8]), None);
        rotation.set_threads(7, &HashSet::from([8]), None);
        let followed: Vec<ThreadId> = rotation.threads.keys().copied().collect();
        assert_eq!(followed, [(7, 8)]);
    }
}
