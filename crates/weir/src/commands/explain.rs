//! `weir explain`: why a run was as slow as it was; or what the files of a load test without Weir
//! say.

mod decide;
mod stored_evidence;
mod taken_in;

use std::path::PathBuf;

use clap::Args;
use weir_explain::{EXPLAIN_SCHEMA, Explanation, GarbageFree, diagnose, diagnose_difference};
use weir_intake::Part;
use weir_record::Level;
use weir_report::Extent;

use self::decide::{Asked, Decided};
use crate::error::ExpectedError;
use crate::plan_files::FileOptions;
use crate::{output, stored};

/// Say why a run was as slow as it was, or take in what a load test without Weir has left.
///
/// Of a run, rival hypotheses are tested on the figures that were recorded: network, limits, locks,
/// garbage collection, disk, the CPU, a neighbour, the scheduler, steal and frequency, the load
/// tool. Each is supported, not supported or not measured, with its figures, its thresholds and the
/// trial that would decide. RUN is the run of any command (a path, a name below the
/// runs' directory, or `last`), or the file that `weir run --json` wrote. With a second run: why
/// the two differ.
///
/// With --jtl, JMeter's result files become the trials of a run; what sar, sadf -d, nmon or dstat
/// wrote beside them becomes signals of the same seconds. `weir report`, `weir compare` and `weir
/// explain RUN` work on that run. Everything that was assumed (the time zone, the seconds that
/// count), left out or dropped is said.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The run [default: last].
    #[arg(value_name = "RUN", conflicts_with = "jtl")]
    run: Option<String>,
    /// A second run: say why it differs from the first.
    #[arg(value_name = "OTHER", requires = "run")]
    other: Option<String>,
    /// The trial of RUN that is explained, and, when given twice, that of OTHER [default: the one
    /// with the most requests in flight].
    #[arg(long, value_name = "N", conflicts_with = "jtl")]
    trial: Vec<u32>,
    /// Run the trials that decide on the supported hypotheses, with the study of RUN: as it was,
    /// and with one thing changed for each (a limit, the users, the collector, the scheduling
    /// policy), in turns. What cannot be run is told with the reason.
    #[arg(long = "run", conflicts_with_all = ["jtl", "other"])]
    run_trials: bool,
    /// Decide on this hypothesis only, supported or not; may be given several times.
    #[arg(long, value_name = "NAME", requires = "run_trials")]
    hypothesis: Vec<String>,
    /// What makes the load one that allocates next to nothing, as a study sets it, such as
    /// `property.HEAVY_PATH=/heavy/numeric`: the trial `no-garbage`. May be given several
    /// times.
    #[arg(long, value_name = "FACTOR=LEVEL", requires_all = ["run_trials", "judged_by"], value_parser = factor_and_level)]
    garbage_free: Vec<(String, Level)>,
    /// The class of requests by whose time that trial is judged: one whose own requests stay as
    /// they were.
    #[arg(long, value_name = "CLASS", requires = "garbage_free")]
    judged_by: Option<String>,
    /// How often each case is run; more trials make the intervals shorter.
    #[arg(long, value_name = "NUMBER", requires = "run_trials", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=50))]
    replicates: u32,
    /// Print every hypothesis with its tests, figures and thresholds.
    #[arg(long, conflicts_with = "jtl")]
    all: bool,
    /// Write the explanation as a page to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "jtl")]
    html: Option<PathBuf>,
    /// A result file of JMeter, CSV or XML; several, each of a test with another number of users,
    /// become several trials.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    jtl: Vec<PathBuf>,
    /// What `sar` printed on the server meanwhile: its text, not its binary file.
    #[arg(long, value_name = "FILE", requires = "jtl", conflicts_with = "run")]
    sar: Vec<PathBuf>,
    /// What `sadf -d`, `nmon -f` or `dstat --output` wrote on the server meanwhile.
    #[arg(long, value_name = "FILE", requires = "jtl", conflicts_with = "run")]
    csv: Vec<PathBuf>,
    /// A run of `weir watch` on the server meanwhile: a path, a name below the runs' directory, or
    /// `last`.
    #[arg(long, value_name = "RUN", requires = "jtl", conflicts_with = "run")]
    watch: Vec<String>,
    /// The zone of times that name none, such as Europe/Berlin, UTC or +02:00; without, that of
    /// this machine.
    #[arg(
        long,
        value_name = "ZONE",
        allow_hyphen_values = true,
        requires = "jtl",
        conflicts_with = "run"
    )]
    time_zone: Option<String>,
    /// Seconds to leave out at the beginning of each test; without, the end of the warm-up is
    /// looked for.
    #[arg(long, value_name = "SECONDS", requires = "jtl", conflicts_with = "run")]
    warm_up: Option<u64>,
    /// Which test of a result file that holds several, one after the other: its number, or `each`;
    /// without, the one with most samples.
    #[arg(long, value_name = "N", requires = "jtl", conflicts_with = "run", value_parser = part)]
    part: Option<Part>,
    /// CPUs of the server, where no file says.
    #[arg(long, value_name = "NUMBER", requires = "jtl", conflicts_with = "run", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: Option<u32>,
    /// Write the explanation, or the result of what was taken in, as JSON to this file; `-` is
    /// standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
    /// As root, run the commands of a run's study that another user has written or may write.
    #[arg(long, requires = "run_trials")]
    allow_commands: bool,
    #[command(flatten)]
    files: FileOptions,
}

pub(crate) fn run(arguments: &ExplainArguments) -> Result<u8, ExpectedError> {
    if arguments.jtl.is_empty() {
        of_runs(arguments)
    } else {
        taken_in::run(arguments)
    }
}

/// Explains one run, or why two differ.
fn of_runs(arguments: &ExplainArguments) -> Result<u8, ExpectedError> {
    if !arguments.run_trials && arguments.files.are_given() {
        return Err(ExpectedError::Input(
            "--allow-files and --sandbox are for the trials that --run runs".to_owned(),
        ));
    }
    let named = arguments.run.as_deref().unwrap_or("last");
    let named: Vec<&str> = std::iter::once(named)
        .chain(arguments.other.as_deref())
        .collect();
    if arguments.trial.len() > named.len() {
        return Err(ExpectedError::Input(format!(
            "--trial is given {} times for {} run(s)",
            arguments.trial.len(),
            named.len()
        )));
    }
    let mut runs = Vec::new();
    for (at, named) in named.iter().enumerate() {
        let trial = arguments.trial.get(at).copied();
        let evidence = stored_evidence::read(&arguments.runs, named, trial)?;
        runs.push(diagnose(&evidence));
    }
    let difference = match runs.as_slice() {
        [first, second] => Some(diagnose_difference(first, second)),
        _ => None,
    };
    let decided = match runs.as_slice() {
        [diagnosis] if arguments.run_trials => {
            let garbage_free = arguments.judged_by.clone().map(|judged_by| GarbageFree {
                set: arguments.garbage_free.iter().cloned().collect(),
                judged_by,
            });
            let asked = Asked {
                runs: &arguments.runs,
                files: &arguments.files,
                named: named[0],
                hypotheses: &arguments.hypothesis,
                replicates: arguments.replicates,
                garbage_free: garbage_free.as_ref(),
                allow_commands: arguments.allow_commands,
            };
            decide::run(&asked, diagnosis)?
        }
        _ => Decided::default(),
    };
    let explanation = Explanation {
        schema: EXPLAIN_SCHEMA.to_owned(),
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        runs,
        difference,
        decisions: decided.decisions,
        not_run: decided.not_run,
    };
    tell(arguments, &explanation)?;
    match decided.cut_short {
        Some(error) => Err(error),
        None => Ok(0),
    }
}

/// The part of a result file that is typed.
fn part(text: &str) -> Result<Part, String> {
    match (text, text.parse()) {
        ("each", _) => Ok(Part::Each),
        (_, Ok(number @ 1..)) => Ok(Part::Number(number)),
        _ => Err("it is a number from 1, or each".to_owned()),
    }
}

/// `FACTOR=LEVEL`; what reads as a number is one.
fn factor_and_level(text: &str) -> Result<(String, Level), String> {
    let (factor, level) = text
        .split_once('=')
        .filter(|(factor, _)| !factor.is_empty())
        .ok_or_else(|| {
            "expected FACTOR=LEVEL, such as property.HEAVY_PATH=/heavy/numeric".to_owned()
        })?;
    let number = level.parse().ok().filter(|number: &f64| number.is_finite());
    let level = number.map_or_else(|| Level::Text(level.to_owned()), Level::Number);
    Ok((factor.to_owned(), level))
}

fn tell(arguments: &ExplainArguments, explanation: &Explanation) -> Result<(), ExpectedError> {
    if let Some(html) = &arguments.html {
        stored::write_sheet(html, &weir_report::explanation_sheet(explanation))?;
    }
    let extent = if arguments.all {
        Extent::All
    } else {
        Extent::Brief
    };
    let mut text = weir_report::explanation_text(explanation, extent, output::width());
    text.truncate(text.trim_end().len());
    if extent == Extent::Brief {
        text.push_str("\nEvery test with its figures: --all");
    }
    output::answer_lines(&text, arguments.json.as_deref());
    match &arguments.json {
        Some(json) => output::json_to(json, explanation),
        None => Ok(()),
    }
}
