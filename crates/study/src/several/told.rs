//! What came of it: status, the table of all that was tried, the settings in the result.

use std::collections::BTreeMap;

use weir_record::{
    Finding, JointSetting, JointSettings, JointStanding, LevelVerdict, SettingDetail,
    SettingEvidence, Status, SweepTable, TargetFacts, TrialRecord,
};
use weir_stats::Estimate;

use super::found::{By, Found};
use super::joint::{Compared, Joint, Standing};
use super::limits;
use super::{End, Point, words};
use crate::contest::CONFIDENCE;
use crate::file::{Across, BestGoal, ColumnSpec, SeveralSpec, default_columns};
use crate::findings;
use crate::outcome::Outcome;
use crate::sweep::{Case, table};
use crate::trials::Stop;

/// All that words are made of.
pub(super) struct Told<'a> {
    pub(super) spec: &'a SeveralSpec,
    pub(super) found: &'a Found,
    pub(super) compared: Option<Compared>,
    pub(super) trials: &'a [TrialRecord],
    pub(super) end: Option<&'a End>,
}

/// The outcome of a study.
pub(super) fn outcome(
    spec: &SeveralSpec,
    facts: TargetFacts,
    found: &Found,
    trials: Vec<TrialRecord>,
    end: Option<End>,
) -> Outcome {
    let told = Told {
        spec,
        found,
        compared: found.joint.as_ref().and_then(Joint::compared),
        trials: &trials,
        end: end.as_ref(),
    };
    let joint = told.joint();
    let (settings, settings_detail) = settings(&joint, &facts);
    let mut all = findings::of_sweep(&trials, &facts);
    all.extend(left_unknown(&joint));
    Outcome {
        status: told.status(),
        question: spec.question.clone(),
        summary: words::summary(&told),
        answer: None,
        raised: Vec::new(),
        settings,
        settings_detail,
        held: None,
        findings: all,
        table: Some(told.table()),
        comparison: None,
        joint: Some(joint),
        difference: None,
        target: facts,
        stopped_by: match end {
            Some(End::Stop(Stop::Error(error))) => Some(error),
            _ => None,
        },
        trials,
    }
}

/// The settings to use, and where each comes from; one whose limit as found is not known and that
/// stays has none.
fn settings(
    joint: &JointSettings,
    facts: &TargetFacts,
) -> (BTreeMap<String, f64>, Vec<SettingDetail>) {
    let details = joint.settings.iter().filter_map(|setting| {
        Some(SettingDetail {
            stage: setting.stage.clone(),
            native: facts.stage(&setting.stage)?.native.clone(),
            from: setting.found,
            to: setting.value?,
            because: setting.because.clone(),
            trials: setting.trials.clone(),
        })
    });
    let details: Vec<SettingDetail> = details.collect();
    let limits = details
        .iter()
        .map(|detail| (detail.stage.clone(), detail.to));
    (limits.collect(), details)
}

/// Settings that stay and are not among the details, because nobody knows what they are.
fn left_unknown(joint: &JointSettings) -> Vec<Finding> {
    let left = joint.settings.iter().filter(|setting| {
        let stays = matches!(
            setting.evidence,
            SettingEvidence::CannotBind | SettingEvidence::NotSettable
        );
        stays && setting.value.is_none()
    });
    left.map(|setting| {
        let says = format!("{} stays as found: {}.", setting.stage, setting.because);
        Finding::new("setting-left", says, &setting.trials).of_stage(&setting.stage)
    })
    .collect()
}

impl Told<'_> {
    pub(super) fn status(&self) -> Status {
        if matches!(self.end, Some(End::Stop(Stop::Error(_)))) {
            return Status::Interrupted;
        }
        if !self.trials.iter().any(|trial| trial.valid) {
            return Status::Invalid;
        }
        if self.found.nothing_meets {
            return Status::NotMet;
        }
        if self.found.searched.is_empty() {
            let met = self.found.out.is_empty() && self.end.is_none();
            return if met { Status::Same } else { Status::NotMet };
        }
        if self.alone().is_some() {
            return Status::Answered;
        }
        let Some(compared) = &self.compared else {
            return Status::Undecided;
        };
        match self.spec.goal {
            BestGoal::SmallestNearBest if compared.smallest_as_good().is_some() => Status::Answered,
            BestGoal::Best if compared.leads_alone() => Status::Answered,
            BestGoal::Best if compared.is_plateau() => Status::Same,
            _ => Status::Undecided,
        }
    }

    /// What was left when everything else was out.
    pub(super) fn alone(&self) -> Option<&Point> {
        self.found.joint.as_ref()?.alone()
    }

    /// The levels that are asked for, when there are any.
    pub(super) fn point(&self) -> Option<&Point> {
        match self.status() {
            Status::Answered | Status::Same if !self.found.searched.is_empty() => {}
            _ => return None,
        }
        self.alone().or_else(|| Some(&self.standing()?.contender))
    }

    /// The contender that is asked for.
    pub(super) fn standing(&self) -> Option<&Standing> {
        let compared = self.compared.as_ref()?;
        match (self.status(), self.spec.goal) {
            (Status::Answered, BestGoal::Best) => Some(compared.leader()),
            // Of equals the smallest costs least.
            (Status::Answered, BestGoal::SmallestNearBest) | (Status::Same, _) => {
                compared.smallest_as_good()
            }
            _ => None,
        }
    }

    /// A loss as a share of the best.
    pub(super) fn loss(&self, standing: &Standing) -> Estimate {
        let share = |loss| self.found.scale.share(loss);
        Estimate {
            value: share(standing.loss.value),
            low: share(standing.loss.low),
            high: share(standing.loss.high),
            ..standing.loss
        }
    }

    fn joint(&self) -> JointSettings {
        let compared = self.compared.as_ref();
        let standings = compared.iter().flat_map(|compared| &compared.standings);
        let contenders = standings.map(|standing| JointStanding {
            levels: self.found.levels(&BTreeMap::new(), &standing.contender),
            value: self.found.scale.figure_of(standing.mean),
            loss: self.loss(standing),
            verdict: standing.verdict,
        });
        let settings = (0..self.found.limits.len()).map(|at| self.setting(at));
        JointSettings {
            figure: self.found.scale.figure.to_string(),
            margin: self.spec.margin,
            confidence: CONFIDENCE,
            blocks: compared.map_or(0, |compared| compared.blocks as u32),
            noise: compared.map(|compared| compared.noise.exp_m1()),
            settings: settings.collect(),
            contenders: contenders.collect(),
        }
    }

    /// One of the settings, by its place among all.
    fn setting(&self, at: usize) -> JointSetting {
        let limit = &self.found.limits[at];
        if let limits::Standing::Left {
            evidence,
            because,
            trials,
        } = &limit.standing
        {
            return JointSetting {
                stage: limit.stage.clone(),
                found: limit.found,
                value: limit.found,
                low: None,
                high: None,
                evidence: *evidence,
                because: format!("stays: {because}"),
                trials: trials.clone(),
            };
        }
        let place = self.found.searched.iter().position(|&own| own == at);
        let decided = place.and_then(|place| Some((place, self.point()?)));
        let Some((place, point)) = decided else {
            return JointSetting {
                stage: limit.stage.clone(),
                found: limit.found,
                value: None,
                low: None,
                high: None,
                evidence: SettingEvidence::Searched,
                because: "not decided".to_owned(),
                trials: Vec::new(),
            };
        };
        let derived = self.found.chosen[place].by == By::Model;
        let interval = self.interval(place, point);
        JointSetting {
            stage: limit.stage.clone(),
            found: limit.found,
            value: Some(f64::from(point[place])),
            low: Some(f64::from(interval.0)),
            high: Some(f64::from(interval.1)),
            evidence: if derived {
                SettingEvidence::Derived
            } else {
                SettingEvidence::Searched
            },
            because: words::because(self, place, point),
            trials: self.trials_of(point),
        }
    }

    /// Between what levels a setting lies, the others being as they should.
    fn interval(&self, place: usize, point: &Point) -> (u32, u32) {
        let chosen = &self.found.chosen[place];
        let level = point[place];
        if self.spec.goal == BestGoal::Best {
            let open = self.compared.iter().flat_map(Compared::not_beaten);
            let levels: Vec<u32> = open.map(|standing| standing.contender[place]).collect();
            let low = levels.iter().copied().min().unwrap_or(level);
            return (
                low.min(level),
                levels.into_iter().max().unwrap_or(level).max(level),
            );
        }
        let compared = self.compared.iter();
        let worse = compared
            .flat_map(|compared| compared.with_less_of(place, point))
            .filter(|standing| standing.verdict == LevelVerdict::Worse)
            .map(|standing| standing.contender[place]);
        let out = chosen
            .below
            .filter(|below| !below.usable)
            .map(|below| below.level);
        let below = worse.chain(out).filter(|&below| below < level).max();
        let low = below.map_or(
            self.found.limits[self.found.searched[place]].within.0,
            |below| below + 1,
        );
        (low.min(level), level)
    }

    fn trials_of(&self, point: &Point) -> Vec<u32> {
        let name = self.found.name(point);
        let own = self
            .trials
            .iter()
            .filter(|trial| trial.valid && trial.case.as_deref() == Some(name.as_str()));
        own.map(|trial| trial.id).collect()
    }

    /// Every combination that was tried, in the order of the trials.
    fn table(&self) -> SweepTable {
        let mut cases: Vec<Case> = Vec::new();
        for trial in self.trials {
            let name = trial.case.clone().unwrap_or_default();
            if cases.iter().all(|case| case.name != name) {
                cases.push(Case {
                    name,
                    levels: trial.levels.clone(),
                    ..Case::default()
                });
            }
        }
        table(&self.columns(), &cases, self.trials, &Across::default())
    }

    /// What is compared, the usual figures, and how full the stages are that were searched.
    fn columns(&self) -> Vec<ColumnSpec> {
        let mut columns = default_columns();
        let figure = &self.found.scale.figure;
        let is_there =
            |column: &ColumnSpec| crate::figure::Figure::named(&column.signal) == *figure;
        if !columns.iter().any(is_there) {
            let (title, signal) = (self.spec.of.clone(), self.spec.of.clone());
            columns.insert(0, ColumnSpec::new(title, signal));
        }
        columns.extend(
            self.found
                .stages()
                .map(|stage| ColumnSpec::new(format!("In {stage}"), format!("{stage}.occupancy"))),
        );
        columns
    }
}
