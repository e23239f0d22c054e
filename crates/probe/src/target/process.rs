//! One process as `/proc/PID/stat` tells it; columns as in `proc_pid_stat(5)`.

use crate::kernel_text::{number, words};

/// The units of a machine's figures of processes and CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProcessUnits {
    /// Clock ticks in a second.
    pub(crate) ticks_per_s: f64,
    /// Bytes of a page of memory.
    pub(crate) page_bytes: u64,
}

impl ProcessUnits {
    /// Those of this machine.
    pub(crate) fn here() -> Self {
        Self {
            ticks_per_s: rustix::param::clock_ticks_per_second() as f64,
            page_bytes: rustix::param::page_size() as u64,
        }
    }
}

/// What is needed of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) parent: u32,
    state: u8,
    /// Page faults that had to fetch something from storage, all threads.
    pub(crate) major_faults: u64,
    /// As `major_faults`, of children that have ended and been waited for.
    pub(crate) children_major_faults: u64,
    /// Clock ticks in user mode, all threads.
    pub(crate) user: u64,
    /// Clock ticks in the kernel, all threads.
    pub(crate) system: u64,
    /// As `user`, of children that have ended and been waited for.
    pub(crate) children_user: u64,
    /// As `system`, of children that have ended and been waited for.
    pub(crate) children_system: u64,
    pub(crate) threads: u64,
    /// Start in clock ticks since boot: with the id, the identity of a process.
    pub(crate) start: u64,
    pub(crate) resident_pages: u64,
}

impl ProcessStat {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        // The name stands in brackets and may itself hold brackets and spaces.
        let name_end = text.iter().rposition(|&byte| byte == b')')?;
        let mut columns = words(&text[name_end + 1..]);
        let state = *columns.next()?.first()?;
        let parent = u32::try_from(columns.next().and_then(number)?).ok()?;
        // `nth` counts from the column after the one read last; the numbers are those of the
        // manual.
        let major_faults = columns.nth(12 - 5).and_then(number)?;
        let children_major_faults = columns.next().and_then(number)?;
        let user = columns.next().and_then(number)?;
        let system = columns.next().and_then(number)?;
        let children_user = columns.next().and_then(number)?;
        let children_system = columns.next().and_then(number)?;
        let threads = columns.nth(20 - 18).and_then(number)?;
        let start = columns.nth(22 - 21).and_then(number)?;
        let resident_pages = columns.nth(24 - 23).and_then(number)?;
        Some(Self {
            parent,
            state,
            major_faults,
            children_major_faults,
            user,
            system,
            children_user,
            children_system,
            threads,
            start,
            resident_pages,
        })
    }

    /// Whether it has ended, although its parent has not taken notice yet.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JAVA: &[u8] = b"4711 (java (main) x) S 4000 4711 4000 34816 4711 4194304 90210 8 7 6 \
        5120 640 33 44 20 0 57 0 765432 6442450944 123456 18446744073709551615 1 1 0 0 0 0 0 \
        4096 1260 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn columns_are_those_of_the_manual() {
        let stat = ProcessStat::parse(JAVA).unwrap();
        let expected = ProcessStat {
            parent: 4000,
            state: b'S',
            major_faults: 7,
            children_major_faults: 6,
            user: 5120,
            system: 640,
            children_user: 33,
            children_system: 44,
            threads: 57,
            start: 765_432,
            resident_pages: 123_456,
        };
        assert_eq!(stat, expected);
        assert!(!stat.has_ended());
    }

    #[test]
    fn a_process_nobody_waited_for_has_ended() {
        let zombie = String::from_utf8_lossy(JAVA).replace(") S ", ") Z ");
        assert!(ProcessStat::parse(zombie.as_bytes()).unwrap().has_ended());
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: Vec<u8>, cut in 0..JAVA.len()) {
            let _ = ProcessStat::parse(&text);
            let _ = ProcessStat::parse(&JAVA[..cut]);
        }
    }
}
