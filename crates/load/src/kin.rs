//! What users share that run the children of one Parallel Controller at the same time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use weir_record::SampleRow;
use weir_script::{Ends, Variables};

/// What those who run the children of a controller share.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) variables: RefCell<Variables>,
    pub(crate) running: Cell<u32>,
    /// Their samples are parts of one, and nobody else is told of them.
    pub(crate) is_whole: bool,
    /// Somebody around the controller hears of their samples.
    pub(crate) is_heard: bool,
    pub(crate) samples: RefCell<Vec<SampleRow>>,
    pub(crate) led: Cell<Option<Ends>>,
    pub(crate) last_ok: Cell<bool>,
}

/// One of them, as seen by itself.
#[derive(Debug)]
pub(crate) struct Kin {
    pub(crate) family: Rc<Family>,
    /// The variables as they were when it last saw those of the others.
    pub(crate) met: Variables,
}

impl Kin {
    /// How many run now.
    pub(crate) fn running(&self) -> u32 {
        self.family.running.get()
    }

    /// Whether their samples are parts of one.
    pub(crate) fn is_whole(&self) -> bool {
        self.family.is_whole
    }

    /// Notes where one of them leads the user: to its end, or to its next iteration.
    pub(crate) fn leads(&self, ends: bool, restarts: bool) {
        let led = &self.family.led;
        if ends {
            led.set(Some(Ends::User));
        } else if restarts && led.get().is_none() {
            led.set(Some(Ends::GroupIteration));
        }
    }
}
