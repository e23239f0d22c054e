//! `weir explain RUN --run`: the trials that decide, run with the study of the run.
//!
//! One case as it was and one for each trial that decides, with one thing changed, in turns and in
//! a random order: what changes is that one thing and not the hour. Where one of them changes how
//! the server is started, the server is started for every trial, so that none runs on a virtual
//! machine that is warmer than the others'.

mod starter;
mod study;

use std::path::Path;

use weir_explain::{
    ByHand, Decision, Decisive, Diagnosis, GarbageFree, NotRun, Planned, Starter, TrialFigures,
};
use weir_record::{RunDirectory, StudyResult, TrialRecord};

use crate::commands::studies::{self, StudyArguments};
use crate::error::ExpectedError;
use crate::job::Job;
use crate::plan_files::FileOptions;
use crate::{output, stored};

/// What is asked for.
pub(super) struct Asked<'a> {
    /// Where runs lie.
    pub(super) runs: &'a Path,
    /// What the plan may touch.
    pub(super) files: &'a FileOptions,
    /// The run as it was typed.
    pub(super) named: &'a str,
    /// The hypotheses; none: those that are supported.
    pub(super) hypotheses: &'a [String],
    /// How often each case is run.
    pub(super) replicates: u32,
    /// What makes the load one without garbage.
    pub(super) garbage_free: Option<&'a GarbageFree>,
    /// Whether commands of a study of another user are run as root.
    pub(super) allow_commands: bool,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Decided {
    pub(super) decisions: Vec<Decision>,
    pub(super) not_run: Vec<NotRun>,
    /// What ended the trials before their time; what they had measured stands in the decisions.
    pub(super) cut_short: Option<ExpectedError>,
}

/// Runs the trials and says what they decide.
pub(super) fn run(asked: &Asked<'_>, diagnosis: &Diagnosis) -> Result<Decided, ExpectedError> {
    check_names(asked.hypotheses, diagnosis)?;
    let decisive = Decisive::all(diagnosis, asked.hypotheses);
    if asked.garbage_free.is_some() && !decisive.iter().any(Decisive::changes_requests) {
        return Err(ExpectedError::Input(
            "--garbage-free belongs to the hypothesis garbage-collection, which is not among those that are decided: add `--hypothesis \
             garbage-collection`"
                .to_owned(),
        ));
    }
    if decisive.is_empty() && diagnosis.load_tool_was_the_limit() {
        output::talk(
            "--run: the load generator was the limit, so that nothing was measured that could be decided; `--hypothesis NAME` decides all the same",
        );
        return Ok(Decided::default());
    }
    if decisive.is_empty() {
        output::talk(
            "--run: no hypothesis that is supported names a trial that Weir could run; what would decide stands with each, and \
             `--hypothesis NAME` decides on one that is not supported",
        );
        return Ok(Decided::default());
    }
    if let Some(why) = without_study(asked)? {
        let by_hand = ByHand::of_server(asked.named);
        let not_run = decisive
            .into_iter()
            .map(|one| one.without_study(&why, &by_hand));
        return Ok(Decided {
            not_run: not_run.collect(),
            ..Decided::default()
        });
    }
    let source = Source::read(asked, diagnosis)?;
    source.check_class(asked.garbage_free)?;
    let (planned, not_run) = source.plan(decisive, asked.garbage_free)?;
    if planned.is_empty() {
        return Ok(Decided {
            not_run,
            ..Decided::default()
        });
    }
    let mut decided = source.decide(asked, &planned)?;
    decided.not_run.splice(0..0, not_run);
    Ok(decided)
}

fn check_names(named: &[String], diagnosis: &Diagnosis) -> Result<(), ExpectedError> {
    let unknown = named.iter().find(|id| diagnosis.hypothesis(id).is_none());
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let known = diagnosis
        .hypotheses
        .iter()
        .map(|hypothesis| hypothesis.id.as_str());
    Err(ExpectedError::Input(format!(
        "--hypothesis {unknown}: there is no such hypothesis; there are {}",
        known.collect::<Vec<_>>().join(", ")
    )))
}

/// Why the load of a run cannot be sent once more; `None` when it is a study's.
fn without_study(asked: &Asked<'_>) -> Result<Option<String>, ExpectedError> {
    if Path::new(asked.named).is_file() {
        return Ok(Some(ONE_LOAD.to_owned()));
    }
    let directory = stored::find(asked.runs, asked.named)?;
    if directory.watch_path().is_file() {
        return Ok(Some(
            "this run is a watch, which has sent nothing that could be sent again".to_owned(),
        ));
    }
    let is_one_load = directory.single_path().is_file()
        || directory
            .manifest()
            .map_err(stored::failed)?
            .study
            .is_empty();
    Ok(is_one_load.then(|| ONE_LOAD.to_owned()))
}

const ONE_LOAD: &str = "this run is a load without a study (`weir run`, or taken in), and only a study's trials can be run again";

/// The run whose trial is explained.
struct Source {
    directory: RunDirectory,
    job: Job,
    result: Option<StudyResult>,
    trial: TrialRecord,
}

impl Source {
    fn read(asked: &Asked<'_>, diagnosis: &Diagnosis) -> Result<Self, ExpectedError> {
        let directory = stored::find(asked.runs, asked.named)?;
        // A study that was interrupted has its trials.
        let result = directory.result_path().is_file();
        let result = result.then(|| directory.result()).transpose();
        let result = result.map_err(stored::failed)?;
        let trials = match &result {
            Some(result) => result.trials.clone(),
            None => directory.records().map_err(stored::failed)?,
        };
        let mut trials = trials.into_iter();
        let trial = trials.find(|trial| Some(trial.id) == diagnosis.trial);
        let trial = trial.ok_or_else(|| {
            ExpectedError::Input(format!("{}: the trial is not stored", asked.named))
        })?;
        let manifest = directory.manifest().map_err(stored::failed)?;
        Ok(Self {
            job: Job::again(&directory, &directory.id(), manifest.study)?,
            directory,
            result,
            trial,
        })
    }

    /// Whether there is the class whose time tells what a load without garbage changes.
    fn check_class(&self, garbage_free: Option<&GarbageFree>) -> Result<(), ExpectedError> {
        let classes = &self.trial.classes;
        let unknown = garbage_free
            .map(|garbage_free| &garbage_free.judged_by)
            .filter(|class| !classes.contains_key(*class));
        let Some(class) = unknown else {
            return Ok(());
        };
        let known: Vec<&str> = classes.keys().map(String::as_str).collect();
        Err(ExpectedError::Input(format!(
            "--judged-by {class}: trial {} has no such class of requests; there are {}",
            self.trial.id,
            known.join(", ")
        )))
    }

    /// The cases that can be run, and the trials that cannot.
    fn plan<'d>(
        &self,
        decisive: Vec<Decisive<'d>>,
        garbage_free: Option<&GarbageFree>,
    ) -> Result<(Vec<Planned<'d>>, Vec<NotRun>), ExpectedError> {
        let cpus = studies::divide_cpus(&self.job)?;
        let starter: Starter<'_> = starter::of(&self.job, &self.directory.id(), &self.trial, &cpus);
        let (mut planned, mut not_run) = (Vec::new(), Vec::new());
        for one in decisive {
            match one.plan(|factor| self.level(factor), &starter, garbage_free) {
                Ok(case) => planned.push(case),
                Err(why) => not_run.push(why),
            }
        }
        Ok((planned, not_run))
    }

    /// The level of a factor: as it was set, else as it was read, else as the server was found;
    /// `None` too for a stage that cannot be set.
    fn level(&self, factor: &str) -> Option<f64> {
        let stage = self
            .result
            .as_ref()
            .and_then(|result| result.target.stage(factor));
        if stage.is_some_and(|stage| !stage.settable) {
            return None;
        }
        let read = || self.trial.signals.get(&format!("{factor}.limit")).copied();
        let found = || stage?.limit;
        self.trial.level(factor).or_else(read).or_else(found)
    }

    /// Runs the cases, and says what each of them decides; those of which no trial can be used are
    /// not run.
    fn decide(&self, asked: &Asked<'_>, planned: &[Planned<'_>]) -> Result<Decided, ExpectedError> {
        let cases = study::Cases {
            study: &self.job.text,
            trial: &self.trial,
            planned,
            replicates: asked.replicates,
        };
        let text = cases.text().map_err(|why| {
            let path = self.directory.path().display();
            ExpectedError::Input(format!("{path}: its study cannot be run again: {why}"))
        })?;
        let ids: Vec<&str> = planned
            .iter()
            .map(|case| case.decisive.idea.id.as_str())
            .collect();
        let name = format!("explain-{}", ids.join("-"));
        let job = Job::again(&self.directory, &name, text)?;
        tell(&job, planned, asked.replicates);
        let mut made = None;
        let arguments = StudyArguments::below(asked.runs, asked.allow_commands, asked.files);
        let opened = |directory: &RunDirectory| made = Some(directory.clone());
        let cut_short = studies::run_in(&job, &arguments, false, opened).err();
        let Some(made) = made else {
            return Err(cut_short.unwrap_or(ExpectedError::Interrupted));
        };
        let trials = made.records().map_err(stored::failed)?;
        let place = made.path().display().to_string();
        let mut decided = Decided {
            cut_short,
            ..Decided::default()
        };
        for case in planned {
            let was = of_case(&trials, study::AS_IT_WAS);
            let changed = of_case(&trials, &case.decisive.idea.id);
            match case.decide(&was, &changed, &place) {
                Ok(decision) => decided.decisions.push(decision),
                Err(why) => decided.not_run.push(why),
            }
        }
        Ok(decided)
    }
}

/// The figures of the valid trials of a case.
fn of_case(trials: &[TrialRecord], case: &str) -> Vec<TrialFigures> {
    let own = trials
        .iter()
        .filter(|trial| trial.valid && trial.case.as_deref() == Some(case));
    own.map(TrialFigures::of).collect()
}

/// Says what is going to be run, and how long it takes.
fn tell(job: &Job, planned: &[Planned<'_>], replicates: u32) {
    for case in planned {
        let [was, changed] = &case.levels;
        output::talk(&format!(
            "to decide on `{}`: {} {changed} instead of {was}",
            case.decisive.hypothesis.id, case.factor
        ));
    }
    let starts = if planned.iter().any(Planned::starts_server) {
        "; the server is started for every trial"
    } else {
        ""
    };
    let expected_s = weir_study::plan_of_trials(&job.study.ask, None).expected_s;
    output::talk(&format!(
        "{} cases, {replicates} times each, in turns: about {expected_s:.0} s of load{starts}",
        planned.len() + 1
    ));
}
