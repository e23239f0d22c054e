//! The journal of changes, told to the user when something is put back.

use weir_record::failed_to;
use weir_server::{Journal, Leftover, Restored, restore_abandoned};

use crate::error::ExpectedError;
use crate::{output, places};

/// The journal of this Weir. Before that, what a Weir has changed that was killed is put back.
pub(crate) fn open() -> Result<Journal, ExpectedError> {
    tell(&abandoned(Leftover::Keep)?)?;
    places::state().map(Journal::new)
}

/// Puts back what Weirs have changed that were killed.
pub(crate) fn abandoned(leftover: Leftover) -> Result<Restored, ExpectedError> {
    let restored = restore_abandoned(&places::state()?, leftover)
        .map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    if !restored.is_empty() {
        output::talk("an earlier Weir ended without putting back what it had changed:");
    }
    Ok(restored)
}

/// Tells what was put back; what could not be is an error.
pub(crate) fn tell(restored: &Restored) -> Result<(), ExpectedError> {
    for done in &restored.done {
        output::talk(&format!("  {done}"));
    }
    if restored.failed.is_empty() {
        return Ok(());
    }
    Err(ExpectedError::Environment(format!(
        "failed to put everything back: {}; what is left is tried again by `weir target restore` and at the next \
         study, until `weir target restore --forget`",
        restored.failed.join("; ")
    )))
}
