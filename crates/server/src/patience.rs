//! How long a child may take to end.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The most that a command may take that sets a limit, reads it, or puts it back.
pub(crate) const COMMAND: Duration = Duration::from_secs(120);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// How a command ended; `None` when it has not within this time.
///
/// # Errors
/// It cannot be asked.
pub(crate) fn wait(child: &mut Child, longest: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + longest;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if Instant::now() >= until => return Ok(None),
            None => thread::sleep(LOOK),
        }
    }
}

/// What is said of one that has not ended.
pub(crate) fn says(longest: Duration) -> String {
    format!("the command did not end within {} s", longest.as_secs())
}
