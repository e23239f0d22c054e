//! Whether a process of a trace record is one of the server's.

use std::collections::HashMap;

use crate::target::process::ProcessStat;

/// Parents that are gone through at most.
const GENERATIONS_MAX: usize = 32;

/// The server's processes with those that descend from them. What was found out is remembered until
/// it is forgotten: the kernel gives numbers again.
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

    /// Whether a process is the server's; not when it is gone.
    pub(crate) fn has(&mut self, process: u32) -> bool {
        if let Some(&known) = self.known.get(&process) {
            return known;
        }
        let found = self.descends(process);
        self.known.insert(process, found);
        found
    }

    fn descends(&self, process: u32) -> bool {
        let ancestors = std::iter::successors(Some(process), |process| parent(*process));
        ancestors
            .take(GENERATIONS_MAX)
            .any(|process| self.roots.contains(&process))
    }
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    ProcessStat::parse(&stat).map(|stat| stat.parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_a_process_are_its_own() {
        let own = std::process::id();
        let mut targets = Targets::new(&[own]);
        assert!(targets.has(own));
        assert!(!targets.has(u32::MAX), "there is none");
        let parent = parent(own).filter(|parent| *parent > 0);
        if let Some(parent) = parent {
            assert!(!targets.has(parent));
            assert!(Targets::new(&[parent]).has(own));
        }
    }
}
