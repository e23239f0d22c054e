//! How fast the CPUs run, as a share of what they are sold for.
//!
//! From the kernel's `cpufreq` (kernel documentation, admin-guide/pm/cpufreq). Reading a CPU's
//! present frequency can interrupt it, so of a large machine only the first CPUs are read.

use std::fs::File;

use crate::files::Files;
use crate::kernel_text::{number, words};
use crate::reading::{Reading, put};

/// CPUs that are read: they are usually driven alike, and 8 take some 30 µs.
const CPUS: usize = 8;
const FOLDER: &str = "/sys/devices/system/cpu";

/// The CPUs whose frequency can be read.
#[derive(Debug)]
pub(crate) struct Frequency {
    /// `None` until they have been looked for.
    cpus: Option<Vec<Cpu>>,
}

#[derive(Debug)]
struct Cpu {
    nominal_khz: u64,
    present: File,
}

impl Frequency {
    pub(crate) fn new() -> Self {
        Self { cpus: None }
    }

    /// Reads the mean share; of another machine nothing, since that would be a file for each CPU
    /// each second.
    pub(crate) fn sample(&mut self, files: &mut Files, reading: &mut Reading) {
        if !files.are_here() {
            return;
        }
        let cpus = self
            .cpus
            .get_or_insert_with(|| (0..CPUS).filter_map(cpu_of_this_machine).collect());
        let scratch = files.scratch();
        let shares = cpus.iter().filter_map(|cpu| {
            let present_khz = khz(scratch.start(&cpu.present)?)?;
            Some(present_khz as f64 / cpu.nominal_khz as f64)
        });
        put(reading, "machine.cpu.frequency", mean(shares));
    }
}

fn cpu_of_this_machine(at: usize) -> Option<Cpu> {
    let path = |file: &str| format!("{FOLDER}/cpu{at}/cpufreq/{file}");
    let nominal = |file: &str| khz(&std::fs::read(path(file)).ok()?);
    let nominal_khz = nominal("base_frequency").or_else(|| nominal("cpuinfo_max_freq"))?;
    Some(Cpu {
        nominal_khz,
        present: File::open(path("scaling_cur_freq")).ok()?,
    })
}

/// A file with one number above 0.
fn khz(text: &[u8]) -> Option<u64> {
    words(text).next().and_then(number).filter(|khz| *khz > 0)
}

/// `None` of nothing.
fn mean(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = shares.fold((0.0, 0_u32), |(sum, count), share| (sum + share, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A CPU whose present frequency is what a file says.
    fn cpu(nominal_khz: u64, present: &str) -> Cpu {
        let mut file = tempfile();
        file.write_all(present.as_bytes()).unwrap();
        Cpu {
            nominal_khz,
            present: file,
        }
    }

    fn tempfile() -> File {
        let file = rustix::fs::memfd_create("cpufreq", rustix::fs::MemfdFlags::CLOEXEC);
        File::from(file.unwrap())
    }

    #[test]
    fn the_mean_of_the_cpus_is_told_as_a_share_of_the_nominal_frequency() {
        let mut frequency = Frequency {
            cpus: Some(vec![
                cpu(2_400_000, "1200000\n"),
                cpu(2_000_000, "2000000\n"),
            ]),
        };
        let mut reading = Reading::new();
        frequency.sample(&mut Files::here(), &mut reading);
        assert_eq!(reading["machine.cpu.frequency"], 0.75);
    }

    #[test]
    fn a_machine_that_does_not_tell_has_no_frequency() {
        let mut frequency = Frequency {
            cpus: Some(vec![cpu(2_400_000, "<unknown>\n")]),
        };
        let mut reading = Reading::new();
        frequency.sample(&mut Files::here(), &mut reading);
        assert!(reading.is_empty());
        assert_eq!(khz(b"0\n"), None);
    }
}
