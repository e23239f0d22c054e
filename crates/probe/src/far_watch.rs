//! One reading a second of another machine.
//!
//! The readers are those of this machine ([`System`]); the moment of a reading is the other
//! machine's own. Figures are told only when they are those of the second that has just ended: an
//! answer that came late, the first after a connection was lost, or one that covers more than a
//! second and a half serves as the start of the next reading only.

use std::time::Instant;

use crate::far_files::FarFiles;
use crate::files::Files;
use crate::reading::Reading;
use crate::system::System;
use crate::ticks::COVERS_A_SECOND;

/// Another machine that is read once a second.
#[derive(Debug)]
pub(crate) struct FarWatch {
    files: Files,
    /// The moment of the last reading.
    last: Option<Instant>,
}

impl FarWatch {
    pub(crate) fn new(files: FarFiles) -> Self {
        Self {
            files: Files::there(files),
            last: None,
        }
    }

    /// Sends the question of this second.
    pub(crate) fn ask(&mut self, system: &mut System) {
        if self.far().is_behind() {
            // The second is over that it was for; if it has come, a new question can be asked.
            self.take(system, Instant::now());
        }
        if self.far().is_new() {
            // What has to be asked for shows only while it is read.
            self.far().ask();
            self.take(system, FarFiles::first_deadline());
        }
        self.far().ask();
    }

    /// Waits for the answer and reads it.
    pub(crate) fn sample(&mut self, system: &mut System, deadline: Instant, reading: &mut Reading) {
        if let Some(told) = self.take(system, deadline) {
            reading.extend(told);
        }
    }

    /// What the answer tells of this second, when it is there in time.
    fn take(&mut self, system: &mut System, deadline: Instant) -> Option<Reading> {
        let arrival = self.far().arrive(deadline)?;
        let mut told = Reading::new();
        system.sample(arrival.moment, &mut self.files, &mut told);
        self.far().finish();
        let last = self.last.replace(arrival.moment);
        let covered = last.map(|last| arrival.moment.saturating_duration_since(last));
        let is_a_second = covered.is_some_and(|covered| COVERS_A_SECOND.contains(&covered));
        (arrival.is_of_now && is_a_second).then_some(told)
    }

    fn far(&mut self) -> &mut FarFiles {
        self.files
            .far()
            .expect("the files are those of another machine")
    }
}
