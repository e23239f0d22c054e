//! The load generator: CPU, memory, sockets of this process, and of those that send the load for
//! it. A trial in which it was the limit is not one.

mod senders;

use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, fstat};
use rustix::time::{ClockId, clock_gettime};

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{number, number_after, words};
use crate::reading::{Reading, put};
use crate::target::family::{Family, Spent};
use crate::target::process::ProcessUnits;
use crate::watcher::WatchedGate;

use self::senders::Senders;

/// Largest table of descriptors that is gone through each second: about a millisecond.
const TABLE_EACH_SECOND: u64 = 2048;
/// A larger one is gone through once in so many seconds.
const SECONDS_PER_TABLE: u32 = 16;

/// This process and what its CPU clock said last.
#[derive(Debug)]
pub(crate) struct OwnProcess {
    memory: KeptFile,
    page_bytes: u64,
    last: Option<(Instant, Duration)>,
    descriptors: Descriptors,
    /// Other processes that are part of the load generator.
    others: Option<Family>,
    senders: Option<Senders>,
    /// Whether they send the load, and not this process.
    others_send: bool,
}

impl OwnProcess {
    /// This process with those that send the load for it, and the gateway through which it goes;
    /// `threads` is what those threads of this process are called that send it.
    pub(crate) fn new(
        senders: &[u32],
        threads: Option<&'static str>,
        gate: Option<WatchedGate>,
    ) -> Self {
        let gate = gate.map(|gate| gate.pid);
        let others: Vec<u32> = senders.iter().copied().chain(gate).collect();
        Self {
            senders: threads.filter(|_| senders.is_empty()).map(Senders::new),
            others: (!others.is_empty()).then(|| Family::new(&others, ProcessUnits::here())),
            others_send: !senders.is_empty(),
            memory: KeptFile::new("/proc/self/statm"),
            page_bytes: rustix::param::page_size() as u64,
            last: None,
            descriptors: Descriptors::new(),
        }
    }

    pub(crate) fn sample(
        &mut self,
        now: Instant,
        forks: Option<u64>,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        let used = cpu_time(ClockId::ProcessCPUTime);
        let cores = self.last.and_then(|last| cores(last, (now, used)));
        self.last = Some((now, used));
        // The second number of statm is the resident pages, `proc_pid_statm(5)`.
        let pages = self.memory.read(files);
        let pages = pages.and_then(|text| words(text).nth(1).and_then(number));
        let bytes = pages.map(|pages| (pages * self.page_bytes) as f64);
        if let Some(others) = &mut self.others {
            // Without one of them the sums would pass for the whole.
            let spent = others.sample(now, forks, files);
            let theirs = spent.and_then(cpus_of);
            put(reading, "load.cpu", sum(cores, theirs));
            let theirs = spent.map(|spent| spent.resident_bytes as f64);
            put(reading, "load.memory.rss", sum(bytes, theirs));
        } else {
            put(reading, "load.cpu", cores);
            put(reading, "load.memory.rss", bytes);
        }
        if self.others_send {
            return;
        }
        if let Some(senders) = &mut self.senders {
            senders.sample(now, files, reading);
        }
        let sockets = self.descriptors.sockets(files);
        put(
            reading,
            "load.sockets",
            sockets.map(|sockets| sockets as f64),
        );
    }
}

fn cpus_of(spent: Spent) -> Option<f64> {
    sum(spent.user_cpus, spent.system_cpus)
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one? + other?)
}

/// What a CPU clock of this process or thread shows.
pub(crate) fn cpu_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    // CPU clocks start at 0 and cannot be set.
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

/// Cores in use between two readings of a CPU clock.
pub(crate) fn cores(earlier: (Instant, Duration), later: (Instant, Duration)) -> Option<f64> {
    let elapsed_s = later.0.duration_since(earlier.0).as_secs_f64();
    let used = later.1.checked_sub(earlier.1)?;
    (elapsed_s > 0.0).then(|| used.as_secs_f64() / elapsed_s)
}

/// The open descriptors of this process.
///
/// Asking each place of the table what it holds costs a fraction of listing `/proc/self/fd` and
/// reading each link, but with 10,000 connections still 1 % of a core. A large table is therefore
/// gone through only now and then, for what is *not* a socket: logs and files, which hardly change.
/// How many descriptors are open in all is one question each second.
#[derive(Debug)]
struct Descriptors {
    status: KeptFile,
    /// Those that are no sockets, and for how many readings that is to be relied on.
    others: Option<(u64, u32)>,
}

impl Descriptors {
    fn new() -> Self {
        Self {
            status: KeptFile::new("/proc/self/status"),
            others: None,
        }
    }

    fn sockets(&mut self, files: &mut Files) -> Option<u64> {
        let status = self.status.read(files)?;
        let places = number_after(status, b"FDSize:")?;
        if places > TABLE_EACH_SECOND
            && let (Some((others, readings @ 1..)), Some(open)) = (self.others, open_descriptors())
        {
            self.others = Some((others, readings - 1));
            return Some(open.saturating_sub(others));
        }
        let (sockets, others) = go_through(places);
        self.others = Some((others, SECONDS_PER_TABLE - 1));
        Some(sockets)
    }
}

/// How many descriptors are open, where the kernel tells (as the size of this directory, since
/// Linux 6.2).
fn open_descriptors() -> Option<u64> {
    let size = std::fs::metadata("/proc/self/fd").ok()?.len();
    (size > 0).then_some(size)
}

/// How many of the first places of the table hold a socket, and how many something else.
fn go_through(places: u64) -> (u64, u64) {
    let places = RawFd::try_from(places).unwrap_or(RawFd::MAX);
    let (mut sockets, mut others) = (0, 0);
    for descriptor in 0..places {
        // SAFETY: the borrow ends with this call, which only asks what the descriptor is. When
        // nothing is open there, or another thread closes it meanwhile, the kernel says so.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        if let Ok(stat) = fstat(descriptor) {
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Socket => sockets += 1,
                _ => others += 1,
            }
        }
    }
    (sockets, others)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn cores_are_cpu_seconds_per_second() {
        let start = Instant::now();
        let at = |seconds, used_ms| {
            (
                start + Duration::from_secs(seconds),
                Duration::from_millis(used_ms),
            )
        };
        assert_eq!(cores(at(0, 1000), at(2, 4000)), Some(1.5));
        assert_eq!(cores(at(2, 1000), at(2, 4000)), None);
    }

    #[test]
    fn this_process_uses_what_its_clock_says() {
        let mut own = OwnProcess::new(&[], None, None);
        let mut files = Files::here();
        let start = Instant::now();
        let before = cpu_time(ClockId::ProcessCPUTime);
        own.sample(start, None, &mut files, &mut Reading::new());
        let enough = cpu_time(ClockId::ProcessCPUTime) + Duration::from_millis(50);
        while cpu_time(ClockId::ProcessCPUTime) < enough {
            std::hint::black_box(0);
        }
        let mut reading = Reading::new();
        own.sample(
            start + Duration::from_secs(1),
            None,
            &mut files,
            &mut reading,
        );
        let most = cpu_time(ClockId::ProcessCPUTime)
            .checked_sub(before)
            .unwrap()
            .as_secs_f64();
        assert!(
            (0.05..=most).contains(&reading["load.cpu"]),
            "{reading:?} {most}"
        );
        assert!(reading["load.memory.rss"] > 100_000.0);
    }

    #[test]
    fn those_that_send_for_this_process_count_with_it() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let start = Instant::now();
        let mut files = Files::here();
        let mut own = OwnProcess::new(&[child.id()], None, None);
        let alone = || {
            let mut alone = Reading::new();
            OwnProcess::new(&[], None, None).sample(start, None, &mut Files::here(), &mut alone);
            alone["load.memory.rss"]
        };
        // Other tests of this program take memory and give it back meanwhile.
        let before = alone();
        let mut both = Reading::new();
        own.sample(start, None, &mut files, &mut both);
        assert!(both["load.memory.rss"] > before.min(alone()));
        assert!(!both.contains_key("load.sockets"), "theirs are not known");
        child.kill().unwrap();
        child.wait().unwrap();
        let mut gone = Reading::new();
        own.sample(start + Duration::from_secs(1), None, &mut files, &mut gone);
        assert!(!gone.contains_key("load.cpu"), "{gone:?}");
    }

    #[test]
    fn sockets_are_told_from_other_descriptors() {
        // Other tests of this program open sockets too, so only a lower bound is known.
        let pairs: Vec<_> = (0..20)
            .map(|_| std::os::unix::net::UnixStream::pair().unwrap())
            .collect();
        let files: Vec<_> = (0..20)
            .map(|_| std::fs::File::open("/proc/self/stat").unwrap())
            .collect();
        let mut reading = Reading::new();
        OwnProcess::new(&[], None, None).sample(
            Instant::now(),
            None,
            &mut Files::here(),
            &mut reading,
        );
        assert!(reading["load.sockets"] >= 2.0 * pairs.len() as f64);
        let (sockets, others) = go_through(1024);
        assert!(sockets >= 2 * pairs.len() as u64);
        assert!(others >= files.len() as u64);
    }
}
