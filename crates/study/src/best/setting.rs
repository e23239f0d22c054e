//! The answer as a setting: of a stage of the server, or of the gateway in front of it.

use std::collections::BTreeMap;

use weir_record::SettingDetail;

use super::told::Told;
use crate::hold_by_gate::set_of_gate;
use crate::settings::{GATE, OF_THE_GATE};

/// The word for the limit that the gateway has as a stage.
const CONCURRENCY: &str = "concurrency";

impl Told<'_> {
    /// The limits that hold the answer, with where the one that was looked for comes from; nothing
    /// where the factor is no limit.
    pub(super) fn settings(&self) -> (BTreeMap<String, f64>, Vec<SettingDetail>) {
        let Some((level, place)) = self.level().zip(self.place()) else {
            return (BTreeMap::new(), Vec::new());
        };
        let to = f64::from(level.contender);
        let detail = SettingDetail {
            to,
            because: self.headline(level),
            trials: self.trials_at(to),
            ..place
        };
        let mut limits = BTreeMap::from([(self.spec.vary.clone(), to)]);
        if self.word_of_gate().is_some() {
            limits.extend(set_of_gate(&self.spec.set));
        }
        (limits, vec![detail])
    }

    /// How the answer is put into force, where a gateway does it.
    pub(super) fn held_by_gate(&self) -> Option<String> {
        self.level()?;
        self.word_of_gate()?;
        Some("Hold it with the run's GATE.toml: weir gate GATE.toml.".to_owned())
    }

    /// Where the factor stands, with its limit as it was found.
    fn place(&self) -> Option<SettingDetail> {
        let word = self.word_of_gate();
        let stage = self
            .facts
            .stage(word.map_or(self.spec.vary.as_str(), |_| GATE))?;
        let (native, from) = match word {
            Some(CONCURRENCY) => (Some(CONCURRENCY.to_owned()), stage.limit),
            Some(word) => (Some(word.to_owned()), None),
            None => (stage.native.clone(), stage.limit),
        };
        Some(SettingDetail {
            stage: stage.name.clone(),
            native,
            from,
            to: 0.0,
            because: String::new(),
            trials: Vec::new(),
        })
    }

    fn word_of_gate(&self) -> Option<&str> {
        self.spec.vary.strip_prefix(OF_THE_GATE)
    }

    fn trials_at(&self, level: f64) -> Vec<u32> {
        let trials = self.trials.iter();
        let there =
            trials.filter(|trial| trial.valid && trial.level(&self.spec.vary) == Some(level));
        there.map(|trial| trial.id).collect()
    }
}
