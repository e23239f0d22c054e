//! Sets of CPUs, in the kernel's list format.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The largest CPU number accepted: the size of the kernel's mask on common builds.
const LARGEST: usize = 8191;

/// A set of CPUs that is never empty: `0`, `0-1,3`.
///
/// The text form is the list format of cpuset(7) and of `/sys/devices/system/cpu/online`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuSet(BTreeSet<usize>);

impl CpuSet {
    /// The set of these CPUs, or `None` when there are none.
    pub fn new(cpus: impl IntoIterator<Item = usize>) -> Option<Self> {
        let cpus: BTreeSet<usize> = cpus.into_iter().collect();
        (!cpus.is_empty()).then_some(Self(cpus))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// How many CPUs there are; at least one.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether this CPU is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// Keeps the calling thread, and every thread and process that it starts, on these CPUs.
    pub fn pin_this_thread(&self) -> std::io::Result<()> {
        let mut mask = rustix::thread::CpuSet::new();
        for cpu in self.iter() {
            if cpu < rustix::thread::CpuSet::MAX_CPU {
                mask.set(cpu);
            }
        }
        Ok(rustix::thread::sched_setaffinity(None, &mask)?)
    }

    /// The CPUs that the calling thread may use.
    pub fn of_this_thread() -> std::io::Result<Option<Self>> {
        let mask = rustix::thread::sched_getaffinity(None)?;
        Ok(Self::new(
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu)),
        ))
    }

    /// The CPUs of this set that are in `other`, too, or `None` when there are none.
    pub fn in_common(&self, other: &Self) -> Option<Self> {
        Self::new(self.0.intersection(&other.0).copied())
    }

    /// The CPUs of this set that are not in `other`, or `None` when none are left.
    pub fn without(&self, other: &Self) -> Option<Self> {
        Self::new(self.0.difference(&other.0).copied())
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        for (at, (first, last)) in ranges.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// The text is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read `{0}` as a list of CPUs such as `0` or `0-1,3`")]
pub struct CpuSetError(pub String);

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || CpuSetError(text.to_owned());
        let number = |part: &str| {
            let cpu: usize = part.trim().parse().map_err(|_| wrong())?;
            if cpu > LARGEST { Err(wrong()) } else { Ok(cpu) }
        };
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        Self::new(cpus).ok_or_else(wrong)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows_the_kernels_list_format() {
        for text in ["0", "0-1", "0-1,3", "1,3,5-7"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
        assert_eq!("2,0,1".parse::<CpuSet>().unwrap().to_string(), "0-2");
    }

    #[test]
    fn refuses_what_is_no_list() {
        for text in ["", "a", "1-", "3-1", "1,,2", "99999"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_thread_can_be_pinned() {
        std::thread::spawn(|| {
            let all = CpuSet::of_this_thread().unwrap().unwrap();
            let first = CpuSet::new(all.iter().take(1)).unwrap();
            first.pin_this_thread().unwrap();
            assert_eq!(CpuSet::of_this_thread().unwrap(), Some(first));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn takes_cpus_away() {
        let all: CpuSet = "0-3".parse().unwrap();
        let two: CpuSet = "0,2".parse().unwrap();
        assert_eq!(all.without(&two).unwrap().to_string(), "1,3");
        assert_eq!(two.without(&all), None);
    }
}
