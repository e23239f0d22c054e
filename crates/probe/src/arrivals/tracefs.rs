//! The kernel's list of tracepoints: tracefs, where it is mounted, else an instance of it that
//! nobody else sees.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::error::TraceError;
use super::format::EventFormat;

/// Where tracefs is mounted, by its own mount point and by that of debugfs before Linux 4.1.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The folder of all tracepoints, open.
#[derive(Debug)]
pub(crate) struct Tracefs {
    events: OwnedFd,
}

impl Tracefs {
    /// Opens it where it is mounted. Where it is not, it is mounted without a place: only this
    /// descriptor leads to it, no process sees it, and it is gone when the descriptor is
    /// closed.
    pub(crate) fn open() -> Result<Self, TraceError> {
        let mounted = MOUNTED.iter().find_map(|root| {
            match open(format!("{root}/events"), FOLDER, Mode::empty()) {
                Err(rustix::io::Errno::NOENT) => None,
                found => Some(found),
            }
        });
        let events = mounted
            .unwrap_or_else(mount_unseen)
            .map_err(|error| TraceError::of_reading("tracefs", error.into()))?;
        Ok(Self { events })
    }

    /// What a tracepoint tells, such as `sched` `sched_switch`.
    pub(crate) fn event(&self, group: &str, name: &str) -> Result<EventFormat, TraceError> {
        let what = format!("{group}:{name}");
        let text = self
            .read(&format!("{group}/{name}/format"))
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => TraceError::NoTracepoint(what.clone()),
                _ => TraceError::of_reading(&what, error),
            })?;
        EventFormat::parse(&what, &text)
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.events, path, flags, Mode::empty())?;
        let mut text = String::new();
        File::from(file).read_to_string(&mut text)?;
        Ok(text)
    }
}

fn mount_unseen() -> rustix::io::Result<OwnedFd> {
    let system = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let root = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    openat(&root, "events", FOLDER, Mode::empty())
}
