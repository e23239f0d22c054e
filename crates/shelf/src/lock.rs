//! One Weir at a time fetches a package.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::error::ShelfError;

/// How often a taken lock is tried again.
const LOOK: Duration = Duration::from_millis(200);

/// Waits until this process alone may write what the lock file stands for; it may as long as the
/// value lives, and no longer than the process.
pub(crate) fn hold(path: &Path, interrupted: &AtomicBool) -> Result<File, ShelfError> {
    let file = File::create(path).map_err(ShelfError::file("write", path))?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOOK),
            Err(error) => return Err(ShelfError::file("lock", path)(io::Error::from(error))),
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(ShelfError::Interrupted);
        }
    }
}
