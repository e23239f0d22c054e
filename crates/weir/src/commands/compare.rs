//! `weir compare`: two runs, or result files, held against each other.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use weir_intake::Part;
use weir_metric::{Quantity, RelativeRequirement, Requirement, Unit};
use weir_record::{IntervalHistograms, RunDirectory, RunResult, TrialRecord, failed_to};
use weir_stats::Margin;
use weir_study::{CompareAsk, RunSide, RunTrial, compare, is_recorded_of};

use super::run::verdict;
use crate::error::ExpectedError;
use crate::intake::Files;
use crate::job::PLAN_COPY;
use crate::{output, stored};

/// Say what differs between two runs, by how much, and how sure that is.
///
/// Each of A and B is a run (a path, a name below the runs' directory, or `last`), the file that
/// `weir run --json` wrote, or a result file of JMeter. Outcomes are same, different, undecided:
/// `same` has been shown as much as `different` has.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// What is compared with.
    #[arg(value_name = "A")]
    a: String,
    /// What is compared.
    #[arg(value_name = "B")]
    b: String,
    /// The smallest difference that matters.
    #[arg(long, value_name = "SHARE", default_value = "5 %", value_parser = margin)]
    margin: Margin,
    /// The smallest difference between shares of errors that matters, in points of percent.
    #[arg(long, value_name = "SHARE", default_value = "0.1 %", value_parser = share)]
    errors_margin: f64,
    /// What B has to keep, such as `p99 <= 300 ms`, or of A, such as `throughput >= 95 % of A`;
    /// may be given several times.
    #[arg(long, value_name = "REQUIREMENT", value_parser = wanted)]
    require: Vec<Wanted>,
    /// Write the comparison as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the comparison as a page to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The zone of result files whose times name none; without, that of this machine.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    time_zone: Option<String>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
}

/// One requirement.
#[derive(Debug, Clone)]
enum Wanted {
    Absolute(Requirement),
    Relative(RelativeRequirement),
}

fn wanted(typed: &str) -> Result<Wanted, String> {
    if !RelativeRequirement::is_meant(typed) {
        return verdict::parse(typed).map(Wanted::Absolute);
    }
    let read: RelativeRequirement = typed.parse().map_err(|error| failed_to(&error))?;
    if is_recorded_of(&read) {
        Ok(Wanted::Relative(read))
    } else {
        Err(verdict::not_recorded(&read.metric))
    }
}

fn share(typed: &str) -> Result<f64, String> {
    let read = Quantity::parse(typed)
        .ok()
        .filter(|read| read.unit == Unit::Percent);
    let share = read
        .map(Quantity::base)
        .filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "it is a share above 0 % and below 100 %, such as `3 %`".to_owned())
}

fn margin(typed: &str) -> Result<Margin, String> {
    Margin::new(share(typed)?).map_err(|error| error.to_string())
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<u8, ExpectedError> {
    let a = side(&arguments.a, arguments)?;
    let b = side(&arguments.b, arguments)?;
    let mut ask = CompareAsk {
        margin: arguments.margin,
        errors_margin: arguments.errors_margin,
        requirements: Vec::new(),
        relative: Vec::new(),
    };
    for wanted in &arguments.require {
        match wanted {
            Wanted::Absolute(wanted) => ask.requirements.push(wanted.clone()),
            Wanted::Relative(wanted) => ask.relative.push(wanted.clone()),
        }
    }
    let comparison = compare(&a, &b, &ask).map_err(|error| {
        let text = failed_to(&error);
        match error {
            weir_study::CompareError::NoTrial { .. } => ExpectedError::Invalid(text),
            weir_study::CompareError::NothingInCommon { .. } => ExpectedError::Input(text),
        }
    })?;
    let text = weir_report::comparison_text(&comparison, output::width());
    if let Some(html) = &arguments.html {
        stored::write_sheet(html, &weir_report::comparison_sheet(&comparison))?;
    }
    output::answer_lines(&text, arguments.json.as_deref());
    if let Some(json) = &arguments.json {
        output::json_to(json, &comparison)?;
    }
    Ok(comparison.exit_code)
}

/// One of the two, whatever it is.
fn side(named: &str, arguments: &CompareArguments) -> Result<RunSide, ExpectedError> {
    let path = Path::new(named);
    if path.is_file() {
        let content = fs::read(path).unwrap_or_default();
        return if content.trim_ascii_start().starts_with(b"{") {
            of_json(named, &content)
        } else {
            of_result_file(named, arguments)
        };
    }
    let directory = stored::find(&arguments.runs, named)?;
    if directory.watch_path().is_file() {
        return Err(ExpectedError::Input(format!(
            "{named}: it is a watch without load; there are no response times to compare"
        )));
    }
    of_run(named, &directory)
}

/// The file of `weir run --json`.
fn of_json(named: &str, content: &[u8]) -> Result<RunSide, ExpectedError> {
    let result: RunResult = serde_json::from_slice(content).map_err(|error| {
        ExpectedError::Input(format!(
            "{named}: it is not what `weir run --json` writes: {error}"
        ))
    })?;
    let trial = RunTrial {
        record: result.trial,
        timeline: None,
        histograms: None,
    };
    Ok(RunSide {
        name: named.to_owned(),
        trials: vec![trial],
        target: None,
        manifest: None,
        plan: None,
    })
}

fn of_result_file(named: &str, arguments: &CompareArguments) -> Result<RunSide, ExpectedError> {
    let files = Files {
        results: &[PathBuf::from(named)],
        monitors: &[],
        watches: &[],
        zone: arguments.time_zone.as_deref(),
        dropped_s: None,
        cpus: None,
        part: Part::Largest,
    };
    let trials = files.take_in()?.trials.into_iter().map(|trial| RunTrial {
        record: trial.record,
        timeline: Some(trial.recording.timeline),
        histograms: Some(trial.recording.histograms),
    });
    Ok(RunSide {
        name: named.to_owned(),
        trials: trials.collect(),
        target: None,
        manifest: None,
        plan: None,
    })
}

fn of_run(named: &str, directory: &RunDirectory) -> Result<RunSide, ExpectedError> {
    let mut target = None;
    let records: Vec<TrialRecord> = if directory.single_path().is_file() {
        vec![stored::single(directory)?.trial]
    } else if directory.result_path().is_file() {
        let result = directory.result().map_err(stored::failed)?;
        target = Some(result.target);
        result.trials
    } else {
        directory.records().map_err(stored::failed)?
    };
    let trials: Vec<RunTrial> = records
        .into_iter()
        .map(|record| trial(directory, record))
        .collect::<Result<_, _>>()?;
    let name = if named == "last" {
        directory.id()
    } else {
        named.to_owned()
    };
    Ok(RunSide {
        name,
        trials,
        target,
        manifest: directory.manifest().ok(),
        plan: fs::read_to_string(directory.path().join(PLAN_COPY)).ok(),
    })
}

/// A stored trial with what is kept of its seconds.
fn trial(directory: &RunDirectory, record: TrialRecord) -> Result<RunTrial, ExpectedError> {
    let files = directory.trial(record.id);
    let failed = |path: &Path, error: &dyn std::error::Error| {
        ExpectedError::Input(format!("{}: {}", path.display(), failed_to(error)))
    };
    let timeline = stored::timeline(&files.timeline())?;
    let histograms = match fs::read(files.responses()) {
        Err(_) => None,
        Ok(text) => {
            let read = IntervalHistograms::read_hlog(&text);
            Some(read.map_err(|error| failed(&files.responses(), &error))?)
        }
    };
    Ok(RunTrial {
        record,
        timeline,
        histograms,
    })
}
