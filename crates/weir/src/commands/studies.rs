//! What `tune` and `sweep` share: from the study file to a stored result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use weir_metric::CpuSet;
use weir_probe::MachineFacts;
use weir_record::{
    Readers, Replay, RunDirectory, RunManifest, SecondView, TargetFacts, Treatment, TrialError,
    TrialObserver, TrialRecord, failed_to,
};
use weir_rig::{CpuPlan, JmeterLoad, Rig, RigOptions, TrialLoad};
use weir_script::Target;
use weir_server::{ConfigurationChange, Journal, Restored, Server};
use weir_study::{Ask, Outcome, StudyFile, StudyObserver, TargetKind};

use crate::error::{ExpectedError, FileProblem, FileProblems, environment};
use crate::job::{Job, JobPlan, PLAN_COPY, check_factor_properties};
use crate::plan_files::FileOptions;
use crate::progress::LiveView;
use crate::stored::{self, StoredRun};
use crate::user_configuration::UserConfiguration;
use crate::{commands_of, configuration, hosts, interrupt, jmeter, output, put_back, targets};

const MANIFEST_SCHEMA: &str = "weir/manifest/1";

/// Options of `tune` and `sweep`.
#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    /// Write the result as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the trials and the expected time; run nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print the reasons too: of each limit, each requirement of the check, each finding.
    #[arg(long)]
    details: bool,
    /// Continue an interrupted run (a path, a name, or `last`); finished trials are not repeated.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    resume: Option<String>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
    /// Allow sending load to this public host; may be given several times.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// As root, run the commands of a study that another user has written or may write.
    #[arg(long)]
    allow_commands: bool,
    #[command(flatten)]
    files: FileOptions,
}

impl StudyArguments {
    /// What is typed for a study whose run lies below a directory.
    pub(crate) fn below(runs: &Path, allow_commands: bool, files: &FileOptions) -> Self {
        Self {
            json: None,
            dry_run: false,
            details: false,
            resume: None,
            runs: runs.to_owned(),
            allow_host: Vec::new(),
            allow_commands,
            files: files.clone(),
        }
    }
}

/// Reads the study: the one given, the one of the run to continue, or the built-in one.
pub(crate) fn prepare(
    file: Option<&Path>,
    arguments: &StudyArguments,
) -> Result<Job, ExpectedError> {
    match (&arguments.resume, file) {
        (Some(run), file) => Job::of_run(file, &arguments.runs, run),
        (None, Some(file)) => Job::from_file(file),
        (None, None) => Job::built_in(),
    }
}

/// Runs a study to its stored result and tells it. With `write`, the settings go into the server's
/// configuration files.
pub(crate) fn run(job: &Job, arguments: &StudyArguments, write: bool) -> Result<u8, ExpectedError> {
    run_in(job, arguments, write, |_| {})
}

/// As `run`; `opened` hears of the run directory as soon as there is one, however the study ends.
pub(crate) fn run_in(
    job: &Job,
    arguments: &StudyArguments,
    write: bool,
    opened: impl FnOnce(&RunDirectory),
) -> Result<u8, ExpectedError> {
    let plan = job.read_plan(&arguments.files)?;
    check_factor_properties(job, &plan)?;
    let cpus = divide_cpus(job)?;
    if arguments.dry_run {
        commands_of::list(job, output::data);
        output::data_lines(&dry_run(&job.study));
        return Ok(0);
    }
    commands_of::show_and_check(job, arguments.allow_commands)?;
    let interrupted = interrupt::flag_of_changes()?;
    // Everything that Weir starts from here on keeps to the load generator's CPUs; the target gets
    // its own.
    cpus.load
        .pin_this_thread()
        .map_err(|error| environment(&format!("run on the CPUs {}: {error}", cpus.load)))?;
    let begun = Instant::now();
    let load = load(job, plan, &interrupted)?;
    let (directory, manifest, finished) = open_run(job, arguments)?;
    opened(&directory);
    let journal = put_back::open()?;
    let mut restored = Restored::default();
    let opened = Opened {
        begun,
        load,
        directory,
        manifest,
        finished,
        cpus,
        interrupted,
        write,
    };
    let ended = on_target(job, arguments, opened, &journal, &mut restored);
    // Where it went wrong before its end.
    restored.add(journal.put_back());
    put_back::conclude(ended, &restored)
}

/// What a study has before its target is started.
struct Opened {
    begun: Instant,
    load: TrialLoad,
    directory: RunDirectory,
    manifest: RunManifest,
    finished: Vec<TrialRecord>,
    cpus: CpuPlan,
    interrupted: Arc<AtomicBool>,
    /// Whether the settings go into the server's configuration files.
    write: bool,
}

/// From the start of the target to the stored result; what was put back goes into `restored`.
fn on_target(
    job: &Job,
    arguments: &StudyArguments,
    opened: Opened,
    journal: &Journal,
    restored: &mut Restored,
) -> Result<u8, ExpectedError> {
    let allowed: Vec<String> = allowed_hosts(job, arguments);
    let target = targets::start(&targets::Place {
        job,
        cpus: &opened.cpus.target,
        load_cpus: &opened.cpus.load,
        directory: &opened.directory,
        interrupted: &opened.interrupted,
        journal,
        allowed: &allowed,
    })?;
    let address = target.address();
    check_hosts(job, &opened.load, &Target::from(address), &allowed)?;
    let of_target = target.watched().cpus;
    output::talk(&format!(
        "target on CPUs {}, load on CPUs {}; run directory {}",
        of_target.as_ref().unwrap_or(&opened.cpus.target),
        opened.cpus.load,
        opened.directory.path().display()
    ));
    let manifest = with_machine(opened.manifest, target.as_ref(), &opened.directory)?;
    let mut rig = Rig::new(RigOptions {
        target,
        load: opened.load,
        properties: job.properties(),
        of_factors: job.factor_properties(),
        allowed_hosts: hosts::allowed(&allowed)?,
        pause: job.study.load.pause,
        first_warm_up: job.study.load.first_warm_up.unwrap_or_default(),
        own_units: job.study.target.own_units(),
        cpus: opened.cpus,
        directory: opened.directory.clone(),
        interrupted: opened.interrupted,
    });
    let outcome = answer(job, &mut rig, opened.finished);
    let changes = configuration::changes(&rig, &outcome);
    let stopped = rig.stop();
    restored.add(journal.put_back());
    let ended = Ended {
        outcome,
        changes: &changes,
        wall: opened.begun.elapsed(),
        not_put_back: restored.failed.clone(),
    };
    let code = conclude(ended, &opened.directory, &manifest, arguments)?;
    stopped.map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    if opened.write && restored.failed.is_empty() {
        configuration::write(&changes, code)?;
    }
    Ok(code)
}

/// What sends the load; a JMeter is found or assembled here.
fn load(job: &Job, plan: JobPlan, interrupted: &AtomicBool) -> Result<TrialLoad, ExpectedError> {
    let plan = match plan {
        JobPlan::Native(plan) => return Ok(TrialLoad::Native(plan)),
        JobPlan::Jmeter(plan) => plan,
    };
    let found = jmeter::provide(None, interrupted)?;
    let facts = jmeter::facts(&plan, &job.properties())?;
    for (group, line) in &facts.own_length {
        output::talk(&format!(
            "warning: {}:{line}: {group} keeps its own length and number of users: only thread groups without plugins \
             can be told to go on until a trial has seen enough",
            job.file
        ));
    }
    Ok(TrialLoad::Jmeter(JmeterLoad {
        home: found.home,
        java: found.java,
        plan,
        own_properties: found.own_properties,
    }))
}

/// The server is the study's own; a JMeter's plan may also load others, which have to be allowed.
fn check_hosts(
    job: &Job,
    load: &TrialLoad,
    target: &Target,
    allowed: &[String],
) -> Result<(), ExpectedError> {
    match load {
        TrialLoad::Native(_) => {
            let named = hosts::NamedHost {
                host: target.host.clone(),
                port: target.port,
                named_in: job.file.clone(),
            };
            hosts::check(&[named], allowed)
        }
        TrialLoad::Jmeter(jmeter) => {
            let facts = jmeter::facts(&jmeter.plan, &job.properties())?;
            jmeter::check_hosts(&facts, Some(target), allowed).map(|_| ())
        }
    }
}

/// The trials that a study would run, as a table.
fn dry_run(study: &StudyFile) -> String {
    let planned = weir_study::plan_of_trials(&study.ask, None);
    let steps = planned
        .steps
        .iter()
        .map(|step| format!("  {:>3} {:>3}  {}", step.expected, step.at_most, step.what));
    let length = match planned.requests {
        Some(requests) => format!("each trial is {requests} requests, however long they take"),
        None => format!(
            "{:.0} s of load are expected, at most {:.0} s",
            planned.expected_s, planned.at_most_s
        ),
    };
    let seconds = format!("{length}; trials that others disturb are run again, at most twice");
    let lines: Vec<String> = std::iter::once("trials (expected, at most)".to_owned())
        .chain(steps)
        .chain(std::iter::once(seconds))
        .collect();
    lines.join("\n")
}

/// Who gets which CPUs.
pub(crate) fn divide_cpus(job: &Job) -> Result<CpuPlan, ExpectedError> {
    let available = CpuSet::of_this_thread()
        .map_err(|error| environment(&format!("read which CPUs may be used: {error}")))?
        .ok_or_else(|| environment("find a CPU that may be used"))?;
    if let TargetKind::External(spec) = &job.study.target.kind
        && spec.ssh.is_some()
    {
        // The target's are those of its machine; all of this one's are the load generator's.
        return Ok(CpuPlan {
            target: available.clone(),
            load: available,
        });
    }
    let asked_for = job.study.target.cpus.as_ref();
    if let Some(asked) = asked_for
        && asked.get_ref().iter().any(|cpu| !available.contains(cpu))
    {
        return Err(ExpectedError::File(FileProblems::new(
            &job.file,
            &job.text,
            vec![FileProblem {
                span: asked.span(),
                says: format!("not all of the CPUs {} can be used", asked.get_ref()),
                help: Some(format!("this process may use the CPUs {available}")),
            }],
        )));
    }
    // A server that runs already stays where it is: where the study does not say, its processes do.
    let asked_for = asked_for.map(|asked| asked.get_ref().clone());
    let asked_for = match &job.study.target.kind {
        TargetKind::External(spec) => asked_for
            .or_else(|| targets::cpus_of_running(spec))
            .or_else(|| Some(available.clone())),
        _ => asked_for,
    };
    Ok(CpuPlan::divide(&available, asked_for.as_ref()))
}

fn open_run(
    job: &Job,
    arguments: &StudyArguments,
) -> Result<(RunDirectory, RunManifest, Vec<TrialRecord>), ExpectedError> {
    if let Some((directory, manifest, records)) = &job.resumed {
        output::talk(&format!(
            "continuing {}: {} trial(s) are finished",
            directory.id(),
            records.len()
        ));
        return Ok((directory.clone(), manifest.clone(), records.clone()));
    }
    let directory = create_run(&arguments.runs, &job.name)?;
    let manifest = manifest(job.seed(), job.base.clone(), job.text.clone());
    let copy = directory.path().join(PLAN_COPY);
    weir_record::write_whole(&copy, job.plan_text()?.as_bytes()).map_err(stored::failed)?;
    directory
        .write_manifest(&manifest)
        .map_err(stored::failed)?;
    Ok((directory, manifest, Vec::new()))
}

/// Makes the directory of a run that starts now: for its owner alone, if the user has not said
/// otherwise.
pub(crate) fn create_run(runs: &Path, name: &str) -> Result<RunDirectory, ExpectedError> {
    let now = jiff::Zoned::now();
    let time = now.strftime("%Y%m%d-%H%M%S").to_string();
    let readers = if UserConfiguration::read()?.readable_runs {
        Readers::Umask
    } else {
        Readers::Owner
    };
    RunDirectory::create(runs, name, &time, readers).map_err(stored::failed)
}

/// What a run that starts now is.
pub(crate) fn manifest(seed: u64, base: PathBuf, study: String) -> RunManifest {
    RunManifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now().to_string(),
        seed,
        command: std::env::args().collect(),
        base,
        study,
        title: None,
        machine: flat(&weir_probe::machine_facts()),
    }
}

/// The manifest with the machine of a target that runs on another one.
fn with_machine(
    mut manifest: RunManifest,
    target: &dyn Server,
    directory: &RunDirectory,
) -> Result<RunManifest, ExpectedError> {
    if let Some(facts) = target.machine() {
        let facts = flat(&facts).into_iter();
        let facts = facts.map(|(name, value)| (format!("target.{name}"), value));
        manifest.machine.extend(facts);
        directory
            .write_manifest(&manifest)
            .map_err(stored::failed)?;
    }
    Ok(manifest)
}

/// The facts of a machine as flat text, for people and for comparing runs.
fn flat(facts: &MachineFacts) -> BTreeMap<String, String> {
    let facts = serde_json::to_value(facts);
    let Ok(serde_json::Value::Object(facts)) = facts else {
        return BTreeMap::new();
    };
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| match value {
            serde_json::Value::String(text) => (name, text),
            other => (name, other.to_string()),
        })
        .collect()
}

fn allowed_hosts(job: &Job, arguments: &StudyArguments) -> Vec<String> {
    let in_study = job.study.load.allow_hosts.iter();
    in_study
        .map(|host| host.get_ref().clone())
        .chain(arguments.allow_host.iter().cloned())
        .collect()
}

fn answer(job: &Job, rig: &mut Rig, finished: Vec<TrialRecord>) -> Outcome {
    let facts: TargetFacts = weir_record::TrialRunner::facts(rig).clone();
    let mut runner = Replay::new(facts, finished, Some(rig));
    let mut view = StudyView {
        live: LiveView::new(""),
    };
    let outcome = match &job.study.ask {
        Ask::Find(find) => weir_study::find(find, &mut runner, &mut view),
        Ask::Best(best) => weir_study::best(best, &mut runner, &mut view),
        Ask::Several(several) => weir_study::several(several, &mut runner, &mut view),
        Ask::Matters(matters) => weir_study::matters(matters, &mut runner, &mut view),
        Ask::Sweep(sweep) => weir_study::sweep(sweep, &mut runner, &mut view),
    };
    view.live.finish();
    outcome
}

/// A trial that gave no record, as an error of the program.
pub(crate) fn trial_failed(error: TrialError) -> ExpectedError {
    match error {
        TrialError::Interrupted => ExpectedError::Interrupted,
        TrialError::Input(says) => ExpectedError::Input(says),
        TrialError::Environment(says) | TrialError::Storage(says) => {
            ExpectedError::Environment(says)
        }
        TrialError::NotStored(_) => ExpectedError::Input(failed_to(&error)),
    }
}

/// Tells a study as it goes: one line a trial.
struct StudyView {
    live: LiveView,
}

impl TrialObserver for StudyView {
    fn second(&mut self, view: &SecondView) {
        self.live.second(view);
    }

    fn note(&mut self, text: &str) {
        self.live.note(text);
    }
}

impl StudyObserver for StudyView {
    fn trial_starts(&mut self, treatment: &Treatment, why: &str) {
        self.live
            .set_prefix(&format!("trial {} ({why})  ", treatment.id));
    }

    fn trial_ended(&mut self, record: &TrialRecord) {
        self.live.line(&weir_report::text::trial_line(record));
    }
}

/// A study at its end.
struct Ended<'a> {
    outcome: Outcome,
    changes: &'a [ConfigurationChange],
    wall: Duration,
    /// What of the server could not be put back.
    not_put_back: Vec<String>,
}

/// What to type next.
fn next(directory: &RunDirectory, runs: &Path, details: bool) -> String {
    let run = if runs == Path::new(weir_record::RUNS) {
        "last".to_owned()
    } else {
        directory.path().display().to_string()
    };
    if details {
        format!("Next: weir explain {run}")
    } else {
        format!("Next: weir explain {run} · reasons: weir report {run} --details")
    }
}

fn conclude(
    ended: Ended<'_>,
    directory: &RunDirectory,
    manifest: &RunManifest,
    arguments: &StudyArguments,
) -> Result<u8, ExpectedError> {
    let configuration = configuration::diffs(ended.changes);
    let (mut result, stopped_by) = ended.outcome.into_result(
        directory.id(),
        manifest.weir.clone(),
        configuration,
        ended.wall,
    );
    if !ended.not_put_back.is_empty() {
        result.exit_code = put_back::EXIT_CODE;
        result.not_put_back = ended.not_put_back;
    }
    directory.write_result(&result).map_err(stored::failed)?;
    let told = if arguments.details {
        weir_report::text::summary
    } else {
        weir_report::text::ending
    };
    let told = told(&result, output::width());
    output::answer_lines(told.trim_end(), arguments.json.as_deref());
    output::talk(&format!(
        "{} trials, {:.0} s of load, {:.0} s in all",
        result.spent.trials, result.spent.load_s, result.spent.wall_s
    ));
    configuration::write_gate(ended.changes)?;
    let report = StoredRun::read(directory)?.write_report(directory)?;
    output::talk(&next(directory, &arguments.runs, arguments.details));
    output::talk(&format!("report: {}", report.display()));
    if let Some(json) = &arguments.json {
        output::json_to(json, &result)?;
    }
    match stopped_by {
        None => Ok(result.exit_code),
        Some(why) => {
            output::talk(&format!(
                "finished trials are saved; continue with --resume {}",
                directory.path().display()
            ));
            Err(trial_failed(why))
        }
    }
}
