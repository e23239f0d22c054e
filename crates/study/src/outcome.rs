//! What a study ends with.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_record::{
    Answer, ConfigurationDiff, Difference, Finding, Held, JointSettings, LevelComparison,
    RESULT_SCHEMA, RaisedLimit, SettingDetail, Spent, Status, StudyResult, SweepTable, TargetFacts,
    TrialError, TrialRecord,
};

/// The result of a study: all of `result.json` but what only the program knows (version, run,
/// exit code).
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The study's question.
    pub question: String,
    /// The target as it was found.
    pub target: TargetFacts,
    /// The answer in one sentence.
    pub summary: String,
    /// The answer; `None` for a sweep and when there is none.
    pub answer: Option<Answer>,
    /// Limits that were raised for the search to go on.
    pub raised: Vec<RaisedLimit>,
    /// The setting of every stage that was derived.
    pub settings: BTreeMap<String, f64>,
    /// Where each setting comes from.
    pub settings_detail: Vec<SettingDetail>,
    /// The check that the settings hold.
    pub held: Option<Held>,
    /// The table of a sweep, or of the levels among which the best was looked for.
    pub table: Option<SweepTable>,
    /// The levels that contended for the best.
    pub comparison: Option<LevelComparison>,
    /// Several settings that were searched together.
    pub joint: Option<JointSettings>,
    /// What two levels that ran as pairs differ in.
    pub difference: Option<Difference>,
    /// What else the trials showed.
    pub findings: Vec<Finding>,
    /// Every trial, in the order in which they ran.
    pub trials: Vec<TrialRecord>,
    /// What cut the study short; the rest is what had been learned by then.
    pub stopped_by: Option<TrialError>,
}

impl Outcome {
    /// The whole result, of this run by this version of Weir, with what the settings change in the
    /// server's configuration and the time that all of it took; and what cut the study short.
    pub fn into_result(
        self,
        run: String,
        weir: String,
        configuration: Vec<ConfigurationDiff>,
        wall: Duration,
    ) -> (StudyResult, Option<TrialError>) {
        let result = StudyResult {
            schema: RESULT_SCHEMA.to_owned(),
            weir,
            run,
            exit_code: self.exit_code(),
            status: self.status,
            question: self.question,
            target: self.target,
            summary: self.summary,
            answer: self.answer,
            raised: self.raised,
            settings: self.settings,
            settings_detail: self.settings_detail,
            configuration,
            held: self.held,
            table: self.table,
            comparison: self.comparison,
            joint: self.joint,
            difference: self.difference,
            findings: self.findings,
            spent: Spent::on(&self.trials, wall),
            trials: self.trials,
            not_put_back: Vec::new(),
        };
        (result, self.stopped_by)
    }

    /// The exit code of the program that ran this study.
    pub fn exit_code(&self) -> u8 {
        match &self.stopped_by {
            None => exit_code(self.status),
            Some(TrialError::Interrupted) => exit_code(Status::Interrupted),
            Some(TrialError::Input(_)) => 2,
            Some(
                TrialError::Environment(_) | TrialError::Storage(_) | TrialError::NotStored(_),
            ) => 3,
        }
    }
}

/// The exit code that goes with a status: 0 answered, 1 answered but not met, 4 not measured well
/// enough to say, 130 interrupted.
pub fn exit_code(status: Status) -> u8 {
    match status {
        Status::Answered | Status::Same => 0,
        Status::NotMet | Status::Never => 1,
        Status::Undecided | Status::Invalid => 4,
        Status::Interrupted => 130,
    }
}
