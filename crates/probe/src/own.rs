//! The load tool's own process: CPU, memory, sockets. A trial in which it was the limit is not one.

use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, fstat};
use rustix::time::{ClockId, clock_gettime};

use crate::kept_file::{KeptFile, Scratch};
use crate::kernel_text::{number, number_after, words};
use crate::reading::{Reading, put};

/// This process and what its CPU clock said last.
#[derive(Debug)]
pub(crate) struct OwnProcess {
    memory: KeptFile,
    status: KeptFile,
    page_bytes: u64,
    last: Option<(Instant, Duration)>,
}

impl OwnProcess {
    pub(crate) fn new() -> Self {
        Self {
            memory: KeptFile::new("/proc/self/statm"),
            status: KeptFile::new("/proc/self/status"),
            page_bytes: rustix::param::page_size() as u64,
            last: None,
        }
    }

    pub(crate) fn sample(&mut self, now: Instant, scratch: &mut Scratch, reading: &mut Reading) {
        let used = cpu_time(ClockId::ProcessCPUTime);
        let cores = self.last.and_then(|last| cores(last, (now, used)));
        self.last = Some((now, used));
        put(reading, "load.cpu", cores);
        // The second number of statm is the resident pages, `proc_pid_statm(5)`.
        let pages = self.memory.read(scratch);
        let pages = pages.and_then(|text| words(text).nth(1).and_then(number));
        let bytes = pages.map(|pages| (pages * self.page_bytes) as f64);
        put(reading, "load.memory.rss", bytes);
        let status = self.status.read(scratch);
        let slots = status.and_then(|text| number_after(text, b"FDSize:"));
        put(
            reading,
            "load.sockets",
            slots.map(|slots| open_sockets(slots) as f64),
        );
    }
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

/// The sockets among the descriptors of this process, whose table has so many places.
///
/// Asking each place costs a fraction of listing `/proc/self/fd` and reading each link.
fn open_sockets(slots: u64) -> usize {
    let slots = RawFd::try_from(slots).unwrap_or(RawFd::MAX);
    (0..slots)
        .filter(|&descriptor| {
            // SAFETY: the borrow ends with this call, which only asks what the descriptor is. When
            // nothing is open there, or another thread closes it meanwhile, the kernel says so.
            let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
            fstat(descriptor)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
        })
        .count()
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
        let mut own = OwnProcess::new();
        let mut scratch = Scratch::new();
        let start = Instant::now();
        let before = cpu_time(ClockId::ProcessCPUTime);
        own.sample(start, &mut scratch, &mut Reading::new());
        while cpu_time(ClockId::ProcessCPUTime) < before + Duration::from_millis(50) {
            std::hint::black_box(0);
        }
        let mut reading = Reading::new();
        own.sample(start + Duration::from_secs(1), &mut scratch, &mut reading);
        let most = cpu_time(ClockId::ProcessCPUTime)
            .checked_sub(before)
            .unwrap()
            .as_secs_f64();
        assert!(
            (0.049..=most).contains(&reading["load.cpu"]),
            "{reading:?} {most}"
        );
        assert!(reading["load.memory.rss"] > 100_000.0);
    }

    #[test]
    fn sockets_are_told_from_other_descriptors() {
        // Other tests of this program open sockets too, so only a lower bound is known.
        let before = open_sockets(64);
        assert!(before <= 64);
        let pairs: Vec<_> = (0..20)
            .map(|_| std::os::unix::net::UnixStream::pair().unwrap())
            .collect();
        let files: Vec<_> = (0..20)
            .map(|_| std::fs::File::open("/proc/self/stat").unwrap())
            .collect();
        let mut reading = Reading::new();
        OwnProcess::new().sample(Instant::now(), &mut Scratch::new(), &mut reading);
        assert!(reading["load.sockets"] >= 2.0 * pairs.len() as f64);
        drop(files);
    }
}
