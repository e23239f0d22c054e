//! Where a name leads.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::{Component, Path, PathBuf};

/// Most links that lead to nothing one after the other, as the kernel has it.
const LINKS_MAX: usize = 40;

/// The place of a name: links followed as far as there is something, the rest as it is written.
pub(crate) fn of_name(name: &Path) -> PathBuf {
    match std::path::absolute(name) {
        Ok(absolute) => of_absolute(absolute, LINKS_MAX),
        Err(_) => name.to_owned(),
    }
}

fn of_absolute(absolute: PathBuf, links: usize) -> PathBuf {
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut there = absolute.as_path();
    loop {
        if let Ok(mut place) = there.canonicalize() {
            for part in rest.iter().rev() {
                match part {
                    Component::ParentDir => drop(place.pop()),
                    part => place.push(part),
                }
            }
            return place;
        }
        let (Some(last), Some(parent)) = (there.components().next_back(), there.parent()) else {
            return absolute;
        };
        // A link to what is not there leads there all the same.
        if links > 0
            && let Ok(target) = fs::read_link(there)
        {
            let mut led = parent.join(target);
            led.extend(rest.iter().rev());
            return of_absolute(led, links - 1);
        }
        rest.push(last);
        there = parent;
    }
}

/// The place of a file that is held; one that was deleted is missing.
pub(crate) fn of_held(file: impl AsFd) -> io::Result<PathBuf> {
    fs::read_link(by_number(file))
}

/// The name under which this process opens a file that it holds already.
pub(crate) fn by_number(file: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}
