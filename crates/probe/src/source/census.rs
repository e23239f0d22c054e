//! Threads by name: the pools of any server, seen from outside.
//!
//! A pool's threads have one name and a number: `http-nio-8080-exec-17`,
//! `DefaultExecutor-thread-3`. The kernel keeps the first 15 characters of it (`comm` of
//! `proc_pid_stat(5)`), so the number is often cut off already. Names and states are read from
//! `task/*/stat`, so many a second; a census is told when all threads have been seen once.

use std::collections::BTreeMap;
use std::fs::File;

use crate::files::numbered;
use crate::kept_file::Scratch;
use crate::reading::{Reading, put};

use super::Origins;

/// Threads whose names are read in one second: some 5 ms.
const THREADS_PER_SECOND: usize = 500;
/// Groups that are told at most; those that came first stay, so that the columns of a timeline do.
const GROUPS: usize = 16;
/// Threads in uninterruptible sleep, whatever their group.
const BLOCKED: &str = "target.blocked";
/// Threads that make a group a pool. Below, it is told by its number in none.
const SMALLEST_GROUP: u32 = 2;

/// The threads of some processes by name.
#[derive(Debug)]
pub(crate) struct Census {
    pids: Vec<u32>,
    /// Threads that are still to be read for this census.
    left: Vec<(u32, u32)>,
    counted: BTreeMap<String, Group>,
    /// Groups that have been told.
    told: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Group {
    threads: u32,
    running: u32,
    blocked: u32,
}

impl Census {
    pub(crate) fn new(pids: Vec<u32>) -> Self {
        Self {
            pids,
            left: Vec::new(),
            counted: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    pub(crate) fn sample(&mut self, scratch: &mut Scratch, reading: &mut Reading) {
        if self.left.is_empty() {
            self.counted.clear();
            let threads = |pid: &u32| {
                let pid = *pid;
                let tids = numbered(&format!("/proc/{pid}/task"));
                tids.into_iter().map(move |tid| (pid, tid))
            };
            self.left = self.pids.iter().flat_map(threads).collect();
        }
        let from = self.left.len().saturating_sub(THREADS_PER_SECOND);
        for (pid, tid) in self.left.split_off(from) {
            // One that has ended since is in no pool.
            let Ok(file) = File::open(format!("/proc/{pid}/task/{tid}/stat")) else {
                continue;
            };
            if let Some((name, state)) = scratch.start(&file).and_then(name_and_state) {
                let group = self.counted.entry(group(&name)).or_default();
                group.threads += 1;
                group.running += u32::from(matches!(state, b'R' | b'D'));
                group.blocked += u32::from(state == b'D');
            }
        }
        if self.left.is_empty() {
            self.put_into(reading);
        }
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        let pids: Vec<String> = self.pids.iter().map(u32::to_string).collect();
        let place = format!("/proc/{}/task/*/stat", pids.join(","));
        origins
            .entry(BLOCKED.to_owned())
            .or_insert_with(|| place.clone());
        for name in &self.told {
            for signal in [format!("census.{name}"), format!("census.{name}.running")] {
                origins.entry(signal).or_insert_with(|| place.clone());
            }
        }
    }

    fn put_into(&mut self, reading: &mut Reading) {
        let mut largest: Vec<(&String, &Group)> = self
            .counted
            .iter()
            .filter(|(_, group)| group.threads >= SMALLEST_GROUP)
            .collect();
        largest.sort_by_key(|(_, group)| std::cmp::Reverse(group.threads));
        for (name, _) in largest {
            if self.told.len() < GROUPS && !self.told.contains(name) {
                self.told.push(name.clone());
            }
        }
        if self.counted.is_empty() {
            // The processes are gone: nothing was seen, which is not the same as none.
            return;
        }
        let blocked: u32 = self.counted.values().map(|group| group.blocked).sum();
        put(reading, BLOCKED, Some(blocked.into()));
        for name in &self.told {
            let group = self.counted.get(name).copied().unwrap_or_default();
            put(
                reading,
                format!("census.{name}"),
                Some(group.threads.into()),
            );
            put(
                reading,
                format!("census.{name}.running"),
                Some(group.running.into()),
            );
        }
    }
}

/// The name in brackets, and the letter of the thread's state.
fn name_and_state(stat: &[u8]) -> Option<(String, u8)> {
    let start = stat.iter().position(|&byte| byte == b'(')?;
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let name = stat.get(start + 1..end)?;
    let state = stat.get(end + 2)?;
    let name = String::from_utf8_lossy(name).into_owned();
    Some((name, *state))
}

/// What a pool's threads are called without their number, as part of a signal's name.
pub(crate) fn group(name: &str) -> String {
    let separates = |c: char| !c.is_ascii_alphanumeric();
    let end = |c: char| c.is_ascii_digit() || separates(c);
    let word = name.trim_end_matches(end);
    let word = if word.is_empty() { name } else { word };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    word.chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[expect(clippy::float_cmp, reason = "the figures are whole numbers")]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};

    #[test]
    fn threads_of_a_pool_have_one_name() {
        for (name, expected) in [
            ("http-nio-127.0.", "http-nio"),
            ("http-nio-8080-e", "http-nio-8080-e"),
            ("G1 Conc#0", "G1-Conc"),
            ("GC Thread#11", "GC-Thread"),
            ("Default Executo", "Default-Executo"),
            ("pool-1-thread-7", "pool-1-thread"),
            ("C2 CompilerThre", "C2-CompilerThre"),
            ("12345", "12345"),
            ("apache2", "apache"),
            ("kworker/0:1", "kworker"),
        ] {
            assert_eq!(group(name), expected, "{name}");
        }
    }

    #[test]
    fn names_may_hold_anything() {
        let state = |stat: &[u8]| name_and_state(stat);
        assert_eq!(
            state(b"7 (a) (b)) R 1 2"),
            Some(("a) (b)".to_owned(), b'R'))
        );
        assert_eq!(state(b"7 (main) S 1 2"), Some(("main".to_owned(), b'S')));
        assert_eq!(state(b"7 (main)"), None);
        assert_eq!(state(b""), None);
        assert_eq!(state(b")("), None);
    }

    #[test]
    fn a_pool_of_this_process_is_counted() {
        let barrier = Arc::new(Barrier::new(4));
        let threads: Vec<_> = (0..3)
            .map(|at| {
                let barrier = Arc::clone(&barrier);
                let named = std::thread::Builder::new().name(format!("census-pool-{at}"));
                let (tell, told) = std::sync::mpsc::channel();
                let thread = named.spawn(move || {
                    tell.send(()).unwrap();
                    barrier.wait();
                });
                // The name is there before the thread's work is.
                told.recv().unwrap();
                thread.unwrap()
            })
            .collect();
        let mut census = Census::new(vec![std::process::id()]);
        let mut scratch = Scratch::new();
        let mut reading = Reading::new();
        census.sample(&mut scratch, &mut reading);
        barrier.wait();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(reading["census.census-pool"], 3.0);
        census.pids.clear();
        reading.clear();
        census.sample(&mut scratch, &mut reading);
        assert!(reading.is_empty(), "the process is gone");
    }

    #[test]
    fn groups_that_were_told_stay() {
        let mut census = Census::new(Vec::new());
        let group = |threads| Group {
            threads,
            running: 1,
            blocked: 2,
        };
        let first = (0..20).map(|at| (format!("pool-{at:02}"), group(30 - at)));
        census.counted = first.collect();
        census.counted.insert("alone".to_owned(), group(1));
        let mut reading = Reading::new();
        census.put_into(&mut reading);
        assert_eq!(reading.len(), 2 * GROUPS + 1);
        assert_eq!(reading[BLOCKED], 42.0, "of all groups");
        assert_eq!(reading["census.pool-00.running"], 1.0);
        census.counted = BTreeMap::from([("late".to_owned(), group(99))]);
        reading.clear();
        census.put_into(&mut reading);
        assert_eq!(reading.len(), 2 * GROUPS + 1);
        assert_eq!(
            reading["census.pool-00"], 0.0,
            "it was seen that there is none"
        );
    }
}
