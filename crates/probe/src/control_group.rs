//! The control groups of a process: what they let it use, and what they have used of that.
//!
//! A process is in one group of each controller, and bound by the groups around that one as well:
//! the tightest counts. Of another machine the same files are read.

mod bandwidth;
mod memory;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::lines;
use crate::reading::{Reading, put};

pub(crate) use bandwidth::{LIMITS, Quota, TIME, Used};
use memory::Memory;

/// Where distributions mount the hierarchies of control groups.
pub(crate) const ROOT: &str = "/sys/fs/cgroup";
/// Directories of version 2 below [`ROOT`]: it alone has none of its own.
pub(crate) const UNIFIED: [&str; 2] = ["", "unified"];

/// The groups of one process. They are looked up in the first reading.
#[derive(Debug)]
pub(crate) struct ControlGroups {
    pid: u32,
    found: Option<(Quota, Memory)>,
}

impl ControlGroups {
    pub(crate) fn of(pid: u32) -> Self {
        Self { pid, found: None }
    }

    /// Reads what the groups allow and have used. Under a quota the target's CPUs are full when it
    /// is used up, however idle they are, and by whichever process of the group: the share is then
    /// that of what the group could have used, its quota or what others left of the CPUs, if that
    /// is less. `used_cpus` is what the target itself used.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        used_cpus: Option<f64>,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        let (quota, memory) = self.found.get_or_insert_with(|| {
            let named = groups_of(self.pid, files);
            let root = Path::new(ROOT);
            (
                Quota::of(root, &named, files),
                Memory::of(root, &named, files),
            )
        });
        let throttled = quota.throttled(now, files);
        put(reading, "target.throttled", throttled.map(|it| it.periods));
        let stood_still = throttled.and_then(|it| it.cpus);
        // Of the CPUs that it may use, before the quota is looked at.
        let stood_still = stood_still.zip(reading.get("target.cpus").copied());
        put(
            reading,
            "target.throttled.time",
            stood_still.map(|(stood_still, cpus)| (stood_still / cpus).min(1.0)),
        );
        memory.sample(now, files, reading);
        let Some(tightest) = quota.tightest(now, files) else {
            return;
        };
        let (limit, whole_group) = (tightest.cpus, tightest.used_cpus);
        let (Some(&cpus), Some(&busy)) = (reading.get("target.cpus"), reading.get("cpu")) else {
            return;
        };
        if limit <= 0.0 || limit >= cpus {
            return;
        }
        put(reading, "target.cpus", Some(limit));
        put(reading, "target.group.cpu", whole_group);
        let used = used_cpus.into_iter().chain(whole_group).reduce(f64::max);
        if let Some(used) = used {
            let idle = cpus * (1.0 - busy);
            let could = limit.min(used + idle);
            put(
                reading,
                "cpu",
                Some((used / could).min(1.0)).filter(|_| could > 0.0),
            );
        }
    }
}

/// The groups that a process is in, as `/proc/PID/cgroup` tells them.
#[derive(Debug, Default)]
pub(crate) struct Named {
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
    memory: Option<PathBuf>,
}

impl Named {
    fn parse(text: &[u8]) -> Self {
        let of = |controller: &str| group(text, controller);
        Self {
            cpu: of("cpu"),
            cpuacct: of("cpuacct"),
            memory: of("memory"),
        }
    }

    /// One path for the group of every controller.
    pub(crate) fn everywhere(name: &Path) -> Self {
        let name = Some(name.to_owned());
        Self {
            cpu: name.clone(),
            cpuacct: name.clone(),
            memory: name,
        }
    }
}

fn groups_of(pid: u32, files: &mut Files) -> Named {
    let mut file = KeptFile::new(format!("/proc/{pid}/cgroup"));
    file.read(files).map(Named::parse).unwrap_or_default()
}

/// How many CPUs' time the control groups of a process of this machine let it use; infinite without
/// a quota.
pub(crate) fn quota_of(pid: u32) -> f64 {
    let mut files = Files::here();
    Quota::of_process(pid, &mut files).cpus(&mut files)
}

/// The path of the group of one controller, or of version 2.
fn group(text: &[u8], controller: &str) -> Option<PathBuf> {
    let groups = lines(text).filter_map(|line| {
        let mut columns = std::str::from_utf8(line).ok()?.splitn(3, ':').skip(1);
        Some((columns.next()?, columns.next()?))
    });
    let mut groups: Vec<(&str, &str)> = groups.collect();
    groups.retain(|(controllers, _)| {
        controllers.is_empty() || controllers.split(',').any(|one| one == controller)
    });
    // In a system with both versions, a controller is in one of them.
    let group = groups
        .iter()
        .find(|(controllers, _)| !controllers.is_empty())
        .or(groups.first());
    group.map(|(_, path)| PathBuf::from(path.trim_start_matches('/')))
}

/// The directories of a group and of the groups around it, in each of these places.
fn directories(root: &Path, places: &[&str], name: Option<&PathBuf>) -> Vec<PathBuf> {
    let places = places.iter().chain(&UNIFIED).map(|place| root.join(place));
    let inside = |place: PathBuf| {
        let groups = name.into_iter().flat_map(|name| name.ancestors());
        groups.map(move |group| place.join(group))
    };
    places.flat_map(inside).collect()
}

/// A file of a group.
pub(crate) fn kept(path: &Path) -> KeptFile {
    KeptFile::new(path.to_string_lossy())
}

/// The file, if it is there.
fn there(path: &Path, files: &mut Files) -> Option<KeptFile> {
    let mut file = kept(path);
    file.read(files).is_some().then_some(file)
}

/// Tells that these files of each directory are going to be looked for.
fn announce(directories: &[PathBuf], names: &[&str], files: &mut Files) {
    let paths = directories.iter().flat_map(|directory| {
        let inside = names.iter().map(|name| directory.join(name));
        inside.map(|path| path.to_string_lossy().into_owned())
    });
    files.prepare(paths);
}

#[cfg(test)]
mod tests;
