//! How much memory a control group may use, and how often it had to free some of it.
//!
//! After `cgroup-v1/memory.rst` and `cgroup-v2.rst` of the kernel's documentation. What a group
//! uses includes files that are kept in memory: a full group is usual, and hurts only where pages
//! are needed again that were freed.

use std::path::Path;
use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{number, number_after, words};
use crate::reading::{Reading, put, rate};

use super::{Named, announce, directories, there};

const LIMITS: [&str; 1] = ["memory"];
const FILES: [&str; 6] = [
    "memory.max",
    "memory.current",
    "memory.events",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.failcnt",
];
/// From here on a limit of version 1 is none: its largest is the largest number of pages.
const NO_LIMIT: u64 = 1 << 62;

/// The limits of a group and of the groups around it.
#[derive(Debug, Default)]
pub(crate) struct Memory(Vec<Limited>);

/// A group with a limit.
#[derive(Debug)]
struct Limited {
    limit: KeptFile,
    used: KeptFile,
    hits: Option<Hits>,
    last: Option<(Instant, u64)>,
}

/// What counts how often the group came to its limit and had to free memory.
#[derive(Debug)]
enum Hits {
    /// `memory.failcnt`.
    V1(KeptFile),
    /// `max` of `memory.events`.
    V2(KeptFile),
}

/// One group in one reading.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    limit: u64,
    used: u64,
    hits_per_s: Option<f64>,
}

impl Memory {
    pub(crate) fn of(root: &Path, named: &Named, files: &mut Files) -> Self {
        let groups = directories(root, &LIMITS, named.memory.as_ref());
        announce(&groups, &FILES, files);
        let each = groups
            .iter()
            .filter_map(|directory| Limited::of(directory, files));
        Self(each.collect())
    }

    /// The group that has used most of what it may; nothing without a limit.
    pub(crate) fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        let each: Vec<Seen> = self
            .0
            .iter_mut()
            .filter_map(|group| group.read(now, files))
            .collect();
        let share = |seen: &Seen| seen.used as f64 / seen.limit as f64;
        let Some(fullest) = each.iter().max_by(|a, b| share(a).total_cmp(&share(b))) else {
            return;
        };
        put(
            reading,
            "target.group.memory.limit",
            Some(fullest.limit as f64),
        );
        put(reading, "target.group.memory", Some(fullest.used as f64));
        put(reading, "target.group.memory.hits", fullest.hits_per_s);
    }
}

impl Limited {
    fn of(directory: &Path, files: &mut Files) -> Option<Self> {
        let mut file = |name: &str| there(&directory.join(name), files);
        let (limit, used, hits) = if let Some(limit) = file("memory.max") {
            let hits = file("memory.events").map(Hits::V2);
            (limit, file("memory.current")?, hits)
        } else {
            let hits = file("memory.failcnt").map(Hits::V1);
            let limit = file("memory.limit_in_bytes")?;
            (limit, file("memory.usage_in_bytes")?, hits)
        };
        Some(Self {
            limit,
            used,
            hits,
            last: None,
        })
    }

    fn read(&mut self, now: Instant, files: &mut Files) -> Option<Seen> {
        let first = |text: &[u8]| words(text).next().and_then(number);
        // Of version 2 the word `max` is no number.
        let limit = first(self.limit.read(files)?).filter(|limit| *limit < NO_LIMIT)?;
        let used = first(self.used.read(files)?)?;
        let hits = match &mut self.hits {
            Some(Hits::V1(file)) => file.read(files).and_then(first),
            Some(Hits::V2(file)) => file.read(files).and_then(|text| number_after(text, b"max")),
            None => None,
        };
        let before = std::mem::replace(&mut self.last, hits.map(|hits| (now, hits)));
        let hits_per_s = hits.zip(before).and_then(|(hits, (then, before))| {
            rate(
                before,
                hits,
                now.saturating_duration_since(then).as_secs_f64(),
            )
        });
        Some(Seen {
            limit,
            used,
            hits_per_s,
        })
    }
}
