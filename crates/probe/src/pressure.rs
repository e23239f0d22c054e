//! Pressure stalls: the share of a second in which some task waited for a resource.
//!
//! From the `total=` microseconds of `/proc/pressure/*` (kernel documentation, accounting/psi):
//! the averages that stand beside it are smoothed over ten seconds and more and would smear a
//! trial into the next.

use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{lines, number, words};
use crate::reading::{Reading, put, rate};

/// One resource's file and its last reading.
#[derive(Debug)]
struct Resource {
    signal: &'static str,
    file: KeptFile,
    last: Option<(Instant, u64)>,
}

/// The stalls of all three resources.
#[derive(Debug)]
pub(crate) struct Pressure {
    resources: [Resource; 3],
}

impl Pressure {
    pub(crate) fn new() -> Self {
        let resource = |signal, path: &str| Resource {
            signal,
            file: KeptFile::new(path),
            last: None,
        };
        Self {
            resources: [
                resource("pressure.cpu.some", "/proc/pressure/cpu"),
                resource("pressure.io.some", "/proc/pressure/io"),
                resource("pressure.memory.some", "/proc/pressure/memory"),
            ],
        }
    }

    pub(crate) fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        for resource in &mut self.resources {
            let total = resource.file.read(files).and_then(stalled_us);
            let share = total
                .zip(resource.last)
                .and_then(|(total, (then, before))| {
                    rate(before, total, now.duration_since(then).as_secs_f64())
                });
            put(
                reading,
                resource.signal,
                share.map(|us_per_s| us_per_s / 1e6),
            );
            resource.last = total.map(|total| (now, total));
        }
    }
}

/// The microseconds in which at least one task was stalled.
fn stalled_us(text: &[u8]) -> Option<u64> {
    let some = lines(text).find_map(|line| line.strip_prefix(b"some "))?;
    words(some)
        .find_map(|word| word.strip_prefix(b"total="))
        .and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_the_first_line_counts() {
        let text = b"some avg10=1.50 avg60=0.72 avg300=1.05 total=11288765\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=42\n";
        assert_eq!(stalled_us(text), Some(11_288_765));
        assert_eq!(stalled_us(b"full avg10=0.00 total=42\n"), None);
        assert_eq!(stalled_us(b""), None);
    }
}
