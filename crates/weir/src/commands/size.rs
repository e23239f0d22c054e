//! `weir size`: how many servers it takes, from the model of a stored run.

mod page;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clap::{Args, ValueEnum};
use weir_metric::Requirement;
use weir_model::{FittedModel, TrialSet};
use weir_record::{StudyResult, failed_to};
use weir_sim::Balancer;
use weir_size::{Ask, Effort, SizeError, Watcher};

use crate::error::ExpectedError;
use crate::progress::Counter;
use crate::{interrupt, output, stored};

/// Say how many servers like the one of a run it takes for so many users.
///
/// The run's model is fitted as by `weir model`, and refused for the same reasons. A share of the
/// fleet is simulated with the fitted numbers and with a hundred draws of what they may be; the
/// answer is the smallest number of servers with which every requirement holds in 95 %
/// of the draws. Beside it: settings, connections in all, a server that dies, half as many users
/// again, clients that try again.
#[derive(Debug, Args)]
pub(crate) struct SizeArguments {
    /// The run: a path, a name below the runs' directory, or `last`.
    #[arg(default_value = "last")]
    run: String,
    /// Users of all servers together, as the run's factor `users` counts them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    users: u32,
    /// What has to hold, such as `p99 <= 300 ms`, `mean <= 0.2 s`, `cpu <= 70 %`, `throughput >=
    /// 5000 /s`; may be given several times.
    #[arg(long, value_name = "REQUIREMENT", required = true, value_parser = requirement)]
    require: Vec<Requirement>,
    /// The most connections that the database takes from all servers together.
    #[arg(long, value_name = "MAX", value_parser = clap::value_parser!(u32).range(1..))]
    database_connections: Option<u32>,
    /// Who gets the next request.
    #[arg(long, value_enum, default_value_t = Spread::Random)]
    balancer: Spread,
    /// Draws of the fitted numbers, from 20 to 200: more are slower and finer.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(20..=200))]
    draws: u32,
    /// The seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,
    /// Write the answer as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write the answer as a page, with the limiting requirement along the number of servers, to
    /// this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
}

/// How requests are spread over the servers.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Spread {
    /// Any server: the worst of the four, and exact for a share of a large fleet.
    Random,
    /// One after the other.
    RoundRobin,
    /// The one with the fewest requests.
    LeastConnections,
    /// The one of two random ones that has fewer.
    TwoChoices,
}

impl Spread {
    fn balancer(self) -> Balancer {
        match self {
            Self::Random => Balancer::Random,
            Self::RoundRobin => Balancer::RoundRobin,
            Self::LeastConnections => Balancer::LeastConnections,
            Self::TwoChoices => Balancer::TwoChoices,
        }
    }
}

fn requirement(typed: &str) -> Result<Requirement, String> {
    typed
        .parse::<Requirement>()
        .map_err(|error| failed_to(&error))
}

pub(crate) fn run(arguments: &SizeArguments) -> Result<u8, ExpectedError> {
    let directory = stored::find(&arguments.runs, &arguments.run)?;
    let path = directory.path().display().to_string();
    if directory.single_path().is_file() || directory.watch_path().is_file() {
        return Err(ExpectedError::Input(format!(
            "{path}: this run has one level of users, and a model takes three; `weir sweep` and `weir tune` make them"
        )));
    }
    let result: StudyResult = directory.result().map_err(stored::failed)?;
    let model = FittedModel::fit(TrialSet::of(&result.trials, &result.target))
        .map_err(|error| ExpectedError::Invalid(format!("{path}: {}", failed_to(&error))))?;
    let ask = ask(arguments, &model, directory.id());
    let progress = Progress::new(interrupt::flag()?);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let sizing = weir_size::size(&model, &result.trials, &ask, cores, &progress);
    progress.finish();
    let sizing = match sizing {
        Ok(sizing) => sizing,
        Err(error) => return refused(&path, &error),
    };
    if let Some(json) = &arguments.json {
        output::json_to(json, &sizing)?;
    }
    if let Some(html) = &arguments.html {
        stored::write_sheet(html, &page::sheet(&sizing))?;
    }
    if arguments.json.as_deref() != Some(Path::new("-")) {
        output::data_lines(weir_size::text(&sizing).trim_end());
    }
    Ok(0)
}

fn ask(arguments: &SizeArguments, model: &FittedModel, run: String) -> Ask {
    Ask {
        run,
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        users: arguments.users,
        population: model.set.population(f64::from(arguments.users)).round() as u32,
        requirements: arguments.require.clone(),
        balancer: arguments.balancer.balancer(),
        database_connections: arguments.database_connections,
        seed: u64::from(arguments.seed),
        effort: Effort {
            draws: arguments.draws,
            ..Effort::default()
        },
    }
}

/// No number of servers: 1 where none would do, 2 where something else has to be asked, 4 where the
/// run is no ground for it.
fn refused(path: &str, error: &SizeError) -> Result<u8, ExpectedError> {
    let text = format!("{path}: {}", failed_to(error));
    match error {
        SizeError::Alone { .. } | SizeError::Unsure { .. } => {
            output::data_lines(&text);
            Ok(1)
        }
        SizeError::Requirement { .. } | SizeError::Always { .. } | SizeError::Users { .. } => {
            Err(ExpectedError::Input(text))
        }
        SizeError::Refused(_) | SizeError::Percentile { .. } | SizeError::Fit(_) => {
            Err(ExpectedError::Invalid(text))
        }
        SizeError::Stopped => Err(ExpectedError::Interrupted),
    }
}

/// Counts simulations, and stops when the user says so.
struct Progress {
    simulations: Mutex<(u64, Counter)>,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    fn new(interrupted: Arc<AtomicBool>) -> Self {
        Self {
            simulations: Mutex::new((0, Counter::new("simulations"))),
            interrupted,
        }
    }

    fn finish(&self) {
        if let Ok(simulations) = self.simulations.lock() {
            simulations.1.finish();
        }
    }
}

impl Watcher for Progress {
    fn simulated(&self) -> bool {
        if let Ok(mut so_far) = self.simulations.lock() {
            so_far.0 += 1;
            let count = so_far.0;
            so_far.1.set(count);
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}
