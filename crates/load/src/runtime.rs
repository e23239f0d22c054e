//! The thread of a runtime, from its setting up to its last words.

use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use crate::clock::Moment;
use crate::control::Stage;
use crate::core::{Core, CoreSetup, Report};
use crate::crash::caught;
use crate::error::LoadError;
use crate::starts::start_users;

/// The body of a runtime's thread: runs it, and reports when it panics.
pub(crate) fn run_watched(
    setup: CoreSetup,
    ready: Sender<Result<(), LoadError>>,
    begin: &Receiver<Moment>,
) {
    let (index, reports, control) = (setup.index, setup.reports.clone(), setup.control.clone());
    if let Err(problem) = caught(|| run_core(setup, ready, begin)) {
        control.order(Stage::Aborting);
        let _ = reports.send((index, Report::Crashed(problem)));
    }
}

/// Sets up, says so, waits for the word to begin, runs.
fn run_core(setup: CoreSetup, ready: Sender<Result<(), LoadError>>, begin: &Receiver<Moment>) {
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
