//! The thread of a runtime, from its setting up to its last words.

use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use crate::clock::Moment;
use crate::core::{Core, CoreSetup};
use crate::error::LoadError;
use crate::starts::start_users;

/// The body of a runtime's thread: sets up, says so, waits for the word to begin, runs.
pub(crate) fn run_core(
    setup: CoreSetup,
    ready: Sender<Result<(), LoadError>>,
    begin: &Receiver<Moment>,
) {
    use tokio::runtime::{Builder, LocalOptions};
    let runtime = Builder::new_current_thread()
        .enable_io()
        .build_local(LocalOptions::default());
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(source) => {
            let what = "create its event loop";
            let _ = ready.send(Err(LoadError::Runtime { what, source }));
            return;
        }
    };
    let core = runtime.block_on(async {
        let (core, users) = match Core::new(setup) {
            Ok(made) => made,
            Err(error) => {
                let _ = ready.send(Err(error));
                return None;
            }
        };
        let _ = ready.send(Ok(()));
        drop(ready);
        // Without the word, the start has failed elsewhere.
        let begin = begin.recv().ok()?;
        core.run(start_users(Rc::clone(&core), users, begin)).await;
        Some(core)
    });
    let Some(core) = core else { return };
    let cut = core.in_flight();
    // Ends what was cut off, before the last gauges are read.
    drop(runtime);
    core.end(cut);
}
