//! What a study has learned so far, whole or cut short.

use weir_record::{Answer, RaisedLimit};

use crate::confirm::Confirmed;
use crate::search::Found;
use crate::search::cpu::CpuFit;
use crate::settings::Settings;

/// What a study has learned so far.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    pub(crate) found: Option<Found>,
    pub(crate) answer: Option<Answer>,
    /// Limits that ended the search as the server was found, and were raised for it to go on.
    pub(crate) raised: Vec<RaisedLimit>,
    /// A limit that was raised in vain: it is as it was in the answer.
    pub(crate) in_vain: Option<RaisedLimit>,
    /// Requirements from below that the answer does not meet.
    pub(crate) unmet: Vec<String>,
    pub(crate) confirmed: Option<Confirmed>,
    /// The settings, where they follow from the answer alone; those that were checked go before.
    pub(crate) settings: Option<Settings>,
    pub(crate) fit: Option<CpuFit>,
    /// Trials that the others contradict, so that the answer does not rest on them.
    pub(crate) outliers: Vec<u32>,
    /// Why no settings were derived, when none were.
    pub(crate) no_settings: Option<String>,
}
