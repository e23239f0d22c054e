//! Ctrl-C and SIGTERM: stop measuring, keep what there is, put the server back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::ExpectedError;

/// A flag that the first signal sets; the second one ends the program at once with 130.
pub(crate) fn flag() -> Result<Arc<AtomicBool>, ExpectedError> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the conditional shutdown sees the flag as it was before this signal.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| {
                ExpectedError::Environment(format!("failed to listen for signals: {error}"))
            })?;
    }
    Ok(flag)
}
