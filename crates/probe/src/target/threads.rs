//! What only the files of single threads tell: waiting for a CPU, and context switches by kind.
//!
//! `schedstat` has the nanoseconds that a thread ran and that it was runnable and waited for a CPU,
//! and how often it was put on one (kernel documentation, scheduler/sched-stats). `status` has the
//! switches; it is a page of text of which two lines are needed and costs about five times as much,
//! hence its smaller budget. Of another machine it is not read, nor `schedstat` of more threads
//! than fit into a second.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use crate::files::Files;
use crate::kernel_text::{number, number_after, words};
use crate::reading::{Reading, put};

use super::groups::Groups;
use super::rotation::{Rotation, ThreadId};

/// Threads whose waiting is read in one second: 3 ms when their files are open, more when not.
const WAITS_PER_SECOND: usize = 500;
/// Threads whose switches are read in one second: about 2 ms.
const SWITCHES_PER_SECOND: usize = 64;
/// Above the budget, threads are listed anew at most every so many readings unless their number
/// changed: listing 10,000 of them costs more than reading 500.
const READINGS_PER_LISTING: u32 = 10;

/// All threads of the target.
#[derive(Debug)]
pub(crate) struct Threads {
    waits: Rotation<3>,
    groups: Groups,
    switches: Rotation<2>,
    /// Threads of each process when they were last listed.
    listed: BTreeMap<u32, u64>,
    forks: Option<u64>,
    readings_since_listing: u32,
    last: Option<Instant>,
}

impl Threads {
    pub(crate) fn new() -> Self {
        Self {
            waits: Rotation::new("schedstat", WAITS_PER_SECOND, scheduled),
            groups: Groups::default(),
            switches: Rotation::new("status", SWITCHES_PER_SECOND, context_switches),
            listed: BTreeMap::new(),
            forks: None,
            readings_since_listing: 0,
            last: None,
        }
    }

    /// Forgets everything: the target is gone.
    pub(crate) fn forget(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn sample(
        &mut self,
        now: Instant,
        forks: Option<u64>,
        counts: impl Iterator<Item = (u32, u64)>,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        let counts: BTreeMap<u32, u64> = counts.collect();
        let threads: u64 = counts.values().sum();
        if !files.are_here() && threads > WAITS_PER_SECOND as u64 {
            // Taking turns would need another question each second.
            self.forget();
            return;
        }
        self.list(forks, &counts, files);
        files.prepare_threads(counts.keys().copied(), "schedstat");
        self.sample_waits(now, threads, files, reading);
        // A page of text for each thread is too much to send each second.
        let switches = files
            .are_here()
            .then(|| self.switches.sample(now, threads, files));
        if let Some(switches) = switches.flatten() {
            let [voluntary, involuntary] = switches.per_s;
            put(
                reading,
                "target.context-switches.voluntary",
                Some(voluntary),
            );
            put(
                reading,
                "target.context-switches.involuntary",
                Some(involuntary),
            );
            put(
                reading,
                "target.context-switches.coverage",
                Some(switches.coverage),
            );
        }
        self.last = Some(now);
    }

    fn sample_waits(
        &mut self,
        now: Instant,
        threads: u64,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        self.groups.learn(self.waits.followed(), files);
        if self.waits.takes_turns()
            && let Some(small) = self.groups.small()
        {
            self.waits.read_always(small);
        }
        let mut each: Vec<(ThreadId, [f64; 2])> = Vec::with_capacity(WAITS_PER_SECOND);
        let summed =
            self.waits
                .sample_each(now, threads, files, |thread, [ran, waited, slices]| {
                    each.push((thread, [ran / 1e9, waited / 1e9]));
                    // Whether it ran in a second; one that did every other second is half a thread.
                    slices.min(1.0)
                });
        let Some(summed) = summed else { return };
        let [_, waited, slices] = summed.per_s;
        put(reading, "target.threads.ran", Some(summed.made));
        let busiest = each.iter().map(|(_, [ran, _])| *ran).reduce(f64::max);
        put(reading, "target.busiest-thread", busiest);
        put(reading, "target.run-queue-wait", Some(waited / 1e9));
        put(reading, "target.time-slices", Some(slices));
        put(
            reading,
            "target.run-queue-wait.coverage",
            Some(summed.coverage),
        );
        self.groups.retain(|thread| self.waits.follows(*thread));
        self.groups.sample(&each, files, reading);
    }

    /// Brings the list of threads up to date, as far as it may have changed.
    fn list(&mut self, forks: Option<u64>, counts: &BTreeMap<u32, u64>, files: &mut Files) {
        let threads: u64 = counts.values().sum();
        self.readings_since_listing += 1;
        let due = threads <= WAITS_PER_SECOND as u64
            || self.readings_since_listing >= READINGS_PER_LISTING;
        let started = forks.is_none() || forks != self.forks;
        for (&pid, &count) in counts {
            let listed = self.listed.get(&pid).copied();
            if listed.is_none() || (due && (started || listed != Some(count))) {
                self.list_process(pid, count, files);
            }
        }
        let no_threads = HashSet::new();
        for (&pid, _) in self
            .listed
            .iter()
            .filter(|(pid, _)| !counts.contains_key(pid))
        {
            self.waits.set_threads(pid, &no_threads, None);
            self.switches.set_threads(pid, &no_threads, None);
        }
        self.listed.retain(|pid, _| counts.contains_key(pid));
        if due {
            self.readings_since_listing = 0;
            self.forks = forks;
        }
    }

    fn list_process(&mut self, pid: u32, count: u64, files: &mut Files) {
        let tids: HashSet<u32> = match count {
            // The only thread of a process has the process's id.
            1 => HashSet::from([pid]),
            _ => files
                .numbered(&format!("/proc/{pid}/task"))
                .into_iter()
                .collect(),
        };
        self.waits.set_threads(pid, &tids, self.last);
        self.switches.set_threads(pid, &tids, self.last);
        self.listed.insert(pid, count);
    }
}

/// Nanoseconds on a CPU, nanoseconds runnable but not running, times put on a CPU.
pub(crate) fn scheduled(text: &[u8]) -> Option<[u64; 3]> {
    let mut numbers = words(text).map(number);
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Switches because the thread waited for something, and because it was made to.
fn context_switches(text: &[u8]) -> Option<[u64; 2]> {
    Some([
        number_after(text, b"voluntary_ctxt_switches:")?,
        number_after(text, b"nonvoluntary_ctxt_switches:")?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_the_second_number() {
        assert_eq!(scheduled(b"787471 12345 17\n"), Some([787_471, 12_345, 17]));
        assert_eq!(scheduled(b"787471 12345\n"), None);
        assert_eq!(scheduled(b""), None);
    }

    #[test]
    fn switches_by_kind() {
        let status = b"Name:\tjava\nThreads:\t57\nMems_allowed_list:\t0\n\
            voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(context_switches(status), Some([150, 545]));
        assert_eq!(context_switches(b"Name:\tjava\n"), None);
    }
}
