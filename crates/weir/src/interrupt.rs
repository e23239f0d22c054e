//! Ctrl-C and SIGTERM: stop measuring, keep what there is, put the server back. And the end of
//! whoever started a server.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::ExpectedError;
use crate::output;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// A flag that the first signal sets; the second one ends the program at once with 130. For what
/// changes nothing that has to be put back.
pub(crate) fn flag() -> Result<Arc<AtomicBool>, ExpectedError> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // The order matters: the conditional shutdown sees the flag as it was before this signal.
        signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(not_heard)?;
    }
    Ok(flag)
}

/// A flag that the first signal sets, for what changes a server. The second one says that putting
/// back goes on; only the third ends the program at once, with 130, and says what is left.
pub(crate) fn flag_of_changes() -> Result<Arc<AtomicBool>, ExpectedError> {
    let flag = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new(SIGNALS).map_err(not_heard)?;
    let first = Arc::clone(&flag);
    std::thread::spawn(move || {
        for (_, number) in signals.forever().zip(1_u32..) {
            match number {
                1 => first.store(true, Ordering::Relaxed),
                2 => output::talk(
                    "it ends as soon as the server is put back; once more ends it at once, and the server may stay \
                     changed",
                ),
                _ => {
                    output::talk(
                        "ended before everything was put back: `weir target restore` puts it back, `weir target restore \
                         --check` says what is left",
                    );
                    #[expect(clippy::exit, reason = "whoever asks three times means it")]
                    std::process::exit(INTERRUPTED);
                }
            }
        }
    });
    Ok(flag)
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn not_heard(error: std::io::Error) -> ExpectedError {
    ExpectedError::Environment(format!("failed to listen for signals: {error}"))
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
