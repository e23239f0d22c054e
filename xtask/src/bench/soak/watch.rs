//! What the gateway holds while it soaks: memory and open files, once a second.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::bench::gate::status::status;
use crate::bench::load::cost::memory_mb;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);
/// After so many looks, one is told.
const TELL_EVERY: usize = 30;

/// A look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    /// Heap and stacks that are resident (`RssAnon`).
    pub(crate) memory_mb: f64,
    pub(crate) open_files: usize,
}

/// All looks, one a second.
#[derive(Debug, Default)]
pub(crate) struct Watch(pub(crate) Vec<Look>);

impl Watch {
    /// Looks at the gateway that runs until the soak has ended.
    pub(crate) fn until(ended: &AtomicBool, pid: &AtomicU32, admin: u16) -> Self {
        let mut looks = Vec::new();
        while !ended.load(Ordering::Relaxed) {
            thread::sleep(EVERY);
            let pid = pid.load(Ordering::Relaxed);
            let look = Look {
                memory_mb: memory_mb(pid, "RssAnon:"),
                open_files: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count),
            };
            looks.push(look);
            if looks.len() % TELL_EVERY == 0 {
                // That it does not answer is told; the end of the soak decides.
                let standing = status(admin).map_or_else(
                    |error| format!("no status: {error}"),
                    |status| {
                        format!(
                            "{} offered, {} admitted, {} refused, {} in flight",
                            status.all.offered,
                            status.all.admitted,
                            status.all.refused.total(),
                            status.all.in_flight
                        )
                    },
                );
                println!(
                    "{:>5} s: {:.1} MB, {} open files, {standing}",
                    looks.len(),
                    look.memory_mb,
                    look.open_files
                );
            }
        }
        Self(looks)
    }

    /// Medians of the second and of the last quarter: in the first one, everything is new.
    pub(crate) fn early_and_late(&self) -> [Look; 2] {
        let quarter = self.0.len() / 4;
        [
            median(&self.0[quarter..2 * quarter]),
            median(&self.0[self.0.len() - quarter..]),
        ]
    }
}

fn median(looks: &[Look]) -> Look {
    let mut memory: Vec<f64> = looks.iter().map(|look| look.memory_mb).collect();
    memory.sort_by(f64::total_cmp);
    let mut files: Vec<usize> = looks.iter().map(|look| look.open_files).collect();
    files.sort_unstable();
    let middle = looks.len() / 2;
    Look {
        memory_mb: memory.get(middle).copied().unwrap_or_default(),
        open_files: files.get(middle).copied().unwrap_or_default(),
    }
}
