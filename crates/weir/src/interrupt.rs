//! Ctrl-C and SIGTERM: stop measuring, keep what there is, put the server back. And the end of
//! whoever started a server.

use std::io::Read as _;
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

/// Ends this process, as SIGTERM would, when standard input closes: it never outlives the program
/// that started it.
pub(crate) fn with_parent() {
    std::thread::spawn(|| {
        let mut rest = [0; 256];
        let mut input = std::io::stdin().lock();
        while matches!(input.read(&mut rest), Ok(read) if read > 0) {}
        // The server's own handler cleans up; if the signal cannot be raised, nothing else can be
        // done.
        let _ = signal_hook::low_level::raise(SIGTERM);
    });
}
