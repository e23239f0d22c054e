//! What the machine is, stored with each trial so that a figure can be judged later.

use std::{fs, io};

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use weir_metric::{CpuSet, CpuSetError};

use crate::kernel_text::{lines, number, number_after};

/// Facts about the machine; what could not be read is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MachineFacts {
    /// Model of the first CPU.
    pub cpu_model: Option<String>,
    /// CPUs that are online.
    pub cpus: Option<usize>,
    /// Mean clock frequency of the CPUs at this moment in MHz. Under a hypervisor this is the
    /// nominal frequency.
    pub cpu_mhz: Option<f64>,
    /// Memory that the kernel manages, in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel name and release.
    pub kernel: String,
    /// Whether the CPU says that a hypervisor is above it; absent where CPUs do not tell.
    pub virtualised: Option<bool>,
    /// What the kernel takes the time from. Anything but `tsc` and `arch_sys_counter` can make
    /// reading the clock slow.
    pub clock_source: Option<String>,
    /// The largest backlog a listening socket may ask for.
    pub somaxconn: Option<u64>,
    /// Files and sockets that this process may have open; absent when there is no limit.
    pub descriptor_limit: Option<u64>,
}

/// The files that they are read from.
pub(crate) const FILES: [&str; 7] = [
    CPU_INFO,
    MEMORY,
    ONLINE,
    CLOCK,
    BACKLOG,
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/osrelease",
];
const CPU_INFO: &str = "/proc/cpuinfo";
const MEMORY: &str = "/proc/meminfo";
pub(crate) const ONLINE: &str = "/sys/devices/system/cpu/online";
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Where the files of this process's control group lie inside a container; elsewhere that of all
/// processes, which has no limit.
const GROUP: &str = "/sys/fs/cgroup";
const BACKLOG: &str = "/proc/sys/net/core/somaxconn";

/// Reads the facts as they are now.
pub fn machine_facts() -> MachineFacts {
    let limit = getrlimit(Resource::Nofile).current;
    facts_of(|path| fs::read(path).ok(), limit)
}

/// The CPUs of this machine that are online.
///
/// # Errors
/// The kernel's list cannot be read.
pub fn online_cpus() -> io::Result<CpuSet> {
    cpus_in(&fs::read_to_string(ONLINE)?).map_err(io::Error::other)
}

/// The CPUs in the text of [`ONLINE`].
pub(crate) fn cpus_in(online: &str) -> Result<CpuSet, CpuSetError> {
    online.trim().parse()
}

/// Bytes of memory that programs could still take, now: of the machine, and of the control group
/// where that allows less.
pub fn free_memory_bytes() -> Option<u64> {
    let available = number_after(&fs::read(MEMORY).ok()?, b"MemAvailable:")? * 1024;
    let of_group = |name: &str| number(fs::read(format!("{GROUP}/{name}")).ok()?.trim_ascii());
    let left = of_group("memory.max")
        .zip(of_group("memory.current"))
        .map(|(most, now)| most.saturating_sub(now));
    Some(left.map_or(available, |left| available.min(left)))
}

/// The facts of the machine whose files these are.
pub(crate) fn facts_of(
    file: impl Fn(&str) -> Option<Vec<u8>>,
    descriptor_limit: Option<u64>,
) -> MachineFacts {
    let text_of = |path: &str| {
        let text = String::from_utf8(file(path)?).ok()?;
        Some(text.trim().to_owned())
    };
    let cpu_info = file(CPU_INFO).unwrap_or_default();
    let memory_kib = file(MEMORY).and_then(|text| number_after(&text, b"MemTotal:"));
    let online = text_of(ONLINE);
    let kernel = ["ostype", "osrelease"].map(|name| text_of(&format!("/proc/sys/kernel/{name}")));
    MachineFacts {
        cpu_model: cpu_model(&cpu_info),
        cpus: online
            .and_then(|list| cpus_in(&list).ok())
            .map(|set| set.count()),
        cpu_mhz: mean_mhz(&cpu_info),
        memory_bytes: memory_kib.map(|kib| kib * 1024),
        kernel: kernel.into_iter().flatten().collect::<Vec<_>>().join(" "),
        virtualised: virtualised(&cpu_info),
        clock_source: text_of(CLOCK),
        somaxconn: text_of(BACKLOG).and_then(|text| number(text.as_bytes())),
        descriptor_limit,
    }
}

/// The values of a field of `/proc/cpuinfo`, one for each CPU.
fn fields<'t>(cpu_info: &'t [u8], key: &'t str) -> impl Iterator<Item = &'t str> {
    lines(cpu_info).filter_map(move |line| {
        let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn cpu_model(cpu_info: &[u8]) -> Option<String> {
    fields(cpu_info, "model name").next().map(str::to_owned)
}

fn mean_mhz(cpu_info: &[u8]) -> Option<f64> {
    let mhz: Vec<f64> = fields(cpu_info, "cpu MHz")
        .filter_map(|mhz| mhz.parse().ok())
        .collect();
    (!mhz.is_empty()).then(|| mhz.iter().sum::<f64>() / mhz.len() as f64)
}

/// Bit 31 of CPUID leaf 1 is kept free for hypervisors to set; Linux shows it among the flags.
fn virtualised(cpu_info: &[u8]) -> Option<bool> {
    let flags = fields(cpu_info, "flags").next()?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const TWO_CPUS: &[u8] = b"processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2250.000\n\
        flags\t\t: fpu vme hypervisor lahf_lm\n\n\
        processor\t: 1\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2750.000\n\
        flags\t\t: fpu vme hypervisor lahf_lm\n\n";
    const ARM: &[u8] = b"processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n\n";

    #[test]
    fn a_virtual_machine() {
        assert_eq!(cpu_model(TWO_CPUS).as_deref(), Some("AMD EPYC"));
        assert_eq!(mean_mhz(TWO_CPUS), Some(2500.0));
        assert_eq!(virtualised(TWO_CPUS), Some(true));
    }

    #[test]
    fn a_cpu_that_does_not_tell() {
        assert_eq!(cpu_model(ARM), None);
        assert_eq!(mean_mhz(ARM), None);
        assert_eq!(virtualised(ARM), None);
    }

    #[test]
    fn this_machine() {
        let facts = machine_facts();
        assert!(facts.kernel.starts_with("Linux "));
        assert!(facts.cpus.unwrap() >= std::thread::available_parallelism().unwrap().get());
        let memory = facts.memory_bytes.unwrap();
        assert!(memory > 1 << 26);
        assert!((1..memory).contains(&free_memory_bytes().unwrap()));
    }
}
