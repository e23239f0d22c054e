//! The journal of changes, told to the user when something is put back.

use weir_record::failed_to;
use weir_server::{Journal, Leftover, Restored, left_changed, restore_abandoned};

use crate::error::ExpectedError;
use crate::{output, places};

/// The exit code of a program that could not put everything back: that of the environment.
pub(crate) const EXIT_CODE: u8 = 3;

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

/// What Weirs that have ended have left changed.
pub(crate) fn left() -> Result<Vec<String>, ExpectedError> {
    left_changed(&places::state()?).map_err(|error| ExpectedError::Environment(failed_to(&error)))
}

/// Tells what was put back; what could not be is an error, whose last line says what to type.
pub(crate) fn tell(restored: &Restored) -> Result<(), ExpectedError> {
    for done in &restored.done {
        output::talk(&format!("  {done}"));
    }
    if restored.failed.is_empty() {
        return Ok(());
    }
    let left: Vec<String> = restored
        .failed
        .iter()
        .map(|failed| format!("NOT put back: {failed}"))
        .collect();
    Err(ExpectedError::Environment(format!(
        "the server stays changed\n{}\nmend the cause, then type `weir target restore`; each study tries it again \
         before it starts, until `weir target restore --forget`",
        left.join("\n")
    )))
}

/// The end of a command that has changed a server. What could not be put back is told last and
/// decides on the exit code, whatever else went wrong.
pub(crate) fn conclude<T>(
    ended: Result<T, ExpectedError>,
    restored: &Restored,
) -> Result<T, ExpectedError> {
    last_word(ended, tell(restored))
}

/// What ended, unless something is left: that is told last, after what went wrong before.
pub(crate) fn last_word<T>(
    ended: Result<T, ExpectedError>,
    put_back: Result<(), ExpectedError>,
) -> Result<T, ExpectedError> {
    if let (Err(error), Err(_)) = (&ended, &put_back) {
        output::tell_error(error);
    }
    put_back.and(ended)
}
