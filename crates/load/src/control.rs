//! Telling all runtimes to stop.

use std::sync::Arc;

use tokio::sync::watch;

/// How far the end of a load has been ordered; it only ever moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Users go on.
    Running,
    /// No user starts another sample; samples that run finish. Tear-down groups may follow.
    Stopping,
    /// Samples that run are cut off. Tear-down groups may follow.
    Cutting,
    /// No user of any group starts another sample; samples that run finish.
    Ending,
    /// Samples of any group are cut off.
    Aborting,
}

/// Orders the end; all copies speak for the same load.
#[derive(Debug, Clone)]
pub(crate) struct Control(Arc<watch::Sender<Stage>>);

impl Control {
    /// A load that is running.
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Stage::Running)))
    }

    /// Orders a stage, unless a later one was ordered before.
    pub(crate) fn order(&self, stage: Stage) {
        self.0.send_if_modified(|current| {
            let later = stage > *current;
            if later {
                *current = stage;
            }
            later
        });
    }

    /// Hears of every order from now on, and of the last one before.
    pub(crate) fn listen(&self) -> watch::Receiver<Stage> {
        self.0.subscribe()
    }

    /// What was ordered.
    pub(crate) fn stage(&self) -> Stage {
        *self.0.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_never_taken_back() {
        let control = Control::new();
        let listener = control.listen();
        control.order(Stage::Aborting);
        control.clone().order(Stage::Stopping);
        assert_eq!(control.stage(), Stage::Aborting);
        assert_eq!(*listener.borrow(), Stage::Aborting);
    }
}
