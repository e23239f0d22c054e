//! Whether a process or thread of a trace record is one of the server's.

use std::collections::HashMap;

use crate::kernel_text::number_after;

/// Parents that are gone through at most.
const GENERATIONS_MAX: usize = 32;

/// The server's processes with those that descend from them. What was found out is remembered until it is forgotten:
/// the kernel gives numbers again.
#[derive(Debug)]
pub(crate) struct Targets {
    roots: Vec<u32>,
    known: HashMap<u32, bool>,
}

impl Targets {
    pub(crate) fn new(roots: &[u32]) -> Self {
        Self {
            roots: roots.to_vec(),
            known: HashMap::new(),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// Whether a process or a thread is the server's; not when it is gone.
    pub(crate) fn has(&mut self, id: u32) -> bool {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let found = self.descends(id);
        self.known.insert(id, found);
        found
    }

    fn descends(&self, id: u32) -> bool {
        let mut next = id;
        for _ in 0..GENERATIONS_MAX {
            if self.roots.contains(&next) {
                return true;
            }
            let Some((process, parent)) = process_and_parent(next) else {
                return false;
            };
            if self.roots.contains(&process) {
                return true;
            }
            next = parent;
        }
        false
    }
}

/// The process that a thread belongs to, and the parent of that process.
fn process_and_parent(id: u32) -> Option<(u32, u32)> {
    let status = std::fs::read(format!("/proc/{id}/status")).ok()?;
    let number = |key: &[u8]| u32::try_from(number_after(&status, key)?).ok();
    Some((number(b"Tgid:")?, number(b"PPid:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_children_of_a_process_are_its_own() {
        let own = std::process::id();
        let mut targets = Targets::new(&[own]);
        assert!(targets.has(own));
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let _ = tell.send(rustix::thread::gettid().as_raw_nonzero().get());
            let _ = ended.recv();
        });
        let id = told.recv().map(|id| id as u32);
        assert!(id.is_ok_and(|id| targets.has(id)));
        drop(end);
        assert!(thread.join().is_ok());
        assert!(!targets.has(1) || own == 1);
        assert!(!targets.has(u32::MAX), "there is none");
    }
}
