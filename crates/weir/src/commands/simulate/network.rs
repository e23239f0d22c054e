//! From a network file to figures, text, JSON and a run directory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use weir_metric::{Better, SignalUnit};
use weir_record::{
    Column, Figure, Levels, RESULT_SCHEMA, RunDirectory, Spent, Statistic, Status, StudyResult,
    SweepRow, SweepTable, failed_to,
};
use weir_sim::{
    BYTES_PER_USER, ClassReport, NetworkFile, Plan, Replication, Report, SimulatedTrial, Totals,
    Watcher,
};

use super::SimulateArguments;
use crate::commands::studies::{create_run, manifest, trial_failed};
use crate::error::{ExpectedError, FileProblem, FileProblems};
use crate::progress::Counter;
use crate::stored::{self, StoredRun};
use crate::{interrupt, output};

/// Share of the machine's memory that a simulation may take.
const MEMORY_SHARE: f64 = 0.8;

/// A network with the name and text of its file.
struct Read {
    name: String,
    path: String,
    text: String,
    file: NetworkFile,
}

pub(super) fn run(file: &Path, arguments: &SimulateArguments) -> Result<u8, ExpectedError> {
    let read = read(file)?;
    let plan = plan(arguments, &read.file);
    let threads = threads(&read)?;
    output::talk(&format!(
        "{}: {} replications of {} s after {} s of warm-up, on {threads} CPU(s)",
        read.name, plan.replications, plan.seconds, plan.warm_up_s
    ));
    let progress = Progress::new(
        interrupt::flag()?,
        room().map(|bytes| bytes / threads as f64),
    );
    let network = &read.file.network;
    let finish = |replication: Replication| {
        let trial = (!replication.timeline.is_empty())
            .then(|| weir_sim::trial(network, &plan, &replication));
        (replication.totals, trial.transpose())
    };
    let finished = weir_sim::replicate(network, &plan, threads, &finish, &progress);
    progress.finish();
    let finished = finished.ok_or_else(|| progress.why_stopped(&read.name))?;
    let (totals, trials): (Vec<Totals>, Vec<_>) = finished.into_iter().unzip();
    let trials: Result<Vec<Option<SimulatedTrial>>, _> = trials.into_iter().collect();
    let trials = trials.map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    let trials: Vec<SimulatedTrial> = trials.into_iter().flatten().collect();
    let version = env!("CARGO_PKG_VERSION");
    let report = Report::of(&read.name, version, network, &plan, &totals);
    if let Some(json) = &arguments.json {
        output::json_to(json, &report)?;
    }
    if arguments.json.as_deref() != Some(Path::new("-")) {
        output::data_lines(&weir_sim::text(&report));
    }
    store(&read, &plan, &report, trials, &arguments.runs)?;
    Ok(0)
}

/// Reads a network file for `weir check`.
pub(crate) fn check(file: &Path) -> Result<(), ExpectedError> {
    read(file).map(|_| ())
}

fn read(path: &Path) -> Result<Read, ExpectedError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ExpectedError::Input(format!("{}: {error}", path.display())))?;
    let file = NetworkFile::parse(&text).map_err(|problems| {
        let problems = problems.into_iter().map(Into::into).collect();
        let name = path.display().to_string();
        ExpectedError::File(FileProblems::new(&name, &text, problems))
    })?;
    let name = path.file_stem().map_or_else(
        || "network".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    Ok(Read {
        name,
        path: path.display().to_string(),
        text,
        file,
    })
}

/// The plan of the file with what was typed.
fn plan(arguments: &SimulateArguments, file: &NetworkFile) -> Plan {
    let mut plan = file.plan;
    plan.replications = arguments.replications.unwrap_or(plan.replications);
    plan.seed = arguments.seed.map_or(plan.seed, u64::from);
    plan.seconds = arguments.seconds.map_or(plan.seconds, f64::from);
    plan.timelines = weir_sim::timelines(&file.network, &plan);
    plan
}

/// Bytes of memory that simulations may take; `None` where the machine does not say what it has.
fn room() -> Option<f64> {
    let memory = weir_probe::machine_facts().memory_bytes?;
    Some(memory as f64 * MEMORY_SHARE)
}

/// How many replications run at once: one on each CPU, as far as their users fit into memory.
fn threads(read: &Read) -> Result<usize, ExpectedError> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let Some(room) = room() else {
        return Ok(cpus);
    };
    let users = read.file.network.population();
    let each = (users.max(1) * BYTES_PER_USER) as f64;
    let at_once = (room / each) as usize;
    if at_once == 0 {
        let problem = FileProblem {
            span: read.file.most_users_at.clone(),
            says: format!(
                "{users} users need about {:.1} GB of memory, and a simulation may take {:.1} GB on this machine",
                each / 1e9,
                room / 1e9
            ),
            help: Some(
                "describe a part of the system with its share of the users, or let them arrive at a rate".to_owned(),
            ),
        };
        let problems = FileProblems::new(&read.path, &read.text, vec![problem]);
        return Err(ExpectedError::File(problems));
    }
    Ok(cpus.min(at_once))
}

/// Counts simulated seconds, and stops when the user says so or when requests pile up beyond
/// memory.
struct Progress {
    seconds: Mutex<(f64, Counter)>,
    interrupted: Arc<AtomicBool>,
    /// Bytes that the requests of one replication may take.
    room: Option<f64>,
    /// Whether they took more.
    overflowed: AtomicBool,
}

impl Progress {
    fn new(interrupted: Arc<AtomicBool>, room: Option<f64>) -> Self {
        Self {
            seconds: Mutex::new((0.0, Counter::new("seconds simulated"))),
            interrupted,
            room,
            overflowed: AtomicBool::new(false),
        }
    }

    fn why_stopped(&self, network: &str) -> ExpectedError {
        if !self.overflowed.load(Ordering::Relaxed) {
            return ExpectedError::Interrupted;
        }
        ExpectedError::Input(format!(
            "{network}: the requests inside took more than {:.1} GB of memory; lower the rate at its peak, shorten the time \
             for which it is more than the servers can do, or bound a queue with `queue` or `patience`",
            self.room.unwrap_or(0.0) / 1e9
        ))
    }

    fn finish(&self) {
        if let Ok(seconds) = self.seconds.lock() {
            seconds.1.finish();
        }
    }
}

impl Watcher for Progress {
    fn passed(&self, seconds: f64, bytes: usize) -> bool {
        if self.room.is_some_and(|room| bytes as f64 > room) {
            self.overflowed.store(true, Ordering::Relaxed);
            return false;
        }
        if let Ok(mut so_far) = self.seconds.lock() {
            so_far.0 += seconds;
            let whole = so_far.0 as u64;
            so_far.1.set(whole);
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}

/// Keeps the run, with the first replications as its trials.
fn store(
    read: &Read,
    plan: &Plan,
    report: &Report,
    trials: Vec<SimulatedTrial>,
    runs: &Path,
) -> Result<(), ExpectedError> {
    if trials.is_empty() {
        output::talk("no run is kept: it would be too long to keep every second of it");
        return Ok(());
    }
    let directory = create_run(runs, &read.name)?;
    let manifest = manifest(plan.seed, ".".into(), read.text.clone());
    directory
        .write_manifest(&manifest)
        .map_err(stored::failed)?;
    for trial in &trials {
        let files = directory
            .start_trial(trial.record.id)
            .map_err(stored::failed)?;
        // A simulation has no time of day; that of the file is as good as any and the same for all.
        files
            .write_seconds(&trial.recording, SystemTime::UNIX_EPOCH)
            .map_err(trial_failed)?;
        directory
            .write_record(&trial.record)
            .map_err(stored::failed)?;
    }
    let result = result(read, report, &directory, trials);
    directory.write_result(&result).map_err(stored::failed)?;
    let page = StoredRun::read(&directory)?.write_report(&directory)?;
    output::talk(&format!("report: {}", page.display()));
    Ok(())
}

/// The result as that of a study with one case.
fn result(
    read: &Read,
    report: &Report,
    directory: &RunDirectory,
    trials: Vec<SimulatedTrial>,
) -> StudyResult {
    let question = read.file.question.clone();
    StudyResult {
        schema: RESULT_SCHEMA.to_owned(),
        weir: report.weir.clone(),
        run: directory.id(),
        exit_code: 0,
        status: Status::Answered,
        question: question.unwrap_or_else(|| format!("What does the network {} do?", read.name)),
        target: weir_sim::facts(&read.name, &read.file.network),
        summary: format!(
            "Simulated, not measured: {} replications of {} s. The trials here are the first {}; the table is over all.",
            report.replications,
            report.window_s,
            trials.len()
        ),
        answer: None,
        raised: Vec::new(),
        settings: std::collections::BTreeMap::new(),
        settings_detail: Vec::new(),
        configuration: Vec::new(),
        held: None,
        table: Some(table(report, trials.len() as u32)),
        comparison: None,
        joint: None,
        difference: None,
        findings: Vec::new(),
        trials: trials.into_iter().map(|trial| trial.record).collect(),
        // Nothing was loaded, and no clock has a say in what a simulation writes.
        spent: Spent::default(),
        not_put_back: Vec::new(),
    }
}

/// One row a class.
fn table(report: &Report, trials: u32) -> SweepTable {
    let column = |title: &str, signal: &str, unit: SignalUnit, better: Better| Column {
        title: title.to_owned(),
        signal: signal.to_owned(),
        unit: unit.symbol().to_owned(),
        better: better.word().to_owned(),
    };
    SweepTable {
        columns: vec![
            column(
                "Answered",
                "throughput",
                SignalUnit::PerSecond,
                Better::More,
            ),
            column("Mean", "mean", SignalUnit::Milliseconds, Better::Less),
            column("p95", "p95", SignalUnit::Milliseconds, Better::Less),
            column("p99", "p99", SignalUnit::Milliseconds, Better::Less),
            column("Failed", "errors", SignalUnit::Share, Better::Less),
        ],
        rows: report
            .classes
            .iter()
            .map(|class| SweepRow {
                case: class.name.clone(),
                environment: None,
                levels: Levels::new(),
                trials: (1..=trials).collect(),
                cells: cells(class),
                published: vec![None; 5],
            })
            .collect(),
        statistic: Statistic::Mean,
        pictures: Vec::new(),
        overviews: Vec::new(),
    }
}

fn cells(class: &ClassReport) -> Vec<Option<Figure>> {
    let times = class.response_time_ms.as_ref();
    let figures = [
        class.throughput_per_s,
        times.and_then(|times| times.mean),
        times.and_then(|times| times.p95),
        times.and_then(|times| times.p99),
        class.failed_share,
    ];
    let cell = |estimate: Option<weir_stats::Estimate>| {
        estimate.map(|estimate| Figure {
            value: estimate.value,
            interval: Some(estimate),
        })
    };
    figures.into_iter().map(cell).collect()
}
