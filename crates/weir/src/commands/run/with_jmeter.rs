//! `weir run PLAN.jmx --engine jmeter`: the plan in a real JMeter.
//!
//! The plan may hold anything that JMeter knows. JMeter reads the user's own file, or, with
//! `--target`, a copy of it in the run's directory in which every HTTP sampler has that server.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use weir_jmeter::{Changes, Launch, PlanFacts, PlanFile};
use weir_record::{RunDirectory, TrialFiles};
use weir_rig::{Engine, Length, Measurement};
use weir_script::{Properties, Target};

use super::grammar::PlanArguments;
use super::metrics::Metrics;
use super::stop_when::StopWhen;
use super::{files as plan_reach, proxy};
use crate::commands::studies;
use crate::error::ExpectedError;
use crate::jmeter::{self, Jmeter};
use crate::{interrupt, output, plans, stored};

/// Properties of the result file, which are Weir's: it reads the file while JMeter writes it.
const RESULT_FILE: &str = "jmeter.save.saveservice.";

pub(crate) fn run(
    path: &Path,
    given: &Properties,
    arguments: &PlanArguments,
) -> Result<u8, ExpectedError> {
    let shared = &arguments.shared;
    let target = shared.target.as_deref().map(plans::target).transpose()?;
    // Whatever is wrong with the plan is told before JMeter is looked for.
    jmeter::check_files(path, plan_reach::reach(path, arguments), given)?;
    let plan = jmeter::read_plan(path, given)?;
    let interrupted = interrupt::flag()?;
    let found = jmeter::provide(arguments.home.as_deref(), &interrupted)?;
    let mut known = found.own_properties.clone();
    for (name, value) in given.iter() {
        known.set(name, value);
        if name.starts_with(RESULT_FILE) {
            output::talk(&format!(
                "warning: the property {name} has no effect: Weir reads the result file as JMeter writes it by default"
            ));
        }
    }
    let mut facts = jmeter::facts(&plan, &known)?;
    if let Some(proxy) = proxy::typed(arguments)? {
        facts.proxies.extend(proxy::server(&proxy));
    }
    let named = jmeter::check_hosts(&facts, target.as_ref(), &shared.allow_host)?;
    let metrics = shared.metrics.map(Metrics::serve).transpose()?;
    let (directory, files) = open_run(path, arguments)?;
    let plan = plan_to_run(path, &plan, target.as_ref(), known, &files)?;
    let (heard, lines) = mpsc::channel();
    let launch = launch(found, plan, &facts, arguments, &files, heard);
    let printer = print_lines(lines, shared.json.as_deref() == Some(Path::new("-")));
    let measurement = Measurement {
        engine: Engine::Jmeter(Box::new(launch)),
        target,
        allowed_hosts: Vec::new(),
        load_cpus: shared.load_cpus.clone(),
        seed: shared.seed,
        watch: super::watch_plan(shared, &named),
        backs_off: false,
        samples_max: None,
        samples: None,
        length: Length::AsPlanned,
        interrupted: &interrupted,
    };
    output::talk(&format!(
        "starting JMeter; run directory {}",
        directory.path().display()
    ));
    let stop = StopWhen::new(&shared.stop_when, &interrupted);
    let ran = super::measured(measurement, metrics, stop)?;
    let measured = ran.measured;
    drop(printer.join());
    files
        .write_seconds(&measured.recording, measured.started)
        .map_err(studies::trial_failed)?;
    let population = facts.population.or(measured.load.users_most()).unwrap_or(0);
    if let (0, Some(problem)) = (measured.load.samples(), measured.load.problem()) {
        return Err(ExpectedError::Input(problem.to_owned()));
    }
    let record = super::record(&measured, population, shared)?;
    directory.write_record(&record).map_err(stored::failed)?;
    let conclusion = super::Conclusion {
        shared,
        name: &path.display().to_string(),
        is_plan: true,
        stopped: ran.stopped.as_deref(),
        stored: Some(&directory),
    };
    super::conclude(&measured, record, &conclusion)
}

fn open_run(
    path: &Path,
    arguments: &PlanArguments,
) -> Result<(RunDirectory, TrialFiles), ExpectedError> {
    let name = path
        .file_stem()
        .map_or_else(|| "plan".into(), |stem| stem.to_string_lossy());
    let directory = studies::create_run(&arguments.runs, &name)?;
    let text = std::fs::read(path)
        .map_err(|error| ExpectedError::Input(format!("{}: {error}", path.display())))?;
    let copy = directory.path().join(crate::job::PLAN_COPY);
    weir_record::write_whole(&copy, &text).map_err(stored::failed)?;
    let base = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut manifest = studies::manifest(arguments.shared.seed, base, String::new());
    manifest.title = Some(path.display().to_string());
    directory
        .write_manifest(&manifest)
        .map_err(stored::failed)?;
    let files = directory.start_trial(1).map_err(stored::failed)?;
    Ok((directory, files))
}

/// The user's plan, or a copy with the target in it.
fn plan_to_run(
    path: &Path,
    plan: &PlanFile,
    target: Option<&Target>,
    properties: Properties,
    files: &TrialFiles,
) -> Result<PathBuf, ExpectedError> {
    let changes = Changes {
        target,
        properties,
        ..Changes::default()
    };
    if changes.is_none() {
        return Ok(path.to_owned());
    }
    plan.copy(&changes, &files.directory)
        .map_err(jmeter::failed)
}

/// What JMeter prints, on standard output, as JMeter has it; as talk where that is for JSON alone.
/// Ends with JMeter.
fn print_lines(lines: Receiver<String>, is_talk: bool) -> JoinHandle<()> {
    let print = if is_talk { output::talk } else { output::data };
    thread::spawn(move || lines.iter().for_each(|line| print(&line)))
}

/// The options that are JMeter's own business, in its words.
fn words(arguments: &PlanArguments) -> Vec<String> {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let texts = |option: &'static str, values: &[String]| -> Vec<String> {
        values
            .iter()
            .map(|value| format!("{option}{value}"))
            .collect()
    };
    let (_, removed) = system_properties(arguments);
    let files = |option: &str, files: &[PathBuf]| -> Vec<String> {
        let one = |file| [option.to_owned(), path(file)];
        files.iter().flat_map(one).collect()
    };
    [
        files("-p", arguments.main_properties.as_slice()),
        files("-S", &arguments.system_property_file),
        removed,
        texts("-L", &arguments.log_level),
        files("-i", arguments.log_configuration.as_slice()),
        proxy::words(arguments),
    ]
    .concat()
}

/// What `-D` sets, and the words of `-D` that take a property away, which come before it.
fn system_properties(arguments: &PlanArguments) -> (Vec<(String, String)>, Vec<String>) {
    let mut set: Vec<(String, String)> = Vec::new();
    let mut removed = Vec::new();
    for given in &arguments.system_property {
        let (name, value) = given.split_once('=').unwrap_or((given, ""));
        if value.is_empty() {
            set.retain(|(earlier, _)| earlier != name);
            removed.push(format!("-D{given}"));
        } else {
            set.push((name.to_owned(), value.to_owned()));
        }
    }
    (set, removed)
}

fn launch(
    found: Jmeter,
    plan: PathBuf,
    facts: &PlanFacts,
    arguments: &PlanArguments,
    files: &TrialFiles,
    heard: Sender<String>,
) -> Launch {
    Launch {
        home: found.home,
        java: found.java,
        plan,
        properties: super::properties::typed(arguments)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .chain(proxy::properties(arguments))
            .collect(),
        system_properties: system_properties(arguments).0,
        words: words(arguments),
        log: arguments.run_log.clone(),
        heard: Some(heard),
        property_files: arguments.property_file.clone(),
        samples: arguments
            .log_file
            .clone()
            .unwrap_or_else(|| files.samples()),
        directory: files.directory.clone(),
        cpus: arguments.shared.load_cpus.clone(),
        planned_end: facts.planned_end,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn what_is_jmeters_own_business_is_handed_on() {
        let given = "-p main -S sys -Da=b -D c=d -De -Lx=DEBUG -i log4j2.xml -H p -P 1";
        let typed = ["weir run", "a.jmx"].into_iter().chain(given.split(' '));
        let arguments = PlanArguments::parse_from(typed);
        let handed = "-p main -S sys -De -Lx=DEBUG -i log4j2.xml -H p -P 1";
        assert_eq!(words(&arguments).join(" "), handed);
        // What has a value stands in a file, since it may be a password.
        let (set, _) = system_properties(&arguments);
        let [a, c] = set.as_slice() else {
            panic!("{set:?}");
        };
        assert_eq!((&*a.0, &*a.1, &*c.0, &*c.1), ("a", "b", "c", "d"));
    }
}
