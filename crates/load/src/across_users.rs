//! What the users of all runtimes share while a load runs: counters, locks, places in files.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weir_plan::ElementId;

use crate::data_file::Cursor;
use crate::executions::Executions;
use crate::java_random::JavaRandom;
use crate::pacing::Pacing;

/// State of elements that users share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    executions: Mutex<HashMap<ElementId, Executions>>,
    locks: Mutex<HashMap<String, Arc<Semaphore>>>,
    counters: Mutex<HashMap<ElementId, i64>>,
    files: Mutex<HashMap<String, Cursor>>,
    unread: Mutex<BTreeMap<String, UnreadFile>>,
    /// Schedules of timers.
    pub(crate) pacing: Pacing,
    randoms: Mutex<HashMap<ElementId, JavaRandom>>,
}

/// A data file that could not be read, for want of which users ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFile {
    /// Its name in the plan.
    pub name: String,
    /// Why it could not be read.
    pub problem: String,
    /// How many users ended.
    pub users: u64,
}

impl fmt::Display for UnreadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            problem,
            users,
        } = self;
        write!(f, "{name} ({problem}): {users} user(s) ended without it")
    }
}

/// A lock of a critical section that is held until this is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked is told of by the runtime's thread; the numbers themselves are whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Reads and changes what a throughput controller has counted.
    pub(crate) fn executions<R>(
        &self,
        id: ElementId,
        change: impl FnOnce(&mut Executions) -> R,
    ) -> R {
        change(locked(&self.executions).entry(id).or_default())
    }

    /// The lock of this name.
    pub(crate) fn lock(&self, name: &str) -> Arc<Semaphore> {
        let mut locks = locked(&self.locks);
        let lock = locks.entry(name.to_owned());
        Arc::clone(lock.or_insert_with(|| Arc::new(Semaphore::new(1))))
    }

    /// Changes a counter, which is at `start` before anyone has.
    pub(crate) fn counter<R>(
        &self,
        id: ElementId,
        start: i64,
        change: impl FnOnce(&mut i64) -> R,
    ) -> R {
        change(locked(&self.counters).entry(id).or_insert(start))
    }

    /// Draws from the numbers of an element, which `new` begins before anyone has.
    pub(crate) fn random<R>(
        &self,
        id: ElementId,
        new: impl FnOnce() -> JavaRandom,
        draw: impl FnOnce(&mut JavaRandom) -> R,
    ) -> R {
        draw(locked(&self.randoms).entry(id).or_insert_with(new))
    }

    /// Reads from the file of this key, which `open` opens before anyone has.
    pub(crate) fn file<R>(
        &self,
        key: &str,
        open: impl FnOnce() -> Cursor,
        read: impl FnOnce(&mut Cursor) -> R,
    ) -> R {
        let mut files = locked(&self.files);
        read(files.entry(key.to_owned()).or_insert_with(open))
    }

    /// A user ends because a data file cannot be read.
    pub(crate) fn could_not_read(&self, name: &str, problem: &str) {
        let mut unread = locked(&self.unread);
        let unread = unread.entry(name.to_owned()).or_insert_with(|| UnreadFile {
            name: name.to_owned(),
            problem: problem.to_owned(),
            users: 0,
        });
        unread.users += 1;
    }

    /// The data files that could not be read, by name.
    pub(crate) fn unread(&self) -> Vec<UnreadFile> {
        locked(&self.unread).values().cloned().collect()
    }
}
