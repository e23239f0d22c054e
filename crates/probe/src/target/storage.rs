//! What the target's processes read from storage and give to it: `/proc/PID/io`.
//!
//! `read_bytes` and `write_bytes` of `proc_pid_io(5)`: what really went to or came from the storage
//! layer, not what was asked of a cache. Only the processes' own user and root may read it; of
//! another machine it is not read.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::number_after;
use crate::reading::{Reading, put};

/// Processes that are read at most: a server that forks has hundreds, and each is a file.
const PROCESSES: usize = 64;

/// The processes and what they had read and written last.
#[derive(Debug, Default)]
pub(crate) struct Storage {
    members: BTreeMap<u32, Member>,
    last: Option<Instant>,
}

#[derive(Debug)]
struct Member {
    file: KeptFile,
    last: Option<Transferred>,
}

/// Bytes since a process began.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Transferred {
    read: u64,
    written: u64,
}

impl Storage {
    /// Reads the processes. Nothing is told when one of them may not be read: a sum over the others
    /// would pass for the whole.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        processes: impl Iterator<Item = u32>,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        let processes: Vec<u32> = processes.take(PROCESSES + 1).collect();
        if !files.are_here() || processes.len() > PROCESSES {
            return;
        }
        self.members.retain(|pid, _| processes.contains(pid));
        let elapsed_s = self.last.map(|then| now.duration_since(then).as_secs_f64());
        let mut sum = Some(Transferred {
            read: 0,
            written: 0,
        });
        for pid in processes {
            let member = self.members.entry(pid).or_insert_with(|| Member {
                file: KeptFile::new(format!("/proc/{pid}/io")),
                last: None,
            });
            let present = member.file.read(files).and_then(Transferred::parse);
            // One that has started since counts from its first reading on.
            let before = member.last.or(present);
            member.last = present;
            sum = sum
                .zip(present.zip(before))
                .map(|(sum, (present, before))| Transferred {
                    read: sum.read + present.read.saturating_sub(before.read),
                    written: sum.written + present.written.saturating_sub(before.written),
                });
        }
        self.last = Some(now);
        let per_s = |bytes: u64| {
            let elapsed_s = elapsed_s.filter(|elapsed_s| *elapsed_s > 0.0)?;
            Some(bytes as f64 / elapsed_s)
        };
        put(
            reading,
            "target.storage.read",
            sum.and_then(|sum| per_s(sum.read)),
        );
        put(
            reading,
            "target.storage.written",
            sum.and_then(|sum| per_s(sum.written)),
        );
    }
}

impl Transferred {
    fn parse(text: &[u8]) -> Option<Self> {
        Some(Self {
            read: number_after(text, b"read_bytes:")?,
            written: number_after(text, b"write_bytes:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn bytes_of_storage_are_not_those_that_were_asked_for() {
        let text = b"rchar: 9\nwchar: 8\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: 8192\n\
            cancelled_write_bytes: 1\n";
        let expected = Transferred {
            read: 4096,
            written: 8192,
        };
        assert_eq!(Transferred::parse(text), Some(expected));
        assert_eq!(Transferred::parse(b"rchar: 9\n"), None);
    }

    #[test]
    fn nothing_is_told_when_one_may_not_be_read() {
        let own = std::process::id();
        let start = Instant::now();
        let told = |processes: &[u32]| {
            let mut storage = Storage::default();
            let mut reading = Reading::new();
            for second in 0..2 {
                let now = start + Duration::from_secs(second);
                let processes = processes.iter().copied();
                storage.sample(now, processes, &mut Files::here(), &mut reading);
            }
            reading
        };
        assert!(told(&[own]).contains_key("target.storage.written"));
        assert!(told(&[own, u32::MAX]).is_empty());
    }
}
